"""An ACP client that remembers everything and forgives nothing: each message of the agent is judged by the oracle.

It knows nothing of our code: bytes in, bytes out, so that it drives a server in memory and a process alike.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from tests.acp_oracle import Oracle

Message = Mapping[str, Any]
STOCK: dict[str, Any] = {}
"""Capabilities of a client that can do nothing."""
FILES: dict[str, Any] = {"fs": {"readTextFile": True, "writeTextFile": True}}
OURS: dict[str, Any] = {
    "_meta": {
        "agent-server": {
            "version": 1,
            "sessionUpdate": True,
            "permission": True,
            "edit": {"proposed": True},
        }
    }
}


class Refused(Exception):
    """The agent answered with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(error["message"])
        self.code = error["code"]
        self.data: Any = error.get("data")


NEVER = object()
"""An answer that is not given."""


@dataclass
class AcpClient:
    """One end of a conversation. Run `read` in a task; it returns at the end of input."""

    receive: Callable[[], Awaitable[bytes]]
    send: Callable[[bytes], Awaitable[None]]
    capabilities: dict[str, Any] = field(default_factory=dict)
    answer: Callable[["AcpClient", Message], Any] | None = None
    """Answers permission requests with an outcome, an error (`Refused`), or `NEVER`; without it: the first option."""
    files: dict[str, str] = field(default_factory=dict)
    """What `fs/read_text_file` gives, by path."""
    write: Callable[["AcpClient", Message], Any] | None = None
    """Answers `fs/write_text_file`; without it the text is stored."""
    own: dict[str, Callable[[Message], Any]] = field(default_factory=dict)
    """Answers requests of ours, by method."""
    oracle: Oracle = field(default_factory=Oracle)
    received: list[Message] = field(default_factory=list)
    sent: list[Message] = field(default_factory=list)
    _last_id: int = 0
    _moved: anyio.Event = field(default_factory=anyio.Event)
    _ended: bool = False

    # ---- saying ----

    async def initialize(self, **more: Any) -> Any:
        """The handshake."""
        params = {"protocolVersion": 1, "clientCapabilities": self.capabilities, **more}
        return await self.request("initialize", params)

    async def new(self, cwd: str, **more: Any) -> str:
        """A new session's id."""
        return (await self.request("session/new", {"cwd": cwd, "mcpServers": [], **more}))[
            "sessionId"
        ]

    async def prompt(self, session: str, text: str) -> Any:
        """A whole turn: the prompt's result."""
        return await self.request("session/prompt", prompt_params(session, text))

    async def request(self, method: str, params: Any) -> Any:
        """The result; raises `Refused`."""
        return await self.response(await self.ask(method, params))

    async def ask(self, method: str, params: Any) -> int:
        """Send a request and do not wait; its id."""
        self._last_id += 1
        await self.tell({"id": self._last_id, "method": method, "params": params})
        return self._last_id

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        await self.tell({"method": method, "params": params})

    async def tell(self, *messages: Message) -> None:
        """Send messages in one packet."""
        whole = [{"jsonrpc": "2.0", **message} for message in messages]
        for message in whole:
            self.sent.append(message)
            self.oracle.sent(message)
        await self.send(b"".join(json.dumps(message).encode() + b"\n" for message in whole))

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
            if self._ended:
                raise EOFError("the agent hung up before it said that")
            await self._moved.wait()

    def updates(self, session: str, *kinds: str) -> list[Any]:
        """The session's updates so far, of these kinds or all."""
        return [
            m["params"]["update"]
            for m in self.received
            if m.get("method") == "session/update" and m["params"]["sessionId"] == session
            if not kinds or m["params"]["update"]["sessionUpdate"] in kinds
        ]

    def told(self, session: str) -> list[Any]:
        """The session's updates so far, but for the commands, which follow each beginning."""
        return [
            update
            for update in self.updates(session)
            if update["sessionUpdate"] != "available_commands_update"
        ]

    def text(self, session: str) -> str:
        """The agent's visible words so far."""
        chunks = self.updates(session, "agent_message_chunk")
        return "".join(chunk["content"]["text"] for chunk in chunks)

    def of(self, method: str) -> list[Any]:
        """The params of every message of a method so far."""
        return [m["params"] for m in self.received if m.get("method") == method]

    async def read(self) -> None:
        """Read, judge and answer until the agent hangs up."""
        rest = b""
        while data := await self.receive():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                await self._take(json.loads(line))
        self._ended = True
        self._moved.set()

    async def _take(self, message: Message) -> None:
        self.oracle.received(message)
        self.received.append(message)
        moved, self._moved = self._moved, anyio.Event()
        moved.set()
        if "method" in message and "id" in message:
            await self._reply(message)

    async def _reply(self, message: Message) -> None:
        try:
            result = self._result(message)
        except Refused as refused:
            error = {"code": refused.code, "message": str(refused)}
            await self.tell({"id": message["id"], "error": error})
            return
        if result is not NEVER:
            await self.tell({"id": message["id"], "result": result})

    def _result(self, message: Message) -> Any:
        params = message["params"]
        match message["method"]:
            case "session/request_permission":
                if self.answer is not None:
                    return self.answer(self, message)
                return select(params["options"][0]["optionId"])
            case "fs/read_text_file":
                if params["path"] not in self.files:
                    raise Refused({"code": -32002, "message": "no such file"})
                return {"content": self.files[params["path"]]}
            case "fs/write_text_file":
                if self.write is not None:
                    return self.write(self, message)
                self.files[params["path"]] = params["content"]
                return None
            case method if method in self.own:
                return self.own[method](message)
            case _:
                raise Refused({"code": -32601, "message": "unknown method"})


def prompt_params(session: str, text: str) -> dict[str, Any]:
    """Params of `session/prompt`."""
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


def select(option: str, **more: Any) -> dict[str, Any]:
    """The outcome that picks an option."""
    return {"outcome": {"outcome": "selected", "optionId": option, **more}}


def option_of(message: Message, kind: str) -> str:
    """The id of the first option of a kind, or one that nobody offered."""
    options = message["params"]["options"]
    return next((o["optionId"] for o in options if o["kind"] == kind), "nobody-offered-this")
