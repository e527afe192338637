"""Whether our change still stands in a text that an editor changed further, as one that formats on save does. Pure."""

from collections.abc import Iterable
from typing import Final, Literal

from agent_server.edits.text.diff import Change, diff
from agent_server.edits.text.hunks import hunks, invert
from agent_server.edits.text.lines import split_lines
from agent_server.loop.proposal import Hunk

Further = Literal["formatted", "changed"]
"""The same text in another layout · also other text, where we had changed nothing."""

_LAYOUT: Final = str.maketrans(dict.fromkeys(" \t\r\n\f\v,;()'\"`"))
"""What formatters put in, take out or exchange."""


def further(base: str, new: str, live: str) -> Further | None:
    """How the live text goes beyond `new`, which we made of `base`; None when not all of our change is in it.

    Wherever the live text touches what we changed, neighbouring lines included, it may differ in layout only; and not
    at all where layout was all that we changed.
    """
    before, after = split_lines(new), split_lines(live)
    changes = diff(before, after)
    laid_out = {
        change: _bare(before[change.start : change.end])
        == _bare(after[change.new_start : change.new_end])
        for change in changes
    }
    for hunk in invert(hunks(base, new)):
        touching = [change for change in changes if _touches(hunk, change)]
        if touching and _bare(hunk.removed) == _bare(hunk.added):
            return None
        if not all(laid_out[change] for change in touching):
            return None
    return "formatted" if all(laid_out.values()) else "changed"


def _touches(hunk: Hunk, change: Change) -> bool:
    return change.start <= hunk.start + len(hunk.removed) and hunk.start <= change.end


def _bare(lines: Iterable[str]) -> str:
    return "".join(lines).translate(_LAYOUT)
