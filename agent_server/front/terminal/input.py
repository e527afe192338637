"""What the person types: lines with editing and history, and single keys for questions."""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

try:
    import readline
except ImportError:  # Windows: the console edits lines itself
    readline = None

CTRL_C: Final = "\x03"
CTRL_D: Final = "\x04"
POLL_S: Final = 0.1
"""How often waiting for a key looks up: short enough that a withdrawn question seems to go at once."""
HISTORY: Final = 1_000
"""Lines remembered."""


class Keyboard(Protocol):
    """Where answers come from. Tests type with a fake one."""

    def line(self, prompt: str) -> str | None:
        """A line without its end; None at the end of input. Raises KeyboardInterrupt on Ctrl-C."""
        ...

    def key(self, over: Callable[[], bool]) -> str | None:
        """The next key, `CTRL_C` and `CTRL_D` among them; None as soon as `over()` says that nobody needs it."""
        ...


class Terminal:
    """The keyboard of a real terminal."""

    def __init__(self, history: Path | None = None) -> None:
        """`history`: a file that remembers prompts from one run to the next."""
        self._history = history
        if readline is not None and history is not None and history.exists():
            readline.read_history_file(history)

    def line(self, prompt: str) -> str | None:
        """See `Keyboard`."""
        try:
            return input(prompt)
        except EOFError:
            return None

    def key(self, over: Callable[[], bool]) -> str | None:
        """See `Keyboard`. What was typed before the question appeared is thrown away: it was not meant for it."""
        with _single_keys() as next_key:
            while not over():
                if (key := next_key()) is not None:
                    return key
        return None

    def remember(self) -> None:
        """Keep the history, readable by its owner only."""
        if readline is None or self._history is None:
            return
        readline.set_history_length(HISTORY)
        self._history.parent.mkdir(parents=True, exist_ok=True)
        self._history.touch(mode=0o600)
        readline.write_history_file(self._history)


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


if sys.platform == "win32":
    import msvcrt
    import time

    @contextmanager
    def _single_keys() -> Generator[Callable[[], str | None]]:
        while msvcrt.kbhit():
            msvcrt.getwch()

        def next_key() -> str | None:
            if msvcrt.kbhit():
                return msvcrt.getwch()
            time.sleep(POLL_S)
            return None

        yield next_key

else:
    import select
    import termios
    import tty

    @contextmanager
    def _single_keys() -> Generator[Callable[[], str | None]]:
        """The terminal without line editing and echo; Ctrl-C is a key like any other."""
        fd = sys.stdin.fileno()
        before = termios.tcgetattr(fd)
        try:
            tty.setcbreak(fd, termios.TCSAFLUSH)
            mode = termios.tcgetattr(fd)
            mode[3] &= ~termios.ISIG
            termios.tcsetattr(fd, termios.TCSANOW, mode)
            yield lambda: _read_key(fd)
        finally:
            termios.tcsetattr(fd, termios.TCSANOW, before)

    def _read_key(fd: int) -> str | None:
        """One key, or None after a while; arrows and other sequences are one key that means nothing."""
        ready, _, _ = select.select([fd], [], [], POLL_S)
        if not ready:
            return None
        data = os.read(fd, 64)
        if not data:
            return CTRL_D
        return data.decode(errors="replace") if data[:1] != b"\x1b" or data == b"\x1b" else ""
