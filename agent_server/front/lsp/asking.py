"""The model's own questions for clients without our messages: `window/showMessageRequest` with the options."""

from agent_server.front.asking import Asked, Way, answer_to
from agent_server.front.rpc.connection import Connection
from agent_server.front.vocabulary import Vocabulary

_INFO = 3


async def _pick(connection: Connection, vocabulary: Vocabulary, asked: Asked) -> str | None:
    del vocabulary
    actions = [{"title": option} for option in asked.options]
    params: dict[str, object] = {"type": _INFO, "message": asked.question, "actions": actions}
    title = (await answer_to(connection, "window/showMessageRequest", params)).get("title")
    return title if isinstance(title, str) and title in asked.options else None


MESSAGE = Way(lambda client: not client.permission, words=False, ask=_pick)
"""The last resort: every LSP client has it."""
