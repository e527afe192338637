"""A scripted server and a typing person, for tests of the terminal client."""

import asyncio
import io
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import anyio
from rich.console import Console, ConsoleRenderable, Group

from agent_server.edits.text.hunks import hunks
from agent_server.front.render import edits
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.dispatch import Dispatch, Incoming
from agent_server.front.rpc.errors import RpcError
from agent_server.front.rpc.memory import pair
from agent_server.front.terminal.screen import Screen
from agent_server.front.terminal.style import THEME
from agent_server.loop.action import Scope
from agent_server.loop.model import SessionId
from agent_server.loop.proposal import FileChange, Proposal

OPTIONS = [
    {"optionId": "o1", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "o2", "name": "Allow npm publish in this session", "kind": "allow_always"},
    {"optionId": "o4", "name": "Reject", "kind": "reject_once"},
]
END: Mapping[str, object] = {
    "stopReason": "end_turn",
    "_meta": {
        "agent-server": {
            "turnId": "t1",
            "reason": "model_stop",
            "detail": "text",
            "usage": {
                "inputTokens": 1000,
                "outputTokens": 234,
                "cachedReadTokens": 0,
                "cost": None,
            },
        }
    },
}
CANCELLED: Mapping[str, object] = {
    "stopReason": "cancelled",
    "_meta": {"agent-server": {"turnId": "t1", "reason": "user_abort", "detail": "cancel"}},
}


def a_change(base: str = "a\nb\nc\nd\ne\n", new: str = "A\nb\nc\nd\nE\n") -> FileChange:
    return FileChange("/w/a.py", "edit", base, new, hunks(base, new), base_hash="sha256:0")


@dataclass
class FakeServer:
    """Answers as the ACP front does; each prompt is answered by `turn`."""

    turn: Callable[["FakeServer"], Awaitable[Mapping[str, object]]]
    sessions: list[dict[str, object]] = field(default_factory=list)
    replay: list[dict[str, object]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    resolved: list[Mapping[str, object]] = field(default_factory=list)
    refuse_resolve: RpcError | None = None
    seen: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.decided = anyio.Event()
        self.cancelled = anyio.Event()
        self.connection: Connection

    def connect(self, theirs: Dispatch) -> Connection:
        """The client's end; ours is served by the running loop."""
        client, self.connection = pair(theirs, self.dispatch())
        self._serving = asyncio.get_running_loop().create_task(self.connection.serve())
        return client

    def dispatch(self) -> Dispatch:
        return Dispatch(
            requests={
                "initialize": self._initialize,
                "session/new": self._new,
                "session/load": self._load,
                "session/list": self._list,
                "session/prompt": self._prompt,
                "session/set_mode": self._note,
                "session/set_config_option": self._set_option,
                "_agent-server/edit/resolve": self._resolve,
            },
            notifications={"session/cancel": self._cancel},
        )

    # ---- what a turn may do ------------------------------------------------------------------------

    def update(self, variant: str, **fields: object) -> None:
        update = {"sessionUpdate": variant, **fields}
        self.connection.notify("session/update", {"sessionId": "s1", "update": update})

    def say(self, text: str, message_id: str = "m1") -> None:
        content = {"type": "text", "text": text}
        self.update("agent_message_chunk", messageId=message_id, content=content)

    def status(self, state: str, label: str) -> None:
        params = {"sessionId": "s1", "turnId": "t1", "state": state, "label": label, "busy": True}
        self.connection.notify("_agent-server/status", params)

    async def permission(self, *, floor: bool = False) -> object:
        params: dict[str, object] = {
            "sessionId": "s1",
            "toolCall": {
                "toolCallId": "c1",
                "title": "shell npm publish",
                "kind": "execute",
                "status": "pending",
                "content": [
                    {
                        "type": "content",
                        "content": {"type": "text", "text": "```sh\nnpm publish\n```"},
                    }
                ],
            },
            "options": [o for o in OPTIONS if not floor or o["kind"] != "allow_always"],
            "_meta": {"agent-server": {"floor": floor, "reason": "not in your allow rules"}},
        }
        return await self.connection.request("session/request_permission", params)

    async def inquire(self, *options: str) -> object:
        params = {"sessionId": "s1", "toolCallId": "c1", "question": "Which?", "options": options}
        return await self.connection.request("_agent-server/ask", params)

    def propose(
        self,
        *files: FileChange,
        scopes: tuple[Scope, ...] = ("once", "session"),
        review: edits.Review = "ask",
    ) -> None:
        params = edits.proposed(
            SessionId("s1"),
            Proposal("x1", files),
            call_id="c1",
            turn="t1",
            revision=1,
            review=review,
            reason=None,
            scopes=scopes,
        )
        self.connection.notify("_agent-server/edit/proposed", params)

    def edit_state(self, state: str) -> None:
        params = {"sessionId": "s1", "txn": "x1", "revision": 2, "state": state, "files": []}
        self.connection.notify("_agent-server/edit/state", params)

    # ---- handlers ----------------------------------------------------------------------------------

    async def _initialize(self, incoming: Incoming) -> object:
        self.seen.append((incoming.method, incoming.params))
        return {"protocolVersion": 1, "agentInfo": {"name": "fake", "version": "9.9"}}

    async def _new(self, incoming: Incoming) -> object:
        del incoming
        return {
            "sessionId": "s1",
            "modes": {"currentModeId": "ask", "availableModes": []},
            "configOptions": [{"id": "model", "currentValue": "demo"}],
        }

    async def _load(self, incoming: Incoming) -> object:
        self.seen.append((incoming.method, incoming.params))
        for update in self.replay:
            self.connection.notify("session/update", {"sessionId": "s0", "update": update})
        return {"configOptions": [{"id": "model", "currentValue": "demo"}]}

    async def _list(self, incoming: Incoming) -> object:
        if incoming.params.get("cursor"):
            return {"sessions": self.sessions[1:]}
        return {"sessions": self.sessions[:1], "nextCursor": "more" if self.sessions[1:] else None}

    async def _prompt(self, incoming: Incoming) -> object:
        (block,) = incoming.params["prompt"]  # pyright: ignore[reportGeneralTypeIssues]
        self.prompts.append(block["text"])
        return await self.turn(self)

    async def _note(self, incoming: Incoming) -> object:
        self.seen.append((incoming.method, incoming.params))
        return {}

    async def _set_option(self, incoming: Incoming) -> object:
        self.seen.append((incoming.method, incoming.params))
        return {"configOptions": [{"id": "model", "currentValue": incoming.params["value"]}]}

    async def _resolve(self, incoming: Incoming) -> object:
        if self.refuse_resolve is not None:
            raise self.refuse_resolve
        self.resolved.append(incoming.params)
        self.decided.set()
        return {"txn": "x1", "revision": 2, "state": "approved"}

    async def _cancel(self, params: Mapping[str, object]) -> None:
        del params
        self.cancelled.set()


@dataclass
class FakeKeyboard:
    """Types what it was told to; with nothing left it waits until nobody needs a key."""

    typed: list[str] = field(default_factory=list)
    lines: list[str | type[KeyboardInterrupt] | None] = field(default_factory=list)
    give_up: float = field(default_factory=lambda: time.monotonic() + 5)
    kept: str = ""

    def line(self, prompt: str) -> str | None:
        del prompt
        said = self.lines.pop(0) if self.lines else None
        if said is KeyboardInterrupt:
            raise KeyboardInterrupt
        assert said is None or isinstance(said, str)
        return said

    def keys(self) -> AbstractContextManager[Callable[[], str | None]]:
        return nullcontext(self._next)

    def _next(self) -> str | None:
        if self.typed:
            return self.typed.pop(0)
        assert time.monotonic() < self.give_up, "the question was never withdrawn"
        return None

    def keep(self, text: str) -> None:
        self.kept += text

    def quiet(self) -> AbstractContextManager[None]:
        return nullcontext()

    def lent(self) -> AbstractContextManager[None]:
        return nullcontext()


def plain_screen(width: int = 80) -> tuple[Screen, io.StringIO]:
    """A pipe."""
    out = io.StringIO()
    return Screen(Console(file=out, width=width, height=24, highlight=False, theme=THEME)), out


def drawn(part: ConsoleRenderable, width: int = 80) -> list[str]:
    """How a part looks, without colours, line by line."""
    console = Console(width=width, height=24, no_color=True, color_system=None, theme=THEME)
    with console.capture() as captured:
        console.print(Group(part))
    return [line.rstrip() for line in captured.get().splitlines()]
