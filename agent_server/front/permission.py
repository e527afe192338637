"""The question that every ACP client can answer: `session/request_permission`, with the diff or the command.

Anything that is not a clear yes is no (protocol.md): an error, null, an option nobody offered. An answer that comes
late has nobody waiting for it any more.
"""

from agent_server.front.blocks import Json
from agent_server.front.hidden_characters import printable_line
from agent_server.front.params import as_object
from agent_server.front.render.calls import asked_call
from agent_server.front.render.content import one_line
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.errors import REQUEST_CANCELLED, ConnectionClosed, RemoteError
from agent_server.front.vocabulary import Vocabulary, wire_name
from agent_server.loop.action import Answer, AnswerKind, Question, Scope
from agent_server.loop.model import SessionId, ToolKind

_YES: dict[Scope, tuple[AnswerKind, str, str]] = {
    "once": ("allow_once", "Allow once", "allow_once"),
    "session": ("allow_session", "Allow {title} in this session", "allow_always"),
    "workspace": ("allow_workspace", "Allow {title} in this workspace", "allow_always"),
}
"""Scope → our answer, the option's name, ACP's kind of option; in the order they are shown."""
TITLE_LIMIT = 60
"""Characters of the question's title in an option's name, which clients show on a button."""


async def request_permission(
    connection: Connection,
    vocabulary: Vocabulary,
    session: SessionId,
    question: Question,
    *,
    kind: ToolKind | None,
    own: bool = True,
) -> Answer:
    """Ask and wait. Cancelling the wait withdraws the request and does not wait for the client.

    `own`: the client is one of ours, which tells two options of a kind apart.
    """
    options = permission_options(question, own=own)
    params: Json = {
        "sessionId": session,
        "toolCall": asked_call(question, kind),
        "options": [option for option, _ in options],
    }
    meta: Json = {}
    if question.decision.floor:  # so that a client's automatic yes can leave it alone (spec §7)
        meta["floor"] = True
    if question.decision.reason:
        meta["reason"] = question.decision.reason
    if question.within is not None:
        meta["within"] = question.within
    if meta:
        params["_meta"] = {"agent-server": meta}
    method = wire_name("session/request_permission", vocabulary, ours=False)
    try:
        reply = await connection.request(method, params)
    except RemoteError as error:
        return Answer("cancelled" if error.code == REQUEST_CANCELLED else "reject", by="error")
    except ConnectionClosed:
        return Answer("cancelled", by="disconnect", left_open=True)
    return read_answer(reply, {str(option["optionId"]): kind for option, kind in options})


def permission_options(question: Question, *, own: bool = True) -> list[tuple[Json, AnswerKind]]:
    """The options in their order, each with what choosing it means. Once and no are always among them.

    Clients that map answers by kind take the last of several of one: others than ours get the session's alone.
    """
    title = one_line(printable_line(question.title), TITLE_LIMIT)
    scopes = ["once"] if question.decision.floor else ["once", *question.scopes]
    if not own and "session" in scopes:
        scopes = [scope for scope in scopes if scope != "workspace"]
    options: list[tuple[Json, AnswerKind]] = [
        ({"name": name.format(title=title), "kind": kind}, answer)
        for scope, (answer, name, kind) in _YES.items()
        if scope in scopes
    ]
    options.append(({"name": "Reject", "kind": "reject_once"}, "reject"))
    return [
        ({"optionId": f"o{number}", **option}, answer)
        for number, (option, answer) in enumerate(options, 1)
    ]


def read_answer(reply: object, offered: dict[str, AnswerKind]) -> Answer:
    """What the client's result means."""
    outcome = as_object((as_object(reply) or {}).get("outcome")) or {}
    if outcome.get("outcome") == "cancelled":
        return Answer("cancelled")
    option = outcome.get("optionId")
    if outcome.get("outcome") != "selected" or not isinstance(option, str):
        return Answer("reject", by="error")
    return Answer(offered.get(option, "reject"), feedback=_feedback(outcome))


def _feedback(outcome: object) -> str | None:
    """Words for the model, which clients of ours can add."""
    meta = as_object((as_object(outcome) or {}).get("_meta")) or {}
    feedback = (as_object(meta.get("agent-server")) or {}).get("feedback")
    return feedback if isinstance(feedback, str) and feedback else None
