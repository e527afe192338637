"""The states of a transaction: which may follow which, and what they say about files. Pure."""

from collections.abc import Mapping, Sequence

from agent_server.edits.outcome import FileOutcome
from agent_server.loop.proposal import EditState

FOLLOWS: Mapping[EditState | None, frozenset[EditState]] = {
    None: frozenset({"proposed"}),  # a draft is in no journal
    "proposed": frozenset({"proposed", "approved", "rejected", "failed", "abandoned"}),
    "approved": frozenset({"applying", "conflict", "failed", "rejected", "abandoned"}),
    "applying": frozenset({"applying", "verifying", "applied", "conflict", "failed", "abandoned"}),
    "verifying": frozenset({"applying", "applied", "conflict", "failed", "abandoned"}),
    "applied": frozenset({"committed", "reverted"}),
    "committed": frozenset({"reverted"}),
    "rejected": frozenset(),
    "conflict": frozenset(),
    "failed": frozenset(),
    "reverted": frozenset(),
    "abandoned": frozenset({"abandoned"}),  # more was decided of it, or all
}

UNSETTLED: frozenset[EditState] = frozenset({"applying", "verifying"})
"""A crash here leaves files in a state that only their content tells."""
PENDING: frozenset[EditState] = frozenset({"proposed", "approved"})
"""Nothing was changed yet, and nothing will be by a process that is dead."""
IN_FORCE: frozenset[EditState] = frozenset({"applied", "committed"})
"""Its changes count, and can be taken back."""

_OF_FAILURE: Mapping[str, EditState] = {
    "conflict": "conflict",
    "stale": "conflict",
    "unknown": "conflict",
    "declined": "failed",
    "failed": "failed",
}


def check(before: EditState | None, after: EditState) -> None:
    """Pass when `after` may follow.

    Raises:
        ValueError: it may not; a defect of ours.
    """
    if after not in FOLLOWS[before]:
        raise ValueError(f"a transaction that is {before or 'a draft'} cannot become {after}")


def state_of(outcomes: Sequence[FileOutcome], *, together: bool) -> EditState:
    """The end of applying, from the outcomes of the accepted files.

    The culprit decides: a file that failed only because of another says nothing new. `conflict` whenever something may
    stand that nobody knows of, or stands of a transaction that is every file or none (`together`).
    """
    states = {outcome.state for outcome in outcomes}
    broken = states & {"unknown", "failed"}
    if states == {"applied"} or ("applied" in states and not together and not broken):
        return "applied"
    if any(outcome.state in ("applied", "unknown") for outcome in outcomes):
        return "conflict"
    failures = {_OF_FAILURE[state] for state in states}
    return "conflict" if "conflict" in failures else "failed"
