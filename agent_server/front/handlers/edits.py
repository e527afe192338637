"""`edit/resolve`, `edit/get` and `edit/content`, for clients that show proposals themselves (protocol.md)."""

from agent_server.front.blocks import Json
from agent_server.front.front import Front
from agent_server.front.rpc.dispatch import Incoming
from agent_server.front.verdicts import Verdict


async def resolve(front: Front, incoming: Incoming) -> Json:
    """Decisions on a proposal. Answered at once: a client that waits would block `edit/apply`."""
    # Pydantic: only a client that reviews edits pays for it, once it does.
    from agent_server.front.protocol.edits import ResolveEdit
    from agent_server.front.protocol.parse import parse_params

    wanted = parse_params(ResolveEdit, incoming.params)
    verdicts = [
        Verdict(one.verdict == "accept", one.uri, one.hunk, one.edited_text)
        for one in wanted.decisions
    ]
    proposals = front.peer.proposals
    resolved = proposals.resolve(
        wanted.txn, wanted.revision, verdicts, remember=wanted.remember, feedback=wanted.feedback
    )
    await proposals.keep_decisions(wanted.txn)
    return resolved


async def get(front: Front, incoming: Incoming) -> Json:
    """A proposal as it is now: for a client whose decision came too late, or that has just been started."""
    from agent_server.front.protocol.edits import GetEdit  # see `resolve`
    from agent_server.front.protocol.parse import parse_params

    return front.peer.proposals.shown(parse_params(GetEdit, incoming.params).txn)


async def content(front: Front, incoming: Incoming) -> Json:
    """One side of a change that was too large to be sent with the proposal."""
    from agent_server.front.protocol.edits import EditContentRequest  # see `resolve`
    from agent_server.front.protocol.parse import parse_params

    wanted = parse_params(EditContentRequest, incoming.params)
    return {"text": front.peer.proposals.content(wanted.txn, wanted.uri, wanted.side)}
