"""Tells the model what the person has before them: asked once as a turn begins, said with its prompt (loop.md F13)."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import anyio
from anyio import to_thread

from agent_server.context.before_person import NOTHING, BeforePerson, Selection, news
from agent_server.loop.action import Action
from agent_server.loop.model import Entry, Part, RewoundEntry, SummaryEntry
from agent_server.loop.ports import Policy
from agent_server.session.ports import Client

LOOK_S: Final = 0.3
"""An editor answers from memory; a prompt does not wait for one that is busier than this."""


class Noticing:
    """Remembers what one session's model was told. Forgets with every compaction and rewinding: the model has, too."""

    def __init__(self) -> None:
        self._told = NOTHING
        self._forgotten = 0
        """How often the model had forgotten when that was told."""

    async def parts(
        self, client: Client, policy: Policy, entries: Sequence[Entry]
    ) -> tuple[Part, ...]:
        """What is new, to be added to the newest message of the person; empty when nothing is."""
        now: BeforePerson | None = None
        with anyio.move_on_after(LOOK_S):
            now = await client.before_person()
        if now is None:
            return ()
        if now.selection is not None:
            now = replace(now, selection=await _permitted(now.selection, policy))
        forgotten = sum(isinstance(entry, SummaryEntry | RewoundEntry) for entry in entries)
        if forgotten != self._forgotten:
            self._told, self._forgotten = NOTHING, forgotten
        told, self._told = self._told, now
        part = news(told, now)
        return () if part is None else (part,)


async def _permitted(selection: Selection, policy: Policy) -> Selection:
    """Without its text when reading the file would ask first."""
    if selection.text is None:
        return selection
    real = await to_thread.run_sync(os.path.realpath, selection.path)
    allowed = policy.decide(Action("read", "read", (real,))).verdict == "allow"
    return selection if allowed else replace(selection, text=None)
