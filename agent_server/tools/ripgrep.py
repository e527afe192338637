"""Runs ripgrep in a folder and hands out its records as they come."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import anyio
from anyio.abc import Process

from agent_server.frozen import frozen

RECORD_BYTES = 1 << 20
"""A longer record is dropped; with our limit on columns only a path could be that long."""
COMMON = (
    "--no-config",
    "--no-messages",
    "--color=never",
    "--hidden",
    "--no-require-git",
    "--glob=!.git",
)
"""Our options alone; hidden files count, what .gitignore names does not, nor git's own folder."""


@frozen
class Ran:
    """How it ended."""

    code: int
    """0 found something, 1 nothing, 2 an error; -1 when we stopped it."""
    error: str


@cache
def find_ripgrep() -> str | None:
    """The program: on PATH, else the one installed beside our Python; None where there is neither."""
    return shutil.which("rg") or shutil.which("rg", path=str(Path(sys.executable).parent))


async def ripgrep(
    program: str,
    arguments: Sequence[str],
    *,
    cwd: str,
    end: bytes,
    receive: Callable[[bytes], bool],
    text: str | None = None,
) -> Ran:
    """Run it; `receive` gets each record (ended by `end`) and says whether to go on. Cancelling kills it.

    `text` is what it finds at its standard input (`-`).
    """
    process = await anyio.open_process(
        [program, *COMMON, *arguments],
        stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
    )
    try:
        whole = False
        async with anyio.create_task_group() as feeding:
            if text is not None:
                feeding.start_soon(_feed, process, text)
            whole = await _records(process, end, receive)
            feeding.cancel_scope.cancel()  # it may have stopped reading before the end
        if not whole:
            return Ran(-1, "")
        assert process.stderr is not None  # a pipe was asked for
        error = b"".join([piece async for piece in process.stderr])
        return Ran(await process.wait(), error.decode(errors="replace").strip())
    finally:
        if process.returncode is None:
            process.kill()
        with anyio.CancelScope(shield=True):
            await process.aclose()


async def _feed(process: Process, text: str) -> None:
    assert process.stdin is not None  # a pipe was asked for
    with suppress(anyio.BrokenResourceError):
        await process.stdin.send(text.encode("utf-8", "replace"))
    await process.stdin.aclose()


async def _records(process: Process, end: bytes, receive: Callable[[bytes], bool]) -> bool:
    """Whether all records were received."""
    assert process.stdout is not None  # a pipe was asked for
    rest = b""
    async for piece in process.stdout:
        *records, rest = (rest + piece).split(end)
        if not all(receive(record) for record in records):
            return False
        rest = rest if len(rest) <= RECORD_BYTES else b""
    return not rest or receive(rest)
