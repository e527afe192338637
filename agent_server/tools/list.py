"""What is in a folder."""

import os
import stat
from collections.abc import Callable
from functools import partial

from anyio import to_thread

from agent_server.frozen import frozen
from agent_server.loop.action import Action
from agent_server.loop.model import CallKey, JsonObject, ToolKind, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import Resolution
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.output import counted
from agent_server.tools.overlaid import Overlaid
from agent_server.tools.paths import Place, failed, is_folder, locate, opened
from agent_server.tools.tool import BuiltIn


@frozen
class ListArguments(Arguments):
    """Arguments of `list`."""

    path: str | None = None
    """The folder; the workspace if left out."""


class ListFolder(BuiltIn):
    """List one folder: sub-folders end in "/", files have their size in bytes, links show their target."""

    name = "list"
    arguments = ListArguments
    kind: ToolKind = "read"
    read_only = True

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        """Find out which folder is meant."""
        del key
        place = await locate(self._services, (await parse(ListArguments, arguments)).path or ".")
        if isinstance(place, ToolResult):
            return place

        async def run(ctx: CallContext, resolution: Resolution | None) -> ToolResult:
            del ctx, resolution
            staged = Overlaid.below(self._services.documents.overlay, place.real)
            return await to_thread.run_sync(_listing, place, staged, self._services.limits.entries)

        action = Action("read", self.name, (place.real,))
        return Prepared(action, f"list {place.shown}", run)


def _listing(place: Place, staged: Overlaid, limit: int) -> ToolResult:
    lines = _staged_lines(staged)
    try:
        with opened(place.real) as folder:
            if not is_folder(folder):
                text = f"{place.shown} is a file; read it instead"
                return ToolResult(False, text, code="not_a_folder", summary="a file")
            for name in os.listdir(folder):  # noqa: PTH208  only `os` lists an open descriptor
                if name not in staged.gone:
                    lines.setdefault(name, partial(_line, folder, name))
            names = sorted(lines)
            shown = [lines[name]() for name in names[:limit]]
    except FileNotFoundError as error:
        if not lines:
            return failed(place, error)
        names = sorted(lines)
        shown = [lines[name]() for name in names[:limit]]
    except OSError as error:
        return failed(place, error)
    if len(names) > limit:
        shown.append(f"[… {len(names) - limit:,} more; use glob to narrow it down …]")
    return ToolResult(
        True, "\n".join(shown) or f"{place.shown} is empty", summary=counted(len(names), "name")
    )


def _staged_lines(staged: Overlaid) -> dict[str, Callable[[], str]]:
    """The lines of files that are staged here, and of folders that are only there for such files, by name."""
    lines: dict[str, Callable[[], str]] = {}
    for path, text in staged.there.items():
        name, _, below = path.partition("/")
        if not below:
            size = len(text.encode("utf-8", "surrogatepass"))
            lines[name] = partial(str, f"{name}  {size:,} (staged)")
        elif path in staged.new:
            lines.setdefault(name, partial(str, f"{name}/"))
    return lines


def _line(folder: int, name: str) -> str:
    shown = _as_text(name)
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            return f"{shown} -> {_as_text(os.readlink(name, dir_fd=folder))}"
    except OSError:  # gone meanwhile, or not ours to look at: its name is all there is to say
        return shown
    if stat.S_ISDIR(status.st_mode):
        return f"{shown}/"
    return (
        f"{shown}  {status.st_size:,}"
        if stat.S_ISREG(status.st_mode)
        else f"{shown}  (no regular file)"
    )


def _as_text(name: str) -> str:
    """A name may be any bytes; what is no UTF-8 in it becomes `?`."""
    return name.encode(errors="replace").decode()
