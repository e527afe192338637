"""THE table: every method a client may call, on either wire. What is not in it is not served, nor advertised.

ACP name                       LSP name
session/new                    agent/session/new
_agent-server/edit/resolve     agent/edit/resolve
"""

import functools
from collections.abc import Awaitable, Callable, Iterator

from agent_server.front.front import Front
from agent_server.front.handlers import (
    checkpoints,
    edits,
    handshake,
    lifecycle,
    options,
    prompt,
    session,
    steer,
)
from agent_server.front.rpc.dispatch import Dispatch, Incoming, NotificationHandler, RequestHandler
from agent_server.front.rpc.errors import INVALID_REQUEST, RpcError
from agent_server.front.vocabulary import Vocabulary, wire_name
from agent_server.frozen import frozen
from agent_server.loop.model import JsonObject

EVERYWHERE = frozenset(Vocabulary)
ACP_ONLY = frozenset({Vocabulary.ACP})
"""LSP has its own `initialize`, and no login."""


@frozen
class Request:
    """A method that is answered."""

    name: str
    handler: Callable[[Front, Incoming], Awaitable[object]]
    ours: bool = False
    """Not one of ACP's."""
    spoken: frozenset[Vocabulary] = EVERYWHERE
    settles_cancel: bool = False
    """Answers its own cancellation by a result."""
    first: bool = False
    """May come before `initialize` is done."""


@frozen
class Notification:
    """A method that is not."""

    name: str
    handler: Callable[[Front, JsonObject], Awaitable[None]]


REQUESTS = (
    Request("initialize", handshake.initialize, spoken=ACP_ONLY, first=True),
    Request("authenticate", handshake.authenticate, spoken=ACP_ONLY),
    Request("session/new", session.new),
    Request("session/load", session.load),
    Request("session/resume", session.resume),
    Request("session/fork", session.fork),
    Request("session/list", session.list_sessions),
    Request("session/close", lifecycle.close),
    Request("session/delete", lifecycle.delete),
    Request("session/set_title", lifecycle.set_title),
    Request("session/prompt", prompt.prompt, settles_cancel=True),
    Request("session/set_mode", options.set_mode),
    Request("session/set_config_option", options.set_config_option),
    Request("session/steer", steer.steer, ours=True),
    Request("edit/resolve", edits.resolve, ours=True),
    Request("edit/get", edits.get, ours=True),
    Request("edit/content", edits.content, ours=True),
    Request("edit/revert", checkpoints.revert, ours=True),
    Request("checkpoint/list", checkpoints.list_checkpoints, ours=True),
    Request("checkpoint/restore", checkpoints.restore, ours=True),
)
NOTIFICATIONS = (Notification("session/cancel", prompt.cancel),)


def served(vocabulary: Vocabulary) -> Iterator[tuple[str, Request]]:
    """The requests of one wire, by their names there."""
    for request in REQUESTS:
        if vocabulary in request.spoken:
            yield wire_name(request.name, vocabulary, ours=request.ours), request


def extensions(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Our own methods, by their names on one wire; what is advertised as such."""
    return tuple(name for name, request in served(vocabulary) if request.ours)


def dispatch(
    front: Callable[[], Front],
    vocabulary: Vocabulary,
    *,
    fallback: Callable[[JsonObject], None] | None = None,
) -> Dispatch:
    """The table for a connection. `front` is called when something arrives: it needs the connection to exist."""
    requests: dict[str, RequestHandler] = {
        name: functools.partial(_serve, front, request) for name, request in served(vocabulary)
    }
    notifications: dict[str, NotificationHandler] = {
        wire_name(one.name, vocabulary, ours=False): functools.partial(_notify, front, one)
        for one in NOTIFICATIONS
    }
    settling = frozenset(name for name, request in served(vocabulary) if request.settles_cancel)
    return Dispatch(requests, notifications, settling, fallback)


async def _serve(front: Callable[[], Front], request: Request, incoming: Incoming) -> object:
    if not front().ready and not request.first:
        raise RpcError(
            INVALID_REQUEST, "the first request must be initialize", reason="not_initialized"
        )
    return await request.handler(front(), incoming)


async def _notify(front: Callable[[], Front], one: Notification, params: JsonObject) -> None:
    if front().ready:
        await one.handler(front(), params)
