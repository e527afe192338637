"""The ACP client: what a person may ask of the server, and what the server says and asks, as values.

It is the reference for clients of ours: declares our extensions, reviews edits by `_agent-server/edit/*`, and answers
every question exactly once. It knows no screen; whatever comes in goes to `receive`, in order.
"""

from collections.abc import Callable
from typing import TypeVar

import anyio
from pydantic import ValidationError

from agent_server.front.params import as_list, as_object
from agent_server.front.protocol.base import Wire
from agent_server.front.protocol.checkpoints import (
    CheckpointList,
    CheckpointRestored,
    CheckpointShown,
    RestoreCheckpoint,
)
from agent_server.front.protocol.session import Asked as Answered
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.dispatch import Dispatch, Incoming
from agent_server.front.rpc.errors import INVALID_PARAMS, ConnectionClosed, RemoteError, RpcError
from agent_server.front.terminal.answers import info_of, session_of, text_of, turn_end_of
from agent_server.front.terminal.inbound import (
    Asked,
    Ended,
    Gone,
    Inbound,
    Inquired,
    Proposed,
    Session,
    SessionInfo,
    Slot,
    TurnEnd,
    Updated,
    Withdrawn,
)
from agent_server.front.terminal.questions import (
    Decided,
    EditQuestion,
    Picked,
    parse_inquiry,
    parse_permission,
    parse_proposed,
    permission_result,
    resolve_params,
)
from agent_server.front.terminal.updates import (
    OWN,
    option_values,
    parse_status,
    parse_update,
)
from agent_server.loop.errors import AgentServerError
from agent_server.loop.model import JsonObject
from agent_server.version import __version__

W = TypeVar("W", bound=Wire)

PROTOCOL = 1
CAPABILITIES: JsonObject = {
    "session": {"notices": {}},
    "_meta": {
        OWN: {
            "version": 1,
            "sessionUpdate": True,
            "permission": True,
            "ask": True,
            "edit": {"proposed": True},
        }
    },
}
FATE_S = 20.0
"""For an edit to be applied after it was decided late: an editor may have to be asked."""
SETTLED = frozenset({"rejected", "abandoned", "failed", "conflict", "reverted"})
"""States of an edit in which nobody needs an answer any more, when they come without one."""


class NotUnderstood(AgentServerError):
    """The server answered something that this client cannot use."""


class AcpClient:
    """One server, one current session. All methods belong to the event loop's thread."""

    def __init__(
        self, connect: Callable[[Dispatch], Connection], receive: Callable[[Inbound], None]
    ) -> None:
        """`receive` is called in the order of what came in, and must not block."""
        self._receive = receive
        self._left: set[str] = set()
        """Sessions that are no longer looked at."""
        self._current: str | None = None
        self._abandoned: list[str] = []
        """Edits that were said to be, since the last load."""
        self._fates: dict[str, Slot[str]] = {}
        """By txn: what is awaited of an edit that was decided late."""
        self.connection = connect(
            Dispatch(
                requests={
                    "session/request_permission": self._permission,
                    "_agent-server/ask": self._inquiry,
                },
                notifications={
                    "session/update": self._update,
                    "_agent-server/status": self._status,
                    "_agent-server/edit/proposed": self._proposed,
                    "_agent-server/edit/state": self._edit_state,
                },
            )
        )

    async def run(self) -> None:
        """Serve the connection until it ends."""
        await self.connection.serve()
        self._receive(Gone())

    async def initialize(self) -> str:
        """The server's version.

        Raises:
            RemoteError, ConnectionClosed: as for every request.
            NotUnderstood: it speaks another version of ACP.
        """
        params = {
            "protocolVersion": PROTOCOL,
            "clientCapabilities": CAPABILITIES,
            "clientInfo": {"name": "agent-server-chat", "version": __version__},
        }
        result = await self._ask("initialize", params)
        if (version := result.get("protocolVersion")) != PROTOCOL:
            raise NotUnderstood(f"the server speaks ACP {version}, this client {PROTOCOL}")
        return text_of(as_object(result.get("agentInfo")) or {}, "version")

    async def new(self, cwd: str) -> Session:
        """A new session in this folder; the one before is no longer looked at."""
        result = await self._ask("session/new", _workspace(cwd))
        session_id = text_of(result, "sessionId")
        if not session_id:
            raise NotUnderstood("the server made a session without an id")
        self._look_at(session_id)
        return session_of(session_id, result)

    async def load(self, session_id: str, cwd: str) -> Session:
        """A stored session; what was said in it is received before this returns."""
        self._abandoned.clear()
        result = await self._ask("session/load", {"sessionId": session_id, **_workspace(cwd)})
        self._look_at(session_id)
        return session_of(session_id, result)

    async def fork(self, session_id: str, cwd: str) -> Session:
        """A new session that knows what that one knows; the one before is no longer looked at."""
        result = await self._ask("session/fork", {"sessionId": session_id, **_workspace(cwd)})
        forked = text_of(result, "sessionId")
        if not forked:
            raise NotUnderstood("the server forked a session without saying which")
        self._look_at(forked)
        return session_of(forked, result)

    async def set_title(self, session_id: str, title: str) -> str:
        """Name a session; the name as it was kept."""
        params = {"sessionId": session_id, "title": title}
        return text_of(await self._ask("session/set_title", params), "title")

    async def sessions(self, cwd: str) -> list[SessionInfo]:
        """The sessions of this folder, as the server orders them: the newest first."""
        found: list[SessionInfo] = []
        cursor: object = None
        while True:
            page = await self._ask(
                "session/list", {"cwd": cwd, "cursor": cursor} if cursor else {"cwd": cwd}
            )
            found += [info_of(as_object(entry) or {}) for entry in as_list(page.get("sessions"))]
            cursor = page.get("nextCursor")
            if not cursor:
                return found

    async def prompt(self, session_id: str, text: str) -> None:
        """Run a turn; its end is received as `Ended`, also when it failed."""
        params = {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
        try:
            end = turn_end_of(await self._ask("session/prompt", params))
        except RemoteError as error:
            end = TurnEnd("error", "error", error=str(error))
        except ConnectionClosed:
            return  # `Gone` says it
        self._receive(Ended(end))

    def cancel(self, session_id: str) -> None:
        """Ask for the end of the turn; `Ended` still comes."""
        self.connection.notify("session/cancel", {"sessionId": session_id})

    async def set_mode(self, session_id: str, mode: str) -> None:
        """Choose a mode; the change is received as an update."""
        await self._ask("session/set_mode", {"sessionId": session_id, "modeId": mode})

    async def set_model(self, session_id: str, model: str) -> str:
        """Choose a model; the one that is now used."""
        params = {"sessionId": session_id, "configId": "model", "value": model}
        result = await self._ask("session/set_config_option", params)
        return option_values(result.get("configOptions")).get("model", model)

    async def resolve(self, question: EditQuestion, decided: Decided) -> None:
        """Decide an edit. That it is decided already, or changed since, is not an error: then no answer is needed."""
        try:
            await self._ask("_agent-server/edit/resolve", resolve_params(question, decided))
        except RemoteError as error:
            reason = (as_object(error.data) or {}).get("reason")
            if reason not in ("already_decided", "stale_revision", "unknown_txn"):
                raise

    async def left_open(self, session_id: str) -> tuple[EditQuestion, ...]:
        """After a load: the edits that waited for an answer when the server stopped; they can still be decided."""
        await self.checkpoints(session_id)  # what follows the answer to the load has come by then
        txns, self._abandoned = self._abandoned, []
        found = [
            parse_proposed(await self._ask("_agent-server/edit/get", {"txn": t})) for t in txns
        ]
        return tuple(question for question in found if question.ask)

    async def take_up(self, question: EditQuestion, decided: Decided) -> str:
        """Decide an edit that was left open; what came of it, in words."""
        fate = self._fates[question.txn] = Slot("it is not known what came of it")
        try:
            await self.resolve(question, decided)
            with anyio.move_on_after(FATE_S):
                await fate.wait()
        finally:
            del self._fates[question.txn]
        return fate.now

    async def checkpoints(self, session_id: str) -> tuple[CheckpointShown, ...]:
        """What the session can be taken back to, oldest first."""
        result = await self._ask("_agent-server/checkpoint/list", {"sessionId": session_id})
        return _parsed(CheckpointList, result).checkpoints

    async def restore(
        self, session_id: str, checkpoint: str, *, files: bool, chat: bool, dry_run: bool
    ) -> CheckpointRestored:
        """Take files, conversation or both back, or be told what that would do."""
        wanted = RestoreCheckpoint(
            session_id=session_id, id=checkpoint, files=files, chat=chat, dry_run=dry_run
        )
        params = wanted.dump()
        result = await self._ask("_agent-server/checkpoint/restore", params)
        return _parsed(CheckpointRestored, result)

    async def _ask(self, method: str, params: JsonObject) -> JsonObject:
        return as_object(await self.connection.request(method, params)) or {}

    def _look_at(self, session_id: str) -> None:
        if self._current is not None and self._current != session_id:
            self._left.add(self._current)
        self._left.discard(session_id)
        self._current = session_id

    def _concerns_us(self, params: JsonObject) -> bool:
        return params.get("sessionId") not in self._left

    async def _update(self, params: JsonObject) -> None:
        update = parse_update(as_object(params.get("update")) or {})
        if update is not None and self._concerns_us(params):
            self._receive(Updated(update))

    async def _status(self, params: JsonObject) -> None:
        if self._concerns_us(params):
            self._receive(Updated(parse_status(params)))

    async def _proposed(self, params: JsonObject) -> None:
        try:
            question = parse_proposed(params)
        except ValidationError as error:
            raise NotUnderstood(f"an edit could not be understood: {error}") from error
        if self._concerns_us(params):
            self._receive(Proposed(question))

    async def _edit_state(self, params: JsonObject) -> None:
        txn, state = text_of(params, "txn"), params.get("state")
        files = [as_object(file) or {} for file in as_list(params.get("files"))]
        said = next((text for file in files if (text := text_of(file, "message"))), "")
        if said and (fate := self._fates.get(txn)) is not None:
            fate.put(said)
        if state == "abandoned":
            self._abandoned.append(txn)
        if state in SETTLED:
            self._receive(Withdrawn(txn))

    async def _permission(self, incoming: Incoming) -> object:
        question = parse_permission(incoming.params)
        if question is None:
            raise RpcError(INVALID_PARAMS, "toolCall has no toolCallId", reason="invalid_params")
        if not self._concerns_us(incoming.params):
            return permission_result(Picked(None))
        slot = Slot(Picked(None))
        incoming.when_cancelled(lambda: self._receive(Withdrawn(question.call.id)))
        self._receive(Asked(question, slot))
        return permission_result(await slot.wait())

    async def _inquiry(self, incoming: Incoming) -> object:
        try:
            inquiry = parse_inquiry(incoming.params)
        except ValidationError as error:
            said = f"the question could not be understood: {error}"
            raise RpcError(INVALID_PARAMS, said, reason="invalid_params") from error
        if not self._concerns_us(incoming.params):
            return Answered(answer=None).dump()
        slot = Slot[str | None](None)
        incoming.when_cancelled(lambda: self._receive(Withdrawn(inquiry.call_id)))
        self._receive(Inquired(inquiry, slot))
        return Answered(answer=await slot.wait()).dump()


def _parsed(kind: type[W], result: JsonObject) -> W:
    try:
        return kind.parse(result)
    except ValidationError as error:
        raise NotUnderstood(f"the answer could not be understood: {error}") from error


def _workspace(cwd: str) -> JsonObject:
    servers: list[object] = []
    return {"cwd": cwd, "mcpServers": servers}
