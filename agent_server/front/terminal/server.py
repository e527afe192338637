"""The server as a child of this process: started, and gone again whatever happens."""

import contextlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import IO, Final

from agent_server.frozen import frozen
from agent_server.options import Options

END_S: Final = 3.0
"""After end of input: the server promises to be gone within 2 s (spec §3)."""
TERM_S: Final = 2.0
"""After a signal that it may handle."""
TAIL: Final = 2_000
"""Bytes of its last words that are shown."""


@frozen
class Server:
    """A running server; the descriptors are this end of its pipes."""

    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    read_fd: int
    write_fd: int

    def last_words(self) -> str:
        """The end of what it wrote to stderr."""
        size = self.errors.seek(0, 2)
        self.errors.seek(max(0, size - TAIL))
        words = self.errors.read().decode(errors="replace")
        return (words if size <= TAIL else words.partition("\n")[2]).strip()


@contextlib.contextmanager
def running_server(options: Options, *, cwd: Path, env: Mapping[str, str]) -> Generator[Server]:
    """`agent-server acp` in `cwd`.

    It gets a session (on Windows a process group) of its own, so that Ctrl-C, which the terminal sends to our whole
    group, asks us and does not kill it; it sees the end of its input when we die, however that happens.
    """
    # -P: else Python would look for modules in `cwd` first, in a folder that anybody may have written.
    command = [sys.executable, "-P", "-m", "agent_server", "acp", *options.as_arguments()]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=cwd,
            env=dict(env),
            bufsize=0,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Server(process, errors, process.stdout.fileno(), process.stdin.fileno())
        finally:
            with _uninterrupted():
                _end(process)


@contextlib.contextmanager
def _uninterrupted() -> Generator[None]:
    """One more Ctrl-C must not leave the server behind; what happens meanwhile is bounded."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input; insist step by step."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    for wait_s, insist in ((END_S, process.terminate), (TERM_S, process.kill)):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait_s)
            return
        insist()
    process.wait()
