"""Compacting: replace the past by a summary at a legal cut.

Never loops: it shrinks the conversation or ends the turn.
"""

import logging

from agent_server.loop.errors import ModelFailure
from agent_server.loop.events import Notice
from agent_server.loop.model import DoneReason, SummaryEntry, Usage
from agent_server.loop.ports import Compaction
from agent_server.loop.states import Compacting, Done, State, Thinking
from agent_server.loop.turn import Turn

log = logging.getLogger(__name__)


async def compacting(t: Turn, state: Compacting) -> State:
    """One summary by the model, or the extract made without one; committed only if the request gets smaller (R75)."""
    t.compactions += 1
    plan = t.context.compaction(t.log.entries, forced=state.cause == "overflow")
    if plan is None:
        return _cannot(t, state)
    text, usage = await _summarise(t, plan)
    t.charge(usage)
    before = t.context.projected_tokens(t.log.entries)
    await t.log.append(SummaryEntry(t.id, plan.quote + text, plan.upto, plan.generation))
    after = t.context.projected_tokens(t.log.entries)
    t.emit(
        Notice("info", "The conversation was summarised", f"about {before} tokens became {after}")
    )
    return Thinking()


async def _summarise(t: Turn, plan: Compaction) -> tuple[str, Usage]:
    try:
        reply = await t.model.stream(plan.request, lambda piece: None)
    except ModelFailure as failure:
        log.warning("the summary failed (%s); an extract is used", failure.fault)
        return plan.extract, Usage()
    return (reply.text.strip() or plan.extract), reply.usage


def _cannot(t: Turn, state: Compacting) -> State:
    if state.cause == "preflight":
        t.compactions = t.limits.max_compactions
        return Thinking()
    return Done(
        DoneReason.ERROR,
        "context_full",
        f"the conversation does not fit into the {t.model.window} tokens of {t.model.name}; nothing can be left out",
    )
