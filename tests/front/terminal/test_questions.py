"""What the server's side asks, as the client's side reads it."""

import anyio
import pytest

from agent_server.front.permission import request_permission
from agent_server.front.rpc.dispatch import Dispatch, Incoming
from agent_server.front.rpc.memory import pair
from agent_server.front.terminal.questions import (
    Permission,
    Picked,
    parse_permission,
    permission_result,
)
from agent_server.front.vocabulary import Vocabulary
from agent_server.loop.action import Action, Answer, Decision, Question, Scope
from agent_server.loop.model import SessionId

pytestmark = pytest.mark.anyio


async def asked(
    decision: Decision, pick: str, *, feedback: str | None = None
) -> tuple[Permission, Answer]:
    """A question through both ends of a connection, answered with the first option of that kind."""
    seen: list[Permission] = []
    got: list[Answer] = []

    async def answer(incoming: Incoming) -> object:
        question = parse_permission(incoming.params)
        assert question is not None
        seen.append(question)
        option = next((o for o in question.options if o.kind == pick), None)
        return permission_result(Picked(option, feedback))

    server, client = pair(Dispatch(), Dispatch(requests={"session/request_permission": answer}))
    scopes: tuple[Scope, ...] = ("once",) if decision.floor else ("once", "session", "workspace")
    action = Action("exec", "shell", command="rm -rf build")
    question = Question("call-1-0", "shell rm -rf build", action, decision, scopes)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve)
            tasks.start_soon(client.serve)
            got.append(
                await request_permission(
                    server, Vocabulary.ACP, SessionId("s"), question, kind="execute"
                )
            )
            server.close()
            client.close()
    return seen[0], got[0]


async def test_a_question_of_the_floor_says_so_and_reaches_no_further_than_once() -> None:
    question, _ = await asked(Decision("ask", "deletes", floor=True), "reject_once")
    assert question.floor
    assert [o.kind for o in question.options] == ["allow_once", "reject_once"]


async def test_an_ordinary_question_is_not_of_the_floor() -> None:
    question, _ = await asked(Decision("ask", "not in your allow rules"), "allow_once")
    assert not question.floor
    assert "rm -rf build" in (question.call.output or "")


@pytest.mark.parametrize(
    ("pick", "kind"),
    [("allow_once", "allow_once"), ("allow_always", "allow_session"), ("reject_once", "reject")],
)
async def test_what_is_picked_is_what_is_understood(pick: str, kind: str) -> None:
    _, answer = await asked(Decision("ask", "x"), pick, feedback="words")
    assert (answer.kind, answer.feedback) == (kind, "words")


async def test_no_pick_is_a_cancellation() -> None:
    _, answer = await asked(Decision("ask", "x"), "nothing")
    assert answer.kind == "cancelled"
