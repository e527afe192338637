"""Lines of a text file, unsaved changes included."""

import os
from collections.abc import Sequence

from anyio import to_thread

from agent_server.edits.text.lines import content, split_lines
from agent_server.frozen import frozen
from agent_server.loop.action import Action
from agent_server.loop.errors import BadArguments, EditRefused
from agent_server.loop.model import CallKey, JsonObject, Location, ToolKind, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import Resolution
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.output import counted, shortened
from agent_server.tools.paths import Place, failed, locate, moved, opened, still_there
from agent_server.tools.services import Limits
from agent_server.tools.tool import BuiltIn
from agent_server.tools.window import Window, window


@frozen
class ReadArguments(Arguments):
    """Arguments of `read`."""

    path: str
    """The file."""
    start_line: int | None = None
    """First line, from 1; negative counts from the end (-50: the last 50 lines)."""
    line_count: int | None = None
    """How many lines; as many as fit if left out."""


class Read(BuiltIn):
    """Read a text file as it is in the editor, unsaved changes included.

    Each line comes as its number, a tab, and its text. When there is more, the last line says how to read on.
    """

    name = "read"
    arguments = ReadArguments
    kind: ToolKind = "read"
    read_only = True

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        """Find out which file is meant."""
        del key
        given = await parse(ReadArguments, arguments)
        if given.start_line == 0:
            raise BadArguments("start_line: lines are numbered from 1")
        if given.line_count is not None and given.line_count < 1:
            raise BadArguments(f"line_count: must be 1 or more, not {given.line_count}")
        place = await locate(self._services, given.path)
        if isinstance(place, ToolResult):
            return place
        start, count = given.start_line or 1, given.line_count or self._services.limits.read_lines

        async def run(ctx: CallContext, resolution: Resolution | None) -> ToolResult:
            del ctx, resolution
            return await self._read(place, start, min(count, self._services.limits.read_lines))

        title = f"read {place.shown}" + (f" from line {start}" if start > 1 else "")
        location = Location(place.named, start if given.start_line and start > 0 else None)
        # A client that follows the agent would open a folder as a file.
        shown = () if await to_thread.run_sync(os.path.isdir, place.real) else (location,)
        return Prepared(Action("read", self.name, (place.real,)), title, run, shown)

    async def _read(self, place: Place, start: int, count: int) -> ToolResult:
        if (elsewhere := await still_there(place)) is not None:
            return elsewhere
        await self._services.look_beneath()
        return self._services.with_notes(await self._window(place, start, count))

    async def _window(self, place: Place, start: int, count: int) -> ToolResult:
        limits = self._services.limits
        try:
            try:
                document = await self._services.documents.read(place.named)
            except EditRefused as error:
                if error.reason != "too_large":
                    raise
                part = await to_thread.run_sync(_part, place, start, count, limits)
            else:
                if document.file is not None and str(document.file.path) != place.real:
                    return moved(place)
                part = _of_text(document.text, start, count, limits)
        except EditRefused as error:
            return _refused(place, error)
        except OSError as error:
            return failed(place, error)
        return _shown(place, part, limits)


def _part(place: Place, start: int, count: int, limits: Limits) -> Window:
    with opened(place.real) as descriptor:
        return window(
            descriptor, place.shown, start=start, count=count, line_bytes=limits.line_chars
        )


def _of_text(text: str, start: int, count: int, limits: Limits) -> Window:
    lines = split_lines(text)
    first = max(len(lines) + 1 + start if start < 0 else start, 1)
    wanted = lines[first - 1 : first - 1 + count]
    return Window(
        first, tuple(shortened(content(line), limits.line_chars) for line in wanted), len(lines)
    )


def _shown(place: Place, part: Window, limits: Limits) -> ToolResult:
    if part.total == 0:
        return ToolResult(True, f"({place.shown} is empty)", summary="empty")
    if part.first > part.total:
        text = f"{place.shown} has only {counted(part.total, 'line')}"
        return ToolResult(False, text, code="past_end", summary="past the end")
    rows = _fitting(
        [f"{part.first + n}\t{line}" for n, line in enumerate(part.lines)], limits.read_chars
    )
    last = part.first + len(rows) - 1
    if last < part.total:
        rows.append(
            f"[lines {part.first:,} to {last:,} of {part.total:,}; read on with start_line={last + 1}]"
        )
    if part.first == 1 and last == part.total:
        return ToolResult(True, "\n".join(rows), summary=counted(part.total, "line"))
    return ToolResult(
        True, "\n".join(rows), summary=f"lines {part.first:,} to {last:,} of {part.total:,}"
    )


def _fitting(rows: Sequence[str], limit: int) -> list[str]:
    """As many rows as fit, the first in any case."""
    kept: list[str] = []
    for row in rows:
        limit -= len(row) + 1
        if limit < 0 and kept:
            break
        kept.append(row)
    return kept


def _refused(place: Place, error: EditRefused) -> ToolResult:
    text = f"{place.shown} is a folder; use list" if error.reason == "directory" else str(error)
    return ToolResult(False, text, code=error.reason, summary=error.reason.replace("_", " "))
