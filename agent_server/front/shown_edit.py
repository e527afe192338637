"""One edit as a client knows it: what it was shown, what was decided about it so far, and how it stands."""

from collections.abc import Callable

import anyio

from agent_server.front.blocks import Json
from agent_server.front.render import edits
from agent_server.front.render.calls import hidden_in
from agent_server.front.uris import path_of
from agent_server.front.verdicts import Decided, Verdicts
from agent_server.frozen import frozen
from agent_server.loop.action import Answer, AnswerKind, Question, Scope
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import SessionId
from agent_server.loop.proposal import EditState, FileChange, Proposal

_ANSWERS: dict[Scope, AnswerKind] = {
    "once": "allow_once",
    "session": "allow_session",
    "workspace": "allow_workspace",
}


@frozen
class Appearance:
    """Under what a client is shown an edit."""

    call_id: str
    turn: str | None
    review: edits.Review


class ShownEdit:
    """See the module."""

    def __init__(
        self,
        session: SessionId,
        proposal: Proposal,
        question: Question | None = None,
        appearance: Appearance | None = None,
    ) -> None:
        self.session = session
        self.proposal = proposal
        self.appearance = appearance or Appearance("", None, "ask")
        self.state: EditState = "proposed"
        self.revision = proposal.revision
        self.question = question
        """None: applied without one, shown for review."""
        self.verdicts = Verdicts(proposal)
        self.answer: Answer | None = None
        """Set once; afterwards nothing can be decided any more."""
        self.decided = anyio.Event()
        self.take_up: Callable[[Answer], None] | None = None
        """A dead process had left it open: nobody waits for the answer, this hears it."""

    def settle(self, answer: Answer) -> None:
        """What is decided; the first answer counts."""
        if self.answer is None:
            self.answer = answer
            self.decided.set()
            if self.take_up is not None:
                self.take_up(answer)

    def weigh(self, remember: Scope, feedback: str | None) -> Decided:
        """After more was said: the answer, once nothing is undecided."""
        self.revision += 1
        state = self.verdicts.state
        if state != "proposed":
            kind = _ANSWERS[remember] if state == "approved" else "reject"
            resolution = self.verdicts.resolution() if state == "approved" else None
            self.settle(Answer(kind, resolution, feedback))
        return state

    @property
    def shown(self) -> Json:
        """The whole proposal as it is now, the params of `edit/proposed`."""
        question, appearance = self.question, self.appearance
        return edits.proposed(
            self.session,
            self.proposal,
            call_id=appearance.call_id,
            turn=appearance.turn,
            revision=self.revision,
            review=appearance.review,
            reason=_reason(question),
            scopes=question.scopes if question else ("once",),
        )

    def file(self, uri: str) -> FileChange:
        """The change of one file.

        Raises:
            ClientMistake: there is none.
        """
        path = path_of(uri)
        for change in self.proposal.files:
            if change.path == path:
                return change
        raise ClientMistake(f"edit {self.proposal.txn!r} does not change {uri}")


def _reason(question: Question | None) -> str | None:
    """Why it is asked, and what in it cannot be seen."""
    if question is None:
        return None
    note = hidden_in(question)
    said = [question.decision.reason, "" if note is None else f"look closely: it {note}"]
    return "; ".join(filter(None, said)) or None
