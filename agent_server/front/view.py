"""What one client sees of one session: events in, updates out. Holds only what the next update depends on."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from agent_server.front.blocks import Json
from agent_server.front.cards import Cards
from agent_server.front.proposals import Proposals
from agent_server.front.render import calls, status, updates
from agent_server.front.rpc.dispatch import FollowUp
from agent_server.front.stream import Stream
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
from agent_server.session.builtin.registry import COMMANDS


class View:
    """Turns a session's events into updates for one client, in the order in which they come."""

    def __init__(self, stream: Stream, proposals: Proposals) -> None:
        self.stream = stream
        self._proposals = proposals
        self._cards = Cards(stream)
        self._turn: TurnId | None = None
        """The turn that is being shown; None between turns."""
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
        """What directly follows the answer to new or load: notices, the commands and, once, the idle status.

        `per_second` is what the settings say of growing texts (`Stream.pace`).
        """
        self.stream.pace(per_second)
        told: list[Json] = []
        if self.stream.capabilities.notices:
            told += map(updates.notice, notices)
        else:
            self._later.extend(notices)
        shown = self.follow_up([*told, updates.available_commands(COMMANDS)])
        return (*shown, *self.stream.status_follow_up(status.idle_status(self.stream.session)))

    def follow_up(self, shown: list[Json]) -> tuple[FollowUp, ...]:
        """Updates to be sent right behind the answer to a request."""
        return self.stream.follow_up(shown, turn=self._turn)

    def show(self, event: Event) -> None:
        """Show one event."""
        match event:
            case TextDelta() | ThoughtDelta() | TextDiscarded() | UserSaid():
                self._said(event)
            case CallPending():
                self._enter(event.turn, speaking=True)
                self._cards.show(event)
            case CallGrowing() | CallStarted() | CallProgress() | CallFinished():
                self._cards.show(event)
            case StateChanged(turn=turn, state=state):
                if state != "done":
                    self._enter(turn)
                    self.stream.status(status.state_status(self.stream.session, event))
            case TurnDone():
                self._done(event)
            case PlanChanged(turn, items):
                self._update(turn, updates.plan(items))
            case UsageChanged(turn=turn):
                self._update(turn, updates.usage(event))
            case TitleChanged(title):
                self._update(self._turn, updates.title(title))
            case Retrying() | ModelSwitched() | Notice():
                self._notice(updates.as_notice(event))
            case EditChanged():
                self._proposals.changed(self.stream, event, self._cards.of_edit(event))
            case ConfirmationRequired() | StepFinished():
                pass  # the question goes out through `ask`; a step is seen by what it consists of
            case _:
                assert_never(event)

    def introduce(self, question: Question) -> ToolKind | None:
        """Make sure that the client knows the call it is asked about (rule 29); the kind it was shown with."""
        return self._cards.introduce(question, self._turn)

    def waits_for_person(self, key: CallKey) -> None:
        """A running call asks the person something: it is shown as pending until they answer."""
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

    def _said(self, event: TextDelta | ThoughtDelta | TextDiscarded | UserSaid) -> None:
        match event:
            case TextDelta(turn, message_id, text):
                self._enter(turn, speaking=True)
                self.stream.delta(updates.message_chunk, message_id, text, turn=turn)
            case ThoughtDelta(turn, message_id, text):
                self._enter(turn, speaking=True)
                self.stream.delta(updates.thought_chunk, message_id, text, turn=turn)
            case TextDiscarded(turn=turn):
                self._update(turn, updates.discarded(event))
            case UserSaid(turn, message_id, parts):
                for chunk in updates.user_chunks(message_id, parts):
                    self._update(turn, chunk)

    def _done(self, event: TurnDone) -> None:
        if event.reason is DoneReason.ERROR and event.message and self.spoke(event.turn):
            self._update(event.turn, updates.message_chunk(f"end-{event.turn}", event.message))
        self._cards.drop(event.turn)
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
