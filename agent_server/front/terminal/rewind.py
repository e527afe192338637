"""`/undo` and `/rewind`: what files would become, as diffs, then a question, then done. The conversation stays."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import PurePath

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from agent_server.front.protocol.checkpoints import CheckpointRestored, CheckpointShown, LeftAlone
from agent_server.front.terminal.diffview import diff_body, diff_header, relative
from agent_server.front.terminal.link import Link
from agent_server.front.terminal.person import Person, StopTurn
from agent_server.front.terminal.questions import change_of
from agent_server.front.terminal.rows import file_rows
from agent_server.front.terminal.safe import printable
from agent_server.front.terminal.style import INDENT, keys
from agent_server.front.uris import path_of
from agent_server.loop.errors import ClientMistake

NAMED = 3
"""Files named in a row of the list."""


class Rewind:
    """Going back in one session."""

    def __init__(self, link: Link, person: Person, session_id: str) -> None:
        self._link = link
        self._person = person
        self._session_id = session_id

    def undo(self) -> ConsoleRenderable:
        """Take back the edits of the last turn of which something is left; what came of it, to be shown."""
        for checkpoint in self._newest_first():
            if checkpoint.turn_id is None:
                continue
            would = self._restored(checkpoint.id, dry_run=True)
            if would.would or would.left:
                return self._ask_and_go(checkpoint, would)
        return _said("there is no edit of this session to take back")

    def to(self, name: str) -> ConsoleRenderable:
        """Take files back to a checkpoint, by its id or its place in the list; without a name, the list.

        Raises:
            ClientMistake: there is no such checkpoint.
        """
        found = self._newest_first()
        if not name:
            return _list(found) if found else _said("no file was changed in this session yet")
        by_name = {str(number): one for number, one in enumerate(found, 1)}
        by_name |= {one.id: one for one in found}
        if name not in by_name:
            raise ClientMistake(f"there is no checkpoint {name!r}; /rewind lists them")
        return self._ask_and_go(by_name[name], self._restored(by_name[name].id, dry_run=True))

    def _newest_first(self) -> list[CheckpointShown]:
        found = self._link.call(self._link.client.checkpoints, self._session_id)
        return list(reversed(found))

    def _restored(self, checkpoint: str, *, dry_run: bool) -> CheckpointRestored:
        client = self._link.client
        return self._link.call(client.restore, self._session_id, checkpoint, dry_run=dry_run)

    def _ask_and_go(
        self, checkpoint: CheckpointShown, would: CheckpointRestored
    ) -> ConsoleRenderable:
        changes = [change_of(file) for file in would.diffs or ()]
        page, cwd = self._person.page, self._person.cwd
        for change in changes:
            page.add(
                diff_header(change, change.hunks, cwd=cwd, width=page.screen.width),
                diff_body(file_rows(change), plain=page.screen.plain),
            )
        left = self._left(would.left)
        if not changes:
            return Group(_said("no file would change"), *left)
        if left:
            page.add(*left)
        if not self._agreed(f"take {printable(checkpoint.title)} back like this?"):
            return _said("nothing was changed")
        done = self._restored(checkpoint.id, dry_run=False)
        if done.state != "applied":
            return Group(_said("nothing was taken back"), *self._left(done.left))
        undo = f"; /rewind {done.undo} undoes it" if done.undo else ""
        return Group(_said(f"taken back{undo}"), *self._left(done.left))

    def _agreed(self, question: str) -> bool:
        if self._person.automatic is not None:
            return self._person.automatic == "yes"
        asked = Text.assemble(" " * INDENT, (question, "question"), keys([("y", "es"), ("n", "o")]))
        try:
            return self._person.key(Group(Text(""), asked), "yn", subject="rewind") == "y"
        except StopTurn:
            return False

    def _left(self, left: Sequence[LeftAlone]) -> list[Text]:
        """What is not touched, and why."""
        return [
            Text.assemble(" " * INDENT, ("left alone: ", "warning"), printable(self._why(one)))
            for one in left
        ]

    def _why(self, left: LeftAlone) -> str:
        path = path_of(left.uri) or left.uri
        return left.why.replace(path, relative(path, self._person.cwd))


def _list(found: Sequence[CheckpointShown]) -> Table:
    table = Table.grid(padding=(0, 2))
    for number, one in enumerate(found, 1):
        names = [PurePath(path_of(file.uri) or file.uri).name for file in one.files]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        at = datetime.fromisoformat(one.at).astimezone().strftime("%H:%M")
        files = Text(printable(", ".join(names[:NAMED]) + more), "quiet")
        before = Text(printable(f"before: {one.title}"))
        table.add_row(
            " " * (INDENT - 2), Text(str(number), "key"), Text(at, "quiet"), before, files
        )
    return table


def _said(text: str) -> Text:
    return Text(f"{' ' * INDENT}{text}", "quiet")
