"""The journal of edits: what is written down about a transaction before and after it touches a file. Pure values.

Owns the shape of a line and what a run of lines means. Where lines and texts are kept is the store's; which state may
follow which is `transaction_states.py`'s. Decision 3 tells why.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, Protocol

from agent_server.edits.files import Form
from agent_server.frozen import frozen
from agent_server.loop.model import CallKey, SessionId, TurnId
from agent_server.loop.proposal import ChangeKind, EditState


@frozen
class Content:
    """A text as a file had it, or was to have it."""

    hash: str
    """`sha256:…` of the text (`hashes.content_hash`): the name of its blob."""
    form: Form | None = None
    """How it is written down on disk; None when an editor had the document."""
    digest: str | None = None
    """`sha256:…` of the bytes on disk; None as `form`."""


@frozen
class FileRecord:
    """One file of a transaction."""

    path: str
    """Absolute, as the change names it."""
    kind: ChangeKind
    before: Content | None
    """None: there was no file. For `rename` what `old_path` had."""
    after: Content | None
    """None: the file was deleted."""
    old_path: str | None = None
    folders: tuple[str, ...] = ()
    """Those that had to be made for it, outermost first."""

    @property
    def touches(self) -> tuple["Touch", ...]:
        """The same as one before and after for each path."""
        if self.old_path is None:
            return (Touch(self.path, self.before, self.after),)
        return (Touch(self.old_path, self.before, None), Touch(self.path, None, self.after))


@frozen
class Touch:
    """What a transaction did to one path; None is no file."""

    path: str
    before: Content | None
    after: Content | None


@frozen
class KeptDecision:
    """What the user decided about one part of a transaction before all of it was decided."""

    path: str
    hunk: str | None
    """None: a file that is decided whole."""
    accept: bool
    edited: str | None = None
    """Hash of the text that the user wants instead: the name of its blob."""


Kind = Literal["call", "restore", "revert"]


@frozen
class Cause:
    """Where a transaction comes from."""

    kind: Kind
    title: str
    """Verb and object: `edit a.py`."""
    call: CallKey | None = None
    of: str | None = None
    """The checkpoint that is restored, or the transaction that is reverted."""
    agent: SessionId | None = None
    """The session of the sub-agent that wanted it; `call` is then the one that sent it, in the person's session."""


@frozen
class Line:
    """One change of a transaction's state."""

    txn: str
    revision: int
    state: EditState
    at: datetime
    """With a time zone."""
    files: tuple[FileRecord, ...] | None = None
    """`proposed`, `approved`: what is asked for; `applying`: what is about to be made; later: what stands.
    None: as in the line before."""
    cause: Cause | None = None
    """In the first line."""
    turn: TurnId | None = None
    """From the first line on that knows it."""
    message: str | None = None
    """Why, in a sentence."""
    gated: bool = False
    """With `approved`: the person was asked."""
    decisions: tuple[KeptDecision, ...] | None = None
    """All that was decided so far, while something is undecided. None: as in the line before."""
    waits: bool = False
    """With `abandoned`: nobody decided, and the user still may."""


@frozen
class Transaction:
    """What the lines of one transaction come to."""

    txn: str
    revision: int
    state: EditState
    cause: Cause
    files: tuple[FileRecord, ...]
    at: datetime
    """Of the last change."""
    turn: TurnId | None = None
    message: str | None = None
    gated: bool = False
    decisions: tuple[KeptDecision, ...] = ()
    waits: bool = False
    begun: int | None = None
    """Position in the journal of the first `applying`; None when nothing was ever about to change."""
    begun_at: datetime | None = None
    """When that was."""

    @property
    def hashes(self) -> tuple[tuple[str, str], ...]:
        """(path, hash) of each text that it left behind; none unless it is applied."""
        if self.state not in ("applied", "committed"):
            return ()
        return tuple((f.path, f.after.hash) for f in self.files if f.after is not None)


class EditJournal(Protocol):
    """One session's lines, append-only."""

    async def read(self) -> Sequence[Line]:
        """All of them, oldest first.

        Raises:
            StoreFailure: they cannot be read.
        """
        ...

    async def append(self, *lines: Line) -> None:
        """Keep these lines, in one commit; durable when it returns.

        Raises:
            StoreFailure: none of them was kept.
        """
        ...


class Blobs(Protocol):
    """Texts by their hash. Blocking: callers on the event loop use a thread."""

    def put(self, text: str) -> str:
        """Keep a text, durably; its hash.

        Raises:
            StoreFailure: it was not kept.
        """
        ...

    def get(self, hash: str) -> str:
        """The text of that hash.

        Raises:
            StoreFailure: it is not there, or damaged.
        """
        ...


def grown(transaction: Transaction | None, line: Line, position: int) -> Transaction:
    """The transaction with one more line, which stands at `position` in the journal."""
    if transaction is None:
        transaction = Transaction(
            line.txn, line.revision, line.state, line.cause or Cause("call", line.txn), (), line.at
        )
    begins = line.state == "applying" and transaction.begun is None
    return replace(
        transaction,
        revision=line.revision,
        state=line.state,
        files=transaction.files if line.files is None else line.files,
        at=line.at,
        turn=line.turn or transaction.turn,
        message=line.message,
        gated=transaction.gated or line.gated,
        decisions=transaction.decisions if line.decisions is None else line.decisions,
        waits=line.waits,
        begun=position if begins else transaction.begun,
        begun_at=line.at if begins else transaction.begun_at,
    )


def fold(lines: Iterable[Line]) -> dict[str, Transaction]:
    """Every transaction by its name, in the order in which they were proposed."""
    found: dict[str, Transaction] = {}
    for position, line in enumerate(lines):
        found[line.txn] = grown(found.get(line.txn), line, position)
    return found
