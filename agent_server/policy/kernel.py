"""The policy kernel: a typed action in, a verdict out. Pure and total; a failure of its own is a block.

Order: floor (never loosened) → deny rules → plan mode → ask rules → grants and allow rules → the mode's default.
"""

from collections.abc import Sequence
from typing import assert_never

from agent_server.loop.action import Action, Decision
from agent_server.loop.model import Mode
from agent_server.policy.floor import CHANGING, floor
from agent_server.policy.grants import Grants, covers, grants_for
from agent_server.policy.places import Places
from agent_server.policy.rules import Rule, matching


def decide(
    action: Action, *, mode: Mode, rules: Sequence[Rule], grants: Grants, places: Places
) -> Decision:
    """Whether the action may run, must be asked about, or is refused, and why."""
    try:
        return _decide(action, mode, rules, grants, places)
    except Exception as error:  # noqa: BLE001  a policy that cannot judge must refuse
        return Decision("block", f"the policy could not judge this action ({error})", floor=True)


def _decide(
    action: Action, mode: Mode, rules: Sequence[Rule], grants: Grants, places: Places
) -> Decision:
    standing = floor(action, places)
    if standing is not None and standing.verdict == "block":
        return standing
    if rule := matching(rules, "deny", action, places):
        return Decision("block", f"your rule denies {rule}")
    if mode == "plan" and action.kind in CHANGING:
        return Decision(
            "block", "the session is in plan mode: nothing is changed until the person leaves it"
        )
    if standing is not None:
        return standing
    # Asking whether to ask would be silly: `ask *` is not about questions.
    if action.kind != "ask" and (rule := matching(rules, "ask", action, places)):
        return Decision("ask", f"your rule asks for {rule}", scopes=("once",))
    if action.kind == "exec":
        # No rule or grant lets a command pass yet: a line would have to be understood whole to be judged by its start.
        return Decision("ask", "every command is asked about", scopes=("once",))
    if covers(grants, action):
        return Decision("allow", "allowed earlier")
    if rule := matching(rules, "allow", action, places):
        return Decision("allow", f"your rule allows {rule}")
    return _default(action, mode, places)


def _default(action: Action, mode: Mode, places: Places) -> Decision:
    match action.kind:
        case "note" | "ask":
            return Decision("allow", "it changes nothing but the session")
        case "agent":
            return Decision("allow", "each call of a sub-agent is judged by itself")
        case "read":
            outside = next((p for p in action.paths if not places.contains(p)), None)
            if outside is None:
                return Decision("allow", "it reads in the workspace")
            return _ask(action, f"outside the workspace: {outside}")
        case "write" | "delete":
            if mode in ("accept_edits", "auto"):
                return Decision("allow", f"mode {mode} accepts edits")
            return _ask(action, f"mode {mode} asks for every edit")
        case "exec" | "net":
            if mode == "auto" and action.kind != "exec":
                return Decision("allow", "mode auto allows it")
            return _ask(action, "not in your allow rules")
        case _:
            assert_never(action.kind)


def _ask(action: Action, reason: str) -> Decision:
    if grants_for(action):
        return Decision("ask", reason)
    return Decision("ask", reason, scopes=("once",))
