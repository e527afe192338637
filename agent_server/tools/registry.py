"""Which tools there are. A new one is a module named for it and a line here.

Their code is imported when the first call of each comes, or by `warm`: a session's first request needs their names and
schemas (`specs`) only, and answers 10 ms sooner.
"""

from importlib import import_module
from typing import cast

from agent_server.loop.model import CallKey, JsonObject, ToolKind, ToolResult
from agent_server.loop.ports import Prepared, Tool, Tools, ToolSpec
from agent_server.tools.arguments import adapter
from agent_server.tools.services import Services
from agent_server.tools.specs import spec
from agent_server.tools.tool import BuiltIn

CLASSES = {
    "read": "Read", "list": "ListFolder", "glob": "Glob", "search": "Search", "edit": "Edit", "write": "Write",
    "patch": "Patch", "diagnostics": "DiagnosticsTool", "shell": "Shell", "todo": "Todo", "ask_user": "AskUser",
    "delegate": "Delegate",
}  # fmt: skip
"""By the tool's name, which is its module's; in the order the model sees them."""
_FOR_SUB_AGENTS = "delegate"
"""Its tool is offered only to an agent that may have sub-agents."""


def tool_class(name: str) -> type[BuiltIn]:
    """The code of a tool, imported now."""
    found: type[BuiltIn] = getattr(import_module(f"agent_server.tools.{name}"), CLASSES[name])
    return found


def warm() -> None:
    """Import the tools and pydantic, and build its validators: 150 ms that no call need wait for. Blocking."""
    for name in CLASSES:
        adapter(tool_class(name).arguments)


def build(services: Services) -> Tools:
    """The tools of one session."""
    return {
        name: _Late(name, services)
        for name in CLASSES
        if name != _FOR_SUB_AGENTS or services.subagents is not None
    }


class _Late:
    """A tool whose module is imported once more than its name and schema is needed."""

    def __init__(self, name: str, services: Services) -> None:
        self._name, self._services = name, services
        self._made: Tool | None = None

    @property
    def spec(self) -> ToolSpec:
        return spec(self._name)

    @property
    def kind(self) -> ToolKind:
        return self._tool.kind

    @property
    def read_only(self) -> bool:
        return self._tool.read_only

    @property
    def parallel(self) -> int:
        return self._tool.parallel

    @property
    def ends_turn(self) -> bool:
        return self._tool.ends_turn

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        return await self._tool.prepare(arguments, key)

    @property
    def _tool(self) -> Tool:
        if self._made is None:
            self._made = cast("Tool", tool_class(self._name)(self._services))
        return self._made
