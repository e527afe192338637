"""Taking a session back to a place: its files, its conversation, or both; each can be undone.

Files go back as a transaction of their own (`edits/undo_run.py`), the conversation by an entry of the log
(`loop/standing.py`). Only between turns.
"""

from collections.abc import Sequence
from dataclasses import replace
from os.path import relpath

from agent_server.edits.outside import listed
from agent_server.edits.undo_run import Rewound
from agent_server.frozen import frozen
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import AsideEntry, Entry, RewoundEntry, TurnId
from agent_server.session.edits import SessionEdits
from agent_server.session.places import Place, commands, not_covered, places, prompts
from agent_server.session.session import Session


@frozen
class Moved:
    """A prompt that goes out of the conversation with its answer, or comes back into it."""

    text: str
    comes: bool


@frozen
class Back:
    """What came of going back, or what would."""

    files: Rewound
    """Nothing when only the conversation was meant."""
    chat: bool
    """Whether the conversation goes, or went, back too."""
    prompts: tuple[Moved, ...] = ()
    """Oldest first."""
    undo: str | None = None
    """The place to go to, in the same way, to undo it."""
    note: str | None = None
    """What is not covered, in a sentence for the person."""


class Rewinding:
    """One session's."""

    def __init__(self, session: Session) -> None:
        """Nothing is read yet."""
        self._session = session
        self._edits = SessionEdits(session)

    async def places(self) -> tuple[Place, ...]:
        """Where it can go back to, oldest first.

        Raises:
            StoreFailure: log or journal cannot be read.
        """
        times = await self._session.log.times()
        entries = self._session.entries[: len(times)]
        return places(entries, times, await self._edits.checkpoints())

    async def look(self, id: str, *, files: bool, chat: bool, others: bool = False) -> Back:
        """What going back would do; changes nothing.

        Raises:
            ClientMistake: there is no such place, or the conversation cannot go there.
            StoreFailure: log or journal cannot be read.
        """
        place = await self._place(id, chat=chat)
        found = Rewound((), ())
        if files:
            found = await self._edits.look(place.checkpoint, others=others)
        return Back(found, chat, self._moved(place, chat=chat), note=self._note(place))

    async def restore(self, id: str, *, files: bool, chat: bool, others: bool = False) -> Back:
        """Go back. The conversation stays where it is when the files that were to go with it could not.

        Raises:
            ClientMistake, StoreFailure: as `look`.
            EditRefused: `turn_running`.
            SessionBusy: another process holds the session.
        """
        async with self._session.at_rest("restore"):
            return await self.go(id, files=files, chat=chat, others=others)

    async def go(self, id: str, *, files: bool, chat: bool, others: bool = False) -> Back:
        """The same, while the session is at rest already."""
        place = await self._place(id, chat=chat)
        note = self._note(place)
        done = Rewound((), ())
        if files:
            there = replace(place.checkpoint, title=place.quoted)
            done = await self._edits.take_back(there, others=others, note=note)
        if not chat or (done.proposal is not None and done.state != "applied"):
            return Back(done, chat=False, undo=done.undo, note=note)
        moved, at = self._moved(place, chat=True), len(self._session.entries)
        await self._take_conversation_back(place, done)
        return Back(done, True, moved, done.undo or f"r-{at}", note)

    # ---- inside ------------------------------------------------------------------------------------------

    async def _place(self, id: str, *, chat: bool) -> Place:
        place = next((p for p in await self.places() if p.checkpoint.id == id), None)
        if place is None:
            raise ClientMistake(f"there is no checkpoint {id!r}")
        if chat and place.upto is None:
            raise ClientMistake(
                f"checkpoint {id!r} is one of files alone; the conversation can be taken back to a prompt"
            )
        return place

    async def _take_conversation_back(self, place: Place, done: Rewound) -> None:
        """`done` is what became of the files."""
        upto = place.upto or 0
        differs = await self._edits.look(place.checkpoint)
        paths = [c.path for c in differs.changes] + [left.path for left in differs.left]
        restored = done.proposal.txn if done.proposal is not None else None
        entries: list[Entry] = [RewoundEntry(TurnId(""), upto, restored)]
        if (aside := self._aside(place, paths)) is not None:
            entries.append(AsideEntry(TurnId(""), aside))
        await self._session.rewind(*entries)

    def _aside(self, place: Place, paths: Sequence[str]) -> str | None:
        """For the model: what is no longer as the conversation says."""
        told: list[str] = []
        if paths:
            names = listed([relpath(path, self._session.cwd) for path in dict.fromkeys(paths)])
            told.append(f" These files are not as they were here: {names}.")
        if self._commands(place):
            told.append(" Commands were run since, and what they did stays.")
        if not told:
            return None
        said = "".join(told)
        return f"(The person took the conversation back to this place.{said} Look before you rely on it.)"

    def _moved(self, place: Place, *, chat: bool) -> tuple[Moved, ...]:
        if not chat or place.upto is None:
            return ()
        entries = self._session.entries
        now, then = prompts(entries, len(entries)), prompts(entries, place.upto)
        stay = set(now) & set(then)
        gone = [Moved(text, comes=False) for turn, text in now if (turn, text) not in stay]
        come = [Moved(text, comes=True) for turn, text in then if (turn, text) not in stay]
        return (*gone, *come)

    def _note(self, place: Place) -> str | None:
        return not_covered(self._session.entries, place.since, self._session.tools)

    def _commands(self, place: Place) -> tuple[str, ...]:
        return commands(self._session.entries, place.since, self._session.tools)
