"""The composition root: descriptors and options in, a served dialect out.

Only the chosen wire is imported, and of the rest as little as its first answers need: the LSP stack must answer
`initialize` before the engine is imported, ACP already has (`first_stage.py`).
"""

import gc
import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Literal

import anyio

from agent_server.options import Options

if TYPE_CHECKING:  # the engine is imported after the first answer
    from agent_server.session.sessions import Sessions

log = logging.getLogger(__name__)

PARENT_S = 1.0
"""Between two looks whether the process that started us lives; the end of input mostly tells sooner."""
COLLECT_AFTER = 10_000
"""New objects between two looks for cycles. Python's 700 look through a long session's log, 40 ms, at every request."""
END_SIGNALS = (
    signal.SIGTERM,
    signal.SIGINT,
    *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()),
)
SIGNALLED = 0
"""Being told to end is no failure."""


def serve(
    dialect: str,
    *,
    read_fd: int,
    write_fd: int,
    received: bytes,
    initialized: Mapping[str, object] | None,
    initialize_result: Callable[[], Mapping[str, object]],
    options: Options,
    parent: int,
) -> int:
    """Serve one client until its input ends or a signal says so; the exit code.

    `received` are bytes already read and not yet dealt with; `initialized` the params of ACP's `initialize` if that
    was answered, `initialize_result` what it is answered with. `parent` is the process that started us.
    """
    _log_to(
        options.log_file, options.log_level or os.environ.get("AGENT_SERVER_LOG_LEVEL") or "warning"
    )
    gc.set_threshold(COLLECT_AFTER, 10, 10)
    if dialect == "lsp":
        lsp = partial(_lsp, read_fd, write_fd, received, options)
        return anyio.run(_until_told_to_end, lsp, parent)
    acp = partial(_acp, read_fd, write_fd, received, initialized, initialize_result, options)
    return anyio.run(_until_told_to_end, acp, parent)


async def _until_told_to_end(run: Callable[[anyio.Event], Awaitable[int]], parent: int) -> int:
    """Being told sets the event that `run` watches: it hangs up, and what runs is settled and answered first."""
    stop = anyio.Event()
    code = SIGNALLED
    async with anyio.create_task_group() as group:
        group.start_soon(_stop_on_signal, stop)
        group.start_soon(_stop_with_parent, stop, parent)
        code = await run(stop)
        group.cancel_scope.cancel()
    return SIGNALLED if stop.is_set() else code


async def _stop_on_signal(stop: anyio.Event) -> None:
    with anyio.open_signal_receiver(*END_SIGNALS) as signals:
        async for number in signals:
            log.info("ended by signal %d", number)
            stop.set()


async def _stop_with_parent(stop: anyio.Event, parent: int) -> None:
    """An editor that was killed may leave our input open in the hands of somebody else."""
    while os.getppid() == parent:  # noqa: ASYNC110  (nothing tells of another process's death)
        await anyio.sleep(PARENT_S)
    log.warning("the process that started us is gone")
    stop.set()


async def _acp(
    read_fd: int,
    write_fd: int,
    received: bytes,
    initialized: Mapping[str, object] | None,
    initialize_result: Callable[[], Mapping[str, object]],
    options: Options,
    stop: anyio.Event,
) -> int:
    from agent_server.front.acp.server import serve as serve_acp
    from agent_server.workshop import open_sessions

    gc.freeze()  # what was imported stays for good: never look at it, least of all in the middle of an answer
    gc.enable()
    async with open_sessions(options, {}) as sessions:
        await serve_acp(
            sessions,
            read_fd=read_fd,
            write_fd=write_fd,
            received=received,
            initialized=initialized,
            initialize_result=initialize_result,
            trace=_trace(options),
            stop=stop,
        )
    return 0


async def _lsp(
    read_fd: int, write_fd: int, received: bytes, options: Options, stop: anyio.Event
) -> int:
    from agent_server.front.lsp.server import serve as serve_lsp

    @asynccontextmanager
    async def opened(
        client_options: Mapping[str, object], trusted: bool | None
    ) -> "AsyncGenerator[Sessions]":
        from agent_server.workshop import open_sessions  # after `initialize` is answered

        async with open_sessions(options, client_options, trusted=trusted) as sessions:
            yield sessions

    return await serve_lsp(
        read_fd=read_fd,
        write_fd=write_fd,
        received=received,
        open_sessions=opened,
        trace=_trace(options),
        stop=stop,
    )


def _trace(options: Options) -> Callable[[Literal["in", "out"], bytes], None] | None:
    path = options.trace or os.environ.get("AGENT_SERVER_TRACE")
    if not path:
        return None
    from agent_server.trace import open_trace  # for the few who look

    try:
        return open_trace(path, os.environ)
    except OSError as error:
        log.warning("nothing is traced: %s", error)
        return None


def _log_to(path: str | None, level: str) -> None:
    """A file or level that cannot be used is said on standard error, and stops nothing (spec §4)."""
    problems: list[OSError | ValueError] = []
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    try:
        handler = handler if path is None else logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        problems.append(error)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    try:
        logging.getLogger().setLevel(level.upper())
    except ValueError as error:
        problems.append(error)
    for problem in problems:
        log.warning("the log is not kept as asked: %s", problem)
