"""The places a session can be taken back to: its turns, as the log has them, with what the journal says of their files.

Turns that changed no file are here too: the conversation can be taken back to them. What commands did in between is
not covered, and said to be so.
"""

import json
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import cast

from agent_server.edits.checkpoint import Checkpoint, checkpoint_id
from agent_server.frozen import frozen
from agent_server.loop.model import (
    AsideEntry,
    Entry,
    ReplyEntry,
    RewoundEntry,
    StartedEntry,
    Text,
    ToolCall,
    TurnId,
    UserEntry,
)
from agent_server.loop.ports import Tools
from agent_server.loop.standing import asides, own_words
from agent_server.loop.standing import places as standing_places

TITLE_CHARS = 60
"""Of a prompt, where it is a title."""
NAMED = 3
"""Commands that a note names."""


@frozen
class Place:
    """A moment of the session."""

    checkpoint: Checkpoint
    """For its files."""
    since: int
    """How many entries the log had."""
    upto: int | None
    """The same, for the conversation; None: it is one of files alone."""
    prompt: str | None = None
    """What the person said next."""

    @property
    def quoted(self) -> str:
        """What came next, in a few words."""
        return self.checkpoint.title if self.prompt is None else f"“{short(self.prompt)}”"


def places(
    entries: Sequence[Entry], times: Sequence[datetime], changed: Sequence[Checkpoint]
) -> tuple[Place, ...]:
    """All of them, oldest first. `times` are those of the entries, `changed` the checkpoints of the journal."""
    turns = {one.turn: one for one in changed if one.turn is not None}
    stand = {entries[i].turn for i in standing_places(entries, len(entries))}
    along = _along(entries)
    found: list[Place] = []
    for at, turn, prompt in _prompts(entries):
        known = turns.pop(turn, None)
        if known is None and turn in stand:
            known = _between(f"t-{turn}", times[at], short(prompt), changed, turn=turn)
        if known is not None:
            found.append(Place(known, at, at, prompt))
    for at, entry in enumerate(entries):
        if isinstance(entry, RewoundEntry) and entry.restore is None:
            title = _taken_back(entry, found)
            found.append(Place(_between(f"r-{at}", times[at], title, changed), at, at))
    for one in (*turns.values(), *(one for one in changed if one.turn is None)):
        upto = along.get(one.id)
        since = bisect_left(times, one.at) if upto is None else upto
        found.append(Place(one, since, upto))
    return tuple(sorted(found, key=lambda place: place.checkpoint.at))


def prompts(entries: Sequence[Entry], upto: int) -> list[tuple[TurnId, str]]:
    """What the person asked, of what stood when the log had `upto` entries."""
    stood = [entries[place] for place in standing_places(entries, upto)]
    return [(turn, text) for _, turn, text in _prompts(stood)]


def commands(entries: Sequence[Entry], upto: int, tools: Tools) -> tuple[str, ...]:
    """What was run since the log had `upto` entries and does more than edit files, in words, oldest first."""
    since = entries[upto:]
    made = {
        call.key: call
        for entry in since
        if isinstance(entry, ReplyEntry)
        for call in entry.reply.calls
    }
    begun = [entry.key for entry in since if isinstance(entry, StartedEntry) and entry.key in made]
    return tuple(_in_words(made[key]) for key in begun if _reaches_out(made[key].name, tools))


def not_covered(entries: Sequence[Entry], upto: int, tools: Tools) -> str | None:
    """For the person: that what was run since stays as it is; None when nothing was."""
    run = commands(entries, upto, tools)
    if not run:
        return None
    more = f" and {len(run) - NAMED} more" if len(run) > NAMED else ""
    names = ", ".join(f"`{one}`" for one in run[-NAMED:])
    return f"not covered: what commands did since then stays as it is ({names}{more})"


def _reaches_out(name: str, tools: Tools) -> bool:
    return name == "delegate" or (name in tools and tools[name].kind == "execute")


def _in_words(call: ToolCall) -> str:
    """The command, or the task of a sub-agent; its name when there is neither."""
    try:
        given = cast("object", json.loads(call.arguments))
    except ValueError:
        given = None
    fields = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    said = next((v for key in ("command", "task") if isinstance(v := fields.get(key), str)), "")
    return short(said) or call.name


def _prompts(entries: Sequence[Entry]) -> Iterator[tuple[int, TurnId, str]]:
    """The index of each turn's first entry, and the words that began it."""
    first: dict[TurnId, int] = {}
    told: set[TurnId] = set()
    aside = asides(entries)
    for at, entry in enumerate(entries):
        first.setdefault(entry.turn, at)
        if isinstance(entry, UserEntry) and entry.origin == "prompt" and entry.turn not in told:
            told.add(entry.turn)
            own = own_words(entry.parts, aside)
            texts = [part.text for part in own if isinstance(part, Text)]
            yield first[entry.turn], entry.turn, "\n".join(texts)


def _taken_back(entry: RewoundEntry, turns: Sequence[Place]) -> str:
    """As the title of a checkpoint: what comes after it."""
    said = next((f" to before {one.quoted}" for one in turns if one.upto == entry.upto), "")
    return f"taking the conversation back{said}"


def _along(entries: Sequence[Entry]) -> dict[str, int]:
    """By checkpoint: where the log was before files and conversation went back together."""
    begun: dict[str, int] = {}
    along: dict[str, int] = {}
    for at, entry in enumerate(entries):
        if isinstance(entry, AsideEntry) and entry.about is not None:
            begun.setdefault(
                entry.about, at
            )  # the files went first, and the model was to hear of it
        elif isinstance(entry, RewoundEntry) and entry.restore is not None:
            along[checkpoint_id(entry.restore)] = begun.get(entry.restore, at)
    return along


def _between(
    id: str, at: datetime, title: str, changed: Sequence[Checkpoint], *, turn: TurnId | None = None
) -> Checkpoint:
    """A moment at which no file was changed: what came after it begins with the next that was."""
    later = [one.position for one in changed if one.at >= at]
    return Checkpoint(id, min(later, default=sys.maxsize), at, title, (), turn)


def short(prompt: str) -> str:
    """A prompt in a row of a list."""
    line = " ".join(prompt.split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"
