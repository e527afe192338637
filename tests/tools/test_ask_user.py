"""The tool `ask_user`: what the model may ask, and what it gets back."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from agent_server.loop.action import Action
from agent_server.loop.errors import BadArguments
from agent_server.loop.model import MODES, CallKey, ToolResult, TurnId
from agent_server.loop.ports import CallContext, Prepared
from agent_server.policy.places import Places
from agent_server.policy.rules import parse_rule
from agent_server.policy.session_policy import SessionPolicy
from agent_server.tools.ask_user import NO_ANSWER, NO_WORDS, NOBODY
from agent_server.tools.questions import NoQuestions, Questions
from agent_server.tools.registry import build
from tests.tools.desk import KEY, Desk

pytestmark = pytest.mark.anyio


@dataclass
class Person:
    """Answers every question alike."""

    answer: str | None
    words: bool = True
    asked: list[tuple[CallKey, str, tuple[str, ...]]] = field(
        default_factory=list[tuple[CallKey, str, tuple[str, ...]]]
    )

    def takes(self, options: Sequence[str]) -> bool:
        return bool(options) or self.words

    async def ask(self, call: CallKey, question: str, options: Sequence[str]) -> str | None:
        self.asked.append((call, question, tuple(options)))
        return self.answer


async def called(desk: Desk, person: Questions, **arguments: object) -> ToolResult:
    tool = build(replace(desk.services, questions=lambda: person))["ask_user"]
    prepared = await tool.prepare(arguments, KEY)
    assert isinstance(prepared, Prepared)
    return await prepared.run(CallContext(TurnId("t"), KEY, desk.hear), None)


async def test_the_answer_is_the_result(desk: Desk) -> None:
    person = Person("the blue one")

    result = await called(desk, person, question=" Which? ", options=["red  one", "blue one"])

    assert (result.ok, result.output) == (True, "the blue one")
    assert person.asked == [(KEY, "Which?", ("red one", "blue one"))]


@pytest.mark.parametrize("answer", [None, "  "])
async def test_no_answer_is_a_result_that_says_so(desk: Desk, answer: str | None) -> None:
    result = await called(desk, Person(answer), question="Which?")

    assert (result.ok, result.output, result.summary) == (True, NO_ANSWER, "no answer")


@pytest.mark.parametrize(
    ("person", "options", "said"),
    [
        (NoQuestions(), ["a", "b"], NOBODY),
        (NoQuestions(), None, NOBODY),
        (Person("a", words=False), None, NO_WORDS),
    ],
)
async def test_where_nobody_can_be_asked_the_model_is_told(
    desk: Desk, person: Questions, options: list[str] | None, said: str
) -> None:
    result = await called(desk, person, question="Which?", options=options)

    assert (result.ok, result.output, result.code) == (False, said, "nobody_to_ask")


@pytest.mark.parametrize(
    "given",
    [
        {"question": " "},
        {"question": "Which?", "options": ["a"]},
        {"question": "Which?", "options": ["a", " a "]},
        {"question": "Which?", "options": ["a", " "]},
        {"question": "Which?", "options": [str(n) for n in range(10)]},
    ],
)
async def test_a_question_that_cannot_be_put_is_refused(
    desk: Desk, given: dict[str, object]
) -> None:
    with pytest.raises(BadArguments):
        await desk.tools["ask_user"].prepare(given, KEY)


async def test_it_stands_alone_among_the_calls_of_a_reply(desk: Desk) -> None:
    tool = desk.tools["ask_user"]

    assert (tool.read_only, tool.parallel) == (False, 1)


@pytest.mark.parametrize("mode", MODES)
async def test_asking_needs_no_permission_in_any_mode_and_only_a_deny_rule_ends_it(
    desk: Desk, mode: str
) -> None:
    prepared = await desk.prepared("ask_user", question="Which?")
    assert prepared.action == Action("ask", "ask_user")

    verdicts = [
        _policy(desk, mode, *rules).decide(prepared.action).verdict
        for rules in ((), ("ask",), ("deny",))
    ]

    assert verdicts == ["allow", "allow", "block"]


def _policy(desk: Desk, mode: str, *verdicts: str) -> SessionPolicy:
    async def forget(*_: object) -> None: ...

    return SessionPolicy(
        mode=lambda: mode,  # pyright: ignore[reportArgumentType]
        rules=[parse_rule(verdict, "*") for verdict in verdicts],  # pyright: ignore[reportArgumentType]
        grants=frozenset(),
        places=Places((str(desk.root),), home="/home/nobody"),
        save=forget,
    )
