"""Several files at once, in the patch format."""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from agent_server.edits.patch_format import AddFile, DeleteFile, FilePatch, UpdateFile, parse_patch
from agent_server.edits.proposal import (
    propose_create,
    propose_delete,
    propose_patch,
    propose_rename,
)
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused
from agent_server.loop.model import CallKey, JsonObject, ToolKind, ToolResult
from agent_server.loop.ports import Prepared
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.commit import Pending, refused
from agent_server.tools.paths import Place, locate
from agent_server.tools.told import Part
from agent_server.tools.tool import BuiltIn

TITLED = 3
"""Files that the title names."""


@frozen
class PatchArguments(Arguments):
    """Arguments of `patch`."""

    patch: str
    """From *** Begin Patch to *** End Patch."""


class Patch(BuiltIn):
    """Change, create, delete and rename several files at once. For a change of one file use edit.

    *** Begin Patch
    *** Update File: a.py
    *** Move to: b.py
    @@ def a_line_above():
     context
    -old line
    +new line
    *** Add File: new.py
    +its lines
    *** Delete File: gone.py
    *** End Patch

    `Move to` and `@@` are optional. Give about three lines of context; old lines must be found in one place only.
    """

    name = "patch"
    arguments = PatchArguments
    kind: ToolKind = "edit"

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        """Compute the proposal."""
        given = await parse(PatchArguments, arguments)
        try:
            files = parse_patch(given.patch)
        except EditRefused as error:
            return ToolResult(False, str(error), code=error.reason, summary="not a patch")
        await self._services.look_beneath()
        files = await self._joined(files)
        if isinstance(files, ToolResult):
            return files
        made = [await self._part(file) for file in files]
        if failures := [part for part in made if isinstance(part, ToolResult)]:
            return _none(failures, len(files))
        parts = [part for part in made if isinstance(part, Part)]
        if (twice := _twice(parts)) is not None:
            text = f"{twice} is in the patch twice, also as a new name; put all that concerns a file in one section"
            return ToolResult(False, text, code="duplicate", summary="duplicate")
        return await Pending.of(self._services, _title(parts), *parts).prepared(self.name, key)

    async def _joined(self, files: Sequence[FilePatch]) -> tuple[FilePatch, ...] | ToolResult:
        """Sections that change one file, by whatever names, as one; all their hunks are found in the text it has now.

        Other sections about one file are refused, and both are named.
        """
        found: dict[str, FilePatch] = {}
        for number, file in enumerate(files):
            place = await locate(self._services, file.path)
            real = f"section {number}" if isinstance(place, ToolResult) else place.real
            known = found.get(real)
            joined = file if known is None else _join(known, file)
            if joined is None and known is not None:
                text = (
                    f"{file.path} is in the patch twice, as `{_header(known)}` and as `{_header(file)}`; "
                    "put all that concerns a file in one section"
                )
                return ToolResult(False, text, code="duplicate", summary="duplicate")
            found[real] = joined or file
        return tuple(found.values())

    async def _part(self, file: FilePatch) -> Part | ToolResult:
        place = await locate(self._services, file.path)
        if isinstance(place, ToolResult):
            return place
        target = None
        if isinstance(file, UpdateFile) and file.move_to is not None:
            target = await locate(self._services, file.move_to)
            if isinstance(target, ToolResult):
                return target
            target = None if target.real == place.real else target
        try:
            return await self._proposed(file, place, target)
        except EditRefused as error:
            return refused(self._services, place, error)

    async def _proposed(self, file: FilePatch, place: Place, target: Place | None) -> Part:
        documents = self._services.documents
        match file:
            case AddFile(content=content):
                return Part(await propose_create(documents, place.named, content), place)
            case DeleteFile():
                return Part(await propose_delete(documents, place.named), place)
            case UpdateFile(chunks=chunks):
                changed = await propose_patch(documents, place.named, chunks) if chunks else None
                if target is not None:
                    renamed = await propose_rename(
                        documents, place.named, target.named, changed=changed
                    )
                    return Part(renamed, target, place)
                if changed is None:
                    raise EditRefused(f"{place.named} has that name already", reason="no_change")
                return Part(changed, place)
            case _:
                assert_never(file)


def _join(first: FilePatch, second: FilePatch) -> FilePatch | None:
    """Two sections about one file as one; None where that makes no sense."""
    if not isinstance(first, UpdateFile) or not isinstance(second, UpdateFile):
        return None
    if first.move_to is not None:  # then it is about a file that has another name by now
        return None
    return replace(first, chunks=(*first.chunks, *second.chunks), move_to=second.move_to)


def _header(file: FilePatch) -> str:
    match file:
        case AddFile(path=path):
            return f"Add File: {path}"
        case DeleteFile(path=path):
            return f"Delete File: {path}"
        case UpdateFile(path=path, move_to=None):
            return f"Update File: {path}"
        case UpdateFile(path=path, move_to=new):
            return f"Update File: {path}, Move to: {new}"
        case _:
            assert_never(file)


def _none(failures: Sequence[ToolResult], files: int) -> ToolResult:
    """What does not fit, all of it, so that the next patch can be right."""
    first = failures[0]
    if files == 1:
        return first
    text = "\n".join(failure.output for failure in failures)
    return replace(first, output=f"no file was changed, because the patch does not fit:\n{text}")


def _twice(parts: Sequence[Part]) -> str | None:
    """A file that two sections are about, by whatever names."""
    seen: set[str] = set()
    for part in parts:
        for place in (part.source, part.place):
            if place is not None and place.real in seen:
                return place.shown
            if place is not None:
                seen.add(place.real)
    return None


def _title(parts: Sequence[Part]) -> str:
    names = ", ".join(part.shown for part in parts[:TITLED])
    more = f" and {len(parts) - TITLED} more" if len(parts) > TITLED else ""
    return f"patch {names}{more}"
