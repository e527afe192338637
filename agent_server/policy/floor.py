"""The floor: what is asked or refused whatever the mode, the rules and the grants say."""

from agent_server.loop.action import Action, Decision
from agent_server.policy.hazards import hazard
from agent_server.policy.places import Places, is_within
from agent_server.policy.secrets import is_secret

CHANGING = frozenset({"write", "delete"})


def floor(action: Action, places: Places) -> Decision | None:
    """The floor's verdict, `ask` or `block`; None where it has nothing to say."""
    if action.command is not None and (why := _hazard(action, places)):
        return Decision("block", f"never run: {why}", floor=True)
    for path in action.paths:
        if why := _reason(action, path, places):
            return Decision("ask", why, floor=True, scopes=("once",))
    return None


def _hazard(action: Action, places: Places) -> str | None:
    cwd = action.paths[0] if action.paths else places.roots[0]
    return hazard(action.command or "", cwd=cwd, places=places)


def _reason(action: Action, path: str, places: Places) -> str | None:
    if action.kind not in ("read", *CHANGING):
        return None
    if is_secret(path, places):
        return f"{path} may hold secrets"
    if places.is_own(path):
        return f"{path} belongs to agent-server itself"
    if action.kind == "read":
        return None
    if not places.contains(path):
        return f"{path} is outside the workspace"
    if any(is_within(path, f"{root}/{name}") for root in places.roots for name in _GOVERNING):
        return f"{path} decides what is run or allowed here"
    return None


# A write here changes what runs (hooks) or what is asked, so an edit that needs no question must not reach it.
_GOVERNING = (".git", ".agent/settings.toml", ".agent/hooks")
