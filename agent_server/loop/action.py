"""What a call is about to do, as the policy judges it: typed, never prose, never file content (R98)."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from agent_server.frozen import frozen
from agent_server.loop.model import ToolKind
from agent_server.loop.proposal import Proposal, Resolution

ActionKind = Literal["read", "write", "delete", "exec", "net", "agent", "ask", "note"]
"""`note` touches only the session's own state (todo)."""

KINDS: Mapping[ActionKind, ToolKind] = {
    "read": "read",
    "write": "edit",
    "delete": "delete",
    "exec": "execute",
    "net": "fetch",
    "agent": "other",
    "ask": "other",
    "note": "other",
}
"""How a call is shown of which only the action is known."""


@frozen
class Action:
    """The risk-relevant part of a call."""

    kind: ActionKind
    tool: str
    paths: tuple[str, ...] = ()
    """Absolute, links resolved."""
    command: str | None = None
    """The whole shell command line, for `exec`."""
    hosts: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """Of a command: paths that its words may name, each with what it really leads to, where that differs."""


Scope = Literal["once", "session", "workspace"]


@frozen
class Decision:
    """The kernel's verdict."""

    verdict: Literal["allow", "ask", "block"]
    reason: str
    """Why, in words for the person: `not in your allow rules`."""
    floor: bool = False
    """The floor says so: no mode, rule, grant or `--yes` loosens it."""
    scopes: tuple[Scope, ...] = ("once", "session", "workspace")
    """For `ask`: how far a yes may go; on the floor only `once`."""


@frozen
class Question:
    """One question to the person. With a `proposal` it is the gate of an edit."""

    call_id: str
    title: str
    """Verb and object: `npm publish --access public`, `edit src/a.py`."""
    action: Action
    decision: Decision
    scopes: tuple[Scope, ...]
    """How far a yes may go; on the floor only `once`."""
    proposal: Proposal | None = None
    within: str | None = None
    """A sub-agent asks: the id of the call of the person's agent that sent it."""


AnswerKind = Literal[
    "allow_once", "allow_session", "allow_workspace", "reject", "cancelled", "timed_out"
]


@frozen
class Answer:
    """What the person said. Anything that is not a clear yes is no."""

    kind: AnswerKind
    resolution: Resolution | None = None
    """Which parts of the proposal; None with a yes means all of it."""
    feedback: str | None = None
    """Words for the model."""
    by: str = field(default="person")
    left_open: bool = False
    """With `cancelled`: nobody decided, because the client went away. What was asked may be decided later."""

    @property
    def allows(self) -> bool:
        """Whether the call may run."""
        return self.kind in ("allow_once", "allow_session", "allow_workspace")
