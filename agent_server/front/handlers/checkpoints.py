"""`edit/revert`, `checkpoint/list`, `checkpoint/restore`: going back, for clients that offer it (protocol.md)."""

from collections.abc import Sequence
from datetime import UTC

from agent_server.edits.checkpoint_targets import Left
from agent_server.edits.undo import Part
from agent_server.edits.undo_run import Rewound
from agent_server.front.blocks import Json
from agent_server.front.front import Front
from agent_server.front.render.edits import file_diff
from agent_server.front.rpc.dispatch import Incoming
from agent_server.front.rpc.errors import INVALID_PARAMS, RpcError
from agent_server.front.uris import file_uri, path_of
from agent_server.loop.errors import ClientMistake, StaleRevision
from agent_server.loop.model import SessionId
from agent_server.session.edits import SessionEdits
from agent_server.session.places import Place
from agent_server.session.rewinding import Back, Rewinding


async def revert(front: Front, incoming: Incoming) -> Json:
    """Take back what is left of an edit. Also while a turn runs."""
    # Pydantic: only a client that goes back pays for it, once it does.
    from agent_server.front.protocol.checkpoints import RevertEdit
    from agent_server.front.protocol.parse import parse_params

    wanted = parse_params(RevertEdit, incoming.params)
    session = await _owner(front, wanted.txn)
    shown = front.peer.proposals.revision(wanted.txn)
    if shown is not None and shown != wanted.revision:
        raise StaleRevision(f"edit {wanted.txn!r} is at revision {shown} now", revision=shown)
    rewound = await session.revert(
        wanted.txn,
        wanted.revision if shown is None else None,
        Part(None if wanted.uri is None else _path(wanted.uri), wanted.hunk),
    )
    stands = "conflict" if rewound.left else "applied"
    return {
        "txn": rewound.proposal.txn if rewound.proposal else None,
        "state": rewound.state if rewound.proposal else stands,
        "left": _left(rewound.left),
    }


async def list_checkpoints(front: Front, incoming: Incoming) -> Json:
    """What the session can be taken back to, oldest first."""
    from agent_server.front.protocol.checkpoints import ListCheckpoints  # see `revert`
    from agent_server.front.protocol.parse import parse_params

    wanted = parse_params(ListCheckpoints, incoming.params)
    rewinding = Rewinding(front.sessions.get(SessionId(wanted.session_id)))
    return {"checkpoints": [_checkpoint(one) for one in await rewinding.places()]}


async def restore(front: Front, incoming: Incoming) -> Json:
    """Take files, conversation or both back to a checkpoint, or say what that would do."""
    from agent_server.front.protocol.checkpoints import RestoreCheckpoint  # see `revert`
    from agent_server.front.protocol.parse import parse_params

    wanted = parse_params(RestoreCheckpoint, incoming.params)
    if not wanted.files and not wanted.chat:
        raise ClientMistake("there is nothing to restore: files and chat are both false")
    rewinding = Rewinding(front.sessions.get(SessionId(wanted.session_id)))
    go = rewinding.look if wanted.dry_run else rewinding.restore
    back = await go(wanted.id, files=wanted.files, chat=wanted.chat, others=wanted.others)
    return _would(back) if wanted.dry_run else _done(back)


def _would(back: Back) -> Json:
    diffs = [file_diff(change) for change in back.files.changes]
    nothing: Json = {"txn": None, "state": None, "undo": None}
    return {**nothing, **_told(back), "would": _touched(back.files), "diffs": diffs}


def _done(back: Back) -> Json:
    done = back.files.proposal
    return {
        "would": None,
        "diffs": None,
        "txn": done.txn if done else None,
        "state": back.files.state if done else None,
        "undo": back.undo,
        **_told(back),
    }


def _told(back: Back) -> Json:
    """What is said before as well as afterwards."""
    moved = [{"text": one.text, "change": "comes" if one.comes else "goes"} for one in back.prompts]
    return {
        "chat": back.chat,
        "prompts": moved,
        "left": _left(back.files.left),
        "note": back.note,
    }


async def _owner(front: Front, txn: str) -> SessionEdits:
    """The open session that has the edit."""
    for session in front.sessions.opened:
        own = SessionEdits(session)
        if session.tools and await own.find(txn) is not None:
            return own
    raise RpcError(INVALID_PARAMS, f"there is no edit {txn!r}", reason="unknown_txn")


def _path(uri: str) -> str:
    path = path_of(uri)
    if path is None:
        raise ClientMistake(f"uri must name a file, not {uri}")
    return path


def _checkpoint(place: Place) -> Json:
    one = place.checkpoint
    return {
        "id": one.id,
        "turnId": one.turn,
        "at": one.at.astimezone(UTC).isoformat(timespec="seconds"),
        "title": one.title,
        "files": [{"uri": file_uri(path), "change": kind} for path, kind in one.files],
        "prompt": place.prompt,
        "chat": place.upto is not None,
    }


def _touched(rewound: Rewound) -> list[Json]:
    return [{"uri": file_uri(c.path), "change": c.kind} for c in rewound.changes]


def _left(left: Sequence[Left]) -> list[Json]:
    return [{"uri": file_uri(one.path), "hunk": one.hunk, "why": one.why} for one in left]
