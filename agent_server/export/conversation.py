"""A log as people see it: turns, and in each what was said, thought, called, changed, and how it ended.

The one fold that all formats render. Every text goes through `mask` here, once, so that no format can forget it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import assert_never

from agent_server.edits.unified import unified
from agent_server.frozen import frozen
from agent_server.loop.model import (
    AsideEntry,
    CallKey,
    Detail,
    DoneReason,
    Effect,
    Entry,
    Image,
    Origin,
    Part,
    PartialEntry,
    PlanEntry,
    PlanItem,
    ReplyEntry,
    Resource,
    ResultEntry,
    RewoundEntry,
    SpentEntry,
    StartedEntry,
    SummaryEntry,
    Text,
    ToolCall,
    TurnEndEntry,
    TurnId,
    Usage,
    UserEntry,
    WithheldEntry,
)
from agent_server.loop.proposal import ChangeKind
from agent_server.loop.standing import asides, own_words, standing

Mask = Callable[[str], str]
SECRET_LINE = 8
"""Characters from which on a line of a secret is one."""


@frozen
class About:
    """The session itself."""

    id: str
    title: str | None
    cwd: str
    model: str | None
    created: str
    """ISO 8601, as is `updated`."""
    updated: str


@frozen
class Said:
    """Somebody spoke to the model."""

    text: str
    origin: Origin
    attached: tuple[str, ...] = ()
    """Files and images, in words."""


@frozen
class Thought:
    """What the model thought, as far as its provider shows it."""

    text: str


@frozen
class Answered:
    """What the model said. `broken_off`: its stream was cut or cancelled, and the model does not know of it."""

    text: str
    broken_off: bool = False


@frozen
class Diff:
    """One changed file."""

    path: str
    kind: ChangeKind
    text: str
    """As a unified diff."""


@frozen
class Called:
    """A tool call with its result."""

    id: str
    tool: str
    arguments: str
    """Raw JSON text, as the model wrote it."""
    started: bool = False
    """Effectful code was begun; only told while there is no result."""
    ok: bool | None = None
    """None: there is no result (yet)."""
    output: str = ""
    effect: Effect | None = None
    diffs: tuple[Diff, ...] = ()


@frozen
class Planned:
    """The plan as it then stood."""

    items: tuple[PlanItem, ...]


@frozen
class Summarised:
    """What was before was from here on represented by this, for the model."""

    text: str


@frozen
class Ended:
    """The end of the turn."""

    reason: DoneReason
    detail: Detail
    message: str | None
    usage: Usage


Item = Said | Thought | Answered | Called | Planned | Summarised | Ended


@frozen
class Turn:
    """A prompt until its end."""

    id: TurnId
    items: tuple[Item, ...]


def masking(secrets: Iterable[str]) -> Mask:
    """Replaces each of these texts; the longest first, so that none hides in another's remains.

    Of a secret of several lines every long line counts: in a diff or a numbered listing they stand apart.
    """
    found = {secret for secret in secrets if secret}
    found |= {line for s in found for line in s.splitlines() if len(line) >= SECRET_LINE}
    longest_first = sorted(found, key=len, reverse=True)

    def mask(text: str) -> str:
        for secret in longest_first:
            text = text.replace(secret, "[masked]")
        return text

    return mask


def turns(entries: Sequence[Entry], mask: Mask) -> tuple[Turn, ...]:
    """The conversation as it stands, oldest first; a call where the model made it, with the result it got later."""
    fold = _Fold(mask, entries)
    found: dict[TurnId, list[Item]] = {}
    for entry in standing(entries):
        if not isinstance(entry, AsideEntry | SpentEntry):  # what was heard of it is said in a turn
            found.setdefault(entry.turn, []).extend(fold.items(entry))
    return tuple(Turn(turn, tuple(items)) for turn, items in found.items())


class _Fold:
    def __init__(self, mask: Mask, entries: Sequence[Entry]) -> None:
        self._mask = mask
        self._aside = asides(entries)
        self._results: Mapping[CallKey, ResultEntry] = {
            entry.key: entry for entry in entries if isinstance(entry, ResultEntry)
        }
        self._started = {entry.key for entry in entries if isinstance(entry, StartedEntry)}

    def items(self, entry: Entry) -> Sequence[Item]:
        mask = self._mask
        match entry:
            case UserEntry(parts=parts, origin=origin):
                return [self._said(parts, origin)]
            case ReplyEntry(reply=reply):
                thoughts = [Thought(mask(block.text)) for block in reply.reasoning if block.text]
                answer = [Answered(mask(reply.text))] if reply.text else []
                return [*thoughts, *answer, *map(self._called, reply.calls)]
            case PartialEntry(text=text):
                return [Answered(mask(text), broken_off=True)]
            case PlanEntry(items=items):
                return [Planned(tuple(PlanItem(mask(i.text), i.status) for i in items))]
            case SummaryEntry(text=text):
                return [Summarised(mask(text))]
            case TurnEndEntry(reason=reason, detail=detail, usage=usage, message=message):
                return [Ended(reason, detail, message and mask(message), usage)]
            case StartedEntry() | ResultEntry() | AsideEntry() | SpentEntry() | RewoundEntry():
                return []
            case WithheldEntry():  # said as a notice at the time; how the turn ended says why
                return []
            case _:
                assert_never(entry)

    def _said(self, parts: Sequence[Part], origin: Origin) -> Said:
        parts = own_words(parts, self._aside)
        texts = [part.text for part in parts if isinstance(part, Text)]
        attached = [_attachment(part) for part in parts if not isinstance(part, Text)]
        return Said(self._mask("\n".join(texts)), origin, tuple(map(self._mask, attached)))

    def _called(self, call: ToolCall) -> Called:
        mask = self._mask
        settled = self._results.get(call.key)
        opened = Called(str(call.key), mask(call.name), mask(call.arguments))
        if settled is None:
            return Called(opened.id, opened.tool, opened.arguments, call.key in self._started)
        result = settled.result
        diffs = [Diff(mask(c.path), c.kind, mask(unified(c))) for c in result.changes]
        return Called(
            opened.id,
            opened.tool,
            opened.arguments,
            ok=result.ok,
            output=mask(result.output),
            effect=settled.effect,
            diffs=tuple(diffs),
        )


def _attachment(part: Image | Resource) -> str:
    match part:
        case Image(mime=mime):
            return f"image ({mime})"
        case Resource(uri=uri, name=name):
            return f"{name} ({uri})" if name != uri else uri
