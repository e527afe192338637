"""`/cost`: what the conversation takes up, and what the session has used."""

from agent_server.loop.model import Usage
from agent_server.session.builtin.command import Here
from agent_server.session.builtin.words import paragraphs


async def cost(here: Here) -> str:
    """Of the last reply that stands, and of everything so far."""
    session = here.session
    if not (session.spent.input or session.spent.output):
        return "No model was asked in this session yet."
    used = session.usage
    context = None
    if used is not None:
        share = f" ({100 * used.used / used.window:.0f} %)" if used.window else ""
        context = f"- context: {used.used:,} of {used.window:,} tokens{share}, {session.model}"
    spent = f"- session: {_tokens(session.spent)}"
    return paragraphs("\n".join(row for row in (context, spent, _cost(session.spent)) if row))


def _tokens(spent: Usage) -> str:
    cached = f" ({spent.cached:,} of them cached)" if spent.cached else ""
    return f"{spent.input:,} tokens in{cached}, {spent.output:,} out"


def _cost(spent: Usage) -> str:
    known = "not known: the model has no price" if spent.cost is None else f"${spent.cost:.4f}"
    return f"- cost: {known}"
