"""`/compact`: the past of the conversation becomes a summary now, and not only when the window is full."""

from agent_server.session.builtin.command import Here


async def compact(here: Here) -> str:
    """How much shorter it is."""
    made = await here.session.summarise(here.item)
    if made is None:
        return "There is nothing that a summary would make shorter yet."
    before, after = made
    return f"The conversation was summarised: about {before:,} tokens became {after:,}."
