"""The agent in Python (R19): a conversation, its result, who answers questions, and a clean end."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest

from agent_server import Agent, AsyncAgent, ConversationResult, TurnFailed
from agent_server.loop.action import Answer, Question
from agent_server.loop.errors import ClientMistake, TurnMismatch, UnknownSession
from agent_server.loop.events import Event, TextDelta, TurnDone
from agent_server.loop.model import DoneReason, Usage
from agent_server.loop.ports import AssistantMessage, ToolMessage, UserMessage
from agent_server.loop.proposal import FileDecision, Resolution

EDIT = {"calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "new\n"}}]}
SHELL = {"calls": [{"name": "shell", "arguments": {"command": "echo hi"}}]}


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Writes a script; gives what an agent that follows it is made with."""
    monkeypatch.setenv("AGENT_SERVER_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()

    def write(*steps: dict[str, Any]) -> dict[str, Any]:
        (tmp_path / "script.json").write_text(json.dumps(steps))
        return {"cwd": work, "model": f"scripted:{tmp_path / 'script.json'}"}

    return write


@pytest.mark.row("R19")
def test_chat_gives_the_answer_as_text(script: Callable[..., Any]) -> None:
    with Agent(**script({"text": "hello there"})) as agent:
        assert agent.chat("hi") == "hello there"


@pytest.mark.row("R19")
def test_several_prompts_are_one_conversation(script: Callable[..., Any]) -> None:
    with Agent(**script({"text": "one"}, {"text": "two"})) as agent:
        first, second = agent.run_conversation("a"), agent.run_conversation("b")
        assert [type(m) for m in second.messages] == [UserMessage, AssistantMessage] * 2
        assert second.turns == (first.turn, second.turn)
        assert first.session == second.session == agent.session


@pytest.mark.row("R19")
def test_a_result_has_messages_reason_detail_usage_and_text(script: Callable[..., Any]) -> None:
    read = {"calls": [{"name": "list", "arguments": {}}], "usage": {"input": 10, "output": 1}}
    done = {"text": "an empty folder", "usage": {"input": 20, "output": 2}}
    with Agent(**script(read, done)) as agent:
        result = agent.run_conversation("look")
    assert isinstance(result, ConversationResult)
    assert (result.final_text, result.reason, result.detail) == (
        "an empty folder",
        DoneReason.MODEL_STOP,
        "text",
    )
    assert (result.usage.input, result.usage.output) == (30, 3)
    assert isinstance(result.messages[2], ToolMessage)
    assert result.completed
    assert (result.message, result.unread) == (None, ())


def test_a_turn_that_fails_is_a_result_and_for_chat_an_error(script: Callable[..., Any]) -> None:
    with Agent(**script({"fault": "invalid"}, {"fault": "invalid"})) as agent:
        result = agent.run_conversation("hi")
        assert (result.reason, result.detail, result.usage) == (
            DoneReason.ERROR,
            "invalid",
            Usage(),
        )
        with pytest.raises(TurnFailed) as failed:
            agent.chat("again")
        assert failed.value.result.turns[0] == result.turn


def test_nobody_is_asked_unless_it_is_said_who(script: Callable[..., Any]) -> None:
    options = script(EDIT, {"text": "not allowed"})
    with Agent(**options) as agent:
        agent.chat("write")
    assert not (options["cwd"] / "a.txt").exists()


def test_always_says_yes(script: Callable[..., Any]) -> None:
    options = script(EDIT, {"text": "written"})
    with Agent(**options, approve="always-but-floor") as agent:
        agent.chat("write")
    assert (options["cwd"] / "a.txt").read_text() == "new\n"


def test_always_says_no_to_what_is_on_the_floor(script: Callable[..., Any], tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    call = {"calls": [{"name": "write", "arguments": {"path": str(outside), "content": "x"}}]}
    with Agent(**script(call, {"text": "no"}), approve="always-but-floor") as agent:
        agent.chat("write")
    assert not outside.exists()


def test_a_function_answers_and_may_block(script: Callable[..., Any]) -> None:
    asked: list[tuple[str, str]] = []

    def approve(question: Question) -> bool:
        asked.append((question.action.tool, threading.current_thread().name))
        return question.action.tool == "write"

    options = script(EDIT, SHELL, {"text": "half of it"})
    with Agent(**options, approve=approve) as agent:
        result = agent.run_conversation("go")
    assert [tool for tool, _ in asked] == ["write", "shell"]
    assert all("worker" in name for _, name in asked)
    assert (options["cwd"] / "a.txt").exists()
    outputs = [m.text for m in result.messages if isinstance(m, ToolMessage)]
    assert "denied" in outputs[1]


def test_an_answer_may_bring_words_for_the_model(script: Callable[..., Any]) -> None:
    def approve(question: Question) -> Answer:
        return Answer("reject", feedback="use spaces")

    with Agent(**script(EDIT, {"text": "ok"}), approve=approve) as agent:
        result = agent.run_conversation("go")
    assert "use spaces" in str(result.messages)


def test_events_are_seen_in_order_while_it_works(script: Callable[..., Any]) -> None:
    seen: list[Event] = []
    with Agent(**script({"text": "hello there"}), watch=seen.append) as agent:
        agent.chat("hi")
    assert "".join(e.text for e in seen if isinstance(e, TextDelta)) == "hello there"
    assert isinstance(seen[-1], TurnDone)


ASK = {"calls": [{"name": "ask_user", "arguments": {"question": "Which?", "options": ["a", "b"]}}]}


@pytest.mark.row("R144")
def test_what_the_model_asks_is_answered_by_the_caller(script: Callable[..., Any]) -> None:
    asked: list[tuple[str, tuple[str, ...], str]] = []

    def clarify(question: str, options: tuple[str, ...]) -> str:
        asked.append((question, options, threading.current_thread().name))
        return "b"

    with Agent(**script(ASK, {"text": "b it is"}), clarify=clarify) as agent:
        result = agent.run_conversation("go")
    assert [(question, options) for question, options, _ in asked] == [("Which?", ("a", "b"))]
    assert "worker" in asked[0][2], "it may block, so it is not on the agent's loop"
    assert [m.text for m in result.messages if isinstance(m, ToolMessage)] == ["b"]


def test_without_anybody_to_ask_the_model_is_told_so(script: Callable[..., Any]) -> None:
    with Agent(**script(ASK, {"text": "then a"})) as agent:
        result = agent.run_conversation("go")
    outputs = [m.text for m in result.messages if isinstance(m, ToolMessage)]
    assert outputs[0].startswith("nobody can be asked here")


@pytest.mark.anyio
async def test_a_coroutine_may_answer_the_model_or_not(script: Callable[..., Any]) -> None:
    async def clarify(question: str, options: tuple[str, ...]) -> None:
        await anyio.lowlevel.checkpoint()

    with anyio.fail_after(20):
        async with AsyncAgent(**script(ASK, {"text": "then a"}), clarify=clarify) as agent:
            result = await agent.run_conversation("go")
    outputs = [m.text for m in result.messages if isinstance(m, ToolMessage)]
    assert outputs[0].startswith("the person gave no answer")


def test_a_function_may_take_some_hunks_of_an_edit(script: Callable[..., Any]) -> None:
    def approve(question: Question) -> Answer:
        assert question.proposal is not None
        (file,) = question.proposal.files
        first = frozenset({file.hunks[0].id})
        return Answer("allow_once", Resolution((FileDecision(file.path, first),)))

    edits = [{"old_text": "one", "new_text": "1"}, {"old_text": "nine", "new_text": "9"}]
    edit = {"calls": [{"name": "edit", "arguments": {"path": "n.txt", "edits": edits}}]}
    options = script(edit, {"text": "half of it"})
    file = options["cwd"] / "n.txt"
    lines = ["one", *"abcdefgh", "nine"]
    file.write_text("\n".join(lines) + "\n")
    with Agent(**options, approve=approve) as agent:
        agent.chat("go")
    assert file.read_text().splitlines() == ["1", *"abcdefgh", "nine"]


def test_words_reach_a_running_turn_and_those_too_late_are_handed_back(
    script: Callable[..., Any],
) -> None:
    speaking = threading.Event()
    options = script({"text": "well", "hang": True}, {"text": "as you say"}, {"text": "later"})
    with Agent(
        **options, watch=lambda e: speaking.set() if isinstance(e, TextDelta) else None
    ) as agent:
        talker = threading.Thread(
            target=lambda: speaking.wait(5) and agent.steer("no, in French", how="redirect")
        )
        talker.start()
        result = agent.run_conversation("hi")
        talker.join(5)
        assert result.final_text == "as you say"
        assert "no, in French" in str(result.messages[-2])
        with pytest.raises(TurnMismatch):
            agent.steer("nobody is listening")


def test_every_event_is_on_the_page_about_the_api() -> None:
    page = (Path(__file__).parents[1] / "docs" / "python-api.md").read_text(encoding="utf-8")
    assert [kind for kind in get_args(Event) if f"| `{kind.__name__}` |" not in page] == []


def test_a_conversation_is_gone_on_with_by_its_id(script: Callable[..., Any]) -> None:
    options = script({"text": "one"}, {"text": "two"})
    with Agent(**options) as agent:
        agent.chat("a")
        name = agent.session
    with Agent(**options, session=name) as again:
        result = again.run_conversation("b")
        assert result.final_text == "two"
        assert len(result.turns) == 2


def test_what_cannot_be_opened_is_refused_at_once(
    script: Callable[..., Any], tmp_path: Path
) -> None:
    options = script({"text": "x"})
    with pytest.raises(ClientMistake, match="no folder"):
        Agent(cwd=tmp_path / "gone", model=options["model"])
    with pytest.raises(UnknownSession, match="nope"):
        Agent(**options, session="nope")


def test_a_closed_agent_says_so_and_closing_twice_is_fine(script: Callable[..., Any]) -> None:
    agent = Agent(**script({"text": "x"}))
    agent.close()
    agent.close()
    with pytest.raises(ClientMistake, match="closed"):
        agent.chat("hi")


def test_a_turn_is_cancelled_from_another_thread(script: Callable[..., Any]) -> None:
    speaking = threading.Event()
    with Agent(
        **script({"text": "well", "hang": True}, {"text": "next"}),
        watch=lambda e: speaking.set() if isinstance(e, TextDelta) else None,
    ) as agent:
        canceller = threading.Thread(target=lambda: speaking.wait(5) and agent.cancel())
        canceller.start()
        assert agent.run_conversation("hi").reason is DoneReason.USER_ABORT
        canceller.join(5)
        assert agent.chat("and now") == "next"


@pytest.mark.anyio
async def test_the_same_for_asynchronous_code(script: Callable[..., Any]) -> None:
    async def approve(question: Question) -> bool:
        await anyio.lowlevel.checkpoint()
        return True

    options = script(EDIT, {"text": "written"})
    with anyio.fail_after(10):
        async with AsyncAgent(**options, approve=approve) as agent:
            assert await agent.chat("write") == "written"
    assert (options["cwd"] / "a.txt").exists()


@pytest.mark.parametrize(
    "program",
    [
        "print(Agent(**options).chat('hi'))",
        "agent = Agent(**options); print(agent.chat('hi'))",
        "print(Agent(**options).chat('hi')); raise SystemExit(0)",
    ],
)
def test_a_program_that_never_closes_it_ends_all_the_same(
    script: Callable[..., Any], program: str
) -> None:
    options = script({"text": "hello"})
    source = (
        f"from agent_server import Agent; options = dict(cwd={str(options['cwd'])!r},"
        f" model={options['model']!r}); {program}"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        capture_output=True,
        text=True,
        timeout=15,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")


def test_importing_the_package_imports_no_api() -> None:
    """The first stage imports the package before it answers `initialize`."""
    code = (
        "import agent_server, sys; print([m for m in sys.modules if m.startswith('agent_server.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_sub_agents_are_judged_by_the_rules_and_answers_of_the_whole_session(
    script: Callable[..., Any], tmp_path: Path
) -> None:
    """The real equipment: a yes for the session that the person's agent got holds below it, and not for more."""
    child = tmp_path / "child.json"
    read = {"calls": [{"name": "read", "arguments": {"path": "a.txt"}}]}
    other = {"calls": [{"name": "write", "arguments": {"path": "b.txt", "content": "b"}}]}
    child.write_text(json.dumps([read, EDIT, other, {"text": "I wrote both"}]))
    (tmp_path / "home").mkdir()
    config = f'[models]\nsubagent = "scripted:{child}"\n'
    (tmp_path / "home" / "config.toml").write_text(config)
    asked: list[str] = []

    def approve(question: Question) -> Answer:
        asked.append(question.title)
        return Answer("allow_session")

    first = {"calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "old"}}]}
    delegate = {"calls": [{"name": "delegate", "arguments": {"task": "write it"}}]}
    options = script(first, delegate, {"text": "done"})
    with Agent(**options, approve=approve) as agent:
        result = agent.run_conversation("go")
    assert asked == ["create a.txt", "sub-agent “write it”: create b.txt"]
    assert (options["cwd"] / "a.txt").read_text() == "new\n"
    assert "and 3 tool calls" in str(result.messages)
