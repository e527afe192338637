"""The modes of the terminal: lines with echo, silence, single keys. All of it, for the two kinds of platform."""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

CTRL_C: Final = "\x03"
CTRL_D: Final = "\x04"
POLL_S: Final = 0.1
"""How long a read waits for a key: short enough that a withdrawn question seems to go at once."""

NextKey = Callable[[], str | None]
"""The next key, `CTRL_C` and `CTRL_D` among them; None when none came in `POLL_S`."""

if sys.platform == "win32":
    import msvcrt
    import time

    class ConsoleModes:
        """Of the console, which shows nothing that is read key by key."""

        @contextmanager
        def normal(self) -> Generator[None]:
            """Always so."""
            yield

        @contextmanager
        def silent(self) -> Generator[None]:
            """Always so, unless a line is read."""
            yield

        @contextmanager
        def single_keys(self) -> Generator[NextKey]:
            """Keys; what was typed before is thrown away."""
            while msvcrt.kbhit():
                msvcrt.getwch()
            yield _next_key

    def _next_key() -> str | None:
        if msvcrt.kbhit():
            return msvcrt.getwch()
        time.sleep(POLL_S)
        return None

    Modes = ConsoleModes

else:
    import select
    import termios

    class TtyModes:
        """Of stdin. Where that is no terminal nothing is changed, and there is no key to read."""

        def __init__(self) -> None:
            self._fd = 0
            self._tty = os.isatty(self._fd)
            self._normal = termios.tcgetattr(self._fd) if self._tty else None

        @contextmanager
        def normal(self) -> Generator[None]:
            """As it was when we were started."""
            with self._changed(termios.TCSADRAIN, off=0):
                yield

        @contextmanager
        def silent(self) -> Generator[None]:
            """No echo; Ctrl-C stays a signal, and what is typed waits for the next line."""
            with self._changed(termios.TCSADRAIN, off=termios.ECHO):
                yield

        @contextmanager
        def single_keys(self) -> Generator[NextKey]:
            """No lines, no echo, Ctrl-C is a key; what was typed before is thrown away."""
            off = termios.ECHO | termios.ICANON | termios.ISIG
            with self._changed(termios.TCSAFLUSH, off=off):
                yield self._next_key

        @contextmanager
        def _changed(self, when: int, *, off: int) -> Generator[None]:
            """The normal mode without some of its local flags."""
            if self._normal is None:
                yield
                return
            before = termios.tcgetattr(self._fd)
            wanted = list(self._normal)
            wanted[3] = self._normal[3] & ~off
            termios.tcsetattr(self._fd, when, wanted)
            try:
                yield
            finally:
                termios.tcsetattr(self._fd, termios.TCSADRAIN, before)

        def _next_key(self) -> str | None:
            """Arrows and other sequences are one key that means nothing."""
            ready, _, _ = select.select([self._fd], [], [], POLL_S)
            if not ready:
                return None
            data = os.read(self._fd, 1)
            if not data:
                return CTRL_D
            if data != b"\x1b":
                return data.decode(errors="replace")
            while select.select([self._fd], [], [], 0)[0]:
                os.read(self._fd, 1)
            return ""

    Modes = TtyModes
