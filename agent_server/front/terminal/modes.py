"""The modes of the terminal: lines with echo, silence, single keys. All of it, for the two kinds of platform."""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

CTRL_C: Final = "\x03"
CTRL_D: Final = "\x04"
GUARD_S: Final = 0.6
"""What is typed so soon after a question appeared, or right behind such a key, was meant for the next prompt."""
POLL_S: Final = 0.1
"""How long a read waits for a key: short enough that a withdrawn question seems to go at once."""

BURST_S: Final = 0.03
"""How soon the next line of a paste is there."""
PASTE: Final = "\x1b[200~"
PASTED: Final = "\x1b[201~"
"""What a terminal puts round a paste, where it was asked to."""

NextKey = Callable[[], str | None]
"""The next key, `CTRL_C` and `CTRL_D` among them; None when none came in `POLL_S`."""

if sys.platform == "win32":
    import msvcrt
    import time

    class ConsoleModes:
        """Of the console, which shows nothing that is read key by key."""

        def take_kept(self) -> str:
            """Nothing is kept."""
            return ""

        def keep(self, text: str) -> None:
            """Nothing is kept."""

        def has_more(self) -> bool:
            """The console hands out whole lines."""
            return False

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
    import codecs
    import select
    import termios
    import time

    class TtyModes:
        """Of stdin. Where that is no terminal nothing is changed, and there is no key to read."""

        def __init__(self) -> None:
            self._fd = 0
            self._tty = os.isatty(self._fd)
            self._normal = termios.tcgetattr(self._fd) if self._tty else None
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self._kept = ""
            self._quiet_since = 0.0

        def take_kept(self) -> str:
            """What was typed while a question stood there and is no answer to it; once."""
            kept, self._kept = self._kept, ""
            return kept

        def keep(self, text: str) -> None:
            """Keep what was typed for the next line."""
            self._kept += text
            self._quiet_since = time.monotonic()

        def has_more(self) -> bool:
            """Whether a further line waits already: the rest of a paste."""
            return self._tty and bool(select.select([self._fd], [], [], BURST_S)[0])

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
            """No lines, no echo, Ctrl-C is a key; what was typed before is kept for the next line."""
            off = termios.ECHO | termios.ICANON | termios.ISIG
            with self._changed(termios.TCSADRAIN, off=off):
                self._quiet_since = time.monotonic()
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
            """An answer is one key, after a pause: a paste, and what somebody goes on typing, is kept instead.

            Arrows and other sequences are one key that means nothing.
            """
            ready, _, _ = select.select([self._fd], [], [], POLL_S)
            if not ready:
                return None
            data = os.read(self._fd, 65536)
            if not data:
                return CTRL_D
            typed = self._decoder.decode(data)
            if CTRL_C in typed or CTRL_D in typed:
                return CTRL_C if CTRL_C in typed else CTRL_D
            if typed.startswith("\x1b") and not typed.startswith(PASTE):
                return ""
            if len(typed) == 1 and time.monotonic() - self._quiet_since >= GUARD_S:
                return typed
            self.keep(typed.replace(PASTE, "").replace(PASTED, ""))
            return ""

    Modes = TtyModes
