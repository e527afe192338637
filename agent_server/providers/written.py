"""A conversation as JSON text, written once: each request of a turn begins as the one before did (I7)."""

import json
from collections.abc import Sequence

from agent_server.frozen import frozen
from agent_server.loop.ports import Message, Request
from agent_server.providers import wire
from agent_server.providers.fragments import Json

RUN = 32
"""Messages that are written together: one by one takes three times as long, and a run is written anew as a whole."""


@frozen
class _Run:
    messages: tuple[Message, ...]
    text: str
    """Their JSON, separated by commas."""


class Written:
    """What was written for the last request, for those that begin with the same messages."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._runs: list[_Run] = []
        self._field: str | None = None

    def messages(self, request: Request, model: str) -> str:
        """The array of `wire.messages`."""
        field = wire.reasoning_field(request.messages, model)
        if field != self._field:  # older messages are written otherwise now
            self._field, self._runs = field, []
        at = self._keep(request.messages)
        while at < len(request.messages):
            run = request.messages[at : at + RUN]
            text = dumped([wire.message(one, model, field) for one in run])[1:-1]
            self._runs.append(_Run(run, text))
            at += len(run)
        return f"[{','.join((*map(dumped, wire.system(request)), *(r.text for r in self._runs)))}]"

    def _keep(self, messages: Sequence[Message]) -> int:
        """Forget the runs that do not stand at the beginning; how many messages the others have."""
        at = 0
        for number, run in enumerate(self._runs):
            if not _same(run.messages, messages[at : at + len(run.messages)]):
                del self._runs[number:]
                break
            at += len(run.messages)
        return at


def dumped(value: Json | list[Json]) -> str:
    """As compact as can be; lone surrogates stay."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _same(one: Sequence[Message], two: Sequence[Message]) -> bool:
    """The same objects: they are frozen, so what they say is the same."""
    return len(one) == len(two) and all(a is b for a, b in zip(one, two, strict=True))
