"""The terminal as a page that grows: what is printed stays, and below it a few live lines that are drawn again.

A frame is one write: away with the old live lines, then what is final, then the new live lines. Nothing above them is
ever touched, so the screen does not flicker and the scrollback stays a page. On a pipe there are no live lines.
"""

import os
import re
import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleRenderable, Group

from agent_server.front.terminal.style import THEME

_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_SYNC, _SYNC_END = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know it show the whole frame at once; others ignore it."""
_FILLED = re.compile(r" +$", re.MULTILINE)
_PIPE_WIDTH = 80
_NEVER_WRAPPED = 1_000_000
"""On a pipe lines are as long as they are."""


def standard_console() -> Console:
    """A console on stdout: colours as the terminal (and `NO_COLOR`) allow, none on a pipe or dumb terminal."""
    # A character that the locale cannot show must not end the conversation.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    plain = not sys.stdout.isatty() or os.environ.get("TERM") == "dumb"
    return Console(
        highlight=False,
        theme=THEME,
        soft_wrap=False,
        no_color=True if plain else None,
        force_terminal=False if plain else None,
        width=_NEVER_WRAPPED if plain else None,
    )


class Screen:
    """Draws. One thread."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.plain = not console.is_terminal
        """No live lines, no colour, nothing wrapped."""
        self._live: list[str] = []

    @property
    def width(self) -> int:
        """Columns to lay out for; lines that are longer are not cut on a pipe."""
        return _PIPE_WIDTH if self.plain else self.console.width

    @property
    def height(self) -> int:
        """Rows."""
        return self.console.height

    @property
    def coloured(self) -> bool:
        """Whether colours may be used."""
        return self.console.color_system is not None and not self.console.no_color

    def draw(
        self, final: Iterable[ConsoleRenderable] = (), live: Iterable[ConsoleRenderable] = ()
    ) -> None:
        """Print what is final; then show `live` until the next call. Of too many live lines the last ones show."""
        text = "".join(self._rendered(part) for part in final)
        if self.plain:
            self._write(text)
            return
        lines = "".join(self._rendered(part, crop=True) for part in live).splitlines()[
            -(self.height - 1) :
        ]
        if not text and lines == self._live:
            return
        up = f"\x1b[{len(self._live)}A" if self._live else ""
        shown = "".join(f"{line}\n" for line in lines)
        cursor = _HIDE if lines else _SHOW
        self._write(f"{_SYNC}{cursor}\r{up}\x1b[J{text}{shown}{_SYNC_END}")
        self._live = lines

    def print(self, *final: ConsoleRenderable) -> None:
        """Print above nothing: the live lines go."""
        self.draw(final)

    def close(self) -> None:
        """Leave the terminal as a shell wants it."""
        self.draw()
        if not self.plain:
            self._write(_SHOW)

    def _rendered(self, part: ConsoleRenderable, *, crop: bool = False) -> str:
        """Cropped where a line that the terminal breaks would upset the count of lines."""
        with self.console.capture() as captured:
            # Grouped, because a bare Text loses its own way of wrapping.
            self.console.print(Group(part), soft_wrap=self.plain, crop=crop)
        # Rich fills lines up to their width; whoever copies them wants none of that.
        return _FILLED.sub("", captured.get())

    def _write(self, text: str) -> None:
        if text:
            self.console.file.write(text)
            self.console.file.flush()
