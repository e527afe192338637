"""The agent as a process, with our own strict client on its pipes: what only shows with real descriptors and a disk."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.e2e.acp_agent import agent, connected, edits, says
from tests.fakes import answers
from tests.fakes.acp_client import FILES, OURS, option_of, prompt_params, select
from tests.fakes.model_server import ModelServer

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

EDIT = edits("I change it.", "x = 1", "x = 2")


async def test_an_allowed_edit_is_on_the_disk_when_the_prompt_is_answered(tmp_path: Path) -> None:
    made = agent(tmp_path, EDIT, says("Done."))
    async with connected(made) as client:
        session = await client.new(str(made.workspace))
        result = await client.prompt(session, "make it two")

        assert result["stopReason"] == "end_turn"
        assert made.file.read_text() == "x = 2\n"
        assert client.text(session) == "I change it.Done."


async def test_a_client_with_nothing_but_a_prompt_takes_the_edit_back(tmp_path: Path) -> None:
    """`/undo`; a model that was asked would have nothing to say."""
    made = agent(tmp_path, EDIT, says("Done."))
    async with connected(made) as client:
        session = await client.new(str(made.workspace))
        await client.prompt(session, "make it two")
        result = await client.prompt(session, "/undo")

        assert result["stopReason"] == "end_turn"
        assert made.file.read_text() == "x = 1\n"
        assert "Taken back: `a.py`." in client.text(session)
        (told,) = client.updates(session, "available_commands_update")
        assert "undo" in [one["name"] for one in told["availableCommands"]]


async def test_a_rejected_edit_leaves_every_byte_and_time(tmp_path: Path) -> None:
    made = agent(tmp_path, EDIT, says("As you like."))
    made.file.chmod(0o640)
    before = made.file.stat()
    async with connected(
        made, answer=lambda client, message: select(option_of(message, "reject_once"))
    ) as client:
        session = await client.new(str(made.workspace))
        await client.prompt(session, "make it two")

    after = made.file.stat()
    assert made.file.read_text() == "x = 1\n"
    assert (after.st_mtime_ns, after.st_mode, after.st_ino) == (
        before.st_mtime_ns,
        before.st_mode,
        before.st_ino,
    )


async def test_unsaved_text_is_what_is_read_and_edited_and_the_disk_stays(tmp_path: Path) -> None:
    made = agent(
        tmp_path,
        {"text": "", "calls": [{"name": "read", "arguments": {"path": "a.py"}}]},
        edits("I change it.", "unsaved = 1", "unsaved = 2"),
        says("Done."),
    )
    path = str(made.file)
    async with connected(made, capabilities=FILES, files={path: "unsaved = 1\n"}) as client:
        session = await client.new(str(made.workspace))
        await client.prompt(session, "make it two")

        assert client.files[path] == "unsaved = 2\n"
        assert made.file.read_text() == "x = 1\n"
        read = client.updates(session, "tool_call_update")
        assert "unsaved = 1" in str(read)


async def test_a_client_that_lies_about_writing_is_caught(tmp_path: Path) -> None:
    made = agent(tmp_path, EDIT, says("Hm.", expect="(?i)not|fail|unchanged"))
    path = str(made.file)
    async with connected(
        made, capabilities=FILES, files={path: "x = 1\n"}, write=lambda client, message: None
    ) as client:
        session = await client.new(str(made.workspace))
        result = await client.prompt(session, "make it two")

        assert result["stopReason"] == "end_turn"
        assert client.text(session).endswith("Hm.")
        ends = [u["status"] for u in client.updates(session, "tool_call_update") if "status" in u]
        assert ends[-1] == "failed"
        assert made.file.read_text() == "x = 1\n"


async def test_a_cancelled_shell_command_and_its_children_are_gone(tmp_path: Path) -> None:
    command = "(while :; do touch alive; sleep 0.05; done) & echo started; wait"
    made = agent(
        tmp_path,
        {"text": "I run it.", "calls": [{"name": "shell", "arguments": {"command": command}}]},
        says("Back again."),
    )
    marker = made.workspace / "alive"
    async with connected(made) as client:
        session = await client.new(str(made.workspace))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        await client.until(lambda m: "started" in str(m.get("params", "")))
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.response(prompt))["stopReason"] == "cancelled"

        marker.unlink(missing_ok=True)
        assert (await client.prompt(session, "next"))["stopReason"] == "end_turn"
        assert not marker.exists()


async def test_a_session_outlives_its_process(tmp_path: Path) -> None:
    made = agent(tmp_path, EDIT, says("Done."), says("I remember."))
    async with connected(made) as client:
        session = await client.new(str(made.workspace))
        await client.prompt(session, "make it two")
    async with connected(made) as client:
        listed = await client.request("session/list", {"cwd": str(made.workspace)})
        assert [one["sessionId"] for one in listed["sessions"]] == [session]
        params = {"sessionId": session, "cwd": str(made.workspace), "mcpServers": []}
        await client.request("session/load", params)
        assert client.text(session) == "I change it.Done."
        await client.prompt(session, "and now?")
        assert client.text(session).endswith("I remember.")


async def test_the_end_of_input_in_the_middle_of_a_turn_ends_the_process(tmp_path: Path) -> None:
    made = agent(tmp_path, says("I think", hang=True))
    async with connected(made) as client:
        session = await client.new(str(made.workspace))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        await client.until(lambda m: "agent_message_chunk" in str(m))
    assert (await client.response(prompt))["stopReason"] == "cancelled"


async def test_one_of_two_hunks_is_accepted_and_only_it_is_written(tmp_path: Path) -> None:
    lines = "".join(f"line {number}\n" for number in range(20))
    changes = [
        {"old_text": "line 1\n", "new_text": "LINE 1\n"},
        {"old_text": "line 18\n", "new_text": "LINE 18\n"},
    ]
    call = {"name": "edit", "arguments": {"path": "a.py", "edits": changes}}
    made = agent(tmp_path, {"text": "Two places.", "calls": [call]}, says("Done."))
    made.file.write_text(lines)
    async with connected(made, capabilities=OURS) as client:
        session = await client.new(str(made.workspace))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        shown = await client.until(lambda m: m.get("method") == "_agent-server/edit/proposed")
        (file,) = shown["params"]["files"]
        first, second = (hunk["id"] for hunk in file["hunks"])
        decisions = [
            {"uri": file["uri"], "hunk": first, "verdict": "accept"},
            {"uri": file["uri"], "hunk": second, "verdict": "reject"},
        ]
        params = {"txn": shown["params"]["txn"], "revision": 1, "decisions": decisions}
        answer = await client.request("_agent-server/edit/resolve", params)
        assert answer["state"] == "approved"
        await client.response(prompt)

        assert made.file.read_text() == lines.replace("line 1\n", "LINE 1\n")
        states = client.of("_agent-server/edit/state")
        assert states[0]["state"] == "approved"
        assert states[-1]["state"] == "applied"
        assert [h["state"] for h in states[-1]["files"][0]["hunks"]] == ["applied", "rejected"]
        revisions = [state["revision"] for state in states]
        assert revisions == sorted(set(revisions))
        assert client.of("session/request_permission") == []


async def test_edits_that_need_no_question_are_shown_for_review(tmp_path: Path) -> None:
    made = agent(tmp_path, EDIT, says("Done."))
    async with connected(made, capabilities=OURS) as client:
        session = await client.new(str(made.workspace))
        mode = {"sessionId": session, "modeId": "accept_edits"}
        await client.request("session/set_mode", mode)
        await client.prompt(session, "go")

        (shown,) = client.of("_agent-server/edit/proposed")
        assert (shown["review"], shown["toolCallId"]) == ("applied", "call-1-0")
        assert made.file.read_text() == "x = 2\n"


async def test_a_model_over_http_streams_and_hears_of_a_cancel(tmp_path: Path) -> None:
    script = [answers.say("I think") + answers.hang(), answers.say("Back.")]
    async with ModelServer(script) as model:
        made = replace(agent(tmp_path), endpoint=model.base_url)
        async with connected(made) as client:
            session = await client.new(str(made.workspace))
            prompt = await client.ask("session/prompt", prompt_params(session, "go"))
            await client.until(lambda m: "agent_message_chunk" in str(m))
            await client.notify("session/cancel", {"sessionId": session})
            assert (await client.response(prompt))["stopReason"] == "cancelled"
            with anyio.fail_after(5):
                await model.exchanges[0].peer_closed.wait()

            await client.prompt(session, "again")
            assert client.text(session).endswith("Back.")
    assert model.refused == []
