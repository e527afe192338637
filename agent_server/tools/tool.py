"""What the built-in tools have in common. The docstring of each tool is what the model reads."""

from typing import ClassVar

from agent_server.loop.model import ToolKind
from agent_server.loop.ports import ToolSpec
from agent_server.tools.arguments import Arguments
from agent_server.tools.services import Services
from agent_server.tools.specs import spec


class BuiltIn:
    """Base of the built-in tools; implements what `loop.ports.Tool` asks besides `prepare`."""

    name: ClassVar[str]
    arguments: ClassVar[type[Arguments]]
    kind: ToolKind = "other"
    read_only: bool = False
    parallel: int = 1
    ends_turn: bool = False

    def __init__(self, services: Services) -> None:
        """Bind the tool to a session's ground."""
        self._services = services

    @property
    def spec(self) -> ToolSpec:
        """Name, description and schema."""
        return spec(self.name)
