"""What the client's editor shows its person, asked by `editor/selection` and `editor/openFiles`; on both wires."""

from functools import partial

import anyio

from agent_server.context.before_person import BeforePerson, OpenFile, Selection
from agent_server.front.diagnostics import Asked
from agent_server.front.params import as_list, as_object
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.uris import path_of


async def look(client: Asked) -> BeforePerson | None:
    """As the editor answers; None when it cannot be asked. What does not fit is left out. Unbounded: the caller is."""
    can = client.capabilities
    if not (can.selection or can.open_files):
        return None
    answers: dict[str, object] = {}
    async with anyio.create_task_group() as tasks:
        for name, wanted in (("selection", can.selection), ("openFiles", can.open_files)):
            if wanted:
                tasks.start_soon(partial(_ask, client, name, answers))
    return BeforePerson(_selection(answers.get("selection")), _files(answers.get("openFiles")))


async def _ask(client: Asked, name: str, answers: dict[str, object]) -> None:
    try:
        answers[name] = await client.request_own(f"editor/{name}", {})
    except (RemoteError, ConnectionClosed):
        return


def _selection(answer: object) -> Selection | None:
    given = as_object(answer) or {}
    uri, text = given.get("uri"), given.get("text")
    path = path_of(uri) if isinstance(uri, str) else None
    place = as_object(given.get("range")) or {}
    (first, _), (last, column) = _position(place.get("start")), _position(place.get("end"))
    if path is None or last < first:
        return None
    if column == 0 and last > first:
        last -= 1  # up to the start of a line is up to the end of the one before
    return Selection(path, first + 1, last + 1, text if isinstance(text, str) and text else None)


def _files(answer: object) -> tuple[OpenFile, ...] | None:
    given = as_object(answer)
    if given is None:
        return None
    entries = [as_object(entry) or {} for entry in as_list(given.get("files")) or ()]
    named = [(path_of(uri), e) for e in entries if isinstance(uri := e.get("uri"), str)]
    return tuple(OpenFile(path, e.get("dirty") is True) for path, e in named if path is not None)


def _position(value: object) -> tuple[int, int]:
    given = as_object(value) or {}
    line, column = given.get("line"), given.get("character")
    return line if isinstance(line, int) else 0, column if isinstance(column, int) else 0
