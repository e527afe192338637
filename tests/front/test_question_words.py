"""What a permission request says: its options, what is hidden in it, and no more than a client can tell apart."""

from typing import Any

import pytest

from agent_server.front.permission import permission_options
from agent_server.front.render.calls import asked_call, call_finished
from agent_server.loop.action import Action, Decision, Question
from agent_server.loop.events import CallFinished
from agent_server.loop.model import CallKey, ToolResult, TurnId
from agent_server.loop.proposal import FileChange, Hunk, Proposal


def question(command: str, *, proposal: Proposal | None = None) -> Question:
    action = Action("exec", "shell", ("/w",), command)
    decision = Decision("ask", "not in your allow rules", scopes=("once", "session", "workspace"))
    return Question("c1", f"shell {command}", action, decision, decision.scopes, proposal)


def texts(asked: Question) -> list[str]:
    content: Any = asked_call(asked, None)["content"]
    return [item["content"]["text"] for item in content if item["type"] == "content"]


@pytest.mark.parametrize(
    ("own", "names"),
    [
        (
            True,
            [
                "Allow once",
                "Allow shell ls in this session",
                "Allow shell ls in this workspace",
                "Reject",
            ],
        ),
        (False, ["Allow once", "Allow shell ls in this session", "Reject"]),
    ],
)
def test_a_client_that_is_not_ours_gets_one_option_of_a_kind(own: bool, names: list[str]) -> None:
    options = [option for option, _ in permission_options(question("ls"), own=own)]

    assert [option["name"] for option in options] == names
    kinds = [option["kind"] for option in options]
    assert own or len(set(kinds)) == len(kinds)


def test_a_question_names_what_is_hidden_and_has_the_command_as_it_is() -> None:
    asked = question("echo safe \u202e# touch evil\nsecond line")

    assert asked_call(asked, None)["title"] == "shell echo safe \\u202e# touch evil ⏎ second line"
    assert any("echo safe \u202e# touch evil\nsecond line" in text for text in texts(asked))
    assert "Look closely: it holds hidden characters: U+202E RIGHT-TO-LEFT OVERRIDE" in texts(asked)


def test_new_lines_of_an_edit_that_hide_something_are_named() -> None:
    hunk = Hunk("h1", 0, ("a\n",), ("a \u2066\n",))
    change = FileChange("/w/a.py", "edit", "a\n", "a \u2066\n", (hunk,))
    asked = question("", proposal=Proposal("x1", (change,)))

    assert any("U+2066" in text for text in texts(asked))


@pytest.mark.parametrize(
    ("tool", "output", "shown"),
    [
        ("shell", "a\nb", "```\na\nb\n```"),
        ("read", "1\t```\n2\tx", "````\n1\t```\n2\tx\n````"),
        ("shell", "one line", "one line"),
        ("delegate", "# Report\nfine", "# Report\nfine"),
    ],
)
def test_finished_output_keeps_its_lines_where_clients_render_markdown(
    tool: str, output: str, shown: str
) -> None:
    event = CallFinished(TurnId("t"), CallKey(1, 0), tool, ToolResult(True, output), "none")
    content: Any = call_finished(event, None)["content"]

    assert content[0]["content"]["text"] == shown
