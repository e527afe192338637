"""The agent as a Python object, without any wire: `Agent(cwd=".").chat("…")` (loop.md R19).

`AsyncAgent` is for code that runs on anyio or asyncio; `Agent` is the same on a thread of its own, for everybody else.
Settings, sessions and rules are those of the editor's agent: a conversation begun here can be gone on with there.
Nobody is asked unless `approve` and `clarify` say who. `docs/python-api.md` has examples.
"""

from agent_server.api.blocking import Agent
from agent_server.api.caller import Approve, Clarify, Watch
from agent_server.api.conversation import AsyncAgent, ConversationResult, TurnFailed

__all__ = ["Agent", "Approve", "AsyncAgent", "Clarify", "ConversationResult", "TurnFailed", "Watch"]
