"""Text in files, by ripgrep."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path

from anyio import to_thread

from agent_server.frozen import frozen, mutable
from agent_server.loop.action import Action
from agent_server.loop.errors import EditRefused
from agent_server.loop.model import CallKey, JsonObject, Location, ToolKind, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import Resolution
from agent_server.policy.globs import compiled
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.bare_returns import content_of, returns_before
from agent_server.tools.glob import NO_RIPGREP
from agent_server.tools.output import counted
from agent_server.tools.overlaid import Overlaid
from agent_server.tools.paths import (
    Place,
    failed,
    folder_path,
    held,
    is_folder,
    is_regular,
    locate,
    parent,
)
from agent_server.tools.progress import Progress, reporting
from agent_server.tools.ripgrep import Ran, find_ripgrep, ripgrep
from agent_server.tools.tool import BuiltIn

COLUMNS = 400
"""Bytes of a line that are shown."""
LOCATIONS = 20
"""Files that the client is pointed to."""
_LINE = re.compile(r"(\d+)([:-])(.*)", re.DOTALL)


@frozen
class SearchArguments(Arguments):
    """Arguments of `search`."""

    pattern: str
    """A regular expression (Rust syntax; "(?i)" ignores case), or plain text with literal."""
    path: str | None = None
    """A folder or file; the workspace if left out."""
    glob: str | None = None
    """Only files whose path matches, such as "*.py" or "src/**/*.ts"; relative to path."""
    literal: bool | None = None
    """Take the pattern as plain text."""
    context: int | None = None
    """Lines shown before and after each hit, at most 20."""


class Search(BuiltIn):
    """Search file contents; a hit is "line:text", a context line "line-text", grouped under the file's path.

    Skips binary files and what .gitignore names. Looks at files as saved on disk.
    """

    name = "search"
    arguments = SearchArguments
    kind: ToolKind = "search"
    read_only = True

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        """Check the glob and find out which place is meant."""
        del key
        given = await parse(SearchArguments, arguments)
        if not given.pattern:
            return ToolResult(
                False, "the pattern is empty", code="bad_pattern", summary="bad pattern"
            )
        place = await locate(self._services, given.path or ".")
        if isinstance(place, ToolResult):
            return place
        try:
            wanted = compiled(given.glob.removeprefix("!")) if given.glob else None
        except ValueError as error:
            return ToolResult(False, str(error), code="bad_pattern", summary="bad pattern")

        async def run(ctx: CallContext, resolution: Resolution | None) -> ToolResult:
            del resolution
            return await self._searched(ctx, place, given, wanted)

        title = f'search "{given.pattern}" in {place.shown}'
        return Prepared(Action("read", self.name, (place.real,)), title, run)

    async def _searched(
        self, ctx: CallContext, place: Place, given: SearchArguments, wanted: re.Pattern[str] | None
    ) -> ToolResult:
        program = await to_thread.run_sync(find_ripgrep)
        if program is None:
            return NO_RIPGREP
        limits = self._services.limits
        overlay = self._services.documents.overlay
        async with reporting(ctx) as progress:
            try:
                alone = overlay.get(place.real) is not None or await _is_file(place)
                folder = parent(place) if alone else place
                staged = Overlaid.below(overlay, folder.real)
                hits = _Hits(
                    folder,
                    _Wanted(wanted, _excludes(given), Path(place.real).name if alone else None),
                    self._conceals(alone=alone),
                    progress,
                    limits.hits,
                    limits.output_chars,
                    hidden=frozenset(staged.texts),
                )
                ran = await _on_disk(program, given, hits, staged, alone=alone)
                await to_thread.run_sync(hits.renumber, _content_below(folder.real))
                await _in_staged(program, given, hits, staged)
                hits.renumber(lambda path: staged.there.get(path, "").encode())
            except EditRefused as error:
                return ToolResult(False, str(error), code=error.reason, summary="not a file")
            except OSError as error:
                return failed(place, error)
        return hits.result(ran)

    def _conceals(self, *, alone: bool) -> Callable[[str], bool]:
        """A file that was asked for by its own path was judged by it."""
        return (lambda _: False) if alone else self._services.reading.conceals


async def _is_file(place: Place) -> bool:
    """False for a folder.

    Raises:
        EditRefused: it is a pipe or device, which ripgrep would wait for.
    """
    try:
        async with held(place.real) as descriptor:
            if is_folder(descriptor):
                return False
            if not is_regular(descriptor):
                text = f"{place.shown} is a device, pipe or socket, not a file"
                raise EditRefused(text, reason="not_a_file")
            return True
    except FileNotFoundError:  # a folder, if there is one, of staged files
        return False


async def _on_disk(
    program: str, given: SearchArguments, hits: "_Hits", staged: Overlaid, *, alone: bool
) -> Ran:
    """What is saved, but for the files that are staged."""
    target = f"./{hits.wanted.alone}" if alone else "./"
    try:
        async with held(hits.folder.real) as descriptor:
            cwd = folder_path(descriptor, hits.folder.real)
            options = [*_options(given), target]
            return await ripgrep(program, options, cwd=cwd, end=b"\n", receive=hits.add)
    except FileNotFoundError:
        if not staged.there:
            raise
        return Ran(1, "")


async def _in_staged(program: str, given: SearchArguments, hits: "_Hits", staged: Overlaid) -> None:
    """The texts that are staged, each on its own, as the agent sees them."""
    hits.hidden = frozenset()
    options = [*_pattern_options(given), "-"]
    for path, text in sorted(staged.there.items()):
        if hits.more or not hits.wanted(path):
            continue

        def receive(record: bytes, path: bytes = path.encode()) -> bool:
            return hits.add(path + b"\0" + record.partition(b"\0")[2])

        await ripgrep(program, options, cwd="/", end=b"\n", receive=receive, text=text)


@frozen
class _Wanted:
    """Which files are meant, by their path in the folder."""

    pattern: re.Pattern[str] | None
    """None: any."""
    excludes: bool
    """Those that do not match it are."""
    alone: str | None
    """The one file that is."""

    def __call__(self, path: str) -> bool:
        if self.alone is not None and path != self.alone:
            return False
        return self.pattern is None or self.excludes is (self.pattern.fullmatch(path) is None)


def _excludes(given: SearchArguments) -> bool:
    return given.glob is not None and given.glob.startswith("!")


def _options(given: SearchArguments) -> list[str]:
    """For files on disk."""
    options = _pattern_options(given)
    name = (given.glob or "").rpartition("/")[2]
    if _excludes(given):
        options.insert(0, f"--glob={given.glob}")
    elif name and name.count("{") == name.count("}"):
        # A type, because --glob would bring back what .gitignore names. It sees only a file's name; `wanted` sees all.
        options = [f"--type-add=wanted:{name}", "--type=wanted", *options]
    return options


def _pattern_options(given: SearchArguments) -> list[str]:
    """What to look for, and how it is shown; a place follows."""
    options = [
        "--line-number",
        "--with-filename",
        "--no-heading",
        "--null",
        "--no-context-separator",
    ]
    options += [f"--max-columns={COLUMNS}", "--max-columns-preview"]
    if given.literal:
        options.append("--fixed-strings")
    if "\n" in given.pattern or (r"\n" in given.pattern and not given.literal):
        options.append("--multiline")
    if given.context:
        options.append(f"--context={min(max(given.context, 0), 20)}")
    return [*options, "--regexp", given.pattern, "--"]


def _content_below(folder: str) -> Callable[[str], bytes]:
    return lambda path: content_of(f"{folder}/{path}")


def _moved(line: str, before: Sequence[int]) -> str:
    digits = re.match(r"\d+", line)
    if digits is None:
        return line
    number = int(digits[0])
    return f"{number + before[min(number, len(before)) - 1]}{line[digits.end() :]}"


@mutable
class _Hits:
    folder: Place
    wanted: _Wanted
    conceals: Callable[[str], bool]
    progress: Progress
    limit: int
    room: int
    """Characters that still fit."""
    hidden: frozenset[str] = frozenset()
    """Files whose lines do not count now: what is staged of them does."""
    files: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Lines by path in the folder."""
    skipped: dict[str, bool] = field(default_factory=dict[str, bool])
    """Files by whether their lines are left out, and of those whether for their secrets."""
    renumbered: set[str] = field(default_factory=set[str])
    """Files whose lines have the numbers that `read` gives them."""
    count: int = 0
    concealed: int = 0
    more: bool = False

    def add(self, record: bytes) -> bool:
        name, found, line = record.partition(b"\0")
        match = _LINE.fullmatch(line.decode(errors="replace").rstrip("\r")) if found else None
        path = name.decode(errors="replace").removeprefix("./").replace(os.sep, "/")
        if match is None or path in self.hidden or self._skips(path):
            return True  # not a line of a file: what rg says of a binary one
        number, mark, text = match.groups()
        if (mark == ":" and self.count == self.limit) or self.room < 0:
            self.more = True
            return False
        self.count += mark == ":"
        self._keep(path, f"{number}{mark}{text}")
        return True

    def renumber(self, content: Callable[[str], bytes]) -> None:
        """Count lines as `read` and editors do, to whom a bare carriage return ends a line too."""
        for path, lines in self.files.items():
            if path not in self.renumbered and (before := returns_before(content(path))):
                lines[:] = [_moved(line, before) for line in lines]
            self.renumbered.add(path)

    def _skips(self, path: str) -> bool:
        if path not in self.skipped:
            unwanted = not self.wanted(path)
            secret = not unwanted and self.conceals(f"{self.folder.real}/{path}")
            self.concealed += secret
            self.skipped[path] = unwanted or secret
        return self.skipped[path]

    def _keep(self, path: str, line: str) -> None:
        new = f"{line}\n"
        if path not in self.files:
            self.files[path] = []
            new = f"{self._shown(path)}\n{new}"
        self.files[path].append(line)
        self.progress.add(new)
        self.room -= len(new)

    def _shown(self, path: str) -> str:
        return path if self.folder.shown == "." else f"{self.folder.shown}/{path}"

    def result(self, ran: Ran) -> ToolResult:
        if ran.code == 2 and not self.count:
            return ToolResult(
                False, ran.error or "the search failed", code="search_failed", summary="failed"
            )
        blocks = [
            "\n".join([self._shown(path), *lines]) for path, lines in sorted(self.files.items())
        ]
        if self.more:
            blocks.append(
                f"[… stopped after {counted(self.count, 'hit')}; narrow the pattern, the path or the glob …]"
            )
        if self.concealed:
            files = counted(self.concealed, "file")
            blocks.append(
                f"[{files} with hits left out: not to be read unasked; search it by its own path]"
            )
        hits = counted(self.count, "hit") + ("+" if self.more else "")
        summary = f"{hits} in {counted(len(self.files), 'file')}"
        return ToolResult(
            True, "\n\n".join(blocks) or "no hits", locations=self._places(), summary=summary
        )

    def _places(self) -> tuple[Location, ...]:
        firsts = (
            (path, _first_hit(lines)) for path, lines in sorted(self.files.items())[:LOCATIONS]
        )
        return tuple(Location(str(Path(self.folder.named, path)), line) for path, line in firsts)


def _first_hit(lines: list[str]) -> int | None:
    return next((int(m[1]) for line in lines if (m := _LINE.match(line)) and m[2] == ":"), None)
