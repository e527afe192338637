"""The commands about edits: decide on them, look at them, take them back. Each returns at once."""

import logging

import anyio.abc

from agent_server.front.front import Front
from agent_server.front.lsp.background import finish
from agent_server.front.lsp.commands import one_object
from agent_server.front.lsp.current import Current
from agent_server.front.lsp.messages import INFO, WARNING, show_message
from agent_server.front.lsp.pages import Pages
from agent_server.front.lsp.protocol import Command
from agent_server.front.lsp.questions import diff_text
from agent_server.front.protocol.commands import HunkCommand, ReviewCommand, UndoCommand
from agent_server.front.protocol.parse import parse_params
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.shown_edit import ShownEdit
from agent_server.front.uris import display_name, file_uri
from agent_server.front.verdicts import Verdict
from agent_server.loop.proposal import FileChange
from agent_server.session.edits import SessionEdits
from agent_server.session.session import Session

logger = logging.getLogger(__name__)


class ReviewCommands:
    """Whichever way the person is asked about an edit, as a message or as a proposal that the client shows."""

    def __init__(
        self, front: Front, current: Current, pages: Pages, tasks: anyio.abc.TaskGroup
    ) -> None:
        """`tasks` live as long as the connection."""
        self._front = front
        self._current = current
        self._pages = pages
        self._tasks = tasks

    def table(self) -> dict[str, Command]:
        """By name."""
        return {
            "agent.showChanges": self.show_changes,
            "agent.acceptAll": self.accept_all,
            "agent.rejectAll": self.reject_all,
            "agent.acceptHunk": self.accept_hunk,
            "agent.rejectHunk": self.reject_hunk,
            "agent.undo": self.undo,
        }

    async def show_changes(self, argument: object = None) -> None:
        """Show the edit that is named, else those that wait for a decision, else the last one."""
        wanted = parse_params(ReviewCommand, one_object(argument))
        proposals = self._front.peer.proposals
        if wanted.txn is not None:
            shown: tuple[ShownEdit, ...] = (proposals.find(wanted.txn),)
        else:
            shown = proposals.undecided or (() if proposals.last is None else (proposals.last,))
        if not shown:
            self._say("There is no change of the agent's to show")
        for entry in shown:
            self._tasks.start_soon(finish, self._front.peer.connection, self._show, entry)

    async def accept_all(self, argument: object = None) -> None:
        """Say yes to the open edits, or to the one that is named."""
        self._decide_all(argument, accept=True)

    async def reject_all(self, argument: object = None) -> None:
        """Say no to them."""
        self._decide_all(argument, accept=False)

    async def accept_hunk(self, argument: object = None) -> None:
        """Say yes to one hunk of an open edit."""
        await self._decide_hunk(argument, accept=True)

    async def reject_hunk(self, argument: object = None) -> None:
        """Say no to it."""
        await self._decide_hunk(argument, accept=False)

    async def undo(self, argument: object = None) -> None:
        """Take the session's last edit back, or all of its last turn's. The undoing can be undone by a restore."""
        wanted = parse_params(UndoCommand, one_object(argument))
        session = await self._current.session(wanted.session_id)
        self._tasks.start_soon(
            finish, self._front.peer.connection, self._undo, session, wanted.turn
        )

    # ---- inside ------------------------------------------------------------------------------------

    def _decide_all(self, argument: object, *, accept: bool) -> None:
        wanted = parse_params(ReviewCommand, one_object(argument)).txn
        proposals = self._front.peer.proposals
        undecided = proposals.undecided
        for entry in undecided:
            txn = entry.proposal.txn
            if accept and wanted is None and len(undecided) > 1 and _is_floor(entry):
                self._say(f"{_names(entry)} is asked about by itself: {_reason(entry)}")
            elif wanted in (None, txn):
                everything = [Verdict(accept)]
                proposals.resolve(txn, entry.revision, everything, remember="once", feedback=None)

    async def _decide_hunk(self, argument: object, *, accept: bool) -> None:
        wanted = parse_params(HunkCommand, one_object(argument))
        proposals = self._front.peer.proposals
        seen = wanted.revision
        revision = proposals.find(wanted.txn).revision if seen is None else seen
        verdict = Verdict(accept, wanted.uri, wanted.hunk)
        proposals.resolve(wanted.txn, revision, [verdict], remember="once", feedback=None)
        await proposals.keep_decisions(wanted.txn)

    async def _show(self, entry: ShownEdit) -> None:
        """In the client's own diff view where it has one, else as text."""
        proposal = entry.proposal
        peer = self._front.peer
        if peer.capabilities.open_diff:
            files = [_file(change) for change in proposal.files]
            params = {"sessionId": entry.session, "txn": proposal.txn, "files": files}
            try:
                await peer.connection.request("agent/editor/openDiff", params)
            except (RemoteError, ConnectionClosed) as error:
                logger.warning("the editor did not show edit %s: %s", proposal.txn, error)
            return
        cwd = self._front.sessions.get(entry.session).cwd
        await self._pages.show(cwd, f"{proposal.txn}.diff", diff_text(proposal))

    async def _undo(self, session: Session, turn: bool) -> None:
        edits = SessionEdits(session)
        rewound = await edits.undo(turn=turn)
        for left in rewound.left:
            text = f"{display_name(left.path)} was left as it is: {left.why}"
            show_message(self._front.peer.connection, WARNING, text)
        if rewound.changes:
            names = ", ".join(display_name(change.path) for change in rewound.changes)
            note = edits.not_covered(rewound)
            self._say(f"Taken back: {names}" + (f"; {note}" if note else ""))

    def _say(self, sentence: str) -> None:
        show_message(self._front.peer.connection, INFO, sentence)


def _file(change: FileChange) -> dict[str, object]:
    old = change.old_path
    return {
        "uri": file_uri(change.path),
        "oldUri": None if old is None else file_uri(old),
        "kind": change.kind,
    }


def _is_floor(entry: ShownEdit) -> bool:
    """Whether nothing but a yes to this very edit is enough."""
    return entry.question is not None and entry.question.decision.floor


def _reason(entry: ShownEdit) -> str:
    return "" if entry.question is None else entry.question.decision.reason


def _names(entry: ShownEdit) -> str:
    return ", ".join(display_name(change.path) for change in entry.proposal.files)
