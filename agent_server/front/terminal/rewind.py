"""`/undo` and `/rewind`: what files would become, as diffs, and which prompts would go; then a question, then done."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import PurePath

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from agent_server.front.hidden_characters import printable
from agent_server.front.protocol.checkpoints import (
    CheckpointRestored,
    CheckpointShown,
    LeftAlone,
    MovedPrompt,
)
from agent_server.front.terminal.diffview import diff_body, diff_header, relative
from agent_server.front.terminal.link import Link
from agent_server.front.terminal.person import Person, StopTurn
from agent_server.front.terminal.questions import change_of
from agent_server.front.terminal.rows import file_rows
from agent_server.front.terminal.style import INDENT, keys
from agent_server.front.uris import path_of
from agent_server.session.builtin.words import (
    NO_EDIT,
    NO_PLACE,
    WHATS,
    What,
    no_checkpoint,
    what_goes,
)

NAMED = 3
"""Files named in a row of the list, and prompts in a question."""
WORDS = 60
"""Characters of a prompt in a row."""


class Rewind:
    """Going back in one session."""

    def __init__(self, link: Link, person: Person, session_id: str) -> None:
        self._link = link
        self._person = person
        self._session_id = session_id

    def undo(self) -> ConsoleRenderable:
        """Take back the edits of the last turn of which something is left; what came of it, to be shown."""
        for checkpoint in self._newest_first():
            if checkpoint.turn_id is None or not checkpoint.files:
                continue
            would = self._restored(checkpoint.id, "files", dry_run=True)
            if would.would or would.left:
                return self._ask_and_go(checkpoint, "files", would)
        return _said(NO_EDIT)

    def to(self, argument: str) -> ConsoleRenderable:
        """Go back to a checkpoint, named by its id or its place in the list; without a name, the list.

        What goes back may stand behind the name; otherwise the person is asked.

        Raises:
            ClientMistake: there is no such checkpoint, or nothing that goes back by that name.
        """
        found = self._newest_first()
        name, _, said = argument.partition(" ")
        if not name:
            return _list(found) if found else _said(NO_PLACE)
        by_name = {str(number): one for number, one in enumerate(found, 1)}
        by_name |= {one.id: one for one in found}
        if name not in by_name:
            raise no_checkpoint(name)
        checkpoint = by_name[name]
        what = what_goes(said, checkpoint.id, chat=checkpoint.chat)
        would = self._restored(checkpoint.id, what, dry_run=True)
        return self._ask_and_go(checkpoint, None if not said else what, would)

    def _newest_first(self) -> list[CheckpointShown]:
        found = self._link.call(self._link.client.checkpoints, self._session_id)
        return list(reversed(found))

    def _restored(self, checkpoint: str, what: What, *, dry_run: bool) -> CheckpointRestored:
        files, chat = what != "chat", what != "files"
        restore = self._link.client.restore
        return self._link.call(
            restore, self._session_id, checkpoint, files=files, chat=chat, dry_run=dry_run
        )

    def _ask_and_go(
        self, checkpoint: CheckpointShown, what: What | None, would: CheckpointRestored
    ) -> ConsoleRenderable:
        """`what` goes back; None: of what would, the person says which."""
        self._show(would)
        possible = _possible(would)
        if not possible:
            return Group(_said("no file would change"), *self._left(would.left))
        if what is None or what not in possible:
            what = self._chosen(possible)
        elif not self._agreed(f"take {_named(checkpoint)} back like this?"):
            what = None
        if what is None:
            return _said("nothing was changed")
        done = self._restored(checkpoint.id, what, dry_run=False)
        went = _went(done)
        if not went:
            return Group(_said("nothing was taken back"), *self._left(done.left))
        undo = f"; /rewind {done.undo} {what} undoes it" if done.undo else ""
        return Group(_said(f"{went}{undo}"), *self._left(done.left), *_goes_on(checkpoint, done))

    def _show(self, would: CheckpointRestored) -> None:
        """The diffs, what is left alone, the prompts, and what is not covered."""
        page, cwd = self._person.page, self._person.cwd
        changes = [change_of(file) for file in would.diffs or ()]
        for change in changes:
            page.add(
                diff_header(change, change.hunks, cwd=cwd, width=page.screen.width),
                diff_body(file_rows(change), plain=page.screen.plain),
            )
        more = [*(self._left(would.left) if changes else ()), *_prompts(would.prompts)]
        if would.note and (changes or would.prompts):
            more.append(Text.assemble(" " * INDENT, ("note: ", "warning"), printable(would.note)))
        if more:
            page.add(*more)

    def _chosen(self, possible: Sequence[What]) -> What | None:
        if len(possible) == 1 or self._person.automatic is not None:
            widest = possible[-1]
            words = {"files": "the files", "chat": "the conversation", "both": "files and chat"}
            return widest if self._agreed(f"take {words[widest]} back like this?") else None
        choices = [(what[0], what[1:]) for what in possible]
        pressed = self._pressed("take back?", [*choices, ("n", "othing")])
        return next((what for what in possible if what[0] == pressed), None)

    def _agreed(self, question: str) -> bool:
        if self._person.automatic is not None:
            return self._person.automatic == "yes"
        return self._pressed(question, [("y", "es"), ("n", "o")]) == "y"

    def _pressed(self, question: str, choices: Sequence[tuple[str, str]]) -> str | None:
        asked = Text.assemble(" " * INDENT, (question, "question"), keys(choices))
        letters = "".join(key for key, _ in choices)
        try:
            return self._person.key(Group(Text(""), asked), letters, subject="rewind")
        except StopTurn:
            return None

    def _left(self, left: Sequence[LeftAlone]) -> list[Text]:
        """What is not touched, and why."""
        return [
            Text.assemble(" " * INDENT, ("left alone: ", "warning"), printable(self._why(one)))
            for one in left
        ]

    def _why(self, left: LeftAlone) -> str:
        path = path_of(left.uri) or left.uri
        return left.why.replace(path, relative(path, self._person.cwd))


def _possible(would: CheckpointRestored) -> tuple[What, ...]:
    """What there is to take back, the widest last."""
    if would.would and would.chat:
        return WHATS
    if would.would:
        return ("files",)
    return ("chat",) if would.prompts else ()


def _went(done: CheckpointRestored) -> str:
    files = "files" if done.state == "applied" else ""
    chat = "the conversation" if done.chat else ""
    return " and ".join(part for part in (files, chat) if part) + (
        " taken back" if files or chat else ""
    )


def _goes_on(checkpoint: CheckpointShown, done: CheckpointRestored) -> Iterator[Text]:
    """The screen still has what is no longer said; say from where on."""
    comes = any(one.change == "comes" for one in done.prompts)
    if done.chat and checkpoint.prompt is not None and not comes:
        yield _said(f"it goes on from before {_named(checkpoint)}; what followed is not part of it")
    elif done.chat:
        yield _said("it goes on with what came back")


def _prompts(moved: Sequence[MovedPrompt]) -> list[Text]:
    """Those that would go, or come back; the first few."""
    rows = [
        Text.assemble(" " * INDENT, (_WORD[one.change], "warning"), printable(_short(one.text)))
        for one in moved[:NAMED]
    ]
    if len(moved) > NAMED:
        rows.append(_said(f"and {len(moved) - NAMED} more prompts"))
    return rows


_WORD = {"goes": "would go: ", "comes": "would come back: "}


def _named(checkpoint: CheckpointShown) -> str:
    """In a sentence."""
    if checkpoint.prompt is None:
        return printable(checkpoint.title)
    return f"“{printable(_short(checkpoint.prompt))}”"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WORDS else f"{line[: WORDS - 1]}…"


def _list(found: Sequence[CheckpointShown]) -> ConsoleRenderable:
    table = Table.grid(padding=(0, 2))
    for number, one in enumerate(found, 1):
        names = [PurePath(path_of(file.uri) or file.uri).name for file in one.files]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        at = datetime.fromisoformat(one.at).astimezone().strftime("%H:%M")
        files = Text(printable(", ".join(names[:NAMED]) + more) or "no file", "quiet")
        table.add_row(
            " " * (INDENT - 2), Text(str(number), "key"), Text(at, "quiet"),
            Text(f"before {_named(one)}"), files,
        )  # fmt: skip
    return Group(table, _said("/rewind N goes back to before it: files, conversation, or both"))


def _said(text: str) -> Text:
    return Text(f"{' ' * INDENT}{text}", "quiet")
