"""How conversations begin and go on: `session/new`, `load`, `resume`, `fork`, and `session/list`."""

from collections.abc import Sequence
from functools import partial

from agent_server.front.blocks import Json
from agent_server.front.front import Front
from agent_server.front.handlers.options import current_options
from agent_server.front.params import Workspace, listing, session_id, workspace
from agent_server.front.render import updates
from agent_server.front.render.options import modes
from agent_server.front.render.replay import replay, settled_calls
from agent_server.front.rpc.dispatch import FollowUp, Incoming, Result
from agent_server.loop.events import Notice
from agent_server.loop.model import ToolKind
from agent_server.session.session import Session
from agent_server.session.sessions import SessionSummary


async def new(front: Front, incoming: Incoming) -> Result:
    """A new conversation. Everything about it follows the response (docs/acp.md, rule 14)."""
    place = workspace(incoming.params)
    seat = front.peer.seat()
    session = await front.sessions.new(cwd=place.cwd, roots=place.roots, client=seat)
    seat.session = session.id
    notices = (*_notices(place), *session.notices)
    return Result({"sessionId": session.id, **_state(session)}, _begun(front, session, notices))


async def load(front: Front, incoming: Incoming) -> Result:
    """A stored conversation: all of it as updates, then the response (rule 15)."""
    place = workspace(incoming.params)
    seat = front.peer.seat()
    seat.session = session_id(incoming.params)
    session = await front.sessions.load(seat.session, cwd=place.cwd, roots=place.roots, client=seat)
    view = front.peer.view(session.id)
    ends = front.peer.capabilities.own
    view.replay(replay(session.entries, _kinds(session), ends=ends), session.title)
    if (used := session.usage) is not None:
        view.stream.update(updates.usage(used), turn=None)
    begun = _begun(front, session, (*_notices(place), *session.notices))
    return Result(_state(session), (*begun, *_left_open(front, session)))


async def resume(front: Front, incoming: Incoming) -> Result:
    """A stored conversation whose past the client has: nothing of it is shown (rule 16).

    But a client of ours hears how calls ended that it saw begin and that were cut off with the last turn.
    """
    place = workspace(incoming.params)
    seat = front.peer.seat()
    seat.session = session_id(incoming.params)
    session = await front.sessions.load(seat.session, cwd=place.cwd, roots=place.roots, client=seat)
    notices = (*_notices(place), *session.notices)
    begun = _begun(front, session, notices)
    ended = list(settled_calls(session.entries)) if front.peer.capabilities.own else []
    settled = front.peer.view(session.id).follow_up(ended)
    return Result(_state(session), (*begun, *settled, *_left_open(front, session)))


async def fork(front: Front, incoming: Incoming) -> Result:
    """A new conversation that knows what another one knows now; the client has that past already."""
    place = workspace(incoming.params)
    seat = front.peer.seat()
    session = await front.sessions.fork(
        session_id(incoming.params), cwd=place.cwd, roots=place.roots, client=seat
    )
    seat.session = session.id
    notices = (*_notices(place), *session.notices)
    return Result({"sessionId": session.id, **_state(session)}, _begun(front, session, notices))


async def list_sessions(front: Front, incoming: Incoming) -> Json:
    """Stored conversations, a page at a time."""
    cwd, cursor = listing(incoming.params)
    found, following = await front.sessions.list(cwd=cwd, cursor=cursor)
    page: Json = {"sessions": [_summary(one) for one in found]}
    return page | {"nextCursor": following} if following else page


def _begun(front: Front, session: Session, notices: Sequence[Notice]) -> tuple[FollowUp, ...]:
    view = front.peer.view(session.id)
    return view.begin(notices, per_second=session.profile.updates_per_second)


def _left_open(front: Front, session: Session) -> tuple[FollowUp, ...]:
    """What became of edits that a stopped server had left open."""
    stream = front.peer.view(session.id).stream
    take_up = partial(front.sessions.take_up, session)
    return front.peer.proposals.recall(stream, session.left_open, take_up)


def _state(session: Session) -> Json:
    state: Json = {"modes": modes(session.mode), "configOptions": current_options(session)}
    if session.read_only is not None:
        state["_meta"] = {"agent-server": {"readOnly": session.read_only}}
    return state


def _summary(one: SessionSummary) -> Json:
    shown: Json = {
        "sessionId": one.id,
        "cwd": one.cwd,
        "title": one.title,
        "updatedAt": one.updated,
    }
    if one.roots:
        shown["additionalDirectories"] = list(one.roots)
    if one.damaged is not None:
        shown["_meta"] = {"agent-server": {"damaged": one.damaged}}
    return shown


def _kinds(session: Session) -> dict[str, ToolKind]:
    return {name: tool.kind for name, tool in session.tools.items()}


def _notices(place: Workspace) -> tuple[Notice, ...]:
    """What was asked for and is not done."""
    notices = [
        Notice("warning", f"Not an absolute path, ignored: {entry}") for entry in place.skipped
    ]
    if place.mcp_servers:
        notices.append(Notice("warning", "MCP servers are not supported yet; none was started"))
    return tuple(notices)
