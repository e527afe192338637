"""The numbers that bound a turn. Every counter they cap only grows within a turn (termination, I8)."""

from decimal import Decimal
from typing import Literal

from agent_server.frozen import frozen


@frozen
class Limits:
    """One instance per turn; defaults are loop.md §2's."""

    max_turns: int = 100
    """Steps (accepted replies) per prompt; the public name keeps the reference systems' spelling."""
    on_max_turns: Literal["summary", "stop"] = "summary"
    max_session_tokens: int | None = None
    max_cost_usd: Decimal | None = None
    max_wall_s: float | None = None
    same_error: int = 3
    """Retries granted to one failing error key; the next equal failure ends the turn (R90)."""
    empty_results: int = 3
    """Consecutive empty tool outputs that end the turn (R27); 0 switches it off."""
    invalid_replies: int = 3
    """Consecutive replies in which every call was malformed or unknown (R91)."""
    repeat_warn: int = 3
    repeat_stop: int = 5
    """The how-many-th identical call with an identical result ends the turn; 0 switches it off (R28)."""
    transient_retries: int = 3
    max_delay_s: float = 30.0
    parallel: int = 8
    """Calls that run at once; 1 is one after the other."""
    mixed: bool = False
    """Calls that may change something run beside others too, when nobody is asked about them."""
    read_retries: int = 1
    """How often a read that failed for a passing reason (code `transient`) is tried again (R81)."""
    start_early: bool = True
    """Read-only calls may run while their reply still streams."""
    compact_at: float = 0.85
    """Share of the usable window at which the past is summarised."""
    between_turns_at: float | None = None
    """The same before a turn's first request, where it is the smaller one."""
    stop_on_deny: bool = False
    """A no without words ends the turn."""
    reserve_output: int | None = None
    """Tokens of the window kept free for the answer; None is a fifth of it."""
    max_compactions: int = 3
