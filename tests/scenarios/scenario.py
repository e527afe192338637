"""Reads a scenario file, and a log in the same words.

Sections, by their second-level headings: `Files` and `Files after` (a third-level heading and a fenced block per file),
`Prompt`, `Model` (one answer per list item, in the notation of tests/fakes/answers.py), `Log` (an item per entry).
"""

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_server.loop.model import (
    AsideEntry,
    Entry,
    PartialEntry,
    PlanEntry,
    ReplyEntry,
    ResultEntry,
    RewoundEntry,
    SpentEntry,
    StartedEntry,
    SummaryEntry,
    Text,
    TurnEndEntry,
    UserEntry,
    WithheldEntry,
)


@dataclass(frozen=True)
class Scenario:
    """One conversation."""

    files: Mapping[str, str]
    prompt: str
    model: tuple[str, ...]
    after: Mapping[str, str]
    log: tuple[str, ...]


def read(path: Path) -> Scenario:
    """The scenario of a Markdown file."""
    sections = dict(_sections(path.read_text(encoding="utf-8")))
    return Scenario(
        _files(sections["Files"]),
        sections["Prompt"].strip(),
        _items(sections["Model"]),
        _files(sections["Files after"]),
        _items(sections["Log"]),
    )


def _sections(text: str) -> Iterable[tuple[str, str]]:
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return zip(parts[1::2], parts[2::2], strict=True)


def _files(section: str) -> dict[str, str]:
    return dict(
        re.findall(r"^### ([^\n]+)\n```\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
    )


def _items(section: str) -> tuple[str, ...]:
    return tuple(re.findall(r"^- (.+)$", section, flags=re.MULTILINE))


def told(entries: Iterable[Entry]) -> tuple[str, ...]:
    """A log as the lines of a `Log` section; what differs from run to run (ids, times) is not in it.

    Calls that ran together settle in any order; here they stand in call order.
    """
    groups = itertools.groupby(entries, lambda entry: isinstance(entry, ResultEntry))
    return tuple(line for settled, group in groups for line in _lines(group, settled=settled))


def _lines(group: Iterable[Entry], *, settled: bool) -> list[str]:
    lines = [_line(entry) for entry in group]
    return sorted(lines) if settled else lines


def _line(entry: Entry) -> str:
    match entry:
        case UserEntry(parts=parts, origin=origin):
            return f"{origin}: " + " ".join(p.text for p in parts if isinstance(p, Text))
        case ReplyEntry(number=number, reply=reply):
            thought = f"({' '.join(r.text for r in reply.reasoning)})" if reply.reasoning else ""
            calls = f"[{', '.join(c.name for c in reply.calls)}]" if reply.calls else ""
            return f"reply {number}: " + " ".join(filter(None, (thought, reply.text, calls)))
        case StartedEntry(key=key):
            return f"{key} started"
        case ResultEntry(key=key, result=result, effect=effect):
            verdict = "ok" if result.ok else f"failed ({result.code})"
            changes = [
                f"{Path(c.path).name} +{sum(len(h.added) for h in c.hunks)} -{sum(len(h.removed) for h in c.hunks)}"
                for c in result.changes
            ]
            return f"{key} {verdict}, {effect}" + (f": {', '.join(changes)}" if changes else "")
        case TurnEndEntry(reason=reason, detail=detail):
            return f"end: {reason}, {detail}"
        case PartialEntry(text=text):
            return f"partial: {text}"
        case PlanEntry(items=items):
            return f"plan: {len(items)} items"
        case SummaryEntry(generation=generation):
            return f"summary {generation}"
        case RewoundEntry(upto=upto):
            return f"taken back to {upto}"
        case AsideEntry(text=text):
            return f"aside: {text}"
        case SpentEntry():
            return "spent"
        case WithheldEntry(what=what):
            return f"withheld: {what}"
