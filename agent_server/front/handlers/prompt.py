"""`session/prompt` and `session/cancel`."""

from agent_server.front.blocks import Json, prompt_parts
from agent_server.front.front import Front
from agent_server.front.params import session_id
from agent_server.front.render.status import is_retryable, prompt_result
from agent_server.front.rpc.dispatch import Incoming
from agent_server.front.rpc.errors import INTERNAL_ERROR, RpcError
from agent_server.loop.errors import UnknownSession
from agent_server.loop.model import DoneReason, JsonObject
from agent_server.session.prompts import TurnResult


async def prompt(front: Front, incoming: Incoming) -> Json:
    """Run a turn; the answer follows all of its updates.

    The place in the session's inbox is taken before the first wait, so that a cancellation read right behind the
    prompt finds it. A withdrawn prompt is answered by a result, `cancelled`, never by an error (rules 19 and 20).
    """
    session = front.sessions.get(session_id(incoming.params))
    item = session.submit(prompt_parts(incoming.params))
    connection = front.peer.connection
    incoming.when_cancelled(lambda: item.cancel("shutdown" if connection.ended else "cancel"))
    result = await session.answer(item)
    if result.reason is DoneReason.ERROR and not front.peer.view(session.id).spoke(result.turn):
        raise _failure(result)
    return prompt_result(result.turn, result.reason, result.detail, result.usage, result.unread)


async def cancel(front: Front, params: JsonObject) -> None:
    """End the running turn; what is queued behind it stays. Idempotent; nothing to say about unknown sessions."""
    try:
        front.sessions.get(session_id(params)).cancel()
    except UnknownSession:
        return


def _failure(result: TurnResult) -> RpcError:
    """A turn that failed before it showed anything (loop.md §2.3)."""
    return RpcError(
        INTERNAL_ERROR,
        result.message or f"the turn failed: {result.detail}",
        reason=result.detail,
        retryable=is_retryable(result.detail),
        extra={"turnId": result.turn},
    )
