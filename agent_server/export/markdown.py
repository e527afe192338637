"""As Markdown, for reading and for issues: what the model wrote is Markdown already, everything else is fenced."""

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from agent_server.export.conversation import (
    About,
    Answered,
    Called,
    Ended,
    Item,
    Planned,
    Said,
    Summarised,
    Thought,
    Turn,
)
from agent_server.export.words import PLAN_SIGNS, ending, outcome, speaker, visible


def render(about: About, turns: Sequence[Turn]) -> str:
    """The whole document."""
    head = [
        f"# {_line(about.title or 'Session')}",
        "",
        f"- Session: {_code(about.id)}",
        f"- Folder: {_code(about.cwd)}",
        *([f"- Model: {_code(about.model)}"] if about.model else []),
        f"- Created: {about.created}",
        f"- Last message: {about.updated}",
    ]
    body = (line for turn in turns for item in turn.items for line in _item(item))
    return visible("\n".join([*head, *body])) + "\n"


def _item(item: Item) -> Iterator[str]:
    yield ""
    match item:
        case Said():
            yield from (f"## {speaker(item)}", "", *_quoted(item.text))
            yield from (f"> Attached: {_code(name)}" for name in item.attached)
        case Thought(text=text):
            yield from ("<details><summary>Thought</summary>", "", *_fenced(text), "", "</details>")
        case Answered(text=text, broken_off=broken_off):
            yield from ("## Agent", "", text.rstrip())
            if broken_off:
                yield from ("", "*(broken off)*")
        case Called():
            yield from _called(item)
        case Planned(items=items):
            yield from ("**Plan**", "")
            yield from (f"- [{PLAN_SIGNS[one.status]}] {_line(one.text)}" for one in items)
        case Summarised(text=text):
            yield from ("**From here on the model knows what was before as this:**", "")
            yield from _quoted(text)
        case Ended():
            yield from (f"*{_line(ending(item))}*", "", "---")
        case _:
            assert_never(item)


def _called(call: Called) -> Iterator[str]:
    yield from (f"### {_code(call.tool)}: {outcome(call)}", "", *_fenced(call.arguments, "json"))
    for diff in call.diffs:
        yield from ("", *_fenced(diff.text, "diff"))
    if call.output:
        yield from ("", *_fenced(call.output))


def _quoted(text: str) -> Iterator[str]:
    return (f"> {line}".rstrip() for line in text.rstrip().split("\n"))


def _fenced(text: str, language: str = "") -> tuple[str, str, str]:
    """Between fences longer than any row of backticks inside."""
    longest = max((len(row) for row in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}", text.rstrip("\n"), fence


def _code(text: str) -> str:
    """One line of code, whatever backticks are in it."""
    line = _line(text)
    ticks = "`" * (max((len(row) for row in re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def _line(text: str) -> str:
    return " ".join(text.split())
