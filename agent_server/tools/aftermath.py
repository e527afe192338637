"""What an edit did, as the editor's language servers see it: told with the edit's own result (loop.md F40)."""

from collections.abc import Sequence
from dataclasses import replace

import anyio

from agent_server.edits.ports import Diagnosed
from agent_server.loop.model import ToolResult
from agent_server.tools.diagnostics import line_of, ordered
from agent_server.tools.paths import shown
from agent_server.tools.services import Services
from agent_server.tools.settling import WAIT_S, Seen, hear, new_errors

SHOWN = 20
"""Errors of one file; the others are counted."""


async def look(services: Services, paths: Sequence[str]) -> Seen:
    """What the editor says of files that are about to change; of those it does not watch, nothing."""
    return await services.diagnostics().diagnostics(paths) or ()


async def with_new_errors(services: Services, result: ToolResult, before: Seen) -> ToolResult:
    """The result of an edit that stands, with the errors that came with it.

    Cancelled, it gives the result as it is: the edit was made, and that must be recorded.
    """
    if not before:
        return result
    try:
        text = await _new_errors(services, before)
    except anyio.get_cancelled_exc_class():
        return result  # anyio cancels again at the next wait, which is after the result is settled
    return result if text is None else replace(result, output=f"{result.output}\n{text}")


async def _new_errors(services: Services, before: Seen) -> str | None:
    heard = await hear(services.diagnostics(), [one.path for one in before], before=before)
    if heard is None:
        return None
    fresh = new_errors(before, heard.seen)
    if not fresh:
        checking = any(one.settled is False for one in heard.seen)
        return _still(checking=checking)
    lines = ["the editor reports new errors after this edit:"]
    for path, errors in fresh.items():
        lines.append(shown(path, services.cwd))
        lines += map(line_of, ordered(Diagnosed(path, tuple(errors[:SHOWN]), None)))
        if len(errors) > SHOWN:
            lines.append(f"  … and {len(errors) - SHOWN} more")
    if not heard.settled:
        lines.append("(it was still checking: these may change, or more may come)")
    return "\n".join(lines)


def _still(*, checking: bool) -> str | None:
    if not checking:
        return None
    return f"(the editor was still checking after {WAIT_S:g} s: no new errors so far)"
