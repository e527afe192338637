"""What the person has before them, in words for the model: only what changed since it was last told (loop.md F13)."""

from collections.abc import Iterator
from typing import Final

from agent_server.frozen import frozen
from agent_server.loop.model import Resource

URI: Final = "agent:/editor"
"""Names the part of a person's message that says this; they did not write it, so they are not shown it."""
SELECTION_CHARS: Final = 4_000
"""Of selected text; `read` gets the rest."""
FILES: Final = 30
"""Names in a list of open files."""


@frozen
class Selection:
    """Where the person is."""

    path: str
    first: int
    last: int
    """Lines, 1-based, the last one included."""
    text: str | None = None
    """What is selected; None when nothing is, or the model may not see the file unasked."""


@frozen
class OpenFile:
    """A file in a tab or window of the editor."""

    path: str
    unsaved: bool = False


@frozen
class BeforePerson:
    """The editor as it is now; None: the client does not tell."""

    selection: Selection | None = None
    files: tuple[OpenFile, ...] | None = None


NOTHING: Final = BeforePerson()


def news(before: BeforePerson, now: BeforePerson) -> Resource | None:
    """The part of the message that tells the difference; None when there is none."""
    lines = [*_files(before.files or (), now.files), *_selection(before.selection, now.selection)]
    if not lines:
        return None
    return Resource(URI, "editor", "\n".join(("In the person's editor now:", *lines)))


def _files(before: tuple[OpenFile, ...], now: tuple[OpenFile, ...] | None) -> Iterator[str]:
    if now is None:
        return
    had = {file.path: file for file in before}
    have = {file.path: file for file in now}
    opened = [_name(file) for file in now if had.get(file.path) != file]
    closed = [path for path in had if path not in have]
    if opened:
        yield f"- {'open' if not before else 'also open'}: {_list(opened)}"
    if closed:
        yield f"- no longer open: {_list(closed)}"


def _selection(before: Selection | None, now: Selection | None) -> Iterator[str]:
    if now is None or now == before:
        return
    place = f"line {now.first}" if now.first == now.last else f"lines {now.first}-{now.last}"
    if now.text is None:
        yield f"- the cursor is in {now.path}, {place}"
        return
    yield f"- selected: {now.path}, {place}:"
    yield now.text[:SELECTION_CHARS]
    if len(now.text) > SELECTION_CHARS:
        yield f"[{len(now.text) - SELECTION_CHARS} more characters are selected]"


def _name(file: OpenFile) -> str:
    return f"{file.path} (unsaved)" if file.unsaved else file.path


def _list(names: list[str]) -> str:
    more = len(names) - FILES
    return ", ".join(names[:FILES]) + (f" and {more} more" if more > 0 else "")
