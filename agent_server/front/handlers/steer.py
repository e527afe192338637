"""`session/steer`: what a person says to a turn that runs (protocol.md, loop.md F21-F24)."""

from agent_server.front.blocks import Json, prompt_parts
from agent_server.front.front import Front
from agent_server.front.params import session_id
from agent_server.front.rpc.dispatch import Incoming
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import TurnId


async def steer(front: Front, incoming: Incoming) -> Json:
    """Answered at once; what becomes of it shows in the turn."""
    # Pydantic: only a client that steers pays for it, once it does.
    from agent_server.front.protocol.parse import parse_params
    from agent_server.front.protocol.session import SteerTurn

    wanted = parse_params(SteerTurn, incoming.params)
    session = front.sessions.get(session_id(incoming.params))
    parts = () if wanted.mode == "stop" else prompt_parts(incoming.params)
    if wanted.mode == "queue":
        steered = session.queue(parts)
    elif wanted.expected_turn_id is None:
        raise ClientMistake(f"expectedTurnId is required with mode {wanted.mode!r}")
    else:
        steered = session.steer(wanted.mode, parts, turn=TurnId(wanted.expected_turn_id))
    return {"outcome": steered.outcome, "turnId": steered.turn}
