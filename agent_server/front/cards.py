"""A session's tool calls as one client has been shown them: a card each, opened once, always ended (rule 29)."""

from typing import assert_never

from agent_server.front.blocks import Json
from agent_server.front.render import calls
from agent_server.front.stream import Stream
from agent_server.frozen import mutable
from agent_server.loop.action import Question
from agent_server.loop.events import (
    CallFinished,
    CallGrowing,
    CallPending,
    CallProgress,
    CallStarted,
    EditChanged,
)
from agent_server.loop.model import CallKey, ToolKind, TurnId
from agent_server.loop.proposal import Proposal

CallEvent = CallPending | CallGrowing | CallStarted | CallProgress | CallFinished


@mutable
class OpenCall:
    """A call that has not ended."""

    kind: ToolKind | None = None
    proposal: Proposal | None = None
    output: str = ""
    """The end of what the running tool printed."""
    tool: str = ""
    beginning: str | None = ""
    """Of its arguments, while what it is about cannot be told from them yet."""


class Cards:
    """See the module. Holds only what the next update of a call depends on."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._open: dict[str, OpenCall] = {}
        """By the call's id on the wire."""

    def show(self, event: CallEvent) -> None:
        """Show one event of a call."""
        match event:
            case CallPending():
                self._pending(event)
            case CallGrowing():
                self._growing(event)
            case CallStarted(turn=turn):
                self._update(turn, calls.call_started(event))
            case CallProgress(turn, key, text):
                self._progress(turn, key, text)
            case CallFinished(turn=turn, key=key):
                call = self._open.pop(str(key), OpenCall())
                self._update(turn, calls.call_finished(event, call.proposal))
            case _:
                assert_never(event)

    def introduce(self, question: Question, turn: TurnId | None) -> ToolKind | None:
        """Make sure that the client knows the call it is asked about; the kind it was shown with."""
        call = self._open.get(question.call_id)
        if call is None:
            call = self._open[question.call_id] = OpenCall(None, question.proposal)
            self._update(turn, calls.call_asked(question))
        return call.kind

    def drop(self, turn: TurnId) -> None:
        """End what is still open; nothing, if the loop keeps its law. A client would wait for each for ever."""
        for call_id in self._open:
            self._update(turn, calls.call_dropped(call_id))
        self._open.clear()

    def of_edit(self, event: EditChanged) -> str:
        """The id of the call that an edit belongs to; empty when the client saw none."""
        if event.key is not None:
            return str(event.key)
        for name, call in self._open.items():
            if call.proposal is not None and call.proposal.txn == event.proposal.txn:
                return name
        return ""

    def _pending(self, event: CallPending) -> None:
        call = self._open.get(str(event.key))
        if call is None:
            self._open[str(event.key)] = OpenCall(event.kind, event.proposal, tool=event.tool)
            self._update(event.turn, calls.call_opened(event))
            return
        call.proposal = event.proposal or call.proposal
        call.beginning = None
        self._update(event.turn, calls.call_understood(event))

    def _growing(self, event: CallGrowing) -> None:
        """Never the whole again: pieces to clients of ours, and to all of them a title as soon as there is one."""
        call = self._open.get(str(event.key))
        if call is None:
            return
        if self._stream.capabilities.own:
            chunk = calls.arguments_chunk
            self._stream.delta(chunk, str(event.key), event.text, turn=event.turn)
        if call.beginning is None:
            return
        call.beginning += event.text
        what = calls.first_object(call.beginning)
        if what is not None:
            self._update(event.turn, calls.call_named(event.key, call.tool, what))
        if what is not None or len(call.beginning) > calls.LONGEST_BEGINNING:
            call.beginning = None

    def _progress(self, turn: TurnId, key: CallKey, text: str) -> None:
        call = self._open.setdefault(str(key), OpenCall())
        call.output = (call.output + text)[-calls.OUTPUT_TAIL :]
        self._stream.state(calls.call_progress, str(key), call.output, turn=turn)

    def _update(self, turn: TurnId | None, update: Json) -> None:
        self._stream.update(update, turn=turn)
