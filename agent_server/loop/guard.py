"""Limits and detectors: what ends a turn that would not end by itself. All counting is here and in `Turn.counts`."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

import anyio

from agent_server.loop.action import Action, Decision, Question
from agent_server.loop.model import (
    CallKey,
    DoneReason,
    Entry,
    ReplyEntry,
    ResultEntry,
    ToolCall,
    ToolResult,
    TurnId,
)
from agent_server.loop.states import Confirming, Done, LoopGate, State, Thinking
from agent_server.loop.turn import Turn

INVALID_CODES = frozenset({"unknown_tool", "bad_arguments"})
CYCLES = 3
"""How often a pattern of rounds must come to be a loop."""
LONGEST_CYCLE = 4
EMPTY_STREAK = "streak:empty"
INVALID_STREAK = "streak:invalid"

_VOLATILE = re.compile(r"0x[0-9a-f]+|\d+|/tmp/\S+", re.IGNORECASE)


# ---- limits ----------------------------------------------------------------------------------------


def over_limit(t: Turn) -> Done | None:
    """The end of a turn whose budget is used up; asked between transitions, so it overshoots by a step (R25).

    A sub-agent has no budget of its own beside its steps: it ends with that of the turn above it.
    """
    if t.parent is not None and (above := over_limit(t.parent)) is not None:
        return above
    used = t.before + t.usage
    limits = t.limits
    if (
        limits.max_session_tokens is not None
        and used.input + used.output >= limits.max_session_tokens
    ):
        return Done(
            DoneReason.BUDGET_EXCEEDED,
            "tokens",
            f"the session used {used.input + used.output} tokens",
        )
    if (
        limits.max_cost_usd is not None
        and used.cost is not None
        and used.cost >= limits.max_cost_usd
    ):
        return Done(DoneReason.BUDGET_EXCEEDED, "cost", f"the session cost {used.cost} USD")
    if t.deadline is not None and anyio.current_time() >= t.deadline:
        return Done(
            DoneReason.BUDGET_EXCEEDED,
            "wall_time",
            f"the turn took longer than {limits.max_wall_s} s",
        )
    return None


def window_is_full(t: Turn) -> bool:
    """Whether the next request would pass the share of the usable window at which the past is summarised (§2.1)."""
    reserve = t.model.window // 5 if t.limits.reserve_output is None else t.limits.reserve_output
    usable = t.model.window - reserve
    share = t.limits.compact_at
    if t.limits.between_turns_at is not None and not t.steps:
        share = min(share, t.limits.between_turns_at)
    return t.context.projected_tokens(t.log.entries) >= share * usable


# ---- detectors ---------------------------------------------------------------------------------------


def repeated_before(t: Turn, call: ToolCall) -> ToolResult | None:
    """Refuse a call that was already made often enough with the same arguments and the same result (§14, R28)."""
    if not t.limits.repeat_stop or t.counts[_call_key(call)] < t.limits.repeat_warn:
        return None
    text = (
        f"not run: {call.name} was called {t.limits.repeat_warn} times with these arguments and gave the same result. "
        "Do something else."
    )
    return ToolResult(False, text, code="repeated", summary="repeated, not run")


def note_result(t: Turn, call: ToolCall, result: ToolResult) -> ToolResult:
    """Count a result and, where it repeats itself, say so to the model in the result."""
    _count_streaks(t, result)
    if result.code == "repeated":
        t.counts[_call_key(call)] += 1
        return result
    _count_repeats(t, call, result)
    notes = [note for note in (_attempt_note(t, call, result), _repeat_note(t, call)) if note]
    return replace(result, output="\n".join((result.output, *notes))) if notes else result


def _count_repeats(t: Turn, call: ToolCall, result: ToolResult) -> None:
    key, last = _call_key(call), f"last:{_call_key(call)}"
    same = t.counts[last] == _digest(result.output)
    t.counts[key] = t.counts[key] + 1 if same else 1
    t.counts[last] = _digest(result.output)
    t.counts[f"failed:{key}"] = int(_counts(result))


def _attempt_note(t: Turn, call: ToolCall, result: ToolResult) -> str | None:
    attempt = t.counts[error_key(call.name, result)] + 1
    if not _counts(result) or attempt < 2:
        return None
    return f"(attempt {attempt} of {t.limits.same_error + 1} with this error)"


def _repeat_note(t: Turn, call: ToolCall) -> str | None:
    times = t.counts[_call_key(call)]
    if not t.limits.repeat_stop or times != t.limits.repeat_warn:
        return None
    return f"(call number {times} with the same arguments and the same result; it will not be run again)"


def _count_streaks(t: Turn, result: ToolResult) -> None:
    t.counts[EMPTY_STREAK] = t.counts[EMPTY_STREAK] + 1 if not result.output.strip() else 0


def after_batch(t: Turn, number: int) -> State:
    """Where to go when every call of reply `number` has its result."""
    results = _results(t.log.entries, number)
    if t.limits.empty_results and t.counts[EMPTY_STREAK] >= t.limits.empty_results:
        return Done(DoneReason.LOOP_DETECTED, "empty_results", "the tools keep giving nothing")
    if (failed := _same_error(t, results)) is not None:
        return Done(DoneReason.ERROR, "same_error_cap", failed)
    if _all_invalid(t, results):
        text = "the model keeps making calls that cannot be understood"
        return Done(DoneReason.ERROR, "same_error_cap", text)
    if (circling := _circling(t, results)) is not None:
        return _ask_to_go_on(t, circling)
    if any(r.ok and t.tools[c.name].ends_turn for c, r in results if c.name in t.tools):
        return Done(DoneReason.MODEL_STOP, "tool_ended")
    if t.root.control.soft_stop:
        return Done(DoneReason.MODEL_STOP, "soft_stop", "stopped after the running calls")
    return Thinking()


def _ask_to_go_on(t: Turn, circling: Done) -> Confirming:
    """On the floor: `--yes` must not keep a loop alive."""
    key = CallKey(next(t.numbers), 0)
    reason = circling.message or "the model goes round in circles"
    decision = Decision("ask", reason, floor=True, scopes=("once",))
    action = Action("ask", "loop")
    return Confirming(
        Question(str(key), f"go on? {reason}", action, decision, ("once",)), LoopGate(key, circling)
    )


def _same_error(t: Turn, results: Sequence[tuple[ToolCall, ToolResult]]) -> str | None:
    """Count each error key once per reply; the sentence that ends the turn when one was met too often (R88–R90)."""
    failures = {
        error_key(call.name, result): (call, result) for call, result in results if _counts(result)
    }
    for key, (call, result) in failures.items():
        t.counts[key] += 1
        if t.counts[key] > t.limits.same_error:
            return _gave_up(call, t.counts[key], result.output)
    for call, result in results:
        if result.code == "repeated" and t.counts[f"failed:{_call_key(call)}"]:
            return _gave_up(call, t.counts[_call_key(call)], result.output)
    return None


def _gave_up(call: ToolCall, times: int, output: str) -> str:
    first = (output.strip().splitlines() or ["(no output)"])[0]
    return f"{call.name} failed {times} times with the same error: {first}"


def _counts(result: ToolResult) -> bool:
    return not result.ok and result.code not in ("denied", "duplicate", "repeated", "interrupted")


def _all_invalid(t: Turn, results: Sequence[tuple[ToolCall, ToolResult]]) -> bool:
    invalid = bool(results) and all(r.code in INVALID_CODES for _, r in results)
    t.counts[INVALID_STREAK] = t.counts[INVALID_STREAK] + 1 if invalid else 0
    return t.counts[INVALID_STREAK] >= t.limits.invalid_replies


def _circling(t: Turn, results: Sequence[tuple[ToolCall, ToolResult]]) -> Done | None:
    if not t.limits.repeat_stop:
        return None
    for call, _ in results:
        if t.counts[_call_key(call)] >= t.limits.repeat_stop:
            text = f"{call.name} was called {t.limits.repeat_stop} times to no end"
            return Done(DoneReason.LOOP_DETECTED, "same_call", text)
    if (period := cycle(_rounds(t.log.entries, t.id))) is not None:
        text = f"the same {period} rounds of calls came {CYCLES} times with the same results"
        return Done(DoneReason.LOOP_DETECTED, "cycle", text)
    return None


def cycle(rounds: Sequence[int]) -> int | None:
    """The length of the pattern that the last rounds repeat; rounds are digests, newest last."""
    for period in range(2, LONGEST_CYCLE + 1):
        tail = list(rounds[-period * CYCLES :])
        if len(tail) == period * CYCLES and tail == tail[:period] * CYCLES:
            return period
    return None


def _rounds(entries: Sequence[Entry], turn: TurnId) -> list[int]:
    """A digest of calls and results for each of the last replies of the turn, oldest first."""
    rounds: list[int] = []
    outputs: dict[CallKey, str] = {}
    for entry in reversed(entries):
        if entry.turn != turn or len(rounds) == LONGEST_CYCLE * CYCLES:
            break
        if isinstance(entry, ResultEntry):
            outputs[entry.key] = entry.result.output
        elif isinstance(entry, ReplyEntry):
            calls = entry.reply.calls
            rounds.append(_digest(repr([(c.name, c.arguments, outputs.get(c.key)) for c in calls])))
    return rounds[::-1]


def _results(entries: Sequence[Entry], number: int) -> list[tuple[ToolCall, ToolResult]]:
    found: dict[int, ToolResult] = {}
    for entry in reversed(entries):
        if isinstance(entry, ResultEntry) and entry.key.reply == number:
            found[entry.key.index] = entry.result
        elif isinstance(entry, ReplyEntry):
            return [(c, found[c.key.index]) for c in entry.reply.calls if c.key.index in found]
    return []


def error_key(tool: str, result: ToolResult) -> str:
    """Tool, code and first line with numbers and temporary paths masked: equal for the same error elsewhere (R89)."""
    first = result.output.strip().splitlines()[:1]
    return f"error:{tool}:{result.code}:{_VOLATILE.sub('#', first[0]) if first else ''}"


def _call_key(call: ToolCall) -> str:
    return f"call:{call.name}:{_digest(call.arguments)}"


def _digest(text: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    )
