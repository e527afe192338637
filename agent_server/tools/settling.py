"""Waiting for an editor that is still checking, for a bounded time; and what is new since an edit."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import anyio

from agent_server.edits.ports import Diagnosed, Diagnostic, Diagnostics
from agent_server.frozen import frozen

WAIT_S: Final = 1.5
"""For language servers to have looked at a text that was just changed (loop.md F40); more would be felt."""
PAUSE_S: Final = 0.1
"""Between two questions: answering one costs an editor nothing."""
REST_S: Final = 0.5
"""What changed and then rests for this long is taken for final where the editor cannot tell (lsp.md §2.4)."""

Seen = tuple[Diagnosed, ...]


@frozen
class Heard:
    """What an editor said."""

    seen: Seen
    settled: bool
    """False: it was still checking when the time was over."""


async def hear(
    editor: Diagnostics, paths: Sequence[str] | None, *, before: Seen | None = None
) -> Heard | None:
    """What the editor says once that is final, or when `WAIT_S` is over. None: it cannot be asked.

    `before` is what it said of the texts before they were changed: an editor that cannot tell whether its diagnostics
    are about the text as it is now is then given time to say something else.
    """
    seen = await editor.diagnostics(paths)
    if seen is None:
        return None
    with anyio.move_on_after(WAIT_S):
        since = anyio.current_time()
        while not _is_final(seen, before, rested_s=anyio.current_time() - since):
            await anyio.sleep(PAUSE_S)
            now = await editor.diagnostics(paths)
            if now is None:
                return Heard(seen, settled=False)
            if now != seen:
                seen, since = now, anyio.current_time()
        return Heard(seen, settled=True)
    return Heard(seen, settled=False)


def _is_final(seen: Seen, before: Seen | None, *, rested_s: float) -> bool:
    said = {one.settled for one in seen}
    if False in said:
        return False
    if None not in said or before is None:
        return True
    return seen != before and rested_s >= REST_S


def new_errors(before: Seen, after: Seen) -> dict[str, list[Diagnostic]]:
    """The errors that were not there before, by path. Where one stands does not matter: an edit moves lines."""
    old = Counter((one.path, _name(d)) for one in before for d in one.diagnostics)
    fresh: dict[str, list[Diagnostic]] = {}
    for one in after:
        for diagnostic in one.diagnostics:
            if diagnostic.severity != "error":
                continue
            key = (one.path, _name(diagnostic))
            if old[key] > 0:
                old[key] -= 1
            else:
                fresh.setdefault(one.path, []).append(diagnostic)
    return fresh


def _name(diagnostic: Diagnostic) -> tuple[str, str | None, str | None, str]:
    return diagnostic.message, diagnostic.source, diagnostic.code, diagnostic.severity
