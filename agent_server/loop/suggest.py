"""The nearest names for a tool that does not exist (R84, R91)."""

import difflib
from collections.abc import Iterable


def unknown_tool(name: str, known: Iterable[str]) -> str:
    """A sentence for the model."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"the tools are: {', '.join(names)}"
    return f"there is no tool named {name[:80]!r}; {hint}"
