"""Commands, in the foreground: started, watched, and ended with all their descendants."""

import errno
import os
import re
import shutil
import signal
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from functools import cache

from anyio import to_thread

from agent_server.frozen import frozen
from agent_server.loop.action import Action
from agent_server.loop.errors import BadArguments
from agent_server.loop.model import CallKey, JsonObject, ToolKind, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import Resolution
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.capture import Capture, Spill
from agent_server.tools.environment import scrubbed
from agent_server.tools.foreground import Ending, Output, watched
from agent_server.tools.links import links_in
from agent_server.tools.output import shortened
from agent_server.tools.paths import Place, failed, folder_path, held, is_folder, locate, shown
from agent_server.tools.processes import Child, start
from agent_server.tools.progress import Progress, reporting
from agent_server.tools.tool import BuiltIn

TITLE_CHARS = 120
NOT_RUN = 126
"""From this exit code on the shell says that the command could not be run (POSIX)."""


@frozen
class ShellArguments(Arguments):
    """Arguments of `shell`."""

    command: str
    """A bash command line."""
    cwd: str | None = None
    """The folder to run it in; the workspace if left out."""
    timeout_s: float | None = None
    """Seconds until it is ended; 120 if left out, at most 3600."""


class Shell(BuiltIn):
    """Run a command and wait for it. Use it to build, test and look at things; change files with edit and write.

    There is no terminal and no input. Output is stdout and stderr as they come; when it is long, the middle is left out
    and all of it is in a file that read can page. Whatever the command leaves running is ended.
    """

    name = "shell"
    arguments = ShellArguments
    kind: ToolKind = "execute"

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        """Find out what would run where."""
        del key
        given = await parse(ShellArguments, arguments)
        if not given.command.strip():
            raise BadArguments("command: empty")
        if "\0" in given.command:
            raise BadArguments("command: contains a NUL character")
        place = await locate(self._services, given.cwd or ".")
        if isinstance(place, ToolResult):
            return place
        timeout_s = self._timeout(given.timeout_s)

        async def run(ctx: CallContext, resolution: Resolution | None) -> ToolResult:
            del resolution
            async with reporting(ctx) as progress:
                return await self._ran(ctx, given.command, place, timeout_s, progress)

        links = await to_thread.run_sync(links_in, given.command, place.real)
        action = Action("exec", self.name, (place.real,), given.command, links=links)
        stale = await self._stale()
        note = None
        if stale:
            note = f"open in the editor with another text; it sees the disk's: {', '.join(stale)}"
        return Prepared(action, f"shell {_first_line(given.command)}", run, note=note)

    def _timeout(self, wanted: float | None) -> float:
        limits = self._services.limits
        if wanted is None:
            return limits.shell_timeout_s
        if not wanted > 0:
            raise BadArguments(f"timeout_s: must be above 0, not {wanted}")
        return min(wanted, limits.shell_max_timeout_s)

    async def _ran(
        self, ctx: CallContext, command: str, place: Place, timeout_s: float, progress: Progress
    ) -> ToolResult:
        shell = await to_thread.run_sync(find_shell)
        if shell is None:
            text = "commands need bash or sh on PATH, and a POSIX system to end them on"
            return ToolResult(False, text, code="no_shell", summary="no shell")
        await self._services.look_beneath()
        stale = await self._stale()
        limits = self._services.limits
        spill = Spill(self._services.cwd, _spill_name(ctx), limits.spill_bytes)
        output = Output(Capture(limits.output_chars), spill, progress)
        with _pipe() as (receiving, sending), closing(spill):
            try:
                child = await self._started([shell, "-c", command], place, sending)
            except OSError as error:
                if error.errno == errno.E2BIG:
                    return ToolResult(
                        False, "the command is too long; put it in a file", code="too_long"
                    )
                return failed(place, error)
            finally:
                os.close(sending)
            ending = await watched(child, receiving, output, timeout_s=timeout_s)
            await self._services.beneath.look(self._services.documents, "command")
            return self._services.with_notes(_result(output, ending, stale))

    async def _stale(self) -> list[str]:
        """The files whose newest text the command will not see, as the model and the user know them."""
        services = self._services
        stale = await services.unsaved.stale(services.documents, services.cwd)
        real = await to_thread.run_sync(os.path.realpath, services.cwd)
        return list(dict.fromkeys(shown(path, real) for path in stale))

    async def _started(self, argv: list[str], place: Place, output: int) -> Child:
        async with held(place.real) as folder:
            if not is_folder(folder):
                raise NotADirectoryError(f"{place.shown} is not a folder")
            env = scrubbed(self._services.env)
            return await start(
                argv,
                cwd=folder_path(folder, place.real),
                env=env,
                output=output,
                lifeline=self._services.lifeline,
            )


@contextmanager
def _pipe() -> Generator[tuple[int, int]]:
    """Both ends of a pipe whose reading end does not block; the writing end is for the child alone."""
    receiving, sending = os.pipe()
    os.set_blocking(receiving, False)
    try:
        yield receiving, sending
    finally:
        os.close(receiving)


def _result(output: Output, ending: Ending, stale: Sequence[str]) -> ToolResult:
    said = output.capture.text().rstrip()
    how, summary = _how(ending)
    notes = [f"[{note}]" for note in _notes(output.spill, ending, stale)]
    if not said:
        body = [f"(no output, {how})"]
    elif ending.code == 0:
        body = [said]
    else:
        body = [said, f"({how})"]
    text = "\n".join([*body, *notes])
    # An exit code is an answer, not a failure of the tool: a test that fails four times must not end the turn (R90).
    if ending.code is None:
        return ToolResult(False, text, code="timeout", summary=summary)
    if ending.code >= NOT_RUN or ending.code < 0:
        return ToolResult(
            False, text, code="not_run" if ending.code in (126, 127) else "killed", summary=summary
        )
    return ToolResult(True, text, summary=summary)


def _how(ending: Ending) -> tuple[str, str]:
    """How it ended, for the model and for the person."""
    match ending.code:
        case None:
            return (
                f"ended after {ending.timeout_s:g} s, its time limit",
                f"timed out after {ending.timeout_s:g} s",
            )
        case code if code < 0:
            return f"killed by {_signal_name(-code)}", _signal_name(-code)
        case code:
            return f"exit {code}", f"exit {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _notes(spill: Spill, ending: Ending, stale: Sequence[str]) -> list[str]:
    notes: list[str] = []
    if spill.path is not None:
        notes.append(
            f"the whole output is in {spill.path}" + (f"; {spill.problem}" if spill.problem else "")
        )
    elif spill.problem is not None:
        notes.append(spill.problem)
    if stale:
        notes.append(
            f"open in the editor with another text; the command saw the disk's: {', '.join(stale)}"
        )
    if ending.left:
        notes.append(f"{ending.left} process(es) that the command left running were ended")
    if ending.survivors:
        notes.append(
            f"still running, not even KILL ended them: process {', '.join(map(str, ending.survivors))}"
        )
    return notes


def _first_line(command: str) -> str:
    first, *rest = command.strip().splitlines()
    return shortened(first, TITLE_CHARS) + (" …" if rest else "")


def _spill_name(ctx: CallContext) -> str:
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', ctx.turn)}-{ctx.key.reply}-{ctx.key.index}.txt"


@cache
def find_shell() -> str | None:
    """bash, else sh; None where there is neither, and on Windows, where a command's children cannot be ended yet."""
    return None if os.name == "nt" else shutil.which("bash") or shutil.which("sh")
