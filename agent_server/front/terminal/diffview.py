"""Rows of a diff as rich shows them: numbers, signs, colours, the words that differ."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Group
from rich.table import Table
from rich.text import Text

from agent_server.front.hidden_characters import printable
from agent_server.front.terminal.rows import Row, count
from agent_server.front.terminal.style import INDENT, spread
from agent_server.front.uris import file_uri
from agent_server.loop.proposal import FileChange, Hunk

SIGNS = {"same": " ", "removed": "−", "added": "+", "gap": " "}


def diff_header(
    change: FileChange, hunks: Sequence[Hunk], *, cwd: str, place: str = "", width: int
) -> Text:
    """The file, how many lines come and go, and on the right the `place` among others."""
    added, removed = count(hunks)
    name = relative(change.path, cwd)
    if change.old_path:
        name = f"{relative(change.old_path, cwd)} → {name}"
    left = Text(" " * INDENT)
    left.append(
        printable(name),
        f"bold link {file_uri(change.path)}" if Path(change.path).is_absolute() else "bold",
    )
    if change.kind in ("create", "delete"):
        left.append(" new" if change.kind == "create" else " deleted", "quiet")
    left.append("  ")
    left.append(f"+{added}", "diff.added")
    left.append(" ")
    left.append(f"−{removed}", "diff.removed")
    return spread(left, Text(place, "quiet"), width)


def diff_body(rows: Sequence[Row], *, plain: bool = False) -> Group | Table:
    """The rows; on a terminal a long line goes on below its beginning."""
    digits = max([3, *(len(str(row.number)) for row in rows if row.number is not None)])
    if plain:
        return Group(*(_plain(row, digits) for row in rows))
    table = Table.grid(padding=0)
    table.add_column(width=INDENT + digits, justify="right", no_wrap=True)
    table.add_column(width=4, no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        number = "⋯" if row.number is None else str(row.number)
        style = _style(row)
        sign = Text(f" {SIGNS[row.kind]}  ", style)
        table.add_row(Text(number, "quiet"), sign, _text(row, style))
    return table


def relative(path: str, cwd: str) -> str:
    """The path as seen from the session's folder, when it is in there."""
    try:
        return Path(path).relative_to(cwd).as_posix()
    except ValueError:
        return path


def _style(row: Row) -> str:
    return f"diff.{row.kind}" if row.kind in ("added", "removed") else ""


def _text(row: Row, style: str) -> Text:
    """The line; pictures of control characters are as long as what they stand for, so the marks still fit."""
    text = Text(style=style, tab_size=4)
    at = 0
    for start, end in row.marks:
        text.append(printable(row.text[at:start]))
        text.append(printable(row.text[start:end]), f"{style}.word")
        at = end
    text.append(printable(row.text[at:]))
    return text


def _plain(row: Row, digits: int) -> Text:
    number = "⋯" if row.number is None else str(row.number)
    line = f"{' ' * INDENT}{number:>{digits}} {SIGNS[row.kind]}  {printable(row.text)}"
    return Text(line.rstrip())
