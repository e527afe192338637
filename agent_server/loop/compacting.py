"""Compacting: replace the past by a summary at a legal cut.

Never loops: it shrinks the conversation or ends the turn.
"""

import logging

from agent_server.loop.errors import ModelFailure
from agent_server.loop.events import Notice
from agent_server.loop.model import DoneReason, SummaryEntry
from agent_server.loop.ports import Compaction, Model
from agent_server.loop.states import Compacting, Done, State, Thinking
from agent_server.loop.turn import Turn

log = logging.getLogger(__name__)


async def compacting(t: Turn, state: Compacting) -> State:
    """One summary by a model, or the extract made without one; committed only if it is smaller than the past (I10)."""
    t.compactions += 1
    plan = t.context.compaction(t.log.entries, forced=state.cause == "overflow")
    text = None if plan is None else await _summary(t, plan)
    if plan is None or text is None:
        return _cannot(t, state)
    before = t.context.projected_tokens(t.log.entries)
    await t.log.append(SummaryEntry(t.id, text, plan.upto, plan.generation))
    after = t.context.projected_tokens(t.log.entries)
    t.emit(
        Notice("info", "The conversation was summarised", f"about {before} tokens became {after}")
    )
    return Thinking()


async def _summary(t: Turn, plan: Compaction) -> str | None:
    """The first that is smaller than the past: by the model for that, by the turn's own, the extract (R69)."""
    for model in (plan.summariser, t.model):
        if model is not None and (text := await _asked(t, model, plan)):
            break
    else:
        text = plan.extract
    candidates = (plan.quote + text, plan.quote + plan.extract)
    return next((one for one in candidates if len(one) < plan.below_chars), None)


async def _asked(t: Turn, model: Model, plan: Compaction) -> str | None:
    try:
        reply = await model.stream(plan.request, lambda piece: None)
    except ModelFailure as failure:
        log.warning("no summary by %s (%s)", model.name, failure.fault)
        return None
    t.charge(reply.usage)
    return reply.text.strip() or None


def _cannot(t: Turn, state: Compacting) -> State:
    if state.cause == "preflight":
        t.compactions = t.limits.max_compactions
        return Thinking()
    return Done(
        DoneReason.ERROR,
        "context_full",
        f"the conversation does not fit into the {t.model.window} tokens of {t.model.name}; nothing can be left out",
    )
