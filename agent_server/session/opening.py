"""Opens a session from its stored record: gives it its tools, and settles what a dead process had left open."""

from dataclasses import replace

import anyio.to_thread

from agent_server.context.prompt import read_agents_file, system_prompt
from agent_server.context.session_context import SessionContext
from agent_server.frozen import frozen
from agent_server.loop.events import Notice
from agent_server.loop.ports import Log
from agent_server.session.asking import InTime
from agent_server.session.builtin.registry import Builtin
from agent_server.session.delegation import delegation_of
from agent_server.session.edits import SessionEdits
from agent_server.session.folders import Folders
from agent_server.session.ports import Client, Equipment, Kit, Place
from agent_server.session.profile import Profile
from agent_server.session.receipts import WithReceipts
from agent_server.session.recovery import FORKED, STOPPED, recover
from agent_server.session.session import Session
from agent_server.session.turning import context_of
from agent_server.store.records import SessionRecord
from agent_server.store.sessions import SessionStore


@frozen
class Opening:
    """What is special about a session that is being opened."""

    warnings: tuple[str, ...] = ()
    aside: str | None = None
    """For the model."""
    read_only: str | None = None
    forked: bool = False


async def opened(
    record: SessionRecord,
    store: SessionStore,
    equipment: Equipment,
    client: Client,
    opening: Opening,
) -> Session:
    """The session of that record.

    Raises:
        StoreFailure: it is damaged, or what was left open could not be settled.
    """
    kept = await store.open_log(record.id)
    log: Log = kept
    if equipment.receipts:
        log = WithReceipts(kept, record.id, record.cwd, lambda: session.tools)
    sentences = (*opening.warnings, *equipment.notices())
    session = Session(
        record.id,
        record.cwd,
        record.roots,
        profile=Profile(
            equipment,
            mode=record.mode,
            model=record.model,
            title=record.title,
            review=record.review,
        ),
        log=log,
        client=client,
        equipment=equipment,
        prepare=lambda: _equipped(session, store, equipment, record.system_prompt),
        notices=tuple(Notice("warning", sentence) for sentence in sentences),
        read_only=opening.read_only,
        commands=Builtin,
    )
    if record.entries:
        _, context = await session.ready()
        context.fold(session.entries)
    if record.entries and opening.read_only is None:
        # The calls that a fork finds open were made by the original session, so their receipts belong to that one.
        await _settle(session, kept if opening.forked else log, forked=opening.forked)
    if opening.aside is not None:
        await session.say_aside(f"({opening.aside})")
    return session


async def moved(
    record: SessionRecord, store: SessionStore, folders: Folders
) -> tuple[SessionRecord, str | None]:
    """The record with the folders as the client says, and a sentence when the session moved (SE-06)."""
    cwd, roots = folders.cwd, folders.roots
    if record.cwd != cwd:
        sentence = f"this session was made in {record.cwd} and now works in {cwd}"
        changed = await store.update(record.id, cwd=cwd, roots=roots, system_prompt=None)
        return changed, sentence
    if record.roots != roots:
        return await store.update(record.id, roots=roots), None
    return record, None


async def _equipped(
    session: Session, store: SessionStore, equipment: Equipment, prompt: str | None
) -> tuple[Kit, SessionContext]:
    """Tools, policy and context. `prompt` are the bytes of its system prompt, where it has one already (I7)."""
    place = Place(
        session.id,
        session.cwd,
        session.roots,
        lambda: session.client.editor,
        lambda: session.mode,
        diagnostics=lambda: session.client.diagnostics,
        questions=lambda: InTime(session.client.questions, equipment.approval_timeout_s),
        review=lambda: session.profile.review,
    )
    delegation = delegation_of(session, place, store, equipment)
    kit = await equipment.kit(replace(place, subagents=delegation))
    if prompt is None:
        agents = await anyio.to_thread.run_sync(read_agents_file, session.cwd)
        prompt = system_prompt(session.cwd, session.roots, agents=agents)
    session.system_prompt = prompt
    session.changed()
    return kit, await anyio.to_thread.run_sync(context_of, prompt, kit.tools, equipment)


async def _settle(session: Session, log: Log, *, forked: bool) -> None:
    """Settle what a dead process had left open: first the edits, judged by what is in the files, then the calls."""
    cause = FORKED if forked else STOPPED
    found = await SessionEdits(session).reopen(cause)
    await recover(log, session.tools, cause=cause, known=found.results)
    session.notices = (*session.notices, *found.notices)
    session.left_open = found.events
