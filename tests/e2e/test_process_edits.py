"""An edit that does not happen leaves every byte, mode and time; one that the editor holds never touches the disk."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import WIRES, Place, Wire, ends_of, running
from tests.fakes.acp_client import (
    FILES,
    NEVER,
    AcpClient,
    Message,
    Refused,
    option_of,
    prompt_params,
    select,
)
from tests.fakes.answers import Answer, call, call_fragments, hang, length, say
from tests.fakes.model_server import ModelServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(60),
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="descendants are found there"
    ),
]
both_wires = pytest.mark.parametrize("wire", WIRES)

TEXT = "x = 1\r\ny = 2\nz = 3"
"""Mixed line endings and no final newline: nothing may be tidied up."""
GOOD = say("Edit.") + call("edit", path="a.py", edits=[{"old_text": "y = 2", "new_text": "y = 3"}])
MISSED = say("Edit.") + call("edit", path="a.py", edits=[{"old_text": "y =  2", "new_text": ""}])
HALF_MISSED = call(
    "edit",
    path="a.py",
    edits=[{"old_text": "x = 1", "new_text": "x = 2"}, {"old_text": "gone", "new_text": ""}],
)
CUT = length('{"path": "a.py", "content": "# Title\\nfirst half', tool="write")


def guarded(place: Place) -> Callable[[], tuple[object, ...]]:
    """A file with peculiarities; everything about it that must stay, looked up at each call."""
    place.file.write_bytes(TEXT.encode())
    place.file.chmod(0o640)
    os.utime(place.file, (1_000_000_000, 1_000_000_001))

    def look() -> tuple[object, ...]:
        stat = place.file.stat()
        names = sorted(p.name for p in place.workspace.iterdir() if p.name != ".agent")
        return place.file.read_bytes(), stat.st_mode, stat.st_mtime_ns, stat.st_ino, names

    return look


def rejects(client: AcpClient, message: Message) -> Any:
    return select(option_of(message, "reject_once"))


def is_cancelled(client: AcpClient, message: Message) -> Any:
    return {"outcome": {"outcome": "cancelled"}}


def lies(client: AcpClient, message: Message) -> Any:
    return select("nobody-offered-this")


def fails(client: AcpClient, message: Message) -> Any:
    raise Refused({"code": -32603, "message": "the editor broke"})


def says_null(client: AcpClient, message: Message) -> Any:
    return None


@both_wires
@pytest.mark.parametrize(
    ("answer", "stop"),
    [
        (rejects, "end_turn"),
        (is_cancelled, "cancelled"),
        (lies, "end_turn"),
        (fails, "end_turn"),
        (says_null, "end_turn"),
    ],
)
async def test_whatever_is_not_a_yes_changes_nothing(
    wire: Wire, answer: Callable[[AcpClient, Message], Any], stop: str, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    look = guarded(place)
    before = look()
    async with (
        ModelServer([GOOD, say("again"), say("again")]) as model,
        running(place, wire, model=model, answer=answer) as server,
    ):
        session = await server.client.new(str(place.workspace))
        result = await server.client.prompt(session, "go")

        assert result["stopReason"] == stop
        assert look() == before
        await server.client.prompt(session, "next")
        told = [m["content"] for m in model.bodies[-1]["messages"] if m["role"] == "tool"]
        assert any(word in told[0] for word in ("rejected", "not run", "denied"))
        assert model.refused == []


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([MISSED], "not in the file"),
        ([HALF_MISSED], "not in the file"),
        ([CUT, CUT, CUT], "cut"),
    ],
    ids=["missed", "half missed", "cut again and again"],
)
async def test_an_edit_that_fails_changes_nothing_and_the_model_hears_why(
    answers: list[Answer], why: str, tmp_path: Path
) -> None:
    """ED-13, ST-06."""
    place = Place.at(tmp_path)
    look = guarded(place)
    before = look()
    async with (
        ModelServer([*answers, say("again")]) as model,
        running(place, model=model) as server,
    ):
        session = await server.client.new(str(place.workspace))
        await server.client.prompt(session, "go")

        assert look() == before
        assert server.client.of("session/request_permission") == []
        assert why in str(model.bodies[-1]["messages"])
        assert model.refused == []


@pytest.mark.parametrize(("label", "retries"), [("length", 2), ("stop", 0), ("tool_calls", 0)])
async def test_a_call_that_is_cut_inside_a_string_is_not_run_whatever_its_label(
    label: str, retries: int, tmp_path: Path
) -> None:
    """ST-06: nothing is written, two tries at most, and one result that says to send less."""
    place = Place.at(tmp_path)
    look = guarded(place)
    before = look()
    half = '{"path": "a.py", "content": "# Title\\nfirst half'
    cut = call_fragments(
        [{"index": 0, "id": "c1", "name": "write", "arguments": half}], finish=label
    )
    async with (
        ModelServer([*[cut] * (retries + 1), say("I will send less")]) as model,
        running(place, model=model) as server,
    ):
        session = await server.client.new(str(place.workspace))
        await server.client.prompt(session, "go")

        assert look() == before
        assert server.client.of("session/request_permission") == []
        assert len(model.bodies) == retries + 2
        (told,) = [m["content"] for m in model.bodies[-1]["messages"] if m["role"] == "tool"]
        assert re.search(r"cut.*send less at once", told)
        caps = [body.get("max_completion_tokens", body.get("max_tokens")) for body in model.bodies]
        assert caps == [None, *[16_384, 32_768][:retries], None]
        assert model.refused == []


@both_wires
async def test_a_cancel_while_the_arguments_of_a_write_stream_changes_nothing(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    look = guarded(place)
    before = look()
    begun = call_fragments(
        [{"index": 0, "id": "c1", "name": "write", "arguments": '{"path": "a.py",'}]
    )
    async with (
        ModelServer([begun + hang(), say("again")]) as model,
        running(place, wire, model=model) as server,
    ):
        client = server.client
        session = await client.new(str(place.workspace))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        await client.until(lambda m: "tool_call" in str(m))
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.response(prompt))["stopReason"] == "cancelled"
        assert look() == before
        ends = [u.get("status") for u in client.updates(session, "tool_call_update")]
        assert ends[-1] == "failed"
        await client.prompt(session, "next")
        assert model.refused == []


@both_wires
async def test_a_cancel_while_an_edit_waits_for_its_answer_changes_nothing_ever(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    look = guarded(place)
    before = look()
    async with (
        ModelServer([GOOD, say("again")]) as model,
        running(place, wire, model=model, answer=lambda c, m: NEVER) as server,
    ):
        client = server.client
        session = await client.new(str(place.workspace))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        question = await client.until(lambda m: m.get("method") == "session/request_permission")
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.response(prompt))["stopReason"] == "cancelled"
        yes = select(question["params"]["options"][0]["optionId"])
        await client.tell({"id": question["id"], "result": yes})
        await client.prompt(session, "next")

        assert look() == before
        assert len(ends_of(client, prompt)) == 1
        assert model.refused == []


@both_wires
async def test_of_three_calls_the_rejected_one_is_denied_and_the_others_run(
    wire: Wire, tmp_path: Path
) -> None:
    """CP-09, ED-27."""
    place = Place.at(tmp_path)
    batch = (
        call("shell", command="touch one")
        + call("edit", path="a.py", edits=[{"old_text": "x = 1", "new_text": "x = 2"}])
        + call("shell", command="touch three")
    )
    kinds = iter(("allow_once", "reject_once", "allow_once"))
    async with (
        ModelServer([batch, say("again")]) as model,
        running(
            place, wire, model=model, answer=lambda c, m: select(option_of(m, next(kinds)))
        ) as server,
    ):
        session = await server.client.new(str(place.workspace))
        await server.client.prompt(session, "go")

        assert sorted(p.name for p in place.workspace.glob("[!.]*")) == ["a.py", "one", "three"]
        assert place.file.read_text() == "x = 1\n"
        told = [m["content"] for m in model.bodies[-1]["messages"] if m["role"] == "tool"]
        assert len(told) == 3
        assert "rejected" in told[1]
        last = {u["toolCallId"]: u for u in server.client.updates(session, "tool_call_update")}
        assert last["call-1-1"]["status"] == "failed"
        assert model.refused == []


async def test_of_three_calls_a_cancelled_question_stops_the_rest(tmp_path: Path) -> None:
    """CP-09, second run."""
    place = Place.at(tmp_path)
    batch = (
        call("shell", command="touch one")
        + call("shell", command="touch two")
        + call("shell", command="touch three")
    )
    answers = iter((select("o1"), {"outcome": {"outcome": "cancelled"}}))
    async with (
        ModelServer([batch, say("again")]) as model,
        running(place, model=model, answer=lambda c, m: next(answers)) as server,
    ):
        session = await server.client.new(str(place.workspace))
        result = await server.client.prompt(session, "go")
        assert result["stopReason"] == "cancelled"
        await server.client.prompt(session, "next")

        assert sorted(p.name for p in place.workspace.glob("[!.]*")) == ["a.py", "one"]
        assert len([m for m in model.bodies[-1]["messages"] if m["role"] == "tool"]) == 3
        assert model.refused == []


async def test_a_stale_yes_of_the_editor_is_not_believed_and_the_disk_stays(tmp_path: Path) -> None:
    """The buffer is the truth: `write_text_file` answered, and nothing was written."""
    place = Place.at(tmp_path)
    look = guarded(place)
    before = look()
    path = str(place.file)
    unsaved = "x = 1\ny = 2\nunsaved = 1\n"
    async with (
        ModelServer([GOOD, say("again")]) as model,
        running(
            place, model=model, capabilities=FILES, files={path: unsaved}, write=lambda c, m: None
        ) as server,
    ):
        session = await server.client.new(str(place.workspace))
        await server.client.prompt(session, "go")

        assert look() == before
        assert server.client.files[path] == unsaved
        ends = [
            u["status"] for u in server.client.updates(session, "tool_call_update") if "status" in u
        ]
        assert ends[-1] == "failed"
        assert model.refused == []


@pytest.mark.parametrize(
    "answer", [{"applied": False, "failureReason": "version"}, {"applied": True}, None]
)
async def test_an_applied_edit_that_the_buffer_does_not_show_is_no_success_over_lsp(
    answer: Any, tmp_path: Path
) -> None:
    """ED-17, ED-18."""
    place = Place.at(tmp_path)
    look = guarded(place)
    before = look()
    stock = {"workspace": {"applyEdit": True}}
    async with (
        ModelServer([GOOD, say("again")]) as model,
        running(place, "lsp", model=model, capabilities=stock) as server,
    ):
        client = server.client
        _answers(client, "workspace/applyEdit", answer)
        document = {"uri": place.file.as_uri(), "languageId": "python", "version": 7}
        opened = {"textDocument": {**document, "text": "x = 1\ny = 2\nunsaved = 1\n"}}
        await client.notify("textDocument/didOpen", opened)
        session = await client.new(str(place.workspace))
        await client.prompt(session, "go")

        assert look() == before
        assert client.of("workspace/applyEdit")
        ends = [u["status"] for u in client.updates(session, "tool_call_update") if "status" in u]
        assert ends[-1] == "failed"
        told = [m["content"] for m in model.bodies[-1]["messages"] if m["role"] == "tool"]
        assert not told[0].startswith("ok")
        assert model.refused == []


def _answers(client: AcpClient, method: str, answer: Any) -> None:
    """Give this answer to a method that ACP does not know."""
    usual = client._result

    def result(message: Message) -> Any:
        return answer if message["method"] == method else usual(message)

    client._result = result


async def test_an_edit_in_an_additional_folder_needs_no_other_question_than_one_in_the_workspace(
    tmp_path: Path,
) -> None:
    """PR-14."""
    place = Place.at(tmp_path)
    other = place.root / "other"
    other.mkdir()
    file = other / "b.py"
    file.write_text("y = 1\n")
    script = [
        call("read", path=str(file)) + call("search", pattern="y =", path=str(other)),
        call("edit", path=str(file), edits=[{"old_text": "y = 1", "new_text": "y = 2"}]),
        say("again"),
        call("read", path=str(file)),
        say("again"),
    ]
    roots = [str(other), str(place.root / "missing"), str(place.workspace)]
    notices = {"session": {"notices": {}}}
    async with ModelServer(script) as model:
        async with running(place, model=model, capabilities=notices) as server:
            client = server.client
            session = await client.new(str(place.workspace), additionalDirectories=roots)
            await client.prompt(session, "go")
            [question] = client.of("session/request_permission")
            assert "outside" not in str(question)
            assert file.read_text() == "y = 2\n"
            assert "missing" in str(client.updates(session, "notice"))
        async with running(place, model=model) as server:
            await server.client.request(
                "session/load",
                {
                    "sessionId": session,
                    "cwd": str(place.workspace),
                    "additionalDirectories": roots,
                    "mcpServers": [],
                },
            )
            await server.client.prompt(session, "go")
            assert server.client.of("session/request_permission") == []
        assert model.refused == []
