"""Questions of the model itself at the terminal: a digit, words, or no answer; never one for the person."""

from collections.abc import Mapping

import pytest

from agent_server.front.terminal.input import CTRL_C
from agent_server.front.terminal.person import Automatic
from tests.front.terminal.fakes import CANCELLED, END, FakeServer
from tests.front.terminal.test_turn import Script, play


def asking(answers: list[object], *options: str) -> Script:
    async def script(server: FakeServer) -> Mapping[str, object]:
        answers.append(await server.inquire(*options))
        return END

    return script


@pytest.mark.parametrize(
    ("keys", "lines", "answer"),
    [("2", [], "SQLite"), ("8n", [], None), ("w", ["neither"], "neither"), ("w", [""], None)],
)
def test_options_have_digits(
    keys: str, lines: list[str | type[KeyboardInterrupt] | None], answer: str | None
) -> None:
    answers: list[object] = []
    _, _, page = play(asking(answers, "PostgreSQL", "SQLite"), keys=keys, lines=lines)

    assert answers == [{"answer": answer}]
    assert "? Which?" in page
    assert (answer or "no answer") in page


def test_without_options_the_answer_is_typed() -> None:
    answers: list[object] = []
    play(asking(answers), lines=["the blue one"])

    assert answers == [{"answer": "the blue one"}]


@pytest.mark.parametrize("automatic", ["yes", "no"])
def test_nothing_answers_for_the_person(automatic: Automatic) -> None:
    answers: list[object] = []
    _, _, page = play(asking(answers, "a", "b"), automatic=automatic)

    assert answers == [{"answer": None}]
    assert f"no answer (--{automatic})" in page


def test_ctrl_c_at_a_question_cancels_the_turn() -> None:
    answers: list[object] = []

    async def script(server: FakeServer) -> Mapping[str, object]:
        answers.append(await server.inquire("a", "b"))
        await server.cancelled.wait()
        return CANCELLED

    _, end, _ = play(script, keys=CTRL_C)

    assert (end.stop_reason, answers) == ("cancelled", [{"answer": None}])
