"""Streaming: one request, its pieces shown as they come, its reply judged and logged."""

from dataclasses import dataclass, field

import anyio

from agent_server.loop.errors import ModelFailure, StoreFailure
from agent_server.loop.events import (
    CallFinished,
    CallPending,
    Retrying,
    TextDelta,
    TextDiscarded,
    ThoughtDelta,
    UsageChanged,
)
from agent_server.loop.model import CallKey, DoneReason, PartialEntry, Reply, ReplyEntry, ToolResult
from agent_server.loop.ports import (
    CallClosed,
    CallOpened,
    CallPiece,
    Piece,
    ReasoningPiece,
    Request,
    TextPiece,
)
from agent_server.loop.recover import Retry, fault_of, recovery
from agent_server.loop.states import Compacting, Done, Executing, State, Streaming, Thinking
from agent_server.loop.turn import Turn


async def streaming(t: Turn, state: Streaming) -> State:
    """Exactly one request (R2). A failure becomes a retry, a compaction or an end by the one table in `recover`."""
    number = next(t.numbers)
    shown = Shown(t, number)
    try:
        reply = await t.model.stream(_numbered(state.request, number), shown.receive)
    except ModelFailure as failure:
        return await _failed(t, state, failure, shown)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await shown.break_off()
        raise
    if (failure := fault_of(reply)) is not None:
        t.usage += reply.usage
        return await _failed(t, state, failure, shown)
    return await _accept(t, state, number, reply, shown)


def _numbered(request: Request, number: int) -> Request:
    return Request(
        request.system,
        request.messages,
        request.tools,
        reply_number=number,
        max_output=request.max_output,
    )


async def _accept(t: Turn, state: Streaming, number: int, reply: Reply, shown: "Shown") -> State:
    with anyio.CancelScope(shield=True):
        try:
            await t.log.append(ReplyEntry(t.id, number, reply))
        except StoreFailure:
            shown.close_calls()
            raise
    t.steps += 1
    t.tries.clear()
    t.usage += reply.usage
    t.emit(
        UsageChanged(
            t.id, reply.usage.input + reply.usage.output, t.model.window, t.before + t.usage
        )
    )
    if state.last:
        return Done(DoneReason.MAX_TURNS, "summary", f"stopped after {t.steps - 1} steps")
    if reply.calls:
        shown.announce(reply)
        return Executing(number)
    if t.inbox:
        return Thinking()
    if reply.finish == "content_filter":
        return Done(DoneReason.MODEL_STOP, "refusal", f"{reply.model} refused to go on")
    if reply.finish == "interrupted":
        return Done(DoneReason.MODEL_STOP, "text", f"the answer of {reply.model} broke off here")
    return Done(DoneReason.MODEL_STOP, "truncated" if reply.finish == "length" else "text")


async def _failed(t: Turn, state: Streaming, failure: ModelFailure, shown: "Shown") -> State:
    t.tries[failure.fault] += 1
    match recovery(t, failure, can_compact=not state.last):
        case Retry(delay_s=delay_s, nudge=nudge):
            shown.discard()
            t.emit(
                Retrying(t.id, failure.fault.value, t.tries[failure.fault], delay_s, str(failure))
            )
            await anyio.sleep(delay_s)
            return Thinking(nudge)
        case Compacting() as compacting:
            shown.discard()
            return compacting
        case Done() as done:
            await shown.break_off()
            return done


@dataclass(slots=True)
class Shown:
    """What the person has already seen of the reply that is being streamed."""

    turn: Turn
    number: int
    text: list[str] = field(default_factory=list[str])
    calls: dict[int, str] = field(default_factory=dict[int, str])
    """Opened calls by index, with the tool's name."""

    @property
    def message_id(self) -> str:
        """Of the visible text; a new one after a failed attempt, because chunks cannot be taken back."""
        return f"message-{self.number}"

    def receive(self, piece: Piece) -> None:
        """Show one piece. On the hot path of every delta."""
        match piece:
            case TextPiece(text):
                self.text.append(text)
                self.turn.emit(TextDelta(self.turn.id, self.message_id, text))
            case ReasoningPiece(text):
                self.turn.emit(ThoughtDelta(self.turn.id, f"thought-{self.number}", text))
            case CallOpened(index, name):
                self.open_call(index, name)
            case CallPiece() | CallClosed():
                pass

    def open_call(self, index: int, name: str) -> None:
        """Announce a call as soon as its name is known (R145)."""
        if index in self.calls:
            return
        self.calls[index] = name
        tool = self.turn.tools.get(name)
        kind = tool.kind if tool is not None else "other"
        self.turn.emit(CallPending(self.turn.id, CallKey(self.number, index), name, name, kind))

    def announce(self, reply: Reply) -> None:
        """Make sure that every call of the reply is announced, whatever the stream said, and close the others."""
        for call in reply.calls:
            self.open_call(call.key.index, call.name)
        real = {call.key.index for call in reply.calls}
        for index in [i for i in self.calls if i not in real]:
            self._close(index)

    def discard(self) -> None:
        """The attempt is void: say so of its text and its calls (R51)."""
        if self.text:
            self.turn.emit(TextDiscarded(self.turn.id, self.message_id))
        self.close_calls()

    def close_calls(self) -> None:
        """Finish the calls of a reply that never became one."""
        for index in self.calls:
            self._close(index)

    def _close(self, index: int) -> None:
        result = ToolResult(
            False, "not run: the answer broke off", code="discarded", summary="discarded"
        )
        key = CallKey(self.number, index)
        self.turn.emit(CallFinished(self.turn.id, key, self.calls[index], result, "none"))

    async def break_off(self) -> None:
        """Close the calls and keep the text that was shown, for people; it never goes back to a model (R136)."""
        self.close_calls()
        if self.text:
            await self.turn.log.append(PartialEntry(self.turn.id, "".join(self.text)))
