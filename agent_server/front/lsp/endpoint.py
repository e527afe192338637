"""The LSP server on one connection: pygls' protocol and ours, side by side on the same bytes.

    body ─ front/rpc ─┬─ agent/…  ──────────────── the one table (front/methods.py), once it is imported
                      └─ everything else ──────── Protocol (pygls): handshake, documents, commands

Only pygls, lsprotocol and `front/rpc` are imported before `initialize` is answered. The sessions, their engine and the
handlers come after, in the background; what asks for them earlier waits.
"""

import logging
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import anyio.abc
import anyio.to_thread
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from agent_server.front.lsp.capabilities import stock_capabilities
from agent_server.front.lsp.client_settings import START_S, ClientSettings, Configuration, Options
from agent_server.front.lsp.names import COMMANDS, FEATURES, METHODS, NOTIFICATIONS, SETTLES_CANCEL
from agent_server.front.lsp.protocol import REASONS, Protocol
from agent_server.front.params import as_object
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.dispatch import Dispatch, Incoming
from agent_server.front.rpc.errors import INTERNAL_ERROR, RpcError
from agent_server.front.rpc.messages import encode
from agent_server.loop.model import JsonObject
from agent_server.version import __version__

if TYPE_CHECKING:  # importing these is what must not happen before `initialize` is answered
    from agent_server.front.lsp.service import Service
    from agent_server.session.sessions import Sessions

logger = logging.getLogger(__name__)

OpenSessions = Callable[[JsonObject, bool | None], "AbstractAsyncContextManager[Sessions]"]
"""Given the client's settings, which may change, and whether it says that its workspace is trusted: the sessions, open
as long as the context is."""
PARENT_S: Final = 1.0
"""Between two looks whether the editor's process lives. The end of input mostly tells sooner."""


class Endpoint:
    """See the module. Make it, make a connection with its `dispatch`, `serve` that."""

    def __init__(
        self, open_sessions: OpenSessions, *, started: Callable[[], None] = lambda: None
    ) -> None:
        """`started` is called when everything is imported, or could not be."""
        self._open_sessions = open_sessions
        self._started = started
        self._protocol = _make_protocol(self._run_command)
        for method in FEATURES:
            self._protocol.handle(method, partial(self._serve, method))
        self._connection: Connection | None = None
        self._initialized = anyio.Event()
        self._ready = anyio.Event()
        self._service: Service | None = None
        self.dispatch = Dispatch(
            requests=dict.fromkeys(METHODS, self._answer),
            notifications={name: partial(self._handle, name) for name in NOTIFICATIONS},
            settles_cancel=SETTLES_CANCEL,
            fallback=self._receive,
        )

    async def serve(self, connection: Connection) -> int:
        """See `server.serve`."""
        self._connection = connection
        self._protocol.send = lambda message: connection.outbound.put(encode(message))
        async with anyio.create_task_group() as tasks:
            async with anyio.create_task_group() as agent:
                agent.start_soon(self._begin, connection, tasks)
                await connection.serve()
                if not self._ready.is_set():
                    agent.cancel_scope.cancel()  # still starting, or never asked to; else it ends by itself
            tasks.cancel_scope.cancel()
        return self._protocol.exit_code

    # ---- messages --------------------------------------------------------------------------------

    def _receive(self, envelope: JsonObject) -> None:
        """A message that is not for one of our handlers."""
        method = envelope.get("method")
        if not isinstance(method, str):
            logger.debug("an answer to no request of ours was dropped")
        elif method == types.CANCEL_REQUEST:
            self._protocol.cancel((as_object(envelope.get("params")) or {}).get("id"))
        else:
            self._protocol.receive(envelope)
        if self._protocol.stage == "serving":
            self._initialized.set()
        if self._protocol.stage == "exited" and self._connection is not None:
            self._connection.close()

    async def _answer(self, incoming: Incoming) -> object:
        self._admit(incoming.method)
        service = await self._served()
        return await service.table.requests[incoming.method](incoming)

    async def _handle(self, method: str, params: JsonObject) -> None:
        if self._protocol.refusal(method) is not None:
            return
        service = await self._served()
        await service.table.notifications[method](params)

    async def _serve(self, method: str, params: object) -> object:
        """One of LSP's own requests, once the agent is there; an editor that asks by itself gets no errors for that."""
        await self._ready.wait()
        return None if self._service is None else await self._service.features[method](params)

    async def _run_command(self, name: str, *arguments: object) -> object:
        service = await self._served()
        return await service.commands[name](*arguments)

    def _admit(self, method: str) -> None:
        refusal = self._protocol.refusal(method)
        if refusal is not None:
            raise RpcError(*refusal, reason=REASONS[refusal[0]])

    async def _served(self) -> "Service":
        await self._ready.wait()
        if self._service is None:
            raise RpcError(
                INTERNAL_ERROR, "the agent could not start; its log says more", reason="start"
            )
        return self._service

    # ---- beginning -------------------------------------------------------------------------------

    async def _begin(self, connection: Connection, tasks: anyio.abc.TaskGroup) -> None:
        """After the answer to `initialize`: everything else, until the connection is closed."""
        await self._initialized.wait()
        await connection.outbound.flush()
        params = self._protocol.initialize_params
        if (process := params.process_id) is not None and os.name != "nt" and _lives(process):
            tasks.start_soon(self._watch, process, connection)
        try:
            options = Options.of(params.initialization_options)
            settings = ClientSettings(options.settings)
            configuration = Configuration(connection, settings, pulls=_pulls(params))
            pulled = configuration.begin(tasks)
            module = await anyio.to_thread.run_sync(import_module, "agent_server.front.lsp.service")
            with anyio.move_on_after(START_S):
                await pulled.wait()
            async with self._open_sessions(settings, options.workspace_trusted) as sessions:
                self._service = module.Service(
                    connection, self._protocol, sessions, configuration, tasks
                )
                self._begun()
                await connection.closed.wait()
        except (
            Exception
        ):  # background task: the editor keeps its language server, and is told when it asks
            logger.exception("the agent could not start")
            self._service = None
            self._begun()

    def _begun(self) -> None:
        self._ready.set()
        self._started()

    async def _watch(self, process: int, connection: Connection) -> None:
        while _lives(process):  # noqa: ASYNC110 - nothing tells of another process's death
            await anyio.sleep(PARENT_S)
        logger.warning("the editor's process %d is gone", process)
        connection.close()


def _make_protocol(run: Callable[..., Any]) -> Protocol:
    logging.getLogger("pygls").setLevel(logging.WARNING)  # it logs whole messages at INFO
    server = LanguageServer("agent-server", __version__, protocol_cls=Protocol)
    protocol = cast("Protocol", server.protocol)
    protocol.commands = {name: partial(run, name) for name in COMMANDS}
    for name, handler in protocol.commands.items():
        cast("Callable[[object], object]", server.command(name))(
            handler
        )  # so that pygls advertises it
    methods = (*METHODS, *NOTIFICATIONS)
    protocol.experimental = {
        "agent": {"version": 1, "methods": list(methods), "commands": list(COMMANDS)}
    }
    return protocol


def _pulls(params: types.InitializeParams) -> bool:
    return stock_capabilities(params.capabilities).pulls_configuration


def _lives(process: int) -> bool:
    """Whether there is such a process here. An editor outside our container has none, and is not watched."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
