"""The shape of a proposed edit: what is asked, shown, decided. How it is computed and applied is `edits/`'s."""

from typing import Literal

from agent_server.frozen import frozen

ChangeKind = Literal["edit", "create", "delete", "rename"]


@frozen
class Hunk:
    """One contiguous replacement, in lines of the base text."""

    id: str
    """Stable while its lines and their surroundings stay the same; not an index."""
    start: int
    """First line replaced, 0-based, in the base."""
    removed: tuple[str, ...]
    """Lines taken out, line ends kept; empty for an insertion."""
    added: tuple[str, ...]
    """Lines put in, line ends kept; empty for a deletion."""


@frozen
class FileChange:
    """A change to one file. `base_text` None: created. `new_text` None: deleted."""

    path: str
    """Absolute."""
    kind: ChangeKind
    base_text: str | None
    """The text the change was made against, BOM removed, its own line ends."""
    new_text: str | None
    hunks: tuple[Hunk, ...]
    base_version: int | None = None
    """The editor's document version; None when the file is not open there."""
    base_hash: str | None = None
    """`sha256:…` over the UTF-8 of `base_text`; None when created."""
    old_path: str | None = None
    """Where a renamed file was."""


@frozen
class Proposal:
    """An edit that nobody has confirmed yet."""

    txn: str
    files: tuple[FileChange, ...]
    revision: int = 1


@frozen
class FileDecision:
    """What the person wants of one file: some of its hunks, or the text as they edited it."""

    path: str
    accepted: frozenset[str]
    """Ids of accepted hunks; for create, delete and rename the ids of all its hunks, or none."""
    edited_text: str | None = None
    """The whole text that the person wants instead."""
    whole: bool = False
    """The file was accepted as a whole (also when it has no hunks, such as an empty new file)."""


@frozen
class PartDecision:
    """What the user decided about one part of a proposal, while other parts may be undecided."""

    path: str
    hunk: str | None
    """None: a file that is decided whole."""
    accept: bool
    edited_text: str | None = None
    """The whole text of the file that the user wants instead."""


@frozen
class Resolution:
    """The person's decision on a proposal, complete: a file that is not named is rejected."""

    files: tuple[FileDecision, ...]

    @property
    def accepts_anything(self) -> bool:
        """Whether there is something to apply."""
        return any(d.accepted or d.whole or d.edited_text is not None for d in self.files)


def accept_all(proposal: Proposal) -> Resolution:
    """The decision that takes everything."""
    return Resolution(
        tuple(
            FileDecision(f.path, frozenset(h.id for h in f.hunks), whole=True)
            for f in proposal.files
        )
    )


EditState = Literal[
    "proposed", "approved", "rejected", "applying", "verifying", "applied", "committed",
    "conflict", "failed", "reverted", "abandoned",
]  # fmt: skip
HunkState = Literal["pending", "accepted", "rejected", "applied", "conflict"]
