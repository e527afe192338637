"""What is done for sessions beside everything else. Nobody waits for it, and one that fails costs nobody anything."""

import logging

import anyio

from agent_server.loop.action import Answer
from agent_server.loop.errors import AgentServerError
from agent_server.loop.events import Notice
from agent_server.loop.proposal import Proposal
from agent_server.session.edits import SessionEdits
from agent_server.session.session import Session
from agent_server.session.taking_up import take_up
from agent_server.store.sessions import SessionStore

log = logging.getLogger(__name__)

COLLECT_AFTER_S = 30.0
"""After the first session began: what comes with a session should be over, and the person be thinking."""


async def taken_up(session: Session, left: Proposal, answer: Answer) -> None:
    """Do what the person decided about an edit that a dead process had left open; they are told if it fails."""
    try:
        await take_up(session, left, answer)
    except AgentServerError as failure:
        session.emit(Notice("error", "The edit could not be taken up", str(failure)))


async def tidied(session: Session) -> None:
    """After a turn; what is not kept now is found when the session is loaded."""
    try:
        await SessionEdits(session).tidy()
    except AgentServerError as failure:
        log.warning("session %s: its edits were not tidied: %s", session.id, failure)


async def collected(store: SessionStore) -> None:
    """Once in the life of a process that has sessions; how often it is really done, the store knows."""
    await anyio.sleep(COLLECT_AFTER_S)
    try:
        await store.collect()
    except AgentServerError as failure:
        log.warning("texts that nobody needs were not removed: %s", failure)
