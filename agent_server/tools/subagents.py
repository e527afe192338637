"""Who answers a call of `delegate`: the port between that tool and whoever can make a child session."""

from typing import Protocol

from agent_server.frozen import frozen
from agent_server.loop.model import ToolResult
from agent_server.loop.ports import CallContext


@frozen
class Errand:
    """What a sub-agent is sent to do."""

    task: str
    tools: tuple[str, ...] | None = None
    """Names of the tools it gets; None: all that a sub-agent may have."""
    model: str | None = None
    """One of the models a person may pick from; None: what the settings say."""


class SubAgents(Protocol):
    """Sends sub-agents; how many steps they have and what they may do is not the model's to say."""

    async def run(self, errand: Errand, context: CallContext) -> ToolResult:
        """Do the errand; what comes of it, labelled as what it is. Cancelling the wait ends and settles the sub-agent.

        Raises:
            StoreFailure: its session could not be kept.
        """
        ...
