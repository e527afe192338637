"""`/rewind`: the list of places, what going to one would change, and, told to `apply` what it just showed, going there.

There is no dialog that could ask, so naming a place only shows it. A number counts from the newest place and may mean
another one after the next prompt, and more would go back by then; so nothing is applied but what was shown last.
"""

import anyio

from agent_server.edits.undo_run import Rewound
from agent_server.edits.unified import unified
from agent_server.frozen import frozen
from agent_server.loop.errors import ClientMistake
from agent_server.session.builtin.command import Here
from agent_server.session.builtin.words import (
    NO_PLACE,
    NOTHING_CHANGES,
    What,
    fenced,
    left_alone,
    names,
    no_checkpoint,
    paragraphs,
    what_goes,
)
from agent_server.session.places import Place, short
from agent_server.session.rewinding import Back, Moved, Rewinding

APPLY = "apply"
LISTED = 20
"""Places in the list; older ones can be named all the same."""
DIFF_LINES = 200
"""Of everything that would change."""


@frozen
class _Meant:
    """What a person named."""

    name: str
    place: Place
    what: What

    @property
    def id(self) -> str:
        return self.place.checkpoint.id

    @property
    def command(self) -> str:
        return f"`/rewind {self.name} {self.what} {APPLY}`"


async def rewind(here: Here) -> str:
    """The list, the look, or what came of it."""
    rewinding = Rewinding(here.session)
    found = list(reversed(await rewinding.places()))
    if not here.argument:
        return _list(found, here.session.cwd) if found else f"{NO_PLACE.capitalize()}."
    name, *more = here.argument.split()
    apply = more[-1:] == [APPLY]
    meant = _meant(name, more[:-1] if apply else more, found)
    if apply and here.has_shown(meant.id, meant.what):
        return await _go(here, rewinding, meant)
    return await _look(here, rewinding, meant)


def _meant(name: str, more: list[str], found: list[Place]) -> _Meant:
    by_name = {str(number): place for number, place in enumerate(found, 1)}
    by_name |= {place.checkpoint.id: place for place in found}
    if name not in by_name:
        raise no_checkpoint(name)
    if len(more) > 1:
        raise ClientMistake(f"/rewind takes a number and one of files, chat, both; not {more}")
    place = by_name[name]
    chat = place.upto is not None
    return _Meant(name, place, what_goes("".join(more), place.checkpoint.id, chat=chat))


def _list(found: list[Place], cwd: str) -> str:
    rows = [_row(number, place, cwd) for number, place in enumerate(found[:LISTED], 1)]
    if len(found) > LISTED:
        rows.append(f"\n… and {len(found) - LISTED} more, up to {len(found)}.")
    how = "`/rewind N` shows what going back to before it would change; `/rewind N files` or `chat`: only that."
    return paragraphs("\n".join(rows), how)


def _row(number: int, place: Place, cwd: str) -> str:
    checkpoint = place.checkpoint
    at = checkpoint.at.astimezone().strftime("%H:%M")
    files = names([path for path, _ in checkpoint.files], cwd)
    return f"{number}. {at} before {place.quoted}" + (f" · {files}" if files else "")


async def _look(here: Here, rewinding: Rewinding, meant: _Meant) -> str:
    files, chat = meant.what != "chat", meant.what != "files"
    would = await rewinding.look(meant.id, files=files, chat=chat)
    left = "\n".join(left_alone(would.files.left, here.session.cwd))
    if not would.files.changes and not would.prompts:
        return paragraphs(f"{NOTHING_CHANGES.capitalize()}.", left)
    here.show(meant.id, meant.what)
    return paragraphs(
        f"Going back to before {meant.place.quoted} would change this:",
        _diff(would, here.session.cwd),
        _moved(would.prompts),
        left,
        f"Note: {would.note}." if would.note else None,
        f"Nothing was changed yet; {meant.command} does it.",
    )


async def _go(here: Here, rewinding: Rewinding, meant: _Meant) -> str:
    files, chat = meant.what != "chat", meant.what != "files"
    back = Back(Rewound((), ()), chat=False)
    # A cancel comes too late for it: files and conversation go back together, and the model hears of it.
    with anyio.CancelScope(shield=True):
        back = await rewinding.go(meant.id, files=files, chat=chat)
    cwd = here.session.cwd
    went = [names([c.path for c in back.files.changes], cwd)] if back.files.undo else []
    went += ["the conversation"] if back.chat else []
    left = "\n".join(left_alone(back.files.left, cwd))
    if not went:
        return paragraphs("Nothing was taken back.", left)
    undone = None
    if back.undo is not None:
        here.show(back.undo, meant.what)
        undone = f"`/rewind {back.undo} {meant.what} {APPLY}` undoes it."
    return paragraphs(f"Taken back: {' and '.join(went)}.", left, undone)


def _diff(would: Back, cwd: str) -> str | None:
    changes = would.files.changes
    if not changes:
        return None
    lines = "".join(unified(change, name=_name(change.path, cwd)) for change in changes).split("\n")
    cut = len(lines) - DIFF_LINES
    more = [f"… {cut} more lines"] if cut > 0 else []
    return fenced("\n".join((*lines[:DIFF_LINES], *more)), "diff")


def _name(path: str, cwd: str) -> str:
    return names([path], cwd).strip("`")


def _moved(moved: tuple[Moved, ...]) -> str:
    return "\n".join(
        f"- {'comes back' if one.comes else 'goes'}, with its answer: “{short(one.text)}”"
        for one in moved
    )
