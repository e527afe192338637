"""Whole conversations over LSP, in memory, with the real tools; each of our messages is judged by the schema."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.edits.hashes import content_hash
from agent_server.edits.text.positions import PositionEncoding
from tests.fakes.edits import asking
from tests.fakes.loop import Say
from tests.front.lsp.lsp_client import NEVER, PLUGIN, LspClient, Message, Refused, prompt_params
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio

OLD = "one\ntwo\nthree\nfour\n"
NEW = "ONE\ntwo\nthree\nFOUR\n"
EDIT = Say(
    "I edit.",
    (
        (
            "edit",
            json.dumps(
                {
                    "path": "a.py",
                    "edits": [
                        {"old_text": "one", "new_text": "ONE"},
                        {"old_text": "four", "new_text": "FOUR"},
                    ],
                }
            ),
        ),
    ),
)
DONE = Say("All done.")
ACCEPT, REJECT = {"verdict": "accept"}, {"verdict": "reject"}


def without(*names: str) -> dict[str, Any]:
    """A client with the plugin that does not declare these."""
    own = {k: v for k, v in PLUGIN["experimental"]["agent"].items() if k not in names}
    return {**PLUGIN, "experimental": {"agent": own}}


def file(world: World, text: str = OLD) -> Path:
    path = world.root / "a.py"
    path.write_text(text, encoding="utf-8")
    return path


def told(world: World) -> str:
    """What the model was told of its last call."""
    message = world.equipment.script.requests[-1].messages[-1]
    return getattr(message, "text", "")


@pytest.mark.row("R138", "R150")
async def test_a_prompt_streams_numbered_updates_and_ends(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hello there")) as world:
        session = await world.client.new(world.root)
        result = await world.client.prompt(session, "hi")

    sent = world.client.of("agent/session/update")
    assert world.client.text() == "hello there "
    assert [u["seq"] for u in sent] == list(range(1, len(sent) + 1))
    own = result["_meta"]["agent-server"]
    assert (result["stopReason"], own["reason"]) == ("end_turn", "model_stop")
    chunks = [u for u in sent if u["update"]["sessionUpdate"] == "agent_message_chunk"]
    assert {u["turnId"] for u in chunks} == {own["turnId"]}
    states = [s["state"] for s in world.client.of("agent/status")]
    assert (states[0], states[-1]) == ("done", "done")
    assert "streaming" in states


async def test_a_proposal_is_decided_hunk_by_hunk_and_only_then_applied(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        client, path = world.client, file(world)
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        proposed = await client.hears("agent/edit/proposed")
        [change] = proposed["files"]
        first, second = change["hunks"]
        uri = change["uri"]

        half = await client.resolve(proposed, {"uri": uri, "hunk": first["id"], **ACCEPT})
        assert (half["state"], path.read_text()) == ("proposed", OLD)
        proposed["revision"] = half["revision"]
        whole = await client.resolve(proposed, {"uri": uri, "hunk": second["id"], **REJECT})

        assert whole["state"] == "approved"
        assert (await client.response(turn))["stopReason"] == "end_turn"
        assert path.read_text() == "ONE\ntwo\nthree\nfour\n"
        assert client.of("agent/session/request_permission") == []
        assert client.of("agent/edit/state")[-1]["state"] == "applied"
        assert "FOUR" not in told(world).split("+")[1]


async def test_a_rejected_edit_leaves_every_byte_and_the_reason_reaches_the_model(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        client, path = world.client, file(world)
        before = path.stat()
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        proposed = await client.hears("agent/edit/proposed")
        await client.resolve(proposed, REJECT, feedback="use tabs")
        await client.response(turn)

        after = path.stat()
        assert (path.read_text(), after.st_mtime_ns, after.st_mode) == (
            OLD,
            before.st_mtime_ns,
            before.st_mode,
        )
        assert "use tabs" in told(world)


async def test_a_loaded_conversation_says_what_the_person_refused(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        client, _ = world.client, file(world)
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        await client.resolve(await client.hears("agent/edit/proposed"), REJECT)
        await client.response(turn)
        before = len(client.of("agent/session/update"))
        place = {"sessionId": session, "uri": world.root.as_uri(), "mcpServers": []}
        await client.request("agent/session/load", place)

        shown = [u["update"] for u in client.of("agent/session/update")[before:]]
        [call] = [u for u in shown if u["sessionUpdate"] == "tool_call"]
        assert (call["status"], call["_meta"]["agent-server"]["code"]) == ("failed", "denied")


async def test_a_decision_on_an_old_revision_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        client, _ = world.client, file(world)
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        proposed = await client.hears("agent/edit/proposed")
        with pytest.raises(Refused) as refused:
            await client.resolve({**proposed, "revision": proposed["revision"] + 1}, ACCEPT)
        assert (refused.value.code, (refused.value.data or {})["reason"]) == (
            -32801,
            "stale_revision",
        )
        await client.resolve(proposed, ACCEPT)
        await client.response(turn)
        with pytest.raises(Refused) as refused:
            await client.resolve(proposed, ACCEPT)
        assert (refused.value.data or {})["reason"] == "already_decided"


async def test_an_open_document_is_edited_in_the_editor_and_not_on_disk(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        client, path = world.client, file(world, "old on disk\n")
        uri = await client.open(path, OLD, version=3)
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        proposed = await client.hears("agent/edit/proposed")
        assert (proposed["files"][0]["baseVersion"], proposed["files"][0]["baseText"]) == (3, OLD)
        await client.resolve(proposed, ACCEPT)
        await client.response(turn)

        [asked] = client.of("agent/edit/apply")
        assert (asked["sessionId"], asked["version"]) == (session, 3)
        assert (client.buffers[uri], path.read_text()) == ((4, NEW), "old on disk\n")
        assert [s["state"] for s in client.of("agent/edit/state")][-1] == "applied"


async def test_what_an_edit_left_is_told_with_hash_and_version(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE) as world:
        client, path = world.client, file(world)
        await client.open(path, OLD, version=3)
        await client.prompt(await client.new(world.root), "go")

        [first, *_, last] = client.of("agent/edit/state")
        [file_now] = last["files"]
        assert (last["state"], file_now["version"], file_now["hash"]) == (
            "applied",
            4,
            content_hash(NEW),
        )
        assert (first["state"], first["files"][0]["hash"]) == ("applying", None)


async def test_what_an_edit_left_on_disk_has_a_hash_and_no_version(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE) as world:
        file(world)
        await world.client.prompt(await world.client.new(world.root), "go")

        [file_now] = world.client.of("agent/edit/state")[-1]["files"]
        assert (file_now["version"], file_now["hash"]) == (None, content_hash(NEW))


async def test_what_was_taken_back_has_the_hash_of_what_it_was(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE) as world:
        client, _ = world.client, file(world)
        await client.prompt(await client.new(world.root), "go")
        last = client.of("agent/edit/state")[-1]
        wanted = {"txn": last["txn"], "revision": last["revision"]}
        back = await client.request("agent/edit/revert", wanted)

        told = {one["txn"]: one for one in client.of("agent/edit/state")}
        assert told[back["txn"]]["files"][0]["hash"] == content_hash(OLD)
        assert (told[last["txn"]]["state"], told[last["txn"]]["files"][0]["hash"]) == (
            "reverted",
            None,
        )


async def test_a_proposal_is_fetched_again_after_a_decision_that_came_too_late(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        client, path = world.client, file(world)
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        proposed = await client.hears("agent/edit/proposed")
        [change] = proposed["files"]
        first, second = ({"uri": change["uri"], "hunk": h["id"]} for h in change["hunks"])
        await client.resolve(proposed, {**first, **REJECT})
        with pytest.raises(Refused):
            await client.resolve(proposed, {**second, **ACCEPT})
        again = await client.request("agent/edit/get", {"txn": proposed["txn"]})

        assert again == {**proposed, "revision": proposed["revision"] + 1}
        await client.resolve(again, {**second, **ACCEPT})
        await client.response(turn)
        assert path.read_text() == "one\ntwo\nthree\nFOUR\n"


@pytest.mark.parametrize("txn", ["x-nobody-knows", ""])
async def test_an_unknown_proposal_cannot_be_fetched(tmp_path: Path, txn: str) -> None:
    async with served(tmp_path) as world:
        with pytest.raises(Refused) as refused:
            await world.client.request("agent/edit/get", {"txn": txn})
        assert (refused.value.data or {})["reason"] == "unknown_txn"


async def test_a_stale_applied_true_is_caught_and_the_model_hears_of_it(tmp_path: Path) -> None:
    typed = "ONE typed over\ntwo\nthree\nfour\n"

    async def dropped(client: LspClient, message: Message) -> Any:
        [change] = message["params"]["edit"]["documentChanges"]
        if client.buffers[change["textDocument"]["uri"]][1] != typed:
            await client.type(change["textDocument"]["uri"], typed)
        return {"applied": True}

    capabilities = without("edit")
    answers = {"workspace/applyEdit": dropped}
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=capabilities, answers=answers
    ) as world:
        client, path = world.client, file(world)
        uri = await client.open(path, OLD)
        session = await client.new(world.root)
        result = await client.prompt(session, "go")

        assert result["stopReason"] == "end_turn"
        assert (client.buffers[uri][1], path.read_text()) == (typed, OLD)
        [request] = client.of("agent/session/request_permission")
        assert request["toolCall"]["kind"] == "edit"
        calls = [u["update"] for u in client.of("agent/session/update")]
        assert [u["status"] for u in calls if u.get("status")][-1] == "failed"


async def test_an_edit_the_person_changed_while_it_was_open_is_rebased(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        client, path = world.client, file(world)
        uri = await client.open(path, OLD)
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        proposed = await client.hears("agent/edit/proposed")
        await client.type(uri, "one\ntwo\nmine\nthree\nfour\n".replace("two\n", "two\nmy\n"))
        await client.resolve(proposed, ACCEPT)
        await client.response(turn)

        assert client.buffers[uri][1] == "ONE\ntwo\nmy\nmine\nthree\nFOUR\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_astral_characters_do_not_move_an_edit(
    tmp_path: Path, encoding: PositionEncoding
) -> None:
    arguments = {"path": "a.py", "edits": [{"old_text": "old", "new_text": "new"}]}
    step = Say("", (("edit", json.dumps(arguments)),))
    text = 'x = "𐐀"\ns = "😋😋"  # old'
    async with served(
        tmp_path, step, DONE, policy=asking("edit"), capabilities=without("edit"), encoding=encoding
    ) as world:
        uri = await world.client.open(file(world, text), text)
        await world.client.prompt(await world.client.new(world.root), "go")

        assert world.client.buffers[uri][1] == 'x = "𐐀"\ns = "😋😋"  # new'


@pytest.mark.parametrize("how", ["notification", "request"])
@pytest.mark.row("R36", "R135")
async def test_cancelling_answers_the_prompt_once_and_the_next_one_works(
    tmp_path: Path, how: str
) -> None:
    async with served(tmp_path, Say("never", hang=True), Say("again")) as world:
        client = world.client
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        await client.until(lambda m: "agent_message_chunk" in str(m))
        if how == "notification":
            await client.notify("agent/session/cancel", {"sessionId": session})
        else:
            await client.notify("$/cancelRequest", {"id": turn})

        result = await client.response(turn)
        assert result["stopReason"] == "cancelled"
        assert (await client.prompt(session, "more"))["stopReason"] == "end_turn"
        assert len([m for m in client.received if m.get("id") == turn and "method" not in m]) == 1


async def test_cancelling_an_open_proposal_rejects_it(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        client, path = world.client, file(world)
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        await client.hears("agent/edit/proposed")
        await client.notify("agent/session/cancel", {"sessionId": session})

        assert (await client.response(turn))["stopReason"] == "cancelled"
        assert (client.of("agent/edit/state")[-1]["state"], path.read_text()) == ("rejected", OLD)


@pytest.mark.parametrize(
    "answer", [None, {}, {"outcome": {"outcome": "selected", "optionId": "?"}}]
)
async def test_an_answer_that_is_no_clear_yes_is_no(tmp_path: Path, answer: Any) -> None:
    answers = {"agent/session/request_permission": lambda *_: answer}
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=without("edit"), answers=answers
    ) as world:
        path = file(world)
        await world.client.prompt(await world.client.new(world.root), "go")

        assert path.read_text() == OLD


async def test_one_session_waits_for_its_person_while_another_works(tmp_path: Path) -> None:
    answers = {"agent/session/request_permission": lambda *_: NEVER}
    async with served(
        tmp_path,
        EDIT,
        Say("b"),
        policy=asking("edit"),
        capabilities=without("edit"),
        answers=answers,
    ) as world:
        client, _ = world.client, file(world)
        waiting = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(waiting, "go"))
        await client.hears("agent/session/request_permission")

        working = await client.new(world.root)
        assert (await client.prompt(working, "go"))["stopReason"] == "end_turn"
        await client.notify("agent/session/cancel", {"sessionId": waiting})
        assert (await client.response(turn))["stopReason"] == "cancelled"
        withdrawn = await client.hears("$/cancelRequest")
        asked = next(
            m for m in client.received if m.get("method") == "agent/session/request_permission"
        )
        assert withdrawn["id"] == asked["id"]


@pytest.mark.row("R34")
async def test_a_client_that_stops_reading_holds_up_nobody_and_misses_nothing(
    tmp_path: Path,
) -> None:
    words = " ".join(str(n) for n in range(500))
    async with served(tmp_path, Say(words)) as world:
        session = await world.client.new(world.root)
        world.from_server.stall()
        turn = await world.client.ask("agent/session/prompt", prompt_params(session, "go"))
        while len(world.equipment.script.steps):
            await anyio.lowlevel.checkpoint()
        world.from_server.resume()

        assert (await world.client.response(turn))["stopReason"] == "end_turn"
        assert world.client.text().split() == words.split()


async def test_a_loaded_session_is_replayed(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hello")) as world:
        session = await world.client.new(world.root)
        await world.client.prompt(session, "hi")
    async with served(tmp_path, Say("more")) as world:
        params = {"sessionId": session, "uri": world.root.as_uri(), "mcpServers": []}
        await world.client.request("agent/session/load", params)

        assert world.client.text().strip() == "hello"
        assert {u["turnId"] for u in world.client.of("agent/session/update")} == {None}


@pytest.mark.parametrize(("command", "text"), [("acceptAll", NEW), ("rejectAll", OLD)])
async def test_a_command_decides_every_open_proposal(
    tmp_path: Path, command: str, text: str
) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        client, path = world.client, file(world)
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        await client.hears("agent/edit/proposed")
        await client.command(f"agent.{command}")
        await client.response(turn)

        assert path.read_text() == text
