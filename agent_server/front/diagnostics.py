"""What the client's editor knows to be wrong with files, asked by `editor/diagnostics`; the same on both wires."""

import os
from collections.abc import Sequence
from typing import Final, Protocol

import anyio
from anyio import to_thread

from agent_server.edits.ports import Diagnosed, Diagnostic, Severity
from agent_server.front.blocks import Json
from agent_server.front.capabilities import Capabilities
from agent_server.front.params import as_list, as_object
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.uris import file_uri, path_of
from agent_server.loop.model import JsonObject

ANSWER_S: Final = 1.0
"""An editor answers from memory; one that is busier than this must not hold up an edit."""
_SEVERITIES: Final[dict[object, Severity]] = {
    1: "error", 2: "warning", 3: "information", 4: "hint",
}  # fmt: skip


class Asked(Protocol):
    """The client in one session (front.peer.Seat)."""

    @property
    def capabilities(self) -> Capabilities:
        """Of the client."""
        ...

    async def request_own(self, name: str, params: Json) -> object:
        """Ask with a message of ours.

        Raises:
            RemoteError, ConnectionClosed: there is no answer.
        """
        ...


class ClientDiagnostics:
    """`edits.ports.Diagnostics` for one session."""

    def __init__(self, client: Asked) -> None:
        self._client = client

    async def diagnostics(self, paths: Sequence[str] | None) -> tuple[Diagnosed, ...] | None:
        """See `Diagnostics`."""
        if not self._client.capabilities.diagnostics:
            return None
        uris = None if paths is None else [file_uri(path) for path in paths]
        report: JsonObject | None = None
        with anyio.move_on_after(ANSWER_S):
            report = await self._report({"uris": uris})
        if report is None:
            return None
        return await to_thread.run_sync(_read, as_list(report.get("items")), paths)

    async def _report(self, params: Json) -> JsonObject | None:
        try:
            return as_object(await self._client.request_own("editor/diagnostics", params))
        except (RemoteError, ConnectionClosed):
            return None


def _read(items: Sequence[object], paths: Sequence[str] | None) -> tuple[Diagnosed, ...]:
    """The items that make sense, of what was asked for. Blocking: follows links, behind which editors name files."""
    asked = {os.path.realpath(path): path for path in paths or ()}
    found: list[Diagnosed] = []
    for item in map(as_object, items):
        uri = None if item is None else item.get("uri")
        path = path_of(uri) if isinstance(uri, str) else None
        if item is None or path is None:
            continue
        name = path if paths is None else asked.get(os.path.realpath(path))
        if name is not None:
            found.append(Diagnosed(name, _diagnostics(item), _settled(item)))
    return tuple(found)


def _settled(item: JsonObject) -> bool | None:
    settled = item.get("settled")
    return settled if isinstance(settled, bool) else None


def _diagnostics(item: JsonObject) -> tuple[Diagnostic, ...]:
    each = map(_diagnostic, as_list(item.get("diagnostics")))
    return tuple(diagnostic for diagnostic in each if diagnostic is not None)


def _diagnostic(given: object) -> Diagnostic | None:
    read = as_object(given) or {}
    start = as_object((as_object(read.get("range")) or {}).get("start")) or {}
    line, message = start.get("line"), read.get("message")
    if not isinstance(line, int) or not isinstance(message, str):
        return None
    source, code = read.get("source"), read.get("code")
    return Diagnostic(
        line,
        _SEVERITIES.get(read.get("severity"), "error"),
        message,
        source if isinstance(source, str) else None,
        str(code) if isinstance(code, int | str) else None,
    )
