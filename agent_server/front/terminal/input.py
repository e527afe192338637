"""What the person types: lines with editing and history, and single keys for questions."""

import signal
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from agent_server.front.terminal.modes import CTRL_C as CTRL_C
from agent_server.front.terminal.modes import CTRL_D as CTRL_D
from agent_server.front.terminal.modes import Modes, NextKey

try:
    import readline
except ImportError:  # Windows: the console edits lines itself
    readline = None

HISTORY: Final = 1_000
"""Lines remembered."""


class Keyboard(Protocol):
    """Where answers come from. Tests type with a fake one."""

    def line(self, prompt: str) -> str | None:
        """A line without its end; None at the end of input. Raises KeyboardInterrupt on Ctrl-C."""
        ...

    def keys(self) -> AbstractContextManager[NextKey]:
        """Single keys, none of them shown. What was typed before is no answer, and kept for the next line."""
        ...

    def keep(self, text: str) -> None:
        """Give this to the next line: it was typed and is no answer."""
        ...

    def quiet(self) -> AbstractContextManager[None]:
        """What is typed meanwhile is not shown, so that it does not stand in the middle of a page."""
        ...

    def lent(self) -> AbstractContextManager[None]:
        """The terminal as another program, an editor or a pager, expects it."""
        ...


class Terminal:
    """The keyboard of a real terminal, or of what stands in its place."""

    def __init__(self, history: Path | None = None) -> None:
        """`history`: a file that remembers prompts from one run to the next."""
        self._history = history
        self._modes = Modes()
        if readline is not None:
            readline.parse_and_bind("set enable-bracketed-paste on")
        if readline is not None and history is not None and history.exists():
            readline.read_history_file(history)

    def line(self, prompt: str) -> str | None:
        """See `Keyboard`. A paste is one line with the line ends in it, whether the terminal marks it or not."""
        with self._modes.normal(), _interrupting(), _prefilled(self._modes.take_kept()):
            lines: list[str] = []
            with suppress(EOFError):
                lines.append(input(prompt))
                while self._modes.has_more():
                    lines.append(input())
            return "\n".join(lines) if lines else None

    def keep(self, text: str) -> None:
        """See `Keyboard`."""
        self._modes.keep(text)

    def keys(self) -> AbstractContextManager[NextKey]:
        """See `Keyboard`."""
        return self._modes.single_keys()

    def quiet(self) -> AbstractContextManager[None]:
        """See `Keyboard`."""
        return self._modes.silent()

    def lent(self) -> AbstractContextManager[None]:
        """See `Keyboard`."""
        return self._modes.normal()

    def remember(self) -> None:
        """Keep the history, readable by its owner only."""
        if readline is None or self._history is None:
            return
        readline.set_history_length(HISTORY)
        self._history.parent.mkdir(parents=True, exist_ok=True)
        self._history.touch(mode=0o600)
        readline.write_history_file(self._history)


@contextmanager
def _prefilled(text: str) -> Generator[None]:
    """The next line begins with this, as if it had been typed there."""
    if readline is None or not text:
        yield
        return
    line_editor = readline
    line_editor.set_startup_hook(lambda: line_editor.insert_text(text))
    try:
        yield
    finally:
        line_editor.set_startup_hook(None)


@contextmanager
def _interrupting() -> Generator[None]:
    """Ctrl-C ends the reading of a line, whatever it means elsewhere."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def read_prompt(keyboard: Keyboard, prompt: str, more: str) -> str | None:
    r'''A prompt of one or more lines; None at the end of input.

    A line that ends in a backslash goes on in the next one; `"""` begins a text that the next `"""` ends.
    '''
    line = keyboard.line(prompt)
    if line is None:
        return None
    if line.lstrip().startswith('"""'):
        return _until_quotes(keyboard, line.lstrip()[3:], more)
    lines = [line]
    while lines[-1].endswith("\\"):
        lines[-1] = lines[-1][:-1]
        following = keyboard.line(more)
        if following is None:
            break
        lines.append(following)
    return "\n".join(lines)


def visible_prompt(text: str, style: str) -> str:
    """`text` in an ANSI style, marked so that readline counts only what is visible."""
    if readline is None or "libedit" in (readline.__doc__ or ""):
        return text
    return f"\001\x1b[{style}m\002{text}\001\x1b[0m\002"


def _until_quotes(keyboard: Keyboard, first: str, more: str) -> str:
    lines = [first]
    while '"""' not in lines[-1]:
        following = keyboard.line(more)
        if following is None:
            break
        lines.append(following)
    return "\n".join(lines).split('"""')[0].strip("\n")
