"""The client on a thread of its own, as blocking calls for the person's thread, and one inbox of what comes in.

The event loop belongs to the connection: it reads and answers while the person thinks or types. Only values cross.
"""

import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from queue import Empty, SimpleQueue
from typing import Final, ParamSpec, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.dispatch import Dispatch
from agent_server.front.terminal.client import AcpClient
from agent_server.front.terminal.inbound import Ended, Gone, Inbound, Slot, Withdrawn
from agent_server.front.terminal.questions import Decided, EditQuestion

P = ParamSpec("P")
T = TypeVar("T")

START_S: Final = 30.0
"""How long a server may take to answer `initialize`: a cold disk and no byte code, not a hang."""


class Interrupted:
    """The person pressed Ctrl-C while nothing was asked."""


Arrival = Inbound | Interrupted


class Inbox:
    """What came in and was not looked at yet, in order. `put` may be called from any thread and signal handler."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Arrival] = SimpleQueue()
        self._seen: deque[Arrival] = deque()
        """Looked through while waiting for a key; still to be handled."""

    def put(self, arrival: Arrival) -> None:
        """Add one."""
        self._queue.put(arrival)

    def next(self, timeout_s: float) -> Arrival | None:
        """The next one, or None after that time."""
        if self._seen:
            return self._seen.popleft()
        with contextlib.suppress(Empty):
            return self._queue.get(timeout=max(0.0, timeout_s))
        return None

    def withdrawn(self, subject: str) -> bool:
        """Whether the question about this is void: withdrawn, interrupted, its turn over, or the server gone."""
        with contextlib.suppress(Empty):
            while True:
                self._seen.append(self._queue.get_nowait())
        return any(
            isinstance(arrival, Ended | Gone | Interrupted) or arrival == Withdrawn(subject)
            for arrival in self._seen
        )


class Link:
    """A client that is running. One thread calls it."""

    def __init__(self, portal: BlockingPortal, client: AcpClient, inbox: Inbox) -> None:
        self._portal = portal
        self._client = client
        self.inbox = inbox

    def call(self, method: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of one of the client's methods."""
        return self._portal.start_task_soon(lambda: method(*args, **kwargs)).result()

    @property
    def client(self) -> AcpClient:
        """For `call`; never to be used directly."""
        return self._client

    def prompt(self, session_id: str, text: str) -> None:
        """Start a turn; what happens in it, and its end, arrives in the inbox."""
        self._portal.start_task_soon(self._client.prompt, session_id, text)

    def cancel(self, session_id: str) -> None:
        """Ask for the end of the turn."""
        self._portal.call(self._client.cancel, session_id)

    def answer(self, slot: Slot[T], answer: T) -> None:
        """Answer a question."""
        self._portal.call(slot.put, answer)

    def resolve(self, question: EditQuestion, decided: Decided) -> None:
        """Decide an edit."""
        self.call(self._client.resolve, question, decided)


@contextlib.contextmanager
def linked(connect: Callable[[Dispatch], Connection]) -> Generator[Link]:
    """A client over this connection, initialized by nobody yet; hangs up at the end."""
    inbox = Inbox()
    with start_blocking_portal("asyncio") as portal:
        client = portal.call(AcpClient, connect, inbox.put)
        running = portal.start_task_soon(client.run)
        try:
            yield Link(portal, client, inbox)
        finally:
            portal.call(client.connection.close)
            running.result()
