"""A conversation that was taken back makes the requests of one that had ended there (I7, loop.md F30)."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_server.context.session_context import SessionContext
from agent_server.loop.model import (
    AsideEntry,
    CallKey,
    DoneReason,
    Entry,
    Reply,
    ReplyEntry,
    ResultEntry,
    RewoundEntry,
    StartedEntry,
    SummaryEntry,
    Text,
    ToolCall,
    ToolResult,
    TurnEndEntry,
    TurnId,
    Usage,
    UserEntry,
)
from agent_server.loop.ports import Request

NO_TURN = TurnId("")


def context() -> SessionContext:
    return SessionContext("be good", ())


def turn(number: int, replies: Sequence[int]) -> list[Entry]:
    """A turn in which the n-th reply makes so many calls, each of which has its result."""
    name = TurnId(f"t{number}")
    entries: list[Entry] = [UserEntry(name, (Text(f"prompt {number}"),))]
    for place, calls in enumerate(replies):
        reply = number * 100 + place
        keys = [CallKey(reply, index) for index in range(calls)]
        made = tuple(ToolCall(key, f"c{key.index}", "read", f'{{"n":{number}}}') for key in keys)
        usage = Usage(input=10 * number + place, output=3)
        entries.append(ReplyEntry(name, reply, Reply(f"answer {reply}", made, "stop", "m", usage)))
        for key in reversed(keys):
            entries.append(StartedEntry(name, key))
            entries.append(ResultEntry(name, key, ToolResult(True, f"result {key}"), "none"))
    return [*entries, TurnEndEntry(name, DoneReason.MODEL_STOP, "text")]


def summary(seen: SessionContext, log: Sequence[Entry], *, forced: bool) -> SummaryEntry | None:
    """What a compaction of this log would write down."""
    plan = seen.compaction(log, forced=forced)
    if plan is None:
        return None
    return SummaryEntry(NO_TURN, plan.quote + plan.extract, plan.upto, plan.generation)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_after_any_rewinding_requests_are_those_of_a_session_that_ended_there(data: st.DataObject):
    """Turns, compactions and rewindings in any order, undone ones too; the same context all along, as in a session."""
    seen = context()
    log: list[Entry] = []
    plain: list[list[Entry]] = [[]]
    """For every length of the log: one that holds nothing but what stood then."""
    for number in range(1, data.draw(st.integers(2, 7)) + 1):
        step = data.draw(st.sampled_from(["turn", "turn", "compact", "forced", "rewind", "aside"]))
        added: list[Entry] = []
        match step:
            case "turn":
                added = turn(number, data.draw(st.lists(st.integers(0, 2), max_size=3)))
            case "aside":
                added = [AsideEntry(NO_TURN, "something")]
            case "rewind":
                upto = data.draw(st.sampled_from(_rests(log)))
                log.append(RewoundEntry(NO_TURN, upto))
                plain.append(plain[upto])
            case _:
                found = summary(seen, log, forced=step == "forced")
                assert found == summary(context(), plain[-1], forced=step == "forced")
                added = [] if found is None else [found]
        for entry in added:
            log.append(entry)
            plain.append([*plain[-1], entry])
        _same(seen, log, plain[-1])


def _rests(log: Sequence[Entry]) -> list[int]:
    """The lengths at which the log was at rest."""
    ends = (TurnEndEntry, RewoundEntry, AsideEntry, SummaryEntry)
    return [0, *(at for at, entry in enumerate(log, 1) if isinstance(entry, ends))]


def _same(seen: SessionContext, log: Sequence[Entry], plain: Sequence[Entry]) -> None:
    sent: list[Request] = [seen.request(log, nudge="go"), context().request(plain, nudge="go")]
    assert sent[0] == sent[1]
    assert seen.projected_tokens(log) == context().projected_tokens(plain)


def test_a_context_that_saw_the_longer_past_forgets_it():
    """The projection keeps what it folded; after a rewinding that grew again it must not say the old words."""
    seen, log = context(), [*turn(1, [1]), *turn(2, [2])]
    seen.request(log)
    log += [RewoundEntry(NO_TURN, len(turn(1, [1]))), *turn(3, [2, 2]), *turn(4, [])]
    said = repr(seen.request(log).messages)

    assert "prompt 2" not in said
    assert "prompt 3" in said
