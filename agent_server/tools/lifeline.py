"""The agent's end of the watchdog: commands die with the agent, also when that is killed without a word."""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from agent_server.tools.watchdog import main; main()"
CLOSED_WITHIN_S = 2.0
"""A watchdog without commands ends as soon as Python can."""


class Lifeline:
    """One for all commands of a process; its watchdog starts with the first of them. Calls may block for moments."""

    def __init__(self) -> None:
        """Starts nothing."""
        self._lock = threading.Lock()
        self._running: dict[str, int | None] = {}
        self._watchdog: subprocess.Popen[bytes] | None = None
        self._sending = -1

    def begin(self, mark: str) -> None:
        """A command with that mark is about to start."""
        with self._lock:
            self._running[mark] = None
            self._tell(f"+ {mark}\n")

    def leads(self, mark: str, pid: int) -> None:
        """It did, as this process, which leads its group."""
        with self._lock:
            self._running[mark] = pid
            self._tell(f"= {mark} {pid}\n")

    def over(self, mark: str) -> None:
        """Nothing of it runs any more, or nothing can be done about it."""
        with self._lock:
            if mark in self._running:
                del self._running[mark]
                self._tell(f"- {mark}\n")

    def close(self) -> None:
        """No command runs; the watchdog goes."""
        with self._lock:
            if self._watchdog is not None:
                self._bury(self._watchdog)

    def _tell(self, line: str) -> None:
        if self._watchdog is not None:
            with suppress(BrokenPipeError):
                os.write(self._sending, line.encode())
                return
            self._bury(self._watchdog)  # somebody ended it
        self._start()
        for mark, pid in self._running.items():
            os.write(self._sending, f"+ {mark}\n".encode())
            if pid is not None:
                os.write(self._sending, f"= {mark} {pid}\n".encode())

    def _start(self) -> None:
        """In a session of its own, away from the terminal's signals, and with nothing of our environment."""
        receiving, self._sending = os.pipe()
        try:
            self._watchdog = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", PROGRAM, str(Path(__file__).parents[2])],
                stdin=receiving,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(receiving)

    def _bury(self, watchdog: "subprocess.Popen[bytes]") -> None:
        os.close(self._sending)
        self._watchdog, self._sending = None, -1
        try:
            watchdog.wait(CLOSED_WITHIN_S)
        except subprocess.TimeoutExpired:
            watchdog.kill()
            watchdog.wait()
