"""Compaction: where the past may be cut, what to ask for its summary, and the extract when no summary can be had.

A cut never splits a reply from the results of its calls (I5), and what the person asked first and last is never
paraphrased: it stays in the tail, or is quoted word for word in the summary.
"""

from collections.abc import Sequence

from agent_server.context.wire import last_summary
from agent_server.loop.model import (
    Entry,
    ReplyEntry,
    Resource,
    ResultEntry,
    Text,
    ToolResult,
    UserEntry,
)
from agent_server.loop.proposal import FileChange

PROTECT_LAST_N = 20
"""Entries kept verbatim when compaction is not forced, unless the settings say how many."""
FIRST_CHARS = 4_000
"""Of the first prompt, which is quoted in every summary."""
EXTRACT_CHARS = 6_000
MIN_GAIN = 2
"""Entries that a cut must at least remove."""

INSTRUCTION = (
    "The conversation is getting too long for your window. Do not call tools. Summarise it so that the work can go on "
    "without the original: the task in the person's own words, decisions and why, files read and changed, the current "
    "state, open problems, and the next step."
)


def legal_cuts(entries: Sequence[Entry]) -> list[int]:
    """Indexes before which everything may be summarised: a message begins there and no call is open before it."""
    cuts: list[int] = []
    unsettled = 0
    for index, entry in enumerate(entries):
        if isinstance(entry, UserEntry | ReplyEntry) and unsettled == 0 and index:
            cuts.append(index)
        if isinstance(entry, ReplyEntry):
            unsettled += len(entry.reply.calls)
        elif isinstance(entry, ResultEntry):
            unsettled -= 1
    return cuts


def choose_cut(
    entries: Sequence[Entry], *, forced: bool, protect_last_n: int = PROTECT_LAST_N
) -> int | None:
    """The cut to make: before the last prompt if that frees something, else inside the running turn."""
    summary = last_summary(entries)
    floor = (summary.upto if summary else 0) + MIN_GAIN
    cuts = [c for c in legal_cuts(entries) if c >= floor]
    last_user = max((i for i, e in enumerate(entries) if _is_said(e)), default=0)
    wanted = last_user if forced else min(last_user, len(entries) - protect_last_n)
    before = [c for c in cuts if c <= wanted]
    if before:
        return before[-1]
    within = [c for c in cuts if c <= last_user] or cuts
    return within[-1] if within else None


def extract(entries: Sequence[Entry], upto: int) -> str:
    """A summary without a model: what was asked, and which files were touched (R69)."""
    summary = last_summary(entries[:upto])
    asked = [_plain(e) for e in entries[:upto] if isinstance(e, UserEntry) and _is_said(e)]
    files = sorted(
        {
            change.path
            for e in entries[:upto]
            if isinstance(e, ResultEntry)
            for change in _changes(e.result)
        }
    )
    lines = [summary.text] if summary else []
    lines += ["The person asked:", *(f"- {text}" for text in asked)]
    if files:
        lines += ["Files that were changed:", *(f"- {path}" for path in files)]
    return _middle_cut("\n".join(lines), EXTRACT_CHARS)


def quoted_task(entries: Sequence[Entry], upto: int) -> str:
    """The first prompt and the last one, word for word, where the cut would remove them (R68)."""
    users = [(i, e) for i, e in enumerate(entries) if isinstance(e, UserEntry) and _is_said(e)]
    quotes: list[str] = []
    if len(users) > 1 and users[0][0] < upto:
        first = _middle_cut(_plain(users[0][1]), FIRST_CHARS)
        quotes.append(f"What the person asked first, in their words:\n{first}\n\n")
    if users and users[-1][0] < upto:
        quotes.append(f"The task, in the person's words:\n{_plain(users[-1][1])}\n\n")
    return "".join(quotes)


def _changes(result: ToolResult) -> tuple[FileChange, ...]:
    return result.changes if result.ok else ()


def _is_said(entry: Entry) -> bool:
    """Whether it is the person's words, and not a nudge of ours."""
    return isinstance(entry, UserEntry) and entry.origin in ("prompt", "steer")


def _plain(entry: UserEntry) -> str:
    texts = [p.text for p in entry.parts if isinstance(p, Text)]
    links = [p.uri for p in entry.parts if isinstance(p, Resource)]
    return "\n".join((*texts, *links))


def _middle_cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
