"""pygls' protocol object, fed with parsed messages and without its habits that hurt here.

It serves what LSP itself defines: the handshake, document sync, commands. Our own methods, and every request that we
send, go through `front/rpc`. What pygls does otherwise, and why not here (lsp.md §1.3): it turns nested objects that
look like messages into messages, never answers malformed params, keeps every handler that has finished, lets a
cancelled command run on, fails in `shutdown` while a command runs, shows tracebacks to the client, and exits with 0.
"""

import logging
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Literal, cast

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.json_rpc import RPCMessage

from agent_server.front.lsp.capabilities import advertise, stock_capabilities
from agent_server.front.lsp.documents import Documents
from agent_server.front.rpc.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    error_object,
    error_with,
)
from agent_server.loop.errors import AgentServerError, ClientMistake
from agent_server.loop.model import JsonObject

logger = logging.getLogger(__name__)

MessageId = int | str
Stage = Literal["new", "serving", "shut_down", "exited"]
Handler = Callable[..., Any]
Command = Callable[..., Awaitable[object]]
"""Gets the command's arguments as they came; its result is the answer."""

NOT_INITIALIZED = -32002
REASONS = {
    INVALID_REQUEST: "invalid_request",
    METHOD_NOT_FOUND: "method_not_found",
    INVALID_PARAMS: "invalid_params",
    INTERNAL_ERROR: "internal",
    REQUEST_CANCELLED: "cancelled",
    NOT_INITIALIZED: "not_initialized",
}
"""`data.reason` of the errors that have no exception, by code."""


class Protocol(LanguageServerProtocol):
    """One connection's handshake, documents and commands."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.stage: Stage = "new"
        self.exit_code = 0
        """1 after `exit` without `shutdown`."""
        self.send: Callable[[JsonObject], None] = _nowhere
        """Where answers and notifications go; set before the first message."""
        self.initialize_params = types.InitializeParams(types.ClientCapabilities())
        """What the client said; nothing before `initialize`."""
        self.experimental: JsonObject = {}
        """What `initialize` answers as `capabilities.experimental`."""
        self.commands: Mapping[str, Command] = {}
        self.progress_cancelled: Callable[[MessageId], None] = _ignore
        """Told the token of the progress that the person cancelled."""
        self.touched: Callable[[Sequence[str]], None] = _untold
        """Told the URIs of documents and files that changed, or may have."""
        self._serve_ourselves()

    def _serve_ourselves(self) -> None:
        self._builtin.update(
            {
                types.INITIALIZE: self._initialize,
                types.TEXT_DOCUMENT_DID_CHANGE: self._did_change,
                types.TEXT_DOCUMENT_DID_SAVE: self._did_save,
                types.TEXT_DOCUMENT_DID_CLOSE: self._did_close,
                types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._did_change_files,
                types.WORKSPACE_EXECUTE_COMMAND: self._execute_command,
                types.WINDOW_WORK_DONE_PROGRESS_CANCEL: self._cancel_progress,
                types.SHUTDOWN: self._shut_down,
                types.EXIT: self._exit,
            }
        )

    @property
    def documents(self) -> Documents:
        """What the editor has open; nothing before `initialize`."""
        return self._workspace if isinstance(self._workspace, Documents) else Documents(None)

    # ---- messages in -----------------------------------------------------------------------------

    def refusal(self, method: str) -> tuple[int, str] | None:
        """Why no message of that method is served now, ours included: code and sentence. `exit` always is."""
        match self.stage:
            case "new" if method not in (types.INITIALIZE, types.EXIT):
                return NOT_INITIALIZED, f"{method} came before initialize"
            case "serving" if method == types.INITIALIZE:
                return INVALID_REQUEST, "initialize came twice"
            case "shut_down" | "exited" if method != types.EXIT:
                return INVALID_REQUEST, f"{method} came after shutdown"
            case _:
                return None

    def receive(self, message: JsonObject) -> None:
        """Handle a request or notification that LSP defines. Never raises; a request is answered exactly once."""
        method, message_id = str(message.get("method")), _id_of(message)
        if (refusal := self.refusal(method)) is not None:
            self.refuse(message_id, *refusal)
            return
        if message_id is None and "id" in message:
            self.send(_error(None, INVALID_REQUEST, "the id is neither an integer nor a string"))
            return
        kind, result = types.METHOD_TO_TYPES.get(method, (None, None))[:2]
        if kind is None or method not in self._builtin or (result is None) != (message_id is None):
            self.refuse(message_id, METHOD_NOT_FOUND, f"this server has no {method}")
            return
        try:
            # Only here: nested objects stay what they are, even when they look like messages.
            structured = cast("RPCMessage", self._converter.structure(message, kind))
        except Exception:  # request boundary: cattrs raises whatever the params caused
            logger.debug("the params of %s do not fit", method, exc_info=True)
            self.refuse(message_id, INVALID_PARAMS, f"the params of {method} do not fit")
            return
        self.handle_message(structured)

    def handle(self, method: str, handler: Handler) -> None:
        """Serve one more of LSP's methods; what is advertised of it is `capabilities.advertise`'s."""
        self._builtin[method] = handler

    def cancel(self, message_id: object) -> None:
        """Cancel a running request; one that is unknown or finished is left alone."""
        if (future := self._running.get(message_id)) is not None:
            future.cancel()

    def refuse(self, message_id: MessageId | None, code: int, sentence: str) -> None:
        """Answer a request with an error; a notification is dropped."""
        if message_id is None:
            logger.debug("notification dropped: %s", sentence)
            return
        self.send(_error(message_id, code, sentence))

    @property
    def _builtin(self) -> dict[str, Handler]:
        return cast("dict[str, Handler]", self.fm.builtin_features)

    @property
    def _running(self) -> Mapping[object, Future[Any]]:
        """Handlers that have not finished, by message id. pygls' table, which we use for nothing that we send."""
        return cast("Mapping[object, Future[Any]]", self._request_futures)

    # ---- messages out ----------------------------------------------------------------------------

    def _send_data(self, data: object) -> None:
        self.send(self._converter.unstructure(data))

    def _execute_handler(
        self,
        msg_id: MessageId,
        handler: Handler,
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """As pygls', and nothing is kept of a handler that has finished."""

        def finished(future: Future[Any]) -> None:
            self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, finished, args, kwargs)

    def _send_handler_result(self, future: Future[Any], *, msg_id: MessageId) -> None:
        if future.cancelled():
            self.refuse(msg_id, REQUEST_CANCELLED, "the request was cancelled")
            return
        match future.exception():
            case None:
                self._send_response(msg_id, result=future.result())
            case JsonRpcException() as mistake:
                self._send_response(msg_id, error=mistake.to_response_error())
            case AgentServerError() as error:
                fields = error_object(error, unknown_session=INVALID_PARAMS)
                self.send({"jsonrpc": "2.0", "id": msg_id, "error": fields})
            case failure:
                logger.error("request %s failed", msg_id, exc_info=failure)
                self.refuse(msg_id, INTERNAL_ERROR, "the server failed; its log says more")

    # ---- what LSP defines --------------------------------------------------------------------------

    def _initialize(
        self, params: types.InitializeParams
    ) -> Generator[Any, Any, types.InitializeResult]:
        """As pygls', with our documents and our experimental capabilities."""
        result = yield from self.lsp_initialize(params)
        self.initialize_params = params
        self._workspace = Documents.like(self.workspace)
        result.capabilities.experimental = dict(self.experimental)
        advertise(result.capabilities, stock_capabilities(params.capabilities))
        self.stage = "serving"
        return result

    def _did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self.documents.change(params)
        self.touched([params.text_document.uri])

    def _did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        self.documents.saved(params.text_document.uri)

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """What was not saved is gone."""
        self.touched([params.text_document.uri])
        self.documents.remove_text_document(params.text_document.uri)

    def _did_change_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        self.touched([change.uri for change in params.changes])

    async def _execute_command(self, params: types.ExecuteCommandParams) -> object:
        """Run a command inside the request's own task, so that cancelling the request reaches it."""
        handler = self.commands.get(params.command)
        if handler is None:
            raise ClientMistake(f"this server has no command {params.command}")
        return await handler(*(params.arguments or ()))

    def _cancel_progress(self, params: types.WorkDoneProgressCancelParams) -> None:
        self.progress_cancelled(params.token)

    def _shut_down(self, _: object = None) -> None:
        """Cancel what runs. Not async: the answer must be out before an `exit` that came with it is looked at."""
        self.stage = "shut_down"
        for future in list(self._running.values()):
            future.cancel()

    def _exit(self, _: object = None) -> None:
        self.exit_code = 0 if self.stage == "shut_down" else 1
        self.stage = "exited"


def _error(message_id: MessageId | None, code: int, sentence: str) -> JsonObject:
    return {
        "jsonrpc": "2.0",
        "id": message_id,
        "error": error_with(code, sentence, reason=REASONS[code]),
    }


def _nowhere(message: JsonObject) -> None:
    raise AssertionError(f"there is no transport yet for {message}")


def _untold(uris: Sequence[str]) -> None:
    """There is no session yet whose model could have read them."""
    del uris


def _ignore(token: MessageId) -> None:
    logger.debug("progress %s was cancelled, and there is none", token)


def _id_of(message: JsonObject) -> MessageId | None:
    given = message.get("id")
    return given if isinstance(given, int | str) else None
