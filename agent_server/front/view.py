"""What one client sees of one session: events in, updates out. Holds only what the next update depends on."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from agent_server.front.blocks import Json
from agent_server.front.proposals import Proposals
from agent_server.front.render import calls, status, updates
from agent_server.front.rpc.dispatch import FollowUp
from agent_server.front.stream import Stream
from agent_server.frozen import mutable
from agent_server.loop.action import Question
from agent_server.loop.events import (
    CallFinished,
    CallGrowing,
    CallPending,
    CallProgress,
    CallStarted,
    ConfirmationRequired,
    EditChanged,
    Event,
    ModelSwitched,
    Notice,
    PlanChanged,
    Retrying,
    StateChanged,
    StepFinished,
    TextDelta,
    TextDiscarded,
    ThoughtDelta,
    TitleChanged,
    TurnDone,
    UsageChanged,
    UserSaid,
)
from agent_server.loop.model import CallKey, DoneReason, ToolKind, TurnId
from agent_server.loop.proposal import Proposal


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


class View:
    """Shows a session's events to one client, in the order they come."""

    def __init__(self, stream: Stream, proposals: Proposals) -> None:
        self.stream = stream
        self._proposals = proposals
        self._calls: dict[str, OpenCall] = {}
        self._turn: TurnId | None = None
        """The turn whose events come; None between turns."""
        self._spoke: TurnId | None = None
        """The last turn of which the client saw something of the agent."""
        self._later: list[Notice] = []
        """For a client without notices: shown in the next turn, because nothing may be said outside one (rule 17)."""
        self._notices = 0

    def spoke(self, turn: TurnId) -> bool:
        """Whether the client saw anything of the agent in that turn; otherwise its failure is an error's to tell."""
        return self._spoke == turn

    def replay(self, shown: Iterable[Json], title: str | None) -> None:
        """A stored conversation, and its title."""
        for update in shown:
            self.stream.update(update, turn=None)
        if title is not None:
            self.stream.update(updates.title(title), turn=None)

    def begin(self, notices: Sequence[Notice], *, per_second: int) -> tuple[FollowUp, ...]:
        """What directly follows the answer to new or load: notices and, once, the idle status.

        `per_second` is what the settings say of growing texts (`Stream.pace`).
        """
        self.stream.pace(per_second)
        if self.stream.capabilities.notices:
            shown = self.follow_up([updates.notice(one) for one in notices])
        else:
            shown = ()
            self._later.extend(notices)
        return (*shown, *self.stream.status_follow_up(status.idle_status(self.stream.session)))

    def follow_up(self, shown: list[Json]) -> tuple[FollowUp, ...]:
        """Updates to be sent right behind the answer to a request."""
        return self.stream.follow_up(shown, turn=self._turn)

    def show(self, event: Event) -> None:  # a flat table
        """Show one event."""
        match event:
            case TextDelta(turn, message_id, text):
                self._enter(turn, speaking=True)
                self.stream.delta(updates.message_chunk, message_id, text, turn=turn)
            case ThoughtDelta(turn, message_id, text):
                self._enter(turn, speaking=True)
                self.stream.delta(updates.thought_chunk, message_id, text, turn=turn)
            case CallPending():
                self._enter(event.turn, speaking=True)
                self._pending(event)
            case CallStarted():
                self._update(event.turn, calls.call_started(event))
            case CallGrowing():
                self._growing(event)
            case CallProgress(turn, key, text):
                self._progress(turn, key, text)
            case CallFinished():
                call = self._calls.pop(str(event.key), OpenCall())
                self._update(event.turn, calls.call_finished(event, call.proposal))
            case StateChanged(turn=turn, state=state):
                if state != "done":
                    self._enter(turn)
                    self.stream.status(status.state_status(self.stream.session, event))
            case TurnDone():
                self._done(event)
            case UserSaid(turn, message_id, parts):
                for chunk in updates.user_chunks(message_id, parts):
                    self._update(turn, chunk)
            case TextDiscarded(turn=turn):
                self._update(turn, updates.discarded(event))
            case PlanChanged(turn, items):
                self._update(turn, updates.plan(items))
            case UsageChanged(turn=turn):
                self._update(turn, updates.usage(event))
            case Retrying():
                self._notice(updates.retrying(event))
            case ModelSwitched():
                self._notice(updates.model_switched(event))
            case Notice():
                self._notice(event)
            case TitleChanged(title):
                self._update(self._turn, updates.title(title))
            case EditChanged():
                self._proposals.changed(self.stream, event, self._call_of(event))
            case ConfirmationRequired():
                pass  # the question itself goes out through `ask`
            case StepFinished():
                pass  # seen by what it consists of: the text, and each call's end
            case _:
                assert_never(event)

    def introduce(self, question: Question) -> ToolKind | None:
        """Make sure that the client knows the call it is asked about (rule 29); the kind it was shown with."""
        call = self._calls.get(question.call_id)
        if call is None:
            call = self._calls[question.call_id] = OpenCall(None, question.proposal)
            self._update(self._turn, calls.call_asked(question))
        return call.kind

    def waits_for_person(self, key: CallKey) -> None:
        """A call that runs asks the person something of its own: until they answer it is pending again."""
        self._update(self._turn, calls.call_waits(key))

    @property
    def turn(self) -> TurnId | None:
        """The turn that is being shown."""
        return self._turn

    def _update(self, turn: TurnId | None, update: Json) -> None:
        self.stream.update(update, turn=turn)

    def _enter(self, turn: TurnId, *, speaking: bool = False) -> None:
        self._turn = turn
        if speaking:
            self._spoke = turn
        if self._later:
            waiting, self._later = self._later, []
            for notice in waiting:
                self._notice(notice)

    def _pending(self, event: CallPending) -> None:
        call = self._calls.get(str(event.key))
        if call is None:
            self._calls[str(event.key)] = OpenCall(event.kind, event.proposal, tool=event.tool)
            self._update(event.turn, calls.call_opened(event))
            return
        call.proposal = event.proposal or call.proposal
        call.beginning = None
        self._update(event.turn, calls.call_understood(event))

    def _growing(self, event: CallGrowing) -> None:
        """Never the whole again: pieces to clients of ours, and to all of them a title as soon as there is one."""
        call = self._calls.get(str(event.key))
        if call is None:
            return
        if self.stream.capabilities.own:
            chunk = calls.arguments_chunk
            self.stream.delta(chunk, str(event.key), event.text, turn=event.turn)
        if call.beginning is None:
            return
        call.beginning += event.text
        what = calls.first_object(call.beginning)
        if what is not None:
            self._update(event.turn, calls.call_named(event.key, call.tool, what))
        if what is not None or len(call.beginning) > calls.LONGEST_BEGINNING:
            call.beginning = None

    def _progress(self, turn: TurnId, key: CallKey, text: str) -> None:
        call = self._calls.setdefault(str(key), OpenCall())
        call.output = (call.output + text)[-calls.OUTPUT_TAIL :]
        self.stream.state(calls.call_progress, str(key), call.output, turn=turn)

    def _done(self, event: TurnDone) -> None:
        if event.reason is DoneReason.ERROR and event.message and self.spoke(event.turn):
            self._update(event.turn, updates.message_chunk(f"end-{event.turn}", event.message))
        for (
            call_id
        ) in self._calls:  # none, if the loop keeps its law: a client waits for each for ever
            self._update(event.turn, calls.call_dropped(call_id))
        self._calls.clear()
        self._turn = None
        self.stream.rest()
        self.stream.status(status.done_status(self.stream.session, event))

    def _notice(self, event: Notice) -> None:
        if self.stream.capabilities.notices:
            self._update(self._turn, updates.notice(event))
        elif self._turn is None:
            self._later.append(event)
        else:
            self._notices += 1
            words = updates.notice_in_words(event, f"notice-{self._notices}")
            self._update(self._turn, words)

    def _call_of(self, event: EditChanged) -> str:
        """The id of the call that an edit belongs to; empty when the client saw none."""
        if event.key is not None:
            return str(event.key)
        for name, call in self._calls.items():
            if call.proposal is not None and call.proposal.txn == event.proposal.txn:
                return name
        return ""
