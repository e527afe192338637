"""What is staged below a folder, for tools that look at the disk: their results must be as if it were there."""

from collections.abc import Mapping
from pathlib import Path

from agent_server.edits.staging import Overlay, StagedText
from agent_server.frozen import frozen


@frozen
class Overlaid:
    """Staged texts by their path below the folder, with `/`."""

    texts: Mapping[str, str | None]
    """None: the file is to be deleted."""
    new: frozenset[str]
    """Those of which the disk has nothing."""

    @staticmethod
    def below(overlay: Overlay, folder: str) -> "Overlaid":
        """What is staged below a folder, by its real path."""
        found: dict[str, StagedText] = {}
        for path in overlay:
            staged = overlay.get(path)
            if staged is not None and Path(path).is_relative_to(folder):
                found[Path(path).relative_to(folder).as_posix()] = staged
        new = frozenset(name for name, staged in found.items() if staged.first.base_text is None)
        return Overlaid({name: staged.text for name, staged in found.items()}, new)

    def __bool__(self) -> bool:
        """Whether anything is staged there."""
        return bool(self.texts)

    @property
    def gone(self) -> frozenset[str]:
        """Files that the agent should not see."""
        return frozenset(name for name, text in self.texts.items() if text is None)

    @property
    def there(self) -> Mapping[str, str]:
        """Files that it should see so."""
        return {name: text for name, text in self.texts.items() if text is not None}
