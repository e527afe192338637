"""From a path as the model wrote it to the place it really means, judged once and held to at the moment of use.

The real path, free of links, is what the policy sees. Later every step of it is opened without following links, so a
link that was swapped in meanwhile is refused instead of followed (SC-03, SC-04). Where the system cannot open relative
to a folder (Windows), the path is resolved again right before use.
"""

import os
import re
import stat
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from anyio import to_thread

from agent_server.frozen import frozen
from agent_server.loop.model import ToolResult
from agent_server.tools.services import Services

_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_HAS_PROC = Path("/proc/self/fd").is_dir()
_FOLDER = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
)
_LEAF = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
)

_DEVICE = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9]) *(\..*)?", re.IGNORECASE)


@frozen
class Place:
    """A path a call is about."""

    real: str
    """Absolute, links resolved; whether or not it exists. What the policy judges."""
    named: str
    """Absolute, as the client spells it: what its editor knows the file by."""
    shown: str
    """For people and model: relative to the session's folder when it lies in it."""


async def locate(services: Services, path: str) -> Place | ToolResult:
    """Where `path` leads now; a result when it cannot be a path."""
    if problem := _problem(path):
        return ToolResult(False, problem, code="bad_path", summary="bad path")
    try:
        return await to_thread.run_sync(_resolved, services.cwd, path)
    except OSError as error:  # a link that goes away while it is followed
        text = f"{path} could not be resolved: {error.strerror}"
        return ToolResult(False, text, code="bad_path", summary="bad path")


def _problem(path: str) -> str | None:
    if not path.strip():
        return "the path is empty"
    if "\0" in path:
        return "the path contains a NUL character"
    if path.startswith("~"):
        return (
            f"{path}: ~ is not expanded; use a path relative to the workspace, or an absolute one"
        )
    if os.name == "nt" and names_device(path):
        return f"{path} names a device on this system, not a file"
    return None


def names_device(path: str) -> bool:
    """Whether Windows takes a step of the path for a device, whatever folder it is in and whatever its ending."""
    return any(_DEVICE.fullmatch(step) for step in re.split(r"[/\\]", path))


def _resolved(cwd: str, path: str) -> Place:
    written = Path(cwd, path)
    real = os.path.realpath(written)
    tidy = os.path.normpath(written)  # drops `x/..`, which is wrong where x is a link
    named = tidy if os.path.realpath(tidy) == real else real
    return Place(real, named, shown(named, cwd))


def parent(place: Place) -> Place:
    """The folder a place is in."""
    return Place(*(str(Path(path).parent) for path in (place.real, place.named, place.shown)))


def shown(path: str, cwd: str) -> str:
    """How an absolute path is written in output."""
    if path == cwd:
        return "."
    prefix = cwd.rstrip(os.sep) + os.sep
    return path.removeprefix(prefix)


async def still_there(place: Place) -> ToolResult | None:
    """A refusal when the path has come to lead elsewhere since it was judged."""
    try:
        real = await to_thread.run_sync(os.path.realpath, place.named)
    except OSError:  # a link that goes away while it is followed
        return moved(place)
    return None if real == place.real else moved(place)


def moved(place: Place) -> ToolResult:
    """The refusal for a path whose links changed after it was judged."""
    text = f"{place.shown} now leads elsewhere through a link; nothing was done"
    return ToolResult(False, text, code="moved", summary="leads elsewhere")


@contextmanager
def opened(real: str) -> Generator[int]:
    """A descriptor of the file or folder at a real path, no link followed on the way. Blocking.

    Raises:
        OSError: it cannot be opened; ELOOP or ENOTDIR when a link was swapped in.
    """
    descriptor = _open(real)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@asynccontextmanager
async def held(real: str) -> AsyncGenerator[int]:
    """The same for the event loop."""
    descriptor = await to_thread.run_sync(_open, real)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open(real: str) -> int:
    return _open_stepwise(real) if _STEPWISE else _open_checked(real)


def _open_stepwise(real: str) -> int:
    steps = [step for step in real.split("/") if step]
    folder = os.open("/", _FOLDER)
    try:
        for step in steps[:-1]:
            inner = os.open(step, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(steps[-1] if steps else ".", _LEAF, dir_fd=folder)
    finally:
        os.close(folder)


def _open_checked(real: str) -> int:
    if os.path.realpath(real) != real:
        raise NotADirectoryError(f"{real} leads through a link")
    return os.open(real, _LEAF)


def folder_path(descriptor: int, real: str) -> str:
    """A path that leads to an open folder and, where the system can say it, to no other: for a child's `cwd`."""
    return f"/proc/self/fd/{descriptor}" if _HAS_PROC else real


def is_folder(descriptor: int) -> bool:
    """Whether an open descriptor is a folder."""
    return stat.S_ISDIR(os.fstat(descriptor).st_mode)


def is_regular(descriptor: int) -> bool:
    """Whether an open descriptor is a file in the narrow sense: no folder, pipe, device or socket."""
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def failed(place: Place, error: OSError) -> ToolResult:
    """The result for a path the system would not open."""
    match error:
        case FileNotFoundError():
            text, code = f"{place.shown} does not exist", "missing"
        case PermissionError():
            text, code = f"{place.shown} may not be read by this user", "no_permission"
        case NotADirectoryError():
            text, code = f"{place.shown} lies below something that is not a folder", "not_a_folder"
        case _:
            text, code = f"{place.shown} could not be opened: {error.strerror}", "io"
    return ToolResult(False, text, code=code, summary=code.replace("_", " "))
