"""The gate's third form: `window/showMessageRequest`, which every LSP client answers (protocol.md, "The gate").

An edit offers Accept, Reject and Show, which opens the diff and asks again; anything else Allow once, Allow in this
session (where that far is allowed) and Reject. No choice, an error and a word of the client's own are no. Commands and
code lenses decide open edits too: some editors hide the message after a while. Accept and Reject are then about what
is left.
"""

from collections.abc import Callable
from pathlib import Path

import anyio

from agent_server.edits.unified import unified
from agent_server.front.hidden_characters import printable_line
from agent_server.front.lsp.pages import Pages
from agent_server.front.params import as_object
from agent_server.front.proposals import Proposals
from agent_server.front.render.calls import hidden_in
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.shown_edit import ShownEdit
from agent_server.loop.action import Answer, AnswerKind, Question
from agent_server.loop.model import SessionId
from agent_server.loop.proposal import Proposal

ACCEPT, REJECT, SHOW = "Accept", "Reject", "Show"
ALLOW_ONCE, ALLOW_SESSION = "Allow once", "Allow in this session"
_WARNING, _INFO = 2, 3

_ANSWERS: dict[str, AnswerKind] = {
    ALLOW_ONCE: "allow_once",
    ALLOW_SESSION: "allow_session",
    REJECT: "reject",
}


class MessageQuestions:
    """Questions that are open as messages. One per connection."""

    def __init__(
        self, connection: Connection, pages: Pages, cwd_of: Callable[[SessionId], str]
    ) -> None:
        """`cwd_of` tells where a session works: diffs are shown from there."""
        self._connection = connection
        self._pages = pages
        self._cwd_of = cwd_of

    async def ask(self, proposals: Proposals, session: SessionId, question: Question) -> Answer:
        """Ask and wait; an edit can be decided in `proposals` meanwhile. Cancelling the wait withdraws the message."""
        if question.proposal is None:
            return _answer(await self._chosen(question, offers(question)))
        entry = proposals.open(session, question)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._ask_about, proposals, entry, question)
                await entry.decided.wait()
                tasks.cancel_scope.cancel()
        finally:
            proposals.withdraw(entry)
        return entry.answer or Answer("reject")

    async def _ask_about(self, proposals: Proposals, entry: ShownEdit, question: Question) -> None:
        while True:
            title = await self._chosen(question, offers(question))
            if isinstance(title, Answer):
                entry.settle(title)
                return
            if title != SHOW:
                proposals.finish(entry, accept=title == ACCEPT)
                return
            name, diff = f"{entry.proposal.txn}.diff", diff_text(entry.proposal)
            await self._pages.show(self._cwd_of(entry.session), name, diff)

    async def _chosen(self, question: Question, titles: tuple[str, ...]) -> str | Answer | None:
        """The title that was chosen, None for none, or the answer that follows from having no client."""
        params = {
            "type": _WARNING if question.decision.floor else _INFO,
            "message": sentence(question),
            "actions": [{"title": title} for title in titles],
        }
        try:
            reply = await self._connection.request("window/showMessageRequest", params)
        except RemoteError:
            return None
        except ConnectionClosed:
            return Answer("cancelled", by="disconnect", left_open=True)
        chosen = (as_object(reply) or {}).get("title")
        return chosen if isinstance(chosen, str) and chosen in titles else None


def offers(question: Question) -> tuple[str, ...]:
    """The buttons, in their order."""
    if question.proposal is not None:
        return (ACCEPT, REJECT, SHOW)
    if "session" in question.scopes:
        return (ALLOW_ONCE, ALLOW_SESSION, REJECT)
    return (ALLOW_ONCE, REJECT)


def sentence(question: Question) -> str:
    """What is asked, and why."""
    size = "" if question.proposal is None else f" ({_size(question.proposal)})"
    reason = f": {question.decision.reason}" if question.decision.reason else ""
    note = hidden_in(question)
    hidden = "" if note is None else f". Look closely: it {note}"
    return f"The agent wants to {printable_line(_wanted(question))}{size}{printable_line(reason)}{hidden}"


def _wanted(question: Question) -> str:
    """The title, but for the review of a turn, whose title is the person's part."""
    if question.proposal is None or question.action.tool != "review":
        return question.title
    return f"change {', '.join(Path(file.path).name for file in question.proposal.files)}"


def diff_text(proposal: Proposal) -> str:
    """The proposal as one unified diff, for eyes."""
    return "".join(unified(change) for change in proposal.files)


def _size(proposal: Proposal) -> str:
    hunks = [hunk for change in proposal.files for hunk in change.hunks]
    added, removed = (sum(len(h.added) for h in hunks), sum(len(h.removed) for h in hunks))
    return f"+{added} -{removed}"


def _answer(chosen: str | Answer | None) -> Answer:
    if isinstance(chosen, Answer):
        return chosen
    return Answer(_ANSWERS.get(chosen or "", "reject"))
