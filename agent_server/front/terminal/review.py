"""A proposed edit, reviewed: file by file, hunk by hunk, in the person's own editor, or by an option."""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import ConsoleRenderable, Group
from rich.text import Text

from agent_server.edits.text.hunks import hunks
from agent_server.front.hidden_characters import printable
from agent_server.front.terminal.diffview import diff_body, diff_header, relative
from agent_server.front.terminal.editor import edit_text
from agent_server.front.terminal.person import Person
from agent_server.front.terminal.questions import Decided, EditQuestion
from agent_server.front.terminal.rows import Row, file_rows
from agent_server.front.terminal.style import INDENT, keys
from agent_server.loop.proposal import FileChange, FileDecision, Hunk

FLOOR = "--yes never answers a question of the safety floor"
HELP = (
    ("y", "apply this change to the file"),
    ("n", "leave the file as it is"),
    ("r", "no, and tell the model why"),
    ("h", "decide hunk by hunk"),
    ("e", "open the proposed text in your editor, and apply what you make of it"),
    ("a", "yes, and do not ask again about edits like this in this session"),
    ("v", "show all of a long diff in the pager"),
    ("ctrl-c", "stop the turn; nothing undecided is applied"),
)


def accept(change: FileChange) -> FileDecision:
    """All of it."""
    return FileDecision(change.path, frozenset(h.id for h in change.hunks), whole=True)


def reject(change: FileChange) -> FileDecision:
    """None of it."""
    return FileDecision(change.path, frozenset())


def accept_some(change: FileChange, accepted: frozenset[str]) -> FileDecision:
    """Some hunks; all of them is the whole file."""
    if accepted == frozenset(h.id for h in change.hunks):
        return accept(change)
    return FileDecision(change.path, accepted)


class Withdrawn(Exception):
    """Nobody needs the decision any more."""


class Review:
    """One proposal while the person decides it."""

    def __init__(self, person: Person, question: EditQuestion, *, place: tuple[int, int]) -> None:
        """`place`: the how-many-th of how many edits that are asked about one after the other."""
        self._person = person
        self._question = question
        self._place = place
        self._remember = False
        self._feedback: str | None = None

    def show(self) -> None:
        """The diff of every file, whole, without a question."""
        for index, change in enumerate(self._question.files):
            self._print(change, change.hunks, self._place_of(index))

    def run(self) -> Decided | None:
        """The decision; None when it was withdrawn.

        Raises:
            StopTurn: the person wants the turn to end.
        """
        if self._person.automatic is not None:
            self.show()
            return self._automatic()
        try:
            files = tuple(self._file(i, change) for i, change in enumerate(self._question.files))
        except Withdrawn:
            return None
        return Decided(files, "session" if self._remember else "once", self._feedback)

    def _automatic(self) -> Decided:
        yes = self._person.automatic == "yes" and not self._question.floor
        why = f"--{self._person.automatic}"
        if self._question.floor and self._person.automatic == "yes":
            why = FLOOR
        said = f"{' ' * INDENT}apply? {'yes' if yes else 'no'} ({why})"
        self._person.page.screen.print(Text(said, "quiet"))
        decide = accept if yes else reject
        return Decided(tuple(decide(change) for change in self._question.files))

    def _file(self, index: int, change: FileChange) -> FileDecision:
        if self._remember:
            return accept(change)
        self._print(change, change.hunks, self._place_of(index), limit=self._room())
        while True:
            match self._key(self._file_keys(change), "apply?"):
                case "y":
                    return accept(change)
                case "a":
                    self._remember = True
                    return accept(change)
                case "n":
                    return reject(change)
                case "r":
                    self._feedback = self._person.words("  why not? ")
                    return reject(change)
                case "h":
                    return self._by_hunks(change)
                case "e":
                    if (decision := self._edited(index, change)) is not None:
                        return decision
                case "v":
                    self._page_through(change)
                case _:
                    self._person.page.screen.print(*self._help())

    def _by_hunks(self, change: FileChange) -> FileDecision:
        accepted: set[str] = set()
        total = len(change.hunks)
        for index, hunk in enumerate(change.hunks):
            self._print(change, [hunk], f"hunk {index + 1} of {total}", limit=self._room())
            rest = [("d", "one: no to the rest"), ("a", "ll the rest")] if index + 1 < total else []
            match self._key([("y", "es"), ("n", "o"), *rest], "apply this hunk?"):
                case "y":
                    accepted.add(hunk.id)
                case "a":
                    accepted |= {h.id for h in change.hunks[index:]}
                    break
                case "d":
                    break
                case _:
                    pass
        return accept_some(change, frozenset(accepted))

    def _edited(self, index: int, change: FileChange) -> FileDecision | None:
        """The person's own version, shown as a diff and asked about; None goes back to the question."""
        text = self._in_editor(change.new_text or "", change.path)
        if text is None or text == change.new_text:
            return None
        while True:
            mine = replace(change, new_text=text, hunks=hunks(change.base_text or "", text))
            self._print(mine, mine.hunks, f"{self._place_of(index)} as you edited it".strip())
            match self._key(
                [("y", "es"), ("n", "o, back to the proposal"), ("e", "dit again")], "apply?"
            ):
                case "y":
                    return FileDecision(change.path, frozenset(), edited_text=text)
                case "e":
                    text = self._in_editor(text, change.path) or text
                case _:
                    return None

    def _in_editor(self, text: str, path: str) -> str | None:
        with self._person.keyboard.lent():
            return edit_text(text, path)

    def _file_keys(self, change: FileChange) -> list[tuple[str, str]]:
        offered = [("y", "es"), ("n", "o"), ("r", " no, and say why")]
        if change.kind == "edit" and len(change.hunks) > 1:
            offered.append(("h", "unks"))
        if change.new_text is not None:
            offered.append(("e", "dit"))
        if "session" in self._question.scopes:
            offered.append(("a", "lways in this session"))
        if len(file_rows(change)) > self._room():
            offered.append(("v", "iew all"))
        return [*offered, ("?", "")]

    def _key(self, offered: Sequence[tuple[str, str]], ask: str) -> str:
        prompt = Text.assemble(" " * INDENT, (ask, "question"), keys(offered))
        parts: list[ConsoleRenderable] = [Text(""), prompt]
        if self._question.floor and self._question.reason:
            parts.insert(1, self._reason())
        letters = "".join(key for key, _ in offered)
        pressed = self._person.key(Group(*parts), letters, subject=self._question.txn)
        if pressed is None:
            raise Withdrawn
        return pressed

    def _print(
        self, change: FileChange, shown: Sequence[Hunk], place: str, *, limit: int | None = None
    ) -> None:
        page = self._person.page
        rows = file_rows(change, shown)
        cut = rows if limit is None or len(rows) <= limit else rows[:limit]
        page.add(
            diff_header(change, shown, cwd=self._person.cwd, place=place, width=page.screen.width),
            diff_body(cut, plain=page.screen.plain),
            *([_more(rows[len(cut) :])] if len(cut) < len(rows) else []),
            attached=True,
        )

    def _help(self) -> list[Text]:
        reason = [self._reason()] if self._question.reason else []
        return [Text(""), *reason, *(_help_line(key, words) for key, words in HELP)]

    def _reason(self) -> Text:
        reason = printable(self._question.reason or "")
        return Text.assemble(" " * INDENT, ("why asked: ", "quiet"), reason)

    def _page_through(self, change: FileChange) -> None:
        console = self._person.page.screen.console
        with self._person.keyboard.lent(), console.pager(styles=True, links=False):
            console.print(relative(change.path, self._person.cwd))
            console.print(diff_body(file_rows(change)))

    def _room(self) -> int:
        """Rows of a diff that fit on the screen with its header and question."""
        return max(10, self._person.page.screen.height - 8)

    def _place_of(self, index: int) -> str:
        files = len(self._question.files)
        at, total = (index + 1, files) if files > 1 else self._place
        return f"{at} of {total}" if total > 1 else ""


def _more(rows: Sequence[Row]) -> Text:
    return Text(f"{' ' * INDENT}  ⋯ {len(rows)} more lines: v shows them", "quiet")


def _help_line(key: str, words: str) -> Text:
    return Text.assemble(" " * INDENT, (f"{key:>6}", "key"), f"  {words}")
