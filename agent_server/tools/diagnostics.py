"""What the editor and its language servers know to be wrong."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from anyio import to_thread

from agent_server.edits.files import real_path
from agent_server.edits.ports import Diagnosed, Diagnostic, Severity
from agent_server.frozen import frozen
from agent_server.loop.action import Action
from agent_server.loop.model import CallKey, JsonObject, Location, ToolKind, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import Resolution
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.output import counted, middle_cut
from agent_server.tools.paths import Place, locate, shown
from agent_server.tools.settling import Heard, hear
from agent_server.tools.tool import BuiltIn

NO_EDITOR = "there is no editor here that can be asked for diagnostics; run the project's own checker instead"
_RANKS: tuple[Severity, ...] = ("error", "warning", "information", "hint")


@frozen
class DiagnosticsArguments(Arguments):
    """Arguments of `diagnostics`."""

    path: str | None = None
    """The file; every file the editor has diagnostics of if left out."""


class DiagnosticsTool(BuiltIn):
    """Errors and warnings that the editor's language servers report, in one file or in all they watch.

    The answer is the editor's: a file it does not watch has none, which does not mean that nothing is wrong with it.
    """

    name = "diagnostics"
    arguments = DiagnosticsArguments
    kind: ToolKind = "read"
    read_only = True

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        """Find out which file is meant."""
        del key
        given = await parse(DiagnosticsArguments, arguments)
        place = None if given.path is None else await locate(self._services, given.path)
        if isinstance(place, ToolResult):
            return place

        async def run(ctx: CallContext, resolution: Resolution | None) -> ToolResult:
            del ctx, resolution
            return await self._asked(place)

        if place is None:
            return Prepared(Action("read", self.name), "diagnostics", run)
        action = Action("read", self.name, (place.real,))
        return Prepared(action, f"diagnostics of {place.shown}", run, (Location(place.named),))

    async def _asked(self, place: Place | None) -> ToolResult:
        heard = await hear(self._services.diagnostics(), None if place is None else (place.named,))
        if heard is None:
            return ToolResult(False, NO_EDITOR, code="no_editor", summary="no editor to ask")
        if place is None:
            seen = await to_thread.run_sync(self._readable, heard.seen)
            return self._shown(replace(heard, seen=seen))
        if not heard.seen:
            text = (
                f"the editor does not watch {place.shown}, so it cannot say what is wrong with it"
            )
            return ToolResult(True, text, summary="not watched")
        return self._shown(heard)

    def _readable(self, found: Sequence[Diagnosed]) -> tuple[Diagnosed, ...]:
        """Those of files that may be seen without a question. Blocking: follows links."""
        reading = self._services.reading
        return tuple(one for one in found if reading.reads_freely(str(real_path(one.path))))

    def _shown(self, heard: Heard) -> ToolResult:
        blocks: list[str] = []
        for one in sorted(heard.seen, key=lambda one: one.path):
            if one.diagnostics:
                blocks += [shown(one.path, self._services.cwd), *map(line_of, ordered(one))]
        if not blocks:
            blocks = ["nothing is reported"]
        if not heard.settled:
            blocks.append("[the editor is still checking: this may not be all]")
        counts = Counter(d.severity for one in heard.seen for d in one.diagnostics)
        summary = ", ".join(counted(counts[rank], _noun(rank)) for rank in _RANKS if counts[rank])
        text = middle_cut("\n".join(blocks), self._services.limits.output_chars)
        return ToolResult(True, text, summary=summary or "nothing")


def ordered(one: Diagnosed) -> list[Diagnostic]:
    """In the order of the lines, the worst of a line first."""
    return sorted(one.diagnostics, key=lambda d: (d.line, _RANKS.index(d.severity), d.message))


def line_of(diagnostic: Diagnostic) -> str:
    """`  12: error: unused name (ruff F401)`; lines from 1."""
    by = " ".join(word for word in (diagnostic.source, diagnostic.code) if word)
    message = " ".join(diagnostic.message.split())
    return f"  {diagnostic.line + 1}: {diagnostic.severity}: {message}" + (f" ({by})" if by else "")


def _noun(severity: Severity) -> str:
    return "note" if severity == "information" else severity
