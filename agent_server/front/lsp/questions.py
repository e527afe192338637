"""The gate's third form: `window/showMessageRequest`, which every LSP client answers (protocol.md, "The gate").

An edit offers Accept, Reject and Show, which opens the diff and asks again; anything else Allow once, Allow in this
session (where that far is allowed) and Reject. No choice, an error and a word of the client's own are no. The commands
`agent.acceptAll` and `agent.rejectAll` decide open edits too: some editors hide the message after a while.
"""

from collections.abc import Callable

import anyio

from agent_server.edits.unified import unified
from agent_server.front.lsp.pages import Pages
from agent_server.front.params import as_object
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.loop.action import Answer, AnswerKind, Question
from agent_server.loop.model import SessionId
from agent_server.loop.proposal import Proposal

ACCEPT, REJECT, SHOW = "Accept", "Reject", "Show"
ALLOW_ONCE, ALLOW_SESSION = "Allow once", "Allow in this session"
_WARNING, _INFO = 2, 3

_ANSWERS: dict[str, AnswerKind] = {
    ACCEPT: "allow_once",
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
        self._open: dict[str, _Open] = {}
        """Edits that are asked about, by txn."""

    @property
    def open_edits(self) -> tuple[str, ...]:
        """Txns that wait for a decision, oldest first."""
        return tuple(self._open)

    def decide(self, txn: str, *, accept: bool) -> None:
        """Answer an open edit from a command; one that is decided already stays as it is."""
        if (entry := self._open.get(txn)) is not None:
            entry.settle(Answer("allow_once" if accept else "reject"))

    async def ask(self, session: SessionId, question: Question) -> Answer:
        """Ask and wait. Cancelling the wait withdraws the message."""
        proposal = question.proposal
        if proposal is None:
            return await self._ask_once(question, offers(question))
        entry = self._open[proposal.txn] = _Open()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._ask_about, entry, session, question, proposal)
                await entry.settled.wait()
                tasks.cancel_scope.cancel()
        finally:
            del self._open[proposal.txn]
        return entry.answer

    async def _ask_about(
        self, entry: "_Open", session: SessionId, question: Question, proposal: Proposal
    ) -> None:
        while True:
            title = await self._chosen(question, offers(question))
            if title != SHOW:
                entry.settle(_answer(title))
                return
            name = f"{proposal.txn}.diff"
            await self._pages.show(self._cwd_of(session), name, diff_text(proposal))

    async def _ask_once(self, question: Question, titles: tuple[str, ...]) -> Answer:
        return _answer(await self._chosen(question, titles))

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
            return Answer("cancelled", by="disconnect")
        chosen = (as_object(reply) or {}).get("title")
        return chosen if isinstance(chosen, str) and chosen in titles else None


class _Open:
    """An edit that waits."""

    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.answer = Answer("reject")

    def settle(self, answer: Answer) -> None:
        if not self.settled.is_set():
            self.answer = answer
            self.settled.set()


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
    return f"The agent wants to {question.title}{size}{reason}"


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
