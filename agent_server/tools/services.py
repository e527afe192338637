"""What the tools of a session are built from."""

import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Protocol

from agent_server.edits.documents import Documents
from agent_server.edits.ports import Diagnostics, NoDiagnostics
from agent_server.edits.transaction import Transactions
from agent_server.frozen import frozen
from agent_server.loop.model import ToolResult
from agent_server.loop.proposal import Proposal
from agent_server.tools.beneath import ChangedBeneath
from agent_server.tools.lifeline import Lifeline
from agent_server.tools.questions import NoQuestions, Questions
from agent_server.tools.subagents import SubAgents
from agent_server.tools.unsaved import Unsaved


@frozen
class Limits:
    """Bounds on what tools return and how long they run."""

    output_chars: int = 30_000
    """More is cut in the middle; a command's output is then kept in a file."""
    read_lines: int = 2_000
    read_chars: int = 60_000
    line_chars: int = 2_000
    entries: int = 1_000
    """Names in a `list` or `glob`."""
    hits: int = 500
    """Matching lines in a `search`."""
    shell_timeout_s: float = 120
    shell_max_timeout_s: float = 3_600
    spill_bytes: int = 100_000_000
    """How much of a command's output is kept in its file."""


class Reading(Protocol):
    """What the policy says about reading, beside the questions it asks. `SessionPolicy` is one."""

    def conceals(self, path: str) -> bool:
        """Whether a search must leave out the file at this real path, because it may only be read by its own name."""
        ...

    def reads_freely(self, path: str) -> bool:
        """Whether the model may see the file at this real path without a question."""
        ...


@frozen
class Services:
    """One session's ground and limits."""

    cwd: str
    """Where relative paths start; absolute, as the client spells it."""
    transactions: Transactions
    """Every change of a file goes through them."""
    reading: Reading
    limits: Limits = Limits()
    beneath: ChangedBeneath = field(default_factory=ChangedBeneath)
    """Shared by the tools that read, edit and run commands."""
    save_accepted: bool = False
    """Whether an open document is saved once an accepted edit was made in it (`[edits] save`)."""
    unsaved: Unsaved = field(default_factory=Unsaved)
    """Shared by the tools that edit and those that run commands."""
    staged: list[Proposal] = field(default_factory=list[Proposal])
    """What was staged and not reviewed yet, in that order; what it comes to is in the documents' overlay."""
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """The environment commands start from, before it is scrubbed."""
    lifeline: Lifeline = field(default_factory=Lifeline)
    """What ends commands when this process dies; whoever makes it closes it."""
    subagents: SubAgents | None = None
    """Who does what is delegated; None: nobody, and there is no `delegate`."""
    diagnostics: Callable[[], Diagnostics] = NoDiagnostics
    """What the editor that is connected now knows to be wrong."""
    questions: Callable[[], Questions] = NoQuestions
    """Through which the person who is there now can be asked."""

    @property
    def documents(self) -> Documents:
        """What files say now, an open buffer before the disk."""
        return self.transactions.documents

    async def look_beneath(self) -> None:
        """Have open documents brought up to date whose files were changed."""
        await self.beneath.look(self.documents)

    def with_notes(self, result: ToolResult) -> ToolResult:
        """The result with what was found and is not told yet."""
        notes = self.beneath.take(self.cwd)
        if not notes:
            return result
        return replace(result, output="\n".join((result.output, *(f"[{note}]" for note in notes))))
