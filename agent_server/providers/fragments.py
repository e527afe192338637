"""Tool calls put together from fragments, whatever a provider makes of `index` and `id` (ST-01–03, ST-05, ST-18).

What identifies a call, in this order: an id seen before; an index in use; else being the last one. A new call begins
where the id differs and a name comes along, or where a name comes although the call before is whole.
"""

import json
from collections.abc import Callable
from dataclasses import field
from typing import Any, cast

from agent_server.frozen import mutable
from agent_server.loop.model import CallKey, ToolCall
from agent_server.loop.ports import CallClosed, CallOpened, CallPiece, Piece

Json = dict[str, Any]
"""A JSON object as it came: hot paths look into it without checks that cost more than the work."""


@mutable
class _Call:
    at: int
    """Place in the reply."""
    index: int | None
    """As the provider counts, if it does."""
    id: str | None = None
    name: str | None = None
    parts: list[str] = field(default_factory=list[str])
    closed: ToolCall | None = None

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    def whole(self) -> bool:
        """Whether the arguments are a complete JSON object."""
        try:
            return isinstance(json.loads(self.arguments), dict)
        except (ValueError, RecursionError):
            return False


class CallFragments:
    """The calls of one reply. Tells `receive` what opens, grows and closes."""

    def __init__(self, reply_number: int, receive: Callable[[Piece], None]) -> None:
        self._reply = reply_number
        self._receive = receive
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._used: set[str] = set()

    def add(self, fragment: Json) -> None:
        """Take one entry of a delta's `tool_calls`. Fields of an unexpected type count as absent."""
        function = fragment.get("function")
        function = cast("Json", function) if isinstance(function, dict) and function else fragment
        index = _number(fragment.get("index"))
        call_id = _word(fragment.get("id"))
        name = _word(function.get("name"))
        arguments = _text(function.get("arguments"))
        call = self._existing(index, call_id, name, more=bool(arguments))
        if call is None:
            call = self._begin(index)
        if call.closed is None:
            self._grow(call, call_id, name, arguments)

    def close_whole(self) -> None:
        """The provider said that the reply is complete: close every call that is."""
        for call in self._calls:
            if call.closed is None and call.name and (not call.parts or call.whole()):
                self._close(call)

    def calls(self) -> tuple[ToolCall, ...]:
        """All calls, in the order in which they began."""
        return tuple(call.closed or self._made(call) for call in self._calls)

    def __bool__(self) -> bool:
        return bool(self._calls)

    def _existing(
        self, index: int | None, call_id: str | None, name: str | None, *, more: bool
    ) -> _Call | None:
        """The call that a fragment continues; `more` says that it brings arguments."""
        known = self._by_id.get(call_id) if call_id else None
        if known is not None and index in (None, known.index):
            again = index is None and name and more and known.whole()
            return None if again else known
        call = self._candidate(index, anonymous=not (call_id or name))
        if call is None or (name and call.name not in (None, name)):
            return None
        if call_id and call.id is not None:
            # Some providers make up an id per fragment; only with a name it is another call.
            return call if name is None and index is not None and not call.whole() else None
        return None if (call_id or name) and more and call.whole() else call

    def _candidate(self, index: int | None, *, anonymous: bool) -> _Call | None:
        last = self._calls[-1] if self._calls else None
        if index is None:
            return last
        found = self._by_index.get(index)
        if found is None and anonymous and last is not None and last.index is None:
            return last
        return found

    def _begin(self, index: int | None) -> _Call:
        if self._calls:
            self._close_early(self._calls[-1])
        call = _Call(len(self._calls), index)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        return call

    def _grow(self, call: _Call, call_id: str | None, name: str | None, arguments: str) -> None:
        if call_id and call.id is None:
            call.id = call_id
            self._by_id.setdefault(call_id, call)
        if name and call.name is None:
            call.name = name
            self._receive(CallOpened(call.at, name))
            if call.parts:
                self._receive(CallPiece(call.at, call.arguments))
        if arguments:
            call.parts.append(arguments)
            if call.name is not None:
                self._receive(CallPiece(call.at, arguments))

    def _close_early(self, call: _Call) -> None:
        """The next call began. Without an id the call waits: the id may come late, and is kept then."""
        if call.closed is None and call.id and call.name and call.whole():
            self._close(call)

    def _close(self, call: _Call) -> None:
        call.closed = self._made(call)
        self._receive(CallClosed(call.closed))

    def _made(self, call: _Call) -> ToolCall:
        label = call.id or f"call_{self._reply}_{call.at}"
        if label in self._used:
            label = f"{label}-{call.at}"
        self._used.add(label)
        return ToolCall(
            CallKey(self._reply, call.at), label, call.name or "unnamed", call.arguments
        )


def _number(index: object) -> int | None:
    """An index; some providers send it as a string."""
    if isinstance(index, str) and index.isdecimal():
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _word(value: object) -> str | None:
    """A name or an id, which may have come as a number."""
    good = isinstance(value, str | int) and not isinstance(value, bool)
    return (str(value) or None) if good else None


def _text(arguments: object) -> str:
    """Arguments as text: some providers send an object where a string belongs."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
