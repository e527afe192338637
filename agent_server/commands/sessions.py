"""`sessions list`, `show`, `delete`: the store from outside. None writes a message or takes a lock."""

import json
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

from agent_server.commands.output import one_line, say
from agent_server.commands.transcript import render
from agent_server.front.hidden_characters import printable
from agent_server.loop.model import SessionId
from agent_server.store.blobs import BlobStore
from agent_server.store.records import SessionRecord
from agent_server.store.sessions import SessionStore

TITLE_WIDTH = 60


async def list_sessions(path: Path, *, as_json: bool) -> int:
    """Print every session, the one spoken in last first."""
    records = await all_sessions(SessionStore(path))
    if as_json:
        say(json.dumps([_as_json(record) for record in records], indent=2))
    elif not records:
        say("There are no sessions yet.")
    else:
        for record in records:
            say(_line(record))
    return 0


async def show_session(path: Path, session: str) -> int:
    """Print a session's transcript.

    Raises:
        UnknownSession: no session has that id.
        StoreFailure: it cannot be read.
    """
    async with aclosing(SessionStore(path)) as store:
        record = await store.read(SessionId(session))
        log = await store.open_log(record.id)
    say(f"session  {record.id}")
    say(f"title    {printable(record.title or '(none)')}")
    say(f"folder   {printable(record.cwd)}")
    say(f"updated  {record.updated.astimezone():%Y-%m-%d %H:%M}")
    for line in render(log.entries):
        say(line)
    return 0


async def delete_session(path: Path, blobs: Path, session: str) -> int:
    """Forget a session, and the texts below `blobs` that only it refers to.

    Raises:
        UnknownSession: no session has that id.
        SessionBusy: a process holds it; the sentence names it.
        StoreFailure: it could not be deleted.
    """
    async with aclosing(SessionStore(path, blobs=BlobStore(blobs))) as store:
        await store.read(SessionId(session))  # does not make a file where there is none
        await store.delete(SessionId(session))
    say(f"Session {session} was deleted.")
    return 0


async def all_sessions(store: SessionStore) -> Sequence[SessionRecord]:
    """Every page of the list."""
    records, cursor = await store.list()
    found = [*records]
    while cursor is not None:
        records, cursor = await store.list(cursor=cursor)
        found += records
    return found


def _line(record: SessionRecord) -> str:
    about = f"DAMAGED: {record.damaged}" if record.damaged else record.title or "(no title)"
    when = f"{record.updated.astimezone():%Y-%m-%d %H:%M}"
    width = len(about) if record.damaged else TITLE_WIDTH
    return f"{record.id}  {when}  {one_line(about, width)}  {printable(record.cwd)}"


def _as_json(record: SessionRecord) -> dict[str, object]:
    return {
        "id": record.id,
        "title": record.title,
        "cwd": record.cwd,
        "roots": list(record.roots),
        "model": record.model,
        "mode": record.mode,
        "created": record.created.isoformat(),
        "updated": record.updated.isoformat(),
        "entries": record.entries,
        "parent": record.parent,
        "damaged": record.damaged,
    }
