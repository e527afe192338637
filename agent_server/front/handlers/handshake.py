"""`initialize` and `authenticate`. The first answer to `initialize` is the first stage's; see `first_stage.py`."""

from agent_server.front.capabilities import acp_capabilities
from agent_server.front.front import Front
from agent_server.front.params import text_field
from agent_server.front.rpc.dispatch import Incoming
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import JsonObject

AUTH_METHOD = "config"
"""Agent-type: clients that must authenticate first (docs/acp.md, rule 11) have something to call that succeeds."""


async def initialize(front: Front, incoming: Incoming) -> JsonObject:
    """Answer again; what the client can do counts for sessions that come after it."""
    version = incoming.params.get("protocolVersion")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version <= 0xFFFF:
        raise ClientMistake("protocolVersion must be an integer from 0 to 65535")
    take_initialize(front, incoming.params)
    return front.initialize_result() if front.initialize_result is not None else {}


def take_initialize(front: Front, params: JsonObject) -> None:
    """Remember what the client can do."""
    front.peer.capabilities = acp_capabilities(params)
    front.ready = True


async def authenticate(front: Front, incoming: Incoming) -> object:
    """Nothing to do: credentials come from the settings. A terminal method's id is accepted as well (rule 11)."""
    del front
    text_field(incoming.params, "methodId")
    return {}
