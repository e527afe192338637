"""A session's tools over a folder, driven as the loop drives them."""

import atexit
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from agent_server.edits.documents import Documents
from agent_server.edits.ports import Applied, Diagnostics, Editor, NoDiagnostics, NoEditor, Snapshot
from agent_server.loop.events import CallProgress, Event
from agent_server.loop.model import CallKey, Mode, ToolResult, TurnId
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import FileChange, Resolution
from agent_server.policy.grants import Grant
from agent_server.policy.places import Places
from agent_server.policy.session_policy import SessionPolicy
from agent_server.tools.lifeline import Lifeline
from agent_server.tools.registry import build
from agent_server.tools.services import Limits, Services
from tests.fakes.journal import MemoryJournal, transactions

KEY = CallKey(1, 0)
LIFELINE = Lifeline()
"""One for all tests of a process, as in the product."""
atexit.register(LIFELINE.close)


class Desk:
    """Tools, their session's policy, and every event they emitted."""

    def __init__(
        self,
        root: Path,
        *,
        editor: Editor | None = None,
        limits: Limits | None = None,
        env: Mapping[str, str] | None = None,
        mode: Mode = "ask",
        diagnostics: Diagnostics | None = None,
        save_accepted: bool = False,
    ) -> None:
        self.root = root
        self.events: list[Event] = []
        self.heard: Callable[[Event], None] = self.events.append
        self.policy = SessionPolicy(
            mode=lambda: mode,
            rules=(),
            grants=frozenset(),
            places=Places((os.path.realpath(root),), home="/home/nobody"),
            save=_forget,
        )
        connected = editor or NoEditor()
        self.journal = MemoryJournal()
        self.services = Services(
            cwd=str(root),
            transactions=transactions(Documents(lambda: connected), self.journal),
            reading=self.policy,
            limits=limits or Limits(),
            env=os.environ if env is None else env,
            lifeline=LIFELINE,
            save_accepted=save_accepted,
            diagnostics=lambda: diagnostics or NoDiagnostics(),
        )
        self.tools = build(self.services)

    def file(self, name: str, content: str | bytes = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    async def understand(self, tool: str, **arguments: object) -> Prepared | ToolResult:
        return await self.tools[tool].prepare(arguments, KEY)

    async def prepared(self, tool: str, **arguments: object) -> Prepared:
        prepared = await self.understand(tool, **arguments)
        assert isinstance(prepared, Prepared), prepared
        return prepared

    async def refused(self, tool: str, **arguments: object) -> ToolResult:
        """What a call gives that is settled before anybody is asked."""
        result = await self.understand(tool, **arguments)
        assert isinstance(result, ToolResult), result
        assert not result.ok
        return result

    async def call(self, tool: str, **arguments: object) -> ToolResult:
        """The whole call, with a yes to all of it."""
        prepared = await self.understand(tool, **arguments)
        return prepared if isinstance(prepared, ToolResult) else await self.run(prepared)

    async def run(self, prepared: Prepared, resolution: Resolution | None = None) -> ToolResult:
        return await prepared.run(CallContext(TurnId("t1"), KEY, self.hear, gated=True), resolution)

    def hear(self, event: Event) -> None:
        self.heard(event)

    @property
    def shown(self) -> str:
        """All progress the person saw."""
        return "".join(e.text for e in self.events if isinstance(e, CallProgress))


async def _forget(scope: str, grant: Grant) -> None:
    del scope, grant


class BufferEditor(NoEditor):
    """An editor with open buffers; `before_apply` happens just before an edit arrives."""

    def __init__(self, buffers: dict[str, str]) -> None:
        self.buffers = buffers
        self.before_apply: Callable[[], None] = lambda: None

    async def snapshot(self, path: str) -> Snapshot | None:
        return Snapshot(self.buffers[path], 7) if path in self.buffers else None

    async def apply(self, change: FileChange, *, txn: str, label: str) -> Applied:
        del txn, label
        self.before_apply()
        if self.buffers[change.path] != change.base_text:
            return Applied(
                "stale", self.buffers[change.path], reason="the document is at version 8"
            )
        assert change.new_text is not None
        self.buffers[change.path] = change.new_text
        return Applied("applied", change.new_text, 8)
