"""What is in a folder."""

import os
import stat

from anyio import to_thread

from agent_server.frozen import frozen
from agent_server.loop.action import Action
from agent_server.loop.model import CallKey, JsonObject, Location, ToolKind, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import Resolution
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.output import counted
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
            return await to_thread.run_sync(_listing, place, self._services.limits.entries)

        action = Action("read", self.name, (place.real,))
        return Prepared(action, f"list {place.shown}", run, (Location(place.named),))


def _listing(place: Place, limit: int) -> ToolResult:
    try:
        with opened(place.real) as folder:
            if not is_folder(folder):
                text = f"{place.shown} is a file; read it instead"
                return ToolResult(False, text, code="not_a_folder", summary="a file")
            names = sorted(os.listdir(folder))  # noqa: PTH208  only `os` lists an open descriptor
            lines = [_line(folder, name) for name in names[:limit]]
    except OSError as error:
        return failed(place, error)
    if len(names) > limit:
        lines.append(f"[… {len(names) - limit:,} more; use glob to narrow it down …]")
    return ToolResult(
        True, "\n".join(lines) or f"{place.shown} is empty", summary=counted(len(names), "name")
    )


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
