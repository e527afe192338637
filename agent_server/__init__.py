"""A coding agent that lives in the editor, speaking ACP and LSP over stdio, and an object in Python: `Agent`."""

TYPE_CHECKING = (
    False  # checkers take it for typing's; importing that costs more than the first stage does
)
if TYPE_CHECKING:
    from agent_server.api import Agent, AsyncAgent, ConversationResult, TurnFailed

__all__ = ["Agent", "AsyncAgent", "ConversationResult", "TurnFailed"]


def __getattr__(name: str) -> object:
    """The Python API, imported when somebody asks for it: the servers start without."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agent_server import api

    return getattr(api, name)
