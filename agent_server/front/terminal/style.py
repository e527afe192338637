"""How things look, in one place. Only the terminal's own sixteen colours, so that any theme, light or dark, fits."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from agent_server.front.terminal.transcript import Sign

INDENT = 2
"""Columns left of everything but the prompt."""
PROSE = 96
"""Columns of text that are still comfortable to read."""

SIGNS: Mapping[Sign, tuple[str, str]] = {
    "pending": ("○", "dim"),
    "running": ("●", "cyan"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "skipped": ("–", "dim"),
}
"""Character and style: colour is never the only sign."""

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_PER_S = 10

THEME = Theme(
    {
        "markdown.code": "cyan",
        "markdown.code_block": "none",
        "markdown.block_quote": "italic",
        "markdown.item.bullet": "dim",
        "markdown.item.number": "dim",
        "markdown.list": "none",
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "bold dim",
        "markdown.link": "cyan",
        "markdown.link_url": "cyan underline",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
        "diff.added": "green",
        "diff.added.word": "green reverse",
        "diff.removed": "red",
        "diff.removed.word": "red reverse",
        "key": "bold cyan",
        "quiet": "dim",
        "thought": "dim italic",
        "question": "bold yellow",
        "warning": "yellow",
        "error": "red",
        "person": "bold",
    }
)


class _LeftHeading(Heading):
    LEVEL_ALIGN = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _QuietCode(CodeBlock):
    """Code in the terminal's own colours, without a box around it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        syntax = Syntax(
            code, self.lexer_name, theme="ansi_dark", background_color="default", word_wrap=True
        )
        yield Padding(syntax, (0, 0, 0, 2))


class Prose(Markdown):
    """Markdown in our style."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _QuietCode,
        "code_block": _QuietCode,
    }


class Trimmed:
    """A renderable without the empty lines around it: rich begins some with one."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._inner, options, pad=False)
        full = [at for at, shown in enumerate(lines) if any(part.text.strip() for part in shown)]
        for shown in lines[full[0] : full[-1] + 1] if full else []:
            yield from shown
            yield Segment.line()


def line(*parts: str | tuple[str, str], indent: int = INDENT) -> Text:
    """One line, cut with an ellipsis where the terminal ends."""
    return Text.assemble(" " * indent, *parts, no_wrap=True, overflow="ellipsis")


def uncut(text: str, style: str = "") -> Text:
    """A line to be copied: broken by the terminal alone, where it ends."""
    return Text(text, style, no_wrap=True, overflow="ignore")


def spread(left: Text, right: Text, width: int) -> Text:
    """A line with something at its right end, as far from the edge as the rest is from the left, if there is room."""
    room = width - INDENT - left.cell_len - right.cell_len
    if room < 2 or not right:
        return left
    joined = left.copy()
    joined.append(" " * room)
    joined.append_text(right)
    return joined


def keys(choices: Iterable[tuple[str, str]]) -> Text:
    """`[y]es  [s] this session`: each choice a key and what follows its bracket."""
    text = Text(" " * INDENT)
    for at, (key, words) in enumerate(choices):
        text.append("  " if at else "")
        text.append("[")
        text.append(key, "key")
        text.append("]" + words)
    return text


def seconds(value: float) -> str:
    """`0.1 s`, `8 s`, `2 min 5 s`."""
    if value < 9.95:
        return f"{value:.1f} s"
    if value < 59.5:
        return f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def tokens(count: int) -> str:
    """`840 tokens`, `1.2k tokens`."""
    return f"{count} tokens" if count < 1000 else f"{count / 1000:.1f}k tokens"


def width_of(text: str) -> int:
    """Columns that the text takes."""
    return cell_len(text)
