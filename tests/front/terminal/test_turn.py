# ruff: noqa: RUF001 - what the screen is drawn with
"""Whole turns: a scripted server on one side, a typing person on the other, a pipe as the screen."""

import os
import signal
from collections.abc import Awaitable, Callable, Mapping

import pytest
from inline_snapshot import snapshot

from agent_server.edits.text.hunks import hunks
from agent_server.front.terminal.inbound import TurnEnd
from agent_server.front.terminal.input import CTRL_C
from agent_server.front.terminal.link import linked
from agent_server.front.terminal.page import Page
from agent_server.front.terminal.person import Automatic, Person
from agent_server.front.terminal.turn import Header, Quit, ServerGone, TurnRun
from agent_server.loop.proposal import FileChange
from tests.front.terminal.fakes import (
    CANCELLED,
    END,
    FakeKeyboard,
    FakeServer,
    a_change,
    plain_screen,
)

Script = Callable[[FakeServer], Awaitable[Mapping[str, object]]]


def play(
    script: Script,
    *,
    keys: str = "",
    lines: list[str | type[KeyboardInterrupt] | None] | None = None,
    automatic: Automatic | None = None,
) -> tuple[FakeServer, TurnEnd, str]:
    """Run one turn; the server, the end, and what is on the page."""
    server = FakeServer(script)
    screen, out = plain_screen()
    with linked(server.connect) as link:
        keyboard = FakeKeyboard(list(keys), list(lines or []))
        page = Page(screen, clock=lambda: 0.0)
        person = Person(page, keyboard, automatic, link.inbox.withdrawn, "/w")
        end = TurnRun(link, person, "s1", Header("ask", "demo")).run("hi")
    return server, end, out.getvalue()


async def edits(server: FakeServer) -> Mapping[str, object]:
    server.update("tool_call", toolCallId="c1", title="edit a.py", kind="edit", status="pending")
    server.propose(a_change())
    await server.decided.wait()
    return END


def verdicts(server: FakeServer) -> list[tuple[object, object]]:
    (params,) = server.resolved
    decisions = params["decisions"]
    assert isinstance(decisions, list)
    return [(d["hunk"] is not None, d["verdict"]) for d in decisions]


def test_a_turn_is_a_page_on_a_pipe() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        server.status("thinking", "Thinking")
        server.say("I'll **look**.\n\nThen")
        server.say(" I read.")
        server.update("tool_call", toolCallId="c1", title="read a.py", kind="read")
        server.update(
            "tool_call_update",
            toolCallId="c1",
            status="completed",
            _meta={"agent-server": {"summary": "118 lines"}},
        )
        server.say("Done.", "m2")
        return END

    _, end, page = play(script)
    assert end.stop_reason == "end_turn"
    assert page == snapshot("""\
I'll **look**.

Then I read.

  ✓ read a.py (118 lines)

Done.

  1.2k tokens · 0.0 s
""")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("y", [(False, "accept")]),
        ("n", [(False, "reject")]),
        ("hyn", [(True, "accept"), (True, "reject")]),
        ("hyy", [(False, "accept")]),
        ("hnn", [(False, "reject")]),
        ("hd", [(False, "reject")]),
        ("ha", [(False, "accept")]),
        ("q\x1b?Y", [(False, "accept")]),
    ],
)
def test_keys_decide_an_edit(keys: str, expected: list[tuple[object, object]]) -> None:
    server, _, _ = play(edits, keys=keys)
    assert verdicts(server) == expected


def test_always_is_remembered_for_the_session() -> None:
    server, _, _ = play(edits, keys="a")
    assert (verdicts(server), server.resolved[0]["remember"]) == ([(False, "accept")], "session")


def test_always_is_not_offered_where_a_yes_reaches_no_further_than_once() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        server.propose(a_change(), scopes=("once",))
        await server.decided.wait()
        return END

    server, _, _ = play(script, keys="ay")
    assert server.resolved[0]["remember"] == "once"


def test_a_no_may_carry_words() -> None:
    server, _, _ = play(edits, keys="r", lines=["use tabs"])
    assert (verdicts(server), server.resolved[0]["feedback"]) == ([(False, "reject")], "use tabs")


def test_each_file_of_an_edit_is_decided_alone() -> None:
    second = FileChange("/w/b.py", "edit", "x\n", "y\n", hunks("x\n", "y\n"))

    async def script(server: FakeServer) -> Mapping[str, object]:
        server.propose(a_change(), second)
        await server.decided.wait()
        return END

    server, _, page = play(script, keys="yn")
    decisions = server.resolved[0]["decisions"]
    assert isinstance(decisions, list)
    assert [(d["uri"], d["verdict"]) for d in decisions] == [
        ("file:///w/a.py", "accept"),
        ("file:///w/b.py", "reject"),
    ]
    assert "1 of 2" in page
    assert "2 of 2" in page


def test_what_the_editor_leaves_is_shown_and_applied(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    script = tmp_path_factory.mktemp("bin") / "ed"
    script.write_text('#!/bin/sh\nprintf "mine\\n" > "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))
    server, _, page = play(edits, keys="ey")
    decisions = server.resolved[0]["decisions"]
    assert isinstance(decisions, list)
    assert [(d["verdict"], d["editedText"]) for d in decisions] == [("accept", "mine\n")]
    assert "+  mine" in page


def test_an_editor_that_fails_goes_back_to_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "false")
    server, _, _ = play(edits, keys="en")
    assert verdicts(server) == [(False, "reject")]


def test_yes_accepts_an_edit_and_shows_it() -> None:
    server, _, page = play(edits, automatic="yes")
    assert verdicts(server) == [(False, "accept")]
    assert page == snapshot("""\
  a.py  +2 −2
    1 −  a
    1 +  A
    2    b
    3    c
    4    d
    5 −  e
    5 +  E
  apply? yes (--yes)

  1.2k tokens · 0.0 s
""")


def test_yes_never_answers_the_floor_and_says_so() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        server.propose(a_change(), scopes=("once",))
        await server.decided.wait()
        return END

    server, _, page = play(script, automatic="yes")
    assert verdicts(server) == [(False, "reject")]
    assert "apply? no (--yes never answers a question of the safety floor)" in page


def test_an_applied_edit_is_shown_without_a_question() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        server.propose(a_change(), review="applied")
        return END

    server, _, page = play(script)
    assert server.resolved == []
    assert "a.py  +2 −2" in page


def test_an_edit_rejected_elsewhere_is_not_waited_for() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        server.propose(a_change())
        server.edit_state("rejected")
        return END

    server, end, _ = play(script)
    assert (server.resolved, end.stop_reason) == ([], "end_turn")


async def asks(server: FakeServer) -> Mapping[str, object]:
    answer = await server.permission()
    server.say(f"{answer}")
    return END


@pytest.mark.parametrize(
    ("keys", "option"), [("y", "o1"), ("s", "o2"), ("n", "o4"), ("w\rn", "o4")]
)
def test_keys_answer_a_question(keys: str, option: str) -> None:
    _, _, page = play(asks, keys=keys)
    assert f"'optionId': '{option}'" in page


def test_a_no_to_a_command_may_carry_words() -> None:
    _, _, page = play(asks, keys="r", lines=["not today"])
    assert "'optionId': 'o4'" in page
    assert "not today" in page


@pytest.mark.parametrize(("automatic", "option"), [("yes", "o1"), ("no", "o4")])
def test_an_option_answers_a_question_once(automatic: Automatic, option: str) -> None:
    _, _, page = play(asks, automatic=automatic)
    assert f"? shell npm publish: {automatic} (--{automatic})" in page
    assert f"'optionId': '{option}'" in page


def test_yes_answers_no_to_a_command_on_the_floor_and_says_so() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        server.say(f"{await server.permission(floor=True)}")
        return END

    _, _, page = play(script, automatic="yes")
    assert "no (--yes never answers a question of the safety floor)" in page
    assert "'optionId': 'o4'" in page


def test_ctrl_c_at_a_question_cancels_it_and_the_turn() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        answer = await server.permission()
        await server.cancelled.wait()
        server.say(f"{answer}")
        return CANCELLED

    _, end, page = play(script, keys=CTRL_C)
    assert end.stop_reason == "cancelled"
    assert "{'outcome': {'outcome': 'cancelled'}}" in page
    assert "cancelled · 0.0 s" in page


def test_ctrl_c_at_an_edit_decides_nothing() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        server.propose(a_change())
        await server.cancelled.wait()
        server.edit_state("rejected")
        return CANCELLED

    server, end, _ = play(script, keys=CTRL_C)
    assert (server.resolved, end.stop_reason) == ([], "cancelled")


def test_ctrl_c_while_the_model_works_cancels_the_turn() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        os.kill(os.getpid(), signal.SIGINT)
        await server.cancelled.wait()
        return CANCELLED

    _, end, _ = play(script)
    assert end.stop_reason == "cancelled"


def test_a_question_that_comes_after_the_cancellation_is_not_put_to_the_person() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        os.kill(os.getpid(), signal.SIGINT)
        await server.cancelled.wait()
        server.propose(a_change())
        server.say(f"{await server.permission()}")
        return CANCELLED

    server, _, page = play(script, keys="yy")
    assert server.resolved == []
    assert "{'outcome': {'outcome': 'cancelled'}}" in page


def test_ctrl_c_twice_leaves_a_turn_that_does_not_end() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        os.kill(os.getpid(), signal.SIGINT)
        await server.cancelled.wait()
        os.kill(os.getpid(), signal.SIGINT)
        await server.decided.wait()
        return END

    with pytest.raises(Quit):
        play(script)


def test_the_death_of_the_server_ends_the_turn() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        server.connection.outbound.close()
        return END

    with pytest.raises(ServerGone):
        play(script)


def test_a_long_diff_is_cut_to_the_screen_and_paged_on_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PAGER", "cat")
    long = a_change("", "".join(f"line {n}\n" for n in range(100)))

    async def script(server: FakeServer) -> Mapping[str, object]:
        server.propose(long)
        await server.decided.wait()
        return END

    server, _, page = play(script, keys="vy")
    assert "⋯ 84 more lines: v shows them" in page
    assert verdicts(server) == [(False, "accept")]


def test_a_new_file_cannot_be_taken_in_part() -> None:
    created = FileChange("/w/new.py", "create", None, "a\nb\n", hunks("", "a\nb\n"))

    async def script(server: FakeServer) -> Mapping[str, object]:
        server.propose(created)
        await server.decided.wait()
        return END

    server, _, page = play(script, keys="hn")
    assert verdicts(server) == [(False, "reject")]
    assert "new.py new  +2 −0" in page


def test_ctrl_c_instead_of_words_cancels_the_turn() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        server.propose(a_change())
        await server.cancelled.wait()
        return CANCELLED

    server, end, _ = play(script, keys="r", lines=[KeyboardInterrupt])
    assert (server.resolved, end.stop_reason) == ([], "cancelled")


def test_a_question_of_a_turn_that_is_over_is_not_waited_for() -> None:
    async def script(server: FakeServer) -> Mapping[str, object]:
        server.propose(a_change())
        return END

    server, end, _ = play(script)
    assert (server.resolved, end.stop_reason) == ([], "end_turn")
