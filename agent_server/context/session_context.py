"""A session's view of its context: the frozen prompt and tools, and the pure functions over its log."""

from collections.abc import Sequence

from agent_server.context import compact, measure, wire
from agent_server.context.withheld import without_refused
from agent_server.loop.model import Entry
from agent_server.loop.ports import Compaction, Model, Request, ToolSpec
from agent_server.loop.standing import Standing


class SessionContext:
    """Implements `loop.ports.Context` with bytes that never change during a session (I7)."""

    def __init__(
        self,
        system: str,
        tools: tuple[ToolSpec, ...],
        *,
        protect_last_n: int = compact.PROTECT_LAST_N,
        summariser: Model | None = None,
    ) -> None:
        """Freeze the parts that every request shares. `summariser` is asked before the turn's own model."""
        self._protect_last_n = protect_last_n
        self._summariser = summariser
        self._system = system
        self._tools = tools
        self._projection = wire.Projection()
        self._stands = Standing()
        self._rewound: int | None = None
        """Where the log was taken back for the last time when `_projection` began."""
        self._overhead = measure.overhead_tokens(system, tools)

    def fold(self, entries: Sequence[Entry]) -> None:
        """Do now what the first request would have to: a long past takes a moment."""
        self._projection.of(self._standing(entries))

    def request(
        self,
        entries: Sequence[Entry],
        *,
        nudge: str | None = None,
        tools: bool = True,
        max_output: int | None = None,
    ) -> Request:
        """The next request; its calls are numbered by whoever sends it."""
        return self._request(self._standing(entries), nudge, tools=tools, max_output=max_output)

    def projected_tokens(self, entries: Sequence[Entry]) -> int:
        """Tokens of the next request (R63)."""
        return measure.projected_tokens(self._standing(entries), overhead=self._overhead)

    def compaction(self, entries: Sequence[Entry], *, forced: bool) -> Compaction | None:
        """The cut to make and the request for its summary; None when nothing can be cut."""
        entries = without_refused(self._standing(entries))  # the cut may leave the refusal behind
        upto = compact.choose_cut(entries, forced=forced, protect_last_n=self._protect_last_n)
        if upto is None:
            return None
        before = wire.last_summary(entries)
        past = entries[:upto]
        return Compaction(
            upto,
            self._request(past, compact.INSTRUCTION),
            compact.extract(entries, upto),
            generation=before.generation + 1 if before else 1,
            quote=compact.quoted_task(entries, upto),
            below_chars=4 * measure.tokens_of(past),
            summariser=self._summariser,
        )

    def _standing(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """What stands of the log; what was folded of another past is forgotten."""
        stands = self._stands.of(entries)
        if self._stands.rewound != self._rewound:
            self._rewound, self._projection = self._stands.rewound, wire.Projection()
        return stands

    def _request(
        self,
        entries: Sequence[Entry],
        nudge: str | None,
        *,
        tools: bool = True,
        max_output: int | None = None,
    ) -> Request:
        return Request(
            self._system,
            self._projection.of(entries, nudge=nudge),
            self._tools if tools else (),
            reply_number=0,
            max_output=max_output,
        )
