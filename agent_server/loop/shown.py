"""What the person has already seen of the reply that is being streamed."""

from dataclasses import field

from agent_server.frozen import mutable
from agent_server.loop.early import Early
from agent_server.loop.events import (
    CallFinished,
    CallGrowing,
    CallPending,
    TextDelta,
    TextDiscarded,
    ThoughtDelta,
)
from agent_server.loop.model import CallKey, PartialEntry, Reply, ToolResult
from agent_server.loop.ports import (
    CallClosed,
    CallOpened,
    CallPiece,
    Piece,
    ReasoningPiece,
    TextPiece,
)
from agent_server.loop.turn import Turn


@mutable
class Shown:
    """Receives the pieces of one attempt, shows them, and takes them back when the attempt fails."""

    turn: Turn
    number: int
    early: Early | None = None
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
            case CallClosed(call):
                self.open_call(call.key.index, call.name)
                if self.early is not None:
                    self.early.offer(call)
            case CallPiece(index, text):
                if index in self.calls:
                    key = CallKey(self.number, index)
                    self.turn.emit(CallGrowing(self.turn.id, key, text))

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

    async def break_off(self) -> None:
        """Close the calls and keep the text that was shown, for people; it never goes back to a model (R136)."""
        self.close_calls()
        if self.text:
            await self.turn.log.append(PartialEntry(self.turn.id, "".join(self.text)))

    def _close(self, index: int) -> None:
        text = "not run: the answer broke off"
        result = ToolResult(False, text, code="discarded", summary="discarded")
        key = CallKey(self.number, index)
        self.turn.emit(CallFinished(self.turn.id, key, self.calls[index], result, "none"))
