"""What a tool call shows: its text, its diffs, the places it touches."""

import json
from collections.abc import Iterable, Sequence

from agent_server.front.blocks import Json, text_block
from agent_server.front.params import as_object
from agent_server.loop.model import Location
from agent_server.loop.proposal import FileChange, Hunk

DIFF_LIMIT = 4 * 1024 * 1024
"""Characters of all texts of one update. Diffs beyond it show only their hunks: clients read lines of 16 to 32 MiB."""
TEXT_LIMIT = 256 * 1024
"""Characters of a call's text or arguments that a client gets; the model's own copy is not cut here."""


def content_text(text: str) -> Json:
    """Text in a tool call: wrapped, as the schema wants it (docs/acp.md, rule 28)."""
    return {"type": "content", "content": text_block(clip(text, TEXT_LIMIT))}


def fenced(text: str, language: str = "") -> str:
    """A Markdown code block that its content cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def clip(text: str, limit: int) -> str:
    """The start and the end of a text that is too long, and a line that says so."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters not shown …]\n{text[-half:]}"


def one_line(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def end_of_path(path: str, limit: int) -> str:
    """The path on one line of at most `limit` characters; the name of the file is at its end, so that stays."""
    line = " ".join(path.split())
    return line if len(line) <= limit else f"…{line[1 - limit :]}"


def diffs(changes: Iterable[FileChange]) -> list[Json]:
    """One diff per file, with the real old text (rule 30)."""
    room = DIFF_LIMIT
    shown: list[Json] = []
    for change in changes:
        size = len(change.base_text or "") + len(change.new_text or "")
        shown.append(_diff(change) if size <= room else _excerpt(change))
        room -= size if size <= room else 0
    return shown


def locations(places: Sequence[Location]) -> list[Json]:
    """Absolute paths, 1-based lines."""
    return [_location(place) for place in places]


def raw_input(arguments: str) -> Json | None:
    """A call's arguments when they are a JSON object of a size that a client wants; None otherwise."""
    if len(arguments) > TEXT_LIMIT:
        return None
    try:
        value = as_object(json.loads(arguments))
    except ValueError:
        return None
    return dict(value) if value is not None else None


def _location(place: Location) -> Json:
    shown: Json = {"path": place.path}
    if place.line is not None:
        shown["line"] = place.line
    return shown


def _diff(change: FileChange) -> Json:
    """A deleted file becomes an empty one: ACP v1 has no other word for it."""
    return {
        "type": "diff",
        "path": change.path,
        "oldText": change.base_text,
        "newText": change.new_text or "",
    }


def _excerpt(change: FileChange) -> Json:
    return content_text(f"{change.path}\n{fenced(_hunks_as_text(change.hunks), 'diff')}")


def _hunks_as_text(hunks: Iterable[Hunk]) -> str:
    return "\n".join(_hunk_as_text(hunk) for hunk in hunks)


def _hunk_as_text(hunk: Hunk) -> str:
    head = f"@@ -{hunk.start + 1},{len(hunk.removed)} +{len(hunk.added)} @@"
    lines = [*(f"-{line}" for line in hunk.removed), *(f"+{line}" for line in hunk.added)]
    return "\n".join([head, *(line.rstrip("\r\n") for line in lines)])
