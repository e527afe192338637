"""The agent for code without an event loop: the same conversation, on a thread of its own."""

import os
import threading
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from agent_server.api.caller import Approve, Clarify, Watch
from agent_server.api.conversation import AsyncAgent, ConversationResult
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import Mode, SessionId
from agent_server.session.steering import Steer

T = TypeVar("T")


class Agent:
    """An agent in a folder. Several prompts continue one conversation.

    Closed by `close`, by `with`, when it is forgotten, or when the program ends; what runs then is settled.
    """

    def __init__(
        self,
        *,
        cwd: str | os.PathLike[str] = ".",
        model: str | None = None,
        mode: Mode | None = None,
        approve: Approve = "never",
        clarify: Clarify | None = None,
        watch: Watch | None = None,
        session: str | None = None,
    ) -> None:
        """See `AsyncAgent`; it is open at once.

        Raises:
            ClientMistake, UnknownSession, SessionBusy: as `AsyncAgent.__aenter__`.
        """
        agent = AsyncAgent(
            cwd=cwd,
            model=model,
            mode=mode,
            approve=approve,
            clarify=clarify,
            watch=watch,
            session=session,
        )
        self._engine = _Engine(agent)
        # On a thread, because a garbage collector may run anywhere, also on the engine's own.
        weakref.finalize(self, threading.Thread(target=self._engine.close).start).atexit = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def session(self) -> SessionId:
        """The conversation's id, with which it can be gone on with later, here or in an editor."""
        return self._engine.agent.session

    def chat(self, text: str) -> str:
        """The answer to a prompt. An interrupt from the keyboard cancels the turn.

        Raises:
            TurnFailed: the turn did not end by itself.
        """
        return self._engine.run(self._engine.agent.chat, text)

    def run_conversation(self, text: str) -> ConversationResult:
        """Answer a prompt and say all about it; a turn that fails is a result too."""
        return self._engine.run(self._engine.agent.run_conversation, text)

    def steer(self, text: str = "", *, how: Steer = "steer") -> None:
        """Say something to the running turn, from another thread; see `AsyncAgent.steer`.

        Raises:
            TurnMismatch: no turn runs.
        """
        self._engine.call(partial(self._engine.agent.steer, text, how=how))

    def cancel(self) -> None:
        """End the running turn, from another thread; harmless when none runs."""
        self._engine.call(self._engine.agent.cancel)

    def close(self) -> None:
        """End what runs, settle it, and let others have the session. Twice is fine."""
        self._engine.close()


class _Engine:
    """The thread, its event loop and the conversation on it. Knows nothing of `Agent`, which may be forgotten."""

    def __init__(self, agent: AsyncAgent) -> None:
        self.agent = agent
        self._closing = threading.Lock()
        self._closed = False
        self._ready: Future[BlockingPortal] = Future()
        # Not by `start_blocking_portal`: a program that ends waits for the threads of an executor before all else.
        self._thread = threading.Thread(target=anyio.run, args=(self._serve,), name="agent-server")
        self._thread.start()
        self._portal = self._ready.result()
        _close_at_exit(self)

    def run(self, act: Callable[[str], Awaitable[T]], text: str) -> T:
        self._require_open()
        future: Future[T] = self._portal.start_task_soon(act, text)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, act: Callable[[], T]) -> T:
        self._require_open()
        return self._portal.call(act)

    def close(self) -> None:
        with self._closing:
            if not self._closed:
                self._closed = True
                self._portal.call(self._portal.stop, True)
                self._thread.join()

    async def _serve(self) -> None:
        try:
            async with self.agent, BlockingPortal() as portal:
                self._ready.set_result(portal)
                await portal.sleep_until_stopped()
        except Exception as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    def _require_open(self) -> None:
        if self._closed:
            raise ClientMistake("the agent is closed")


_open: weakref.WeakSet[_Engine] = weakref.WeakSet()
_watching = threading.Lock()
_watcher: list[threading.Thread] = []


def _close_at_exit(engine: _Engine) -> None:
    """A program that ends waits for the engine's thread, before it runs what `atexit` knows; so somebody must watch."""
    with _watching:
        _open.add(engine)
        if not _watcher:
            _watcher.append(threading.Thread(target=_watch, name="agent-server exit", daemon=True))
            _watcher[0].start()


def _watch() -> None:
    threading.main_thread().join()
    for engine in list(_open):
        engine.close()
