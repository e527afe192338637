"""What a command is, and what it is given."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_server.frozen import frozen
from agent_server.session.prompts import Prompt
from agent_server.session.session import Session


@dataclass(slots=True)
class Shown:
    """What going back was shown or offered last in a session: the only one that `/rewind` does when told to."""

    back: tuple[str, str, int] | None = None
    """The checkpoint's id, what of it would go back, and how many entries the log had."""


@frozen
class Here:
    """Where a command runs: in its place in the inbox, so that no turn does meanwhile."""

    session: Session
    item: Prompt
    shown: Shown
    argument: str
    """What stands behind the name."""

    def show(self, checkpoint: str, what: str) -> None:
        """The person sees what going back there means, as of now."""
        self.shown.back = (checkpoint, what, len(self.session.entries))

    def has_shown(self, checkpoint: str, what: str) -> bool:
        """Whether that was shown last, and nothing was said since."""
        return self.shown.back == (checkpoint, what, len(self.session.entries))


@frozen
class Command:
    """A row of the table (`registry.py`)."""

    name: str
    description: str
    """For a list; no full stop."""
    run: Callable[[Here], Awaitable[str]]
    """What came of it, for the person.

    Raises:
        AgentServerError: nothing did, and why; said to the person like an answer.
    """
    hint: str | None = None
    """What may stand behind the name; None: nothing."""
    changes: bool = True
    """Whether it needs a session that can be written in."""
