"""The floor: what is asked or refused whatever the mode, the rules and the grants say."""

from agent_server.loop.action import Action, Decision
from agent_server.policy.hazards import hazard
from agent_server.policy.places import Places
from agent_server.policy.protected import protected
from agent_server.policy.understood import doubt

CHANGING = frozenset({"write", "delete"})


def floor(action: Action, places: Places) -> Decision | None:
    """The floor's verdict, `ask` or `block`; None where it has nothing to say."""
    if action.command is not None:
        return _command(action, action.command, places)
    for path in action.paths:
        if why := _reason(action, path, places):
            return _asks(why)
    return None


def _command(action: Action, line: str, places: Places) -> Decision | None:
    cwd = action.paths[0] if action.paths else places.roots[0]
    if why := hazard(line, cwd=cwd, places=places):
        return Decision("block", f"never run: {why}", floor=True)
    # What is not understood whole may be anything, so an automatic yes must not answer it.
    why = doubt(line, cwd=cwd, places=places, links=dict(action.links))
    return _asks(why) if why else None


def _asks(why: str) -> Decision:
    return Decision("ask", why, floor=True, scopes=("once",))


def _reason(action: Action, path: str, places: Places) -> str | None:
    if action.kind not in ("read", *CHANGING):
        return None
    return protected("read" if action.kind == "read" else "write", path, places)
