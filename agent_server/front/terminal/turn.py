"""One turn at the terminal: what arrives is shown, questions are answered, Ctrl-C stops it."""

import contextlib
import signal
from collections.abc import Generator
from typing import Final, assert_never

from agent_server.front.rpc.errors import RemoteError
from agent_server.front.terminal.ask import ask
from agent_server.front.terminal.inbound import (
    Asked,
    Ended,
    Gone,
    Inquired,
    Proposed,
    TurnEnd,
    Updated,
    Withdrawn,
)
from agent_server.front.terminal.inquiry import inquire
from agent_server.front.terminal.link import Arrival, Inbox, Interrupted, Link
from agent_server.front.terminal.person import Person, StopTurn
from agent_server.front.terminal.questions import EditQuestion, Picked
from agent_server.front.terminal.review import Review
from agent_server.front.terminal.style import line
from agent_server.front.terminal.transcript import (
    CallItem,
    TextItem,
    Transcript,
    apply,
)
from agent_server.front.terminal.updates import ModeShown, OptionsShown, Update
from agent_server.front.terminal.view import ending
from agent_server.loop.errors import AgentServerError

FRAME_S: Final = 1 / 20
"""Between two frames: the eye sees it flow, and a fast model costs no more than a slow one."""


class ServerGone(AgentServerError):
    """The server ended while it was needed."""


class Quit(Exception):
    """The person pressed Ctrl-C twice."""


class Header:
    """The session's mode and model, which may change at any time."""

    def __init__(self, mode: str, model: str) -> None:
        self.mode = mode
        self.model = model

    def hear(self, update: Update) -> None:
        """Take over what an update says of them."""
        match update:
            case ModeShown(mode):
                self.mode = mode
            case OptionsShown(values):
                self.mode = values.get("mode", self.mode)
                self.model = values.get("model", self.model)
            case _:
                pass


class TurnRun:
    """One prompt until its end."""

    def __init__(self, link: Link, person: Person, session_id: str, header: Header) -> None:
        self._link = link
        self._person = person
        self._page = person.page
        self._session_id = session_id
        self._header = header
        self._began = self._page.clock()
        self._transcript = Transcript(label="Thinking", since=self._began)
        self._cancelled = False
        self._decided = 0
        """Edits decided since the model last spoke: they were proposed together."""

    def run(self, text: str) -> TurnEnd:
        """Send the prompt and see it through.

        Raises:
            ServerGone: it will have no end.
            Quit: the person did not want to wait for it.
        """
        with interrupts(self._link.inbox), self._person.keyboard.quiet():
            self._link.prompt(self._session_id, text)
            while (end := self._frame()) is None:
                self._transcript = self._page.show(self._transcript)
        self._transcript = self._page.show(self._transcript, closed=True)
        self._page.add(ending(end, self._page.clock() - self._began))
        return end

    def _frame(self) -> TurnEnd | None:
        """Take in what arrives in the time of one frame."""
        until = self._page.clock() + FRAME_S
        while (left_s := until - self._page.clock()) > 0:
            if (arrival := self._link.inbox.next(left_s)) is None:
                return None
            if (end := self._handle(arrival)) is not None:
                return end
        return None

    def _handle(self, arrival: Arrival) -> TurnEnd | None:
        match arrival:
            case Updated(update):
                self._update(update)
            case Asked():
                self._ask(arrival)
            case Inquired():
                self._inquire(arrival)
            case Proposed(question):
                self._review(question)
            case Withdrawn():
                pass
            case Interrupted():
                self._stop()
            case Ended(end):
                return end
            case Gone():
                raise ServerGone("the server ended in the middle of the turn")
            case _:
                assert_never(arrival)
        return None

    def _update(self, update: Update) -> None:
        self._header.hear(update)
        self._transcript = apply(self._transcript, update, now=self._page.clock())
        if self._transcript.items and isinstance(self._transcript.items[-1], TextItem):
            self._decided = 0

    def _ask(self, asked: Asked) -> None:
        if self._cancelled:
            self._link.answer(asked.slot, Picked(None))
            return
        self._transcript = self._page.settle(self._transcript)
        try:
            picked = ask(self._person, asked.question)
        except StopTurn:
            picked = Picked(None)
            self._stop()
        self._link.answer(asked.slot, picked)

    def _inquire(self, asked: Inquired) -> None:
        answer = None
        if not self._cancelled:
            self._transcript = self._page.settle(self._transcript)
            try:
                answer = inquire(self._person, asked.inquiry)
            except StopTurn:
                self._stop()
        self._link.answer(asked.slot, answer)

    def _review(self, question: EditQuestion) -> None:
        """Show an edit, and decide it when it is asked; after a cancellation the server has rejected it itself."""
        if self._cancelled:
            return
        self._transcript = self._page.settle(self._transcript)
        review = Review(self._person, question, place=self._place())
        if not question.ask:
            review.show()
            return
        try:
            decided = review.run()
        except StopTurn:
            self._stop()
            return
        self._decided += 1
        if decided is None:
            return
        try:
            self._link.resolve(question, decided)
        except RemoteError as error:
            self._page.add(
                line(("! ", "error"), f"the edit could not be decided: {error}", indent=2)
            )

    def _place(self) -> tuple[int, int]:
        """The how-many-th edit of those that the model proposed together."""
        waiting = sum(
            1
            for item in self._transcript.items
            if isinstance(item, CallItem) and item.kind == "edit" and not item.settled
        )
        return self._decided + 1, self._decided + max(waiting, 1)

    def _stop(self) -> None:
        """Once: cancel the turn. Twice: leave."""
        if self._cancelled:
            raise Quit
        self._cancelled = True
        self._link.cancel(self._session_id)


@contextlib.contextmanager
def interrupts(inbox: Inbox) -> Generator[None]:
    """Ctrl-C becomes an arrival, so that it never tears a frame apart."""

    def arrive(signum: int, frame: object) -> None:
        del signum, frame
        inbox.put(Interrupted())

    before = signal.signal(signal.SIGINT, arrive)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
