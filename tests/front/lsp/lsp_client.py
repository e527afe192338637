"""An LSP client that remembers everything, has buffers of its own, and judges each of our messages by the schema.

It knows nothing of the server's code beyond edit algebra: bytes in, bytes out, so that it drives a server in memory
and a process alike.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from jsonschema import Draft202012Validator

from agent_server.edits.text.positions import (
    Position,
    PositionEncoding,
    Range,
    TextEdit,
    apply_text_edits,
)

Message = Mapping[str, Any]
Answer = Callable[["LspClient", Message], Any]

SCHEMA = json.loads((Path(__file__).parents[3] / "protocol/schema.json").read_text("utf-8"))
STOCK: dict[str, Any] = {
    "workspace": {"applyEdit": True},
    "window": {"showDocument": {"support": True}, "workDoneProgress": True},
}
PLUGIN: dict[str, Any] = {
    **STOCK,
    "experimental": {
        "agent": {
            "version": 1,
            "sessionUpdate": True,
            "permission": True,
            "edit": {"proposed": True, "apply": True},
            "editor": {"save": True},
        }
    },
}
NEVER = object()
"""An answer that is not given."""


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data")


@dataclass
class LspClient:
    """One end of a conversation. Run `read` in a task; it returns at the end of input."""

    receive: Callable[[], Awaitable[bytes]]
    send: Callable[[bytes], Awaitable[None]]
    capabilities: dict[str, Any] = field(default_factory=lambda: PLUGIN)
    encoding: PositionEncoding = "utf-16"
    answers: dict[str, Answer] = field(default_factory=dict)
    """By method, instead of the cooperative answer below."""
    buffers: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By URI: version and text."""
    received: list[Message] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    _last_id: int = 0
    _moved: anyio.Event = field(default_factory=anyio.Event)

    # ---- saying ----

    async def initialize(self, root: Path, **more: Any) -> Any:
        """The handshake."""
        general = {"positionEncodings": [self.encoding]}
        params = {
            "processId": None,
            "rootUri": root.as_uri(),
            "workspaceFolders": [{"uri": root.as_uri(), "name": "w"}],
            "capabilities": {**self.capabilities, "general": general},
            **more,
        }
        result = await self.request("initialize", params)
        await self.notify("initialized", {})
        return result

    async def new(self, root: Path) -> str:
        """A new session's id."""
        params = {"uri": root.as_uri(), "mcpServers": []}
        return (await self.request("agent/session/new", params))["sessionId"]

    async def prompt(self, session: str, text: str) -> Any:
        """A whole turn: the prompt's result."""
        return await self.request("agent/session/prompt", prompt_params(session, text))

    async def command(self, name: str, *arguments: Any) -> Any:
        """`workspace/executeCommand`."""
        params = {"command": name, "arguments": list(arguments)}
        return await self.request("workspace/executeCommand", params)

    async def open(self, path: Path, text: str, version: int = 1) -> str:
        """`didOpen`; the document's URI."""
        uri = path.as_uri()
        self.buffers[uri] = (version, text)
        item = {"uri": uri, "languageId": "python", "version": version, "text": text}
        await self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    async def type(self, uri: str, text: str) -> None:
        """The person makes the whole buffer this text."""
        version = self.buffers[uri][0] + 1
        self.buffers[uri] = (version, text)
        document = {"uri": uri, "version": version}
        params = {"textDocument": document, "contentChanges": [{"text": text}]}
        await self.notify("textDocument/didChange", params)

    async def resolve(self, proposed: Any, *decisions: Any, **more: Any) -> Any:
        """`agent/edit/resolve` of a proposal's params."""
        params = {"txn": proposed["txn"], "revision": proposed["revision"], "decisions": decisions}
        return await self.request("agent/edit/resolve", {**params, **more})

    async def request(self, method: str, params: Any) -> Any:
        """The result; raises `Refused`."""
        return await self.response(await self.ask(method, params))

    async def ask(self, method: str, params: Any) -> int:
        """Send a request and do not wait; its id."""
        self._last_id += 1
        await self.tell({"id": self._last_id, "method": method, "params": params})
        return self._last_id

    async def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        await self.tell({"method": method, "params": params})

    async def tell(self, *messages: Message) -> None:
        """Send messages in one packet."""
        whole = (json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages)
        await self.send(b"".join(framed(body) for body in whole))

    # ---- hearing ----

    async def response(self, request_id: int) -> Any:
        """The result of a request; raises `Refused`."""
        message = await self.until(lambda m: m.get("id") == request_id and "method" not in m)
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    async def until(self, fits: Callable[[Message], bool]) -> Message:
        """The first message, past or to come, that fits."""
        seen = 0
        while True:
            while seen < len(self.received):
                if fits(self.received[seen]):
                    return self.received[seen]
                seen += 1
            await self._moved.wait()

    async def hears(self, method: str) -> Any:
        """The params of the first message of a method, past or to come."""
        return (await self.until(lambda m: m.get("method") == method))["params"]

    def of(self, method: str) -> list[Any]:
        """The params of every message of a method so far."""
        return [m["params"] for m in self.received if m.get("method") == method]

    def text(self) -> str:
        """The agent's visible words so far."""
        updates = [params["update"] for params in self.of("agent/session/update")]
        chunks = [u for u in updates if u["sessionUpdate"] == "agent_message_chunk"]
        return "".join(chunk["content"]["text"] for chunk in chunks)

    async def read(self) -> None:
        """Read, judge and answer until the server hangs up."""
        buffer = b""
        while data := await self.receive():
            buffer += data
            while (found := cut(buffer)) is not None:
                body, buffer = found
                await self._take(json.loads(body))

    async def _take(self, message: Message) -> None:
        self._judge(message)
        self.received.append(message)
        moved, self._moved = self._moved, anyio.Event()
        moved.set()
        if "method" in message and "id" in message:
            await self._reply(message)

    def _judge(self, message: Message) -> None:
        known = SCHEMA["methods"].get(message.get("method"))
        if known is None or "$ref" not in known["params"]:
            return
        validator = Draft202012Validator({**known["params"], "$defs": SCHEMA["$defs"]})
        self.violations += [
            f"{message['method']}: {error.message} at {error.json_path}"
            for error in validator.iter_errors(message["params"])
        ]

    async def _reply(self, message: Message) -> None:
        try:
            answer = self.answers.get(message["method"], cooperative)
            result = answer(self, message)
            if hasattr(result, "__await__"):
                result = await result
        except Refused as refused:
            error = {"code": refused.code, "message": str(refused)}
            await self.tell({"id": message["id"], "error": error})
            return
        if result is not NEVER:
            await self.tell({"id": message["id"], "result": result})

    async def apply(self, uri: str, version: int | None, edits: list[Any]) -> bool:
        """Apply edits to a buffer if they are for its version, and tell the server."""
        if uri not in self.buffers or self.buffers[uri][0] != version:
            return False
        made = [text_edit(edit) for edit in edits]
        await self.type(uri, apply_text_edits(self.buffers[uri][1], made, self.encoding))
        return True


async def cooperative(client: LspClient, message: Message) -> Any:
    """What a well-behaved editor answers, whose person says yes."""
    params = message["params"]
    match message["method"]:
        case "workspace/applyEdit":
            [change] = params["edit"]["documentChanges"]
            document = change["textDocument"]
            done = await client.apply(document["uri"], document["version"], change["edits"])
            return {"applied": done}
        case "agent/edit/apply":
            done = await client.apply(params["uri"], params["version"], params["edits"])
            return {"outcome": "applied" if done else "stale"}
        case "agent/session/request_permission":
            return {
                "outcome": {"outcome": "selected", "optionId": params["options"][0]["optionId"]}
            }
        case "window/showMessageRequest":
            return params["actions"][0]
        case "window/showDocument":
            return {"success": True}
        case "agent/editor/save":
            return {"saved": True}
        case "window/workDoneProgress/create":
            return None
        case method:
            raise Refused({"code": -32601, "message": f"no {method}"})


def framed(body: bytes) -> bytes:
    """A body with its header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def cut(buffer: bytes) -> tuple[bytes, bytes] | None:
    """The first body and the rest; None while it is not whole. Strict: the server sends nothing else."""
    head, separator, rest = buffer.partition(b"\r\n\r\n")
    if not separator:
        return None
    name, _, length = head.partition(b": ")
    assert name == b"Content-Length", head
    size = int(length)
    return (rest[:size], rest[size:]) if len(rest) >= size else None


def text_edit(edit: Any) -> TextEdit:
    """An LSP edit."""
    start, end = edit["range"]["start"], edit["range"]["end"]
    return TextEdit(Range(Position(**start), Position(**end)), edit["newText"])


def prompt_params(session: str, text: str) -> dict[str, Any]:
    """Params of `agent/session/prompt`."""
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
