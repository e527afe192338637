"""Permission rules: `tool` or `tool(pattern)`, each allowing, asking or denying."""

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agent_server.loop.action import Action
from agent_server.loop.errors import BadSetting
from agent_server.policy.commands import Command, simple_commands
from agent_server.policy.places import Places

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


@dataclass(frozen=True, slots=True)
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
        *(
            _glob(rule.pattern.casefold()).fullmatch(host.casefold()) is not None
            for host in action.hosts
        ),
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
    words = tuple(prefix.split())
    if exact:
        return _glob(prefix, "").fullmatch(" ".join(command.argv)) is not None
    return command.argv[: len(words)] == words


def _covers(pattern: str, path: str, places: Places) -> bool:
    """Like .gitignore: a pattern without a slash means a name at any depth; otherwise it starts at a root."""
    if pattern.startswith("~/"):
        pattern = places.home + pattern[1:]
    if pattern.startswith("/"):
        return _glob(pattern).fullmatch(path) is not None
    if "/" not in pattern.removesuffix("/**") and not pattern.endswith("/**"):
        return _glob(pattern).fullmatch(posixpath.basename(path)) is not None
    pattern = pattern.removeprefix("./")
    roots = (_literal(root.rstrip("/")) for root in places.roots)
    return any(_glob(f"{root}/{pattern}").fullmatch(path) is not None for root in roots)


def _literal(path: str) -> str:
    return re.sub(r"([*?\\])", r"\\\1", path)


@lru_cache(maxsize=512)
def _glob(pattern: str, separator: str = "/") -> re.Pattern[str]:
    """`*` and `?` stop at the separator, `**` does not; a backslash takes the next character as it is."""
    one = f"[^{separator}]" if separator else "."
    parts = re.findall(r"\\.|/\*\*(?:$|(?=/))|\*\*/?|\*|\?|[^*?\\/]+|.", pattern, re.DOTALL)
    return re.compile("".join(_piece(part, one) for part in parts), re.DOTALL)


def _piece(part: str, one: str) -> str:
    match part:
        case "/**":
            return "(?:/.*)?"
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "*":
            return f"{one}*"
        case "?":
            return one
        case _:
            return re.escape(part.removeprefix("\\") if len(part) == 2 else part)
