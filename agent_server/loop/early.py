"""Read-only calls that run while their reply still streams (R10).

A call starts early when its arguments are whole, its tool only reads, the policy allows it, and no effectful call of
the reply stands before it. Its result is used when its turn comes; when the reply fails, it never happened.
"""

import time
from dataclasses import field

import anyio
import anyio.abc

from agent_server.frozen import mutable
from agent_server.loop.guard import repeated_before
from agent_server.loop.model import CallKey, ToolCall, ToolResult
from agent_server.loop.ports import Prepared
from agent_server.loop.running import decide, execute, show_understood, understand
from agent_server.loop.turn import EarlyResult, Turn


@mutable
class Early:
    """The early calls of one reply, as tasks of `group`."""

    turn: Turn
    group: anyio.abc.TaskGroup
    results: dict[CallKey, EarlyResult] = field(default_factory=dict[CallKey, EarlyResult])
    barrier: bool = False
    """An effectful call was seen: nothing behind it starts early."""
    running: int = 0
    seen: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def offer(self, call: ToolCall) -> None:
        """A call of the stream is whole."""
        tool = self.turn.tools.get(call.name)
        if tool is None or not tool.read_only:
            self.barrier = True
        known = (call.name, call.arguments) in self.seen or repeated_before(
            self.turn, call
        ) is not None
        self.seen.add((call.name, call.arguments))
        full = self.running >= self.turn.limits.parallel
        if self.barrier or known or full or not self.turn.limits.start_early:
            return
        self.running += 1
        self.group.start_soon(self._run, call)

    async def _run(self, call: ToolCall) -> None:
        understood = await understand(self.turn, call)
        if isinstance(understood, ToolResult):
            return
        tool, prepared = understood
        needs_person = prepared.proposal is not None or prepared.action.kind == "ask"
        if needs_person or decide(self.turn, prepared).verdict != "allow":
            return
        show_understood(self.turn, call, tool, prepared)
        await self._execute(call, prepared)

    async def _execute(self, call: ToolCall, prepared: Prepared) -> None:
        began = time.monotonic()
        result = await execute(self.turn, call, prepared, None)
        self.results[call.key] = EarlyResult(result, time.monotonic() - began)
