"""Which tools there are. A new one is a module and a line here."""

from agent_server.loop.ports import Tools
from agent_server.tools.arguments import adapter
from agent_server.tools.ask_user import AskUser
from agent_server.tools.delegate import Delegate
from agent_server.tools.diagnostics import DiagnosticsTool
from agent_server.tools.edit import Edit
from agent_server.tools.glob import Glob
from agent_server.tools.list import ListFolder
from agent_server.tools.patch import Patch
from agent_server.tools.read import Read
from agent_server.tools.search import Search
from agent_server.tools.services import Services
from agent_server.tools.shell import Shell
from agent_server.tools.todo import Todo
from agent_server.tools.write import Write

TOOLS = (
    Read, ListFolder, Glob, Search, Edit, Write, Patch, DiagnosticsTool, Shell, Todo, AskUser, Delegate,
)  # fmt: skip
"""In the order the model sees them."""


def warm() -> None:
    """Import pydantic and build its validators: 150 ms that the first call need not wait for. Blocking."""
    for tool in TOOLS:
        adapter(tool.arguments)


def build(services: Services) -> Tools:
    """The tools of one session."""
    return {tool.name: tool(services) for tool in TOOLS if tool.offered(services)}
