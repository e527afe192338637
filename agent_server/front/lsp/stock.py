"""What a client without our messages sees of a session: a line of progress while it works, then the answer.

Progress is for a status bar (lsp.md §2.3): one title, a label at most twice a second, and the person may cancel it. The
answer is a message when it is short, else a page.
"""

from collections.abc import Callable
from typing import Final

import anyio
import anyio.abc

from agent_server.front.asking import WAYS
from agent_server.front.capabilities import Capabilities
from agent_server.front.lsp.asking import MESSAGE
from agent_server.front.lsp.capabilities import Stock
from agent_server.front.lsp.messages import ERROR, INFO, WARNING, MessageKind, show_message
from agent_server.front.lsp.pages import Pages
from agent_server.front.peer import Asker, EditorFactory, Peer, Seat
from agent_server.front.proposals import Proposals
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.vocabulary import Vocabulary
from agent_server.loop.events import Event, Notice, StateChanged, TextDelta, TextDiscarded, TurnDone
from agent_server.loop.model import DoneReason, SessionId, TurnId

SHORT: Final = 500
"""Characters of an answer that still fit a message."""
REPORT_S: Final = 0.5
"""Between two reports of progress."""
_SEVERITIES: dict[str, MessageKind] = {"error": ERROR, "warning": WARNING, "info": INFO}


class StockViews:
    """The turns that a stock client is shown. One per connection."""

    def __init__(
        self,
        connection: Connection,
        stock: Stock,
        pages: Pages,
        *,
        cwd_of: Callable[[SessionId], str],
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """`tasks` live as long as the connection."""
        self._connection = connection
        self._stock = stock
        self._pages = pages
        self._cwd_of = cwd_of
        self._tasks = tasks
        self._turns: dict[TurnId, _Turn] = {}

    def show(self, session: SessionId, event: Event) -> None:
        """Take one event. Never blocks."""
        match event:
            case StateChanged(turn=turn, state=state, label=label) if state != "done":
                self._turn(session, turn).label(label)
            case TextDelta(turn, message_id, text):
                self._turn(session, turn).said(message_id, text)
            case TextDiscarded(turn, message_id):
                self._turn(session, turn).unsaid(message_id)
            case TurnDone():
                self._finish(session, event)
            case Notice(severity, title, description):
                text = f"{title}: {description}" if description else title
                self._message(_SEVERITIES[severity], text)
            case _:
                pass

    def session_of(self, token: int | str) -> SessionId | None:
        """Whose progress a token is; None once it has ended."""
        return next((t.session for t in self._turns.values() if t.token == token), None)

    def _turn(self, session: SessionId, turn: TurnId) -> "_Turn":
        known = self._turns.get(turn)
        if known is None:
            known = self._turns[turn] = _Turn(session, turn)
            if self._stock.progress:
                self._tasks.start_soon(self._progress, known)
        return known

    def _finish(self, session: SessionId, event: TurnDone) -> None:
        turn = self._turns.pop(event.turn, None) or _Turn(session, event.turn)
        turn.done.set()
        turn.moved.set()
        match event.reason:
            case DoneReason.ERROR:
                self._message(ERROR, event.message or "The turn failed")
            case DoneReason.USER_ABORT:
                self._message(INFO, "Cancelled")
            case _ if len(turn.text) <= SHORT:
                self._message(INFO, turn.text or event.message or "Done")
            case _:
                name, cwd = f"{event.turn}.md", self._cwd_of(session)
                self._tasks.start_soon(self._pages.show, cwd, name, turn.text)

    def _message(self, kind: MessageKind, text: str) -> None:
        show_message(self._connection, kind, text[:SHORT])

    async def _progress(self, turn: "_Turn") -> None:
        try:
            await self._connection.request("window/workDoneProgress/create", {"token": turn.token})
        except (RemoteError, ConnectionClosed):
            return
        if turn.done.is_set():
            return
        self._report(turn, {"kind": "begin", "title": "Agent", "message": turn.labelled} | _CAN)
        while not turn.done.is_set():
            with anyio.move_on_after(REPORT_S):
                await turn.done.wait()
            await turn.moved.wait()
            turn.moved = anyio.Event()
            if not turn.done.is_set():
                self._report(turn, {"kind": "report", "message": turn.labelled} | _CAN)
        self._report(turn, {"kind": "end"})

    def _report(self, turn: "_Turn", value: dict[str, object]) -> None:
        self._connection.notify("$/progress", {"token": turn.token, "value": value})


_CAN: dict[str, object] = {"cancellable": True}


class _Turn:
    """A turn that has not ended."""

    def __init__(self, session: SessionId, turn: TurnId) -> None:
        self.session = session
        self.token = f"agent/{turn}"
        self.labelled = "Working"
        self.done = anyio.Event()
        self.moved = anyio.Event()
        self._message: str | None = None
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        """The last message so far."""
        return "".join(self._pieces)

    def label(self, label: str) -> None:
        if label != self.labelled:
            self.labelled = label
            self.moved.set()

    def said(self, message_id: str, piece: str) -> None:
        if message_id != self._message:
            self._message = message_id
            self._pieces.clear()
        self._pieces.append(piece)

    def unsaid(self, message_id: str) -> None:
        if message_id == self._message:
            self._pieces.clear()


class LspPeer(Peer):
    """A peer whose events are shown in LSP's own messages where the client does not know ours."""

    def __init__(
        self,
        connection: Connection,
        vocabulary: Vocabulary,
        *,
        capabilities: Capabilities,
        editor: EditorFactory,
        askers: tuple[Asker, ...],
        views: StockViews | None,
        proposals: Proposals,
    ) -> None:
        """`views` is None for a client that takes updates."""
        super().__init__(
            connection,
            vocabulary,
            capabilities=capabilities,
            editor=editor,
            askers=askers,
            ways=(*WAYS, MESSAGE),
            proposals=proposals,
        )
        self._stock_views = views

    def show(self, session: SessionId, event: Event) -> None:
        """Show one event, also between turns."""
        self.view(session).show(event)
        if self._stock_views is not None:
            self._stock_views.show(session, event)

    def seat(self) -> Seat:
        """See `Peer`."""
        return _LspSeat(self, self._make_editor)


class _LspSeat(Seat):
    def __init__(self, peer: LspPeer, editor: EditorFactory) -> None:
        super().__init__(peer, editor)
        self._lsp_peer = peer

    def emit(self, session: SessionId, event: Event) -> None:
        """See `Client`."""
        self._lsp_peer.show(session, event)
