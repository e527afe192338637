"""Files by their names."""

import os
import re
from dataclasses import field

from anyio import to_thread

from agent_server.frozen import frozen, mutable
from agent_server.loop.action import Action
from agent_server.loop.model import CallKey, JsonObject, ToolKind, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import Resolution
from agent_server.policy.globs import compiled
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.output import counted
from agent_server.tools.overlaid import Overlaid
from agent_server.tools.paths import Place, failed, folder_path, held, is_folder, locate
from agent_server.tools.progress import Progress, reporting
from agent_server.tools.ripgrep import find_ripgrep, ripgrep
from agent_server.tools.tool import BuiltIn

NO_RIPGREP = ToolResult(
    False, "ripgrep (rg) is neither on PATH nor beside the server's Python", code="no_ripgrep"
)


@frozen
class GlobArguments(Arguments):
    """Arguments of `glob`."""

    pattern: str
    """Such as "*.py" (in any folder), "src/**/*.ts", "**/{test,spec}_*.js"; relative to path."""
    path: str | None = None
    """The folder to look in; the workspace if left out."""


class Glob(BuiltIn):
    """Find files by name. Skips what .gitignore names; finds hidden files. One path per line, sorted."""

    name = "glob"
    arguments = GlobArguments
    kind: ToolKind = "search"
    read_only = True

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        """Check the pattern and find out which folder is meant."""
        del key
        given = await parse(GlobArguments, arguments)
        place = await locate(self._services, given.path or ".")
        if isinstance(place, ToolResult):
            return place
        pattern = _checked(given.pattern)
        if isinstance(pattern, ToolResult):
            return pattern

        async def run(ctx: CallContext, resolution: Resolution | None) -> ToolResult:
            del resolution
            return await self._found(ctx, place, pattern)

        title = f'glob "{given.pattern}" in {place.shown}'
        return Prepared(Action("read", self.name, (place.real,)), title, run)

    async def _found(self, ctx: CallContext, place: Place, pattern: re.Pattern[str]) -> ToolResult:
        program = await to_thread.run_sync(find_ripgrep)
        if program is None:
            return NO_RIPGREP
        staged = Overlaid.below(self._services.documents.overlay, place.real)
        async with reporting(ctx) as progress:
            limit = self._services.limits.entries
            names = _Names(pattern, place.shown, limit, progress, staged.gone)
            try:
                async with held(place.real) as folder:
                    if not is_folder(folder):
                        return ToolResult(
                            False, f"{place.shown} is a file, not a folder", code="not_a_folder"
                        )
                    cwd = folder_path(folder, place.real)
                    await ripgrep(
                        program,
                        ["--files", "--null", "--sort=path"],
                        cwd=cwd,
                        end=b"\0",
                        receive=names.add,
                    )
            except OSError as error:
                if not (isinstance(error, FileNotFoundError) and staged.there):
                    return failed(place, error)
            for name in sorted(staged.new - staged.gone):
                names.add(name.encode())
        return names.result()


def _checked(pattern: str) -> re.Pattern[str] | ToolResult:
    if pattern.startswith(("/", "~", "../")) or "/../" in pattern:
        text = f"{pattern}: a pattern is relative to path; give the folder as path"
        return ToolResult(False, text, code="bad_pattern", summary="bad pattern")
    try:
        return compiled(pattern)
    except ValueError as error:
        return ToolResult(False, str(error), code="bad_pattern", summary="bad pattern")


def _parts(name: str) -> list[str]:
    """By which ripgrep sorts: a folder's files stand together."""
    return name.split("/")


@mutable
class _Names:
    pattern: re.Pattern[str]
    folder: str
    limit: int
    progress: Progress
    gone: frozenset[str]
    """Deletions that are staged."""
    found: list[str] = field(default_factory=list[str])
    more: bool = False

    def add(self, record: bytes) -> bool:
        name = record.decode(errors="replace").replace(os.sep, "/")
        if self.pattern.fullmatch(name) is None or name in self.gone:
            return True
        if len(self.found) == self.limit:
            self.more = True
            return False
        self.found.append(name if self.folder == "." else f"{self.folder}/{name}")
        self.progress.add(self.found[-1] + "\n")
        return True

    def result(self) -> ToolResult:
        if not self.found:
            return ToolResult(True, "no file matches", summary="0 files")
        note = (
            [f"[… stopped after {self.limit:,}; narrow the pattern or the path …]"]
            if self.more
            else []
        )
        count = counted(len(self.found), "file")
        return ToolResult(
            True,
            "\n".join([*sorted(self.found, key=_parts), *note]),
            summary=f"{count}+" if self.more else count,
        )
