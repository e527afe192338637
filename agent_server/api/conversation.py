"""A conversation with the agent, for code that runs on anyio or asyncio."""

import os
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from agent_server.api.caller import Approve, Caller, Clarify, Watch
from agent_server.context.wire import messages
from agent_server.frozen import frozen
from agent_server.loop.errors import AgentServerError, ClientMistake
from agent_server.loop.model import (
    Detail,
    DoneReason,
    Mode,
    Part,
    SessionId,
    Text,
    TurnEndEntry,
    TurnId,
    Usage,
)
from agent_server.loop.ports import Message
from agent_server.loop.standing import standing
from agent_server.options import Options
from agent_server.session.session import Session
from agent_server.session.sessions import Sessions
from agent_server.session.steering import Steer
from agent_server.workshop import open_sessions


class TurnFailed(AgentServerError):
    """`chat` has no answer to give: the turn did not end by itself. `result` is what there is."""

    def __init__(self, result: "ConversationResult") -> None:
        super().__init__(result.message or f"the turn ended with {result.reason} ({result.detail})")
        self.result = result


@frozen
class ConversationResult:
    """How one prompt was answered."""

    final_text: str
    """The last visible text of the turn; may be empty when it did not end by itself."""
    reason: DoneReason
    detail: Detail
    message: str | None
    """A sentence for a person when the turn did not end normally."""
    usage: Usage
    """Of the turn, its sub-agents' included."""
    messages: tuple[Message, ...]
    """The whole conversation, as a model would be sent it."""
    session: SessionId
    turn: TurnId
    turns: tuple[TurnId, ...]
    """All turns of the conversation so far, this one last."""
    unread: tuple[tuple[Part, ...], ...] = ()
    """What was added to the turn and never heard."""

    @property
    def completed(self) -> bool:
        """Whether the model ended the turn by itself."""
        return self.reason is DoneReason.MODEL_STOP


class AsyncAgent:
    """An agent in a folder: `async with AsyncAgent(cwd=".") as agent: await agent.chat("…")`.

    Several prompts continue one conversation. Leaving the block ends what runs and settles it.
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
        """`model` and `mode` go before the settings; `session` is the id of a conversation to go on with.

        `approve` is asked whether something may be done, `clarify` what only a person knows, `watch` sees everything.
        """
        self._cwd = os.path.abspath(cwd)  # noqa: PTH100  (`resolve` would follow links)
        self._options = Options(model=model, mode=mode)
        self._client = Caller(approve, watch, clarify)
        self._wanted = None if session is None else SessionId(session)
        self._stack = AsyncExitStack()
        self._session: Session | None = None

    async def __aenter__(self) -> Self:
        """Open it.

        Raises:
            ClientMistake: `cwd` is no folder, or there is no such model or mode.
            UnknownSession, SessionBusy: `session` cannot be gone on with.
        """
        try:
            sessions = await self._stack.enter_async_context(open_sessions(self._options, {}))
            self._session = await self._open(sessions)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session = None
        await self._stack.__aexit__(kind, error, trace)

    @property
    def session(self) -> SessionId:
        """The conversation's id, with which it can be gone on with later, here or in an editor."""
        return self._opened().id

    async def chat(self, text: str) -> str:
        """The answer to a prompt.

        Raises:
            TurnFailed: the turn did not end by itself.
        """
        result = await self.run_conversation(text)
        if not result.completed:
            raise TurnFailed(result)
        return result.final_text

    async def run_conversation(self, text: str) -> ConversationResult:
        """Answer a prompt and say all about it; a turn that fails is a result too. Cancelling cancels the turn."""
        session = self._opened()
        ended = await session.prompt((Text(text),))
        return ConversationResult(
            final_text=ended.text,
            reason=ended.reason,
            detail=ended.detail,
            message=ended.message,
            usage=ended.usage,
            messages=messages(session.entries),
            session=session.id,
            turn=ended.turn,
            turns=tuple(e.turn for e in standing(session.entries) if isinstance(e, TurnEndEntry)),
            unread=ended.unread,
        )

    def steer(self, text: str = "", *, how: Steer = "steer") -> None:
        """Say something to the running turn; what came too late is in its `unread`.

        `steer` adds it after the running calls, `redirect` drops the answer that is being written, and `stop` ends the
        turn after the running calls, whatever the text.

        Raises:
            TurnMismatch: no turn runs.
        """
        session = self._opened()
        session.steer(how, (Text(text),), turn=session.turn or TurnId("none"))

    def cancel(self) -> None:
        """End the running turn; harmless when none runs."""
        self._opened().cancel()

    async def _open(self, sessions: Sessions) -> Session:
        if self._wanted is not None:
            return await sessions.load(self._wanted, cwd=self._cwd, client=self._client)
        return await sessions.new(cwd=self._cwd, client=self._client)

    def _opened(self) -> Session:
        if self._session is None:
            raise ClientMistake("the agent is not open: use it in `async with`")
        return self._session
