"""Permission rules: `tool` or `tool(pattern)`, each allowing, asking or denying."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Literal

from agent_server.frozen import frozen
from agent_server.loop.action import Action
from agent_server.loop.errors import BadSetting
from agent_server.policy.commands import Command, simple_commands
from agent_server.policy.globs import anchored, compiled
from agent_server.policy.places import Places, is_within

RuleVerdict = Literal["allow", "ask", "deny"]

_RULE = re.compile(r"(\*|[a-z][a-z0-9_]*)(?:\((.+)\))?", re.DOTALL)
_FAMILIES = {
    "read": frozenset({"read"}),
    "edit": frozenset({"write", "delete"}),
    "write": frozenset({"write", "delete"}),
    "shell": frozenset({"exec"}),
    "net": frozenset({"net"}),
}
"""These names speak of what is done, not of one tool: `deny edit(x)` that `write` could pass would deny nothing."""


@frozen
class Rule:
    """One line of `[permissions]`."""

    verdict: RuleVerdict
    tool: str
    pattern: str | None = None

    def __str__(self) -> str:
        """As it is written in the settings."""
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"


def parse_rule(verdict: RuleVerdict, text: str) -> Rule:
    """The rule written as `text`.

    Raises:
        BadSetting: it is not a rule; the caller adds file, line and key.
    """
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise BadSetting(f"rule {text!r} is neither `tool` nor `tool(pattern)`")
    try:
        anchored(match[2] or "")
    except ValueError as error:
        raise BadSetting(f"rule {text!r}: {error}") from error
    return Rule(verdict, match[1], match[2])


def matching(
    rules: Iterable[Rule], verdict: RuleVerdict, action: Action, places: Places
) -> Rule | None:
    """The first rule with this verdict that speaks of the action.

    To allow, a pattern must cover everything the action touches; to ask or deny, any part of it.
    """
    return next((r for r in rules if r.verdict == verdict and _speaks_of(r, action, places)), None)


def _speaks_of(rule: Rule, action: Action, places: Places) -> bool:
    kinds = _FAMILIES.get(rule.tool)
    if rule.tool not in ("*", action.tool) and (kinds is None or action.kind not in kinds):
        return False
    if rule.pattern is None:
        return True
    if action.command is not None:
        return rule.verdict != "allow" and _runs(rule.pattern, action.command)
    everything = (
        *(_covers(rule.pattern, path, places) for path in action.paths),
        *(fnmatchcase(host.casefold(), rule.pattern.casefold()) for host in action.hosts),
    )
    return bool(everything) and (all(everything) if rule.verdict == "allow" else any(everything))


def _runs(pattern: str, line: str) -> bool:
    prefix = pattern.removesuffix(":*")
    try:
        commands = simple_commands(line)
    except ValueError:
        return prefix in line  # not understood: strict
    return any(_is_command(prefix, command, exact=prefix == pattern) for command in commands)


def _is_command(prefix: str, command: Command, *, exact: bool) -> bool:
    if exact:
        return fnmatchcase(" ".join(command.argv), prefix)
    words = tuple(prefix.split())
    return command.argv[: len(words)] == words


def _covers(pattern: str, path: str, places: Places) -> bool:
    """A pattern without a slash means a name anywhere; `/` and `~/` begin at the top and at home, others at a root."""
    if pattern.startswith("/"):
        return _below("/", pattern[1:], path)
    if pattern.startswith("~/"):
        return _below(places.home, pattern[2:], path)
    if "/" not in pattern:
        return compiled(pattern).fullmatch(path[1:]) is not None
    return any(_below(root, pattern.removeprefix("./"), path) for root in places.roots)


def _below(folder: str, pattern: str, path: str) -> bool:
    """Whether the part of `path` below `folder` matches; `x/**` means x itself too."""
    if not is_within(path, folder):
        return False
    rest = path[len(folder) :].lstrip("/")
    itself = pattern.endswith("/**") and anchored(pattern[:-3]).fullmatch(rest)
    return bool(itself or anchored(pattern).fullmatch(rest))
