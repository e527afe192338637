"""What the person has said yes to for longer than once."""

import re
from collections.abc import Iterable
from typing import cast, get_args

from agent_server.frozen import frozen
from agent_server.loop.action import Action, ActionKind
from agent_server.policy.places import is_within


@frozen
class Grant:
    """A yes to one kind of action by one tool on one path (and what is below it) or host."""

    kind: ActionKind
    tool: str
    target: str

    def __str__(self) -> str:
        """For a list the person reads and revokes from: `write edit(/home/x/shop/a.py)`."""
        return f"{self.kind} {self.tool}({self.target})"

    def __lt__(self, other: "Grant") -> bool:
        return (self.kind, self.tool, self.target) < (other.kind, other.tool, other.target)


Grants = frozenset[Grant]

_WRITTEN = re.compile(r"(\w+) (\w+)\((.+)\)", re.DOTALL)


def read_grant(text: str) -> Grant | None:
    """The grant that `str` wrote; None for what an older or newer version wrote and this one cannot honour."""
    found = _WRITTEN.fullmatch(text)
    if found is None or found[1] not in get_args(ActionKind):
        return None
    return Grant(cast("ActionKind", found[1]), found[2], found[3])


def grants_for(action: Action) -> Grants:
    """What a lasting yes to this action means: this tool, these places. Empty when it cannot last."""
    if action.command is not None:
        return frozenset()
    return frozenset(Grant(action.kind, action.tool, t) for t in (*action.paths, *action.hosts))


def covers(grants: Iterable[Grant], action: Action) -> bool:
    """Whether every place and host the action touches has been granted to its tool."""
    fitting = [g.target for g in grants if (g.kind, g.tool) == (action.kind, action.tool)]
    if action.command is not None or not fitting or not (action.paths or action.hosts):
        return False
    return all(
        any(is_within(path, t) for t in fitting if t.startswith("/")) for path in action.paths
    ) and all(host in fitting for host in action.hosts)
