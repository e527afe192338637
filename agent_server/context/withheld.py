"""What providers refused for its form, left out of the conversation, with a note in its place (field case FC-05)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_server.loop.model import (
    Entry,
    Image,
    Part,
    PartialEntry,
    ReplyEntry,
    ResultEntry,
    Text,
    TurnId,
    UserEntry,
    WithheldEntry,
)


def without_refused(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The entries as a model may be shown them, each in its place; `entries` itself when nothing was refused."""
    refused = [(at, e) for at, e in enumerate(entries) if isinstance(e, WithheldEntry)]
    if not refused:
        return entries
    images = next(((at, e.reason) for at, e in reversed(refused) if e.what == "images"), (0, ""))
    turns = {e.turn: e.reason for _, e in refused if e.what == "turn"}
    return list(_without(entries, images, turns))


def _without(
    entries: Sequence[Entry], images: tuple[int, str], turns: dict[TurnId, str]
) -> Iterator[Entry]:
    for at, entry in enumerate(entries):
        if isinstance(entry, UserEntry):
            if entry.turn in turns:
                note = (
                    f"(a message was left out, because a provider refused it: {turns[entry.turn]})"
                )
                yield replace(entry, parts=(Text(note),))
            else:
                yield _without_images(entry, images[1]) if at < images[0] else entry
        elif isinstance(entry, ReplyEntry | ResultEntry) and entry.turn in turns:
            yield PartialEntry(entry.turn, "")  # says nothing; the others keep their places
        else:
            yield entry


def _without_images(entry: UserEntry, reason: str) -> UserEntry:
    if not any(isinstance(part, Image) for part in entry.parts):
        return entry
    note: Part = Text(f"(a picture was left out, because a provider refused it: {reason})")
    return replace(entry, parts=tuple(note if isinstance(p, Image) else p for p in entry.parts))
