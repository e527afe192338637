"""`session/close`, `session/delete`, `session/set_title`: what is done to a conversation rather than in it."""

from agent_server.front.blocks import Json
from agent_server.front.front import Front
from agent_server.front.params import session_id, text_field
from agent_server.front.render import updates
from agent_server.front.rpc.dispatch import Incoming, Result
from agent_server.loop.errors import UnknownSession


async def close(front: Front, incoming: Incoming) -> Json:
    """Let a conversation go: its turn is cancelled and answered, and other processes may have it."""
    session = session_id(incoming.params)
    await front.sessions.close(session)
    front.peer.proposals.forget(session)
    return {}


async def delete(front: Front, incoming: Incoming) -> Json:
    """Forget a conversation, also one that is open; one that nobody knows is gone already (ACP: idempotent)."""
    session = session_id(incoming.params)
    await front.sessions.delete(session)
    front.peer.proposals.forget(session)
    return {}


async def set_title(front: Front, incoming: Incoming) -> Result:
    """Name a conversation, open or not; answered with the name as it is kept. None that we find replaces it."""
    session = session_id(incoming.params)
    title = await front.sessions.set_title(session, text_field(incoming.params, "title"))
    try:
        front.sessions.get(session)
    except UnknownSession:  # it is not open, so nobody shows it
        return Result({"title": title})
    return Result({"title": title}, front.peer.view(session).follow_up([updates.title(title)]))
