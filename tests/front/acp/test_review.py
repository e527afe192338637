"""Reviewing proposals over `_agent-server/edit/*`: hunk by hunk, and never a permission request beside it."""

from pathlib import Path
from typing import Any

import pytest

from agent_server.loop.model import JsonObject, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import FileChange, Hunk, Resolution
from tests.fakes.acp_client import OURS, Refused, prompt_params
from tests.fakes.edits import asking, edit_tool, proposal
from tests.fakes.front import World, served
from tests.fakes.loop import FakeTool, Say

pytestmark = pytest.mark.anyio

EDIT = Say("I edit.", (("edit", "{}"),))
URI = "file:///w/a.py"


class Watching(FakeTool):
    """The edit tool, which keeps the resolution that it was run with."""

    resolutions: list[Resolution | None]

    async def prepare(self, arguments: JsonObject, key: Any) -> Prepared | ToolResult:
        prepared = await super().prepare(arguments, key)
        assert isinstance(prepared, Prepared)
        self.resolutions = []

        async def run(context: CallContext, resolution: Resolution | None) -> ToolResult:
            self.resolutions.append(resolution)
            return await prepared.run(context, resolution)

        return Prepared(prepared.action, prepared.title, run, proposal=prepared.proposal)


def watching() -> Watching:
    plain = edit_tool()
    return Watching("edit", plain.body, read_only=False, kind="edit", proposal=plain.proposal)


async def proposed(world: World, home: Path) -> tuple[str, int, Any]:
    """A session whose turn waits for the review of an edit: its id, the prompt's, the proposal."""
    session = await world.client.new(str(home))
    prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
    message = await world.client.until(lambda m: m.get("method") == "_agent-server/edit/proposed")
    return session, prompt, message["params"]


async def resolve(world: World, revision: int, *decisions: dict[str, Any], **more: Any) -> Any:
    params = {"txn": "x1", "revision": revision, "decisions": list(decisions), **more}
    return await world.client.request("_agent-server/edit/resolve", params)


async def test_a_proposal_is_shown_whole_and_nothing_else_is_asked(tmp_path: Path) -> None:
    async with served(
        tmp_path, EDIT, Say("Ok."), tools=[watching()], policy=asking("edit"), capabilities=OURS
    ) as world:
        session, prompt, shown = await proposed(world, tmp_path)
        await resolve(world, 1, {"verdict": "accept"})
        await world.client.response(prompt)

        assert world.client.of("session/request_permission") == []
        assert (shown["sessionId"], shown["toolCallId"], shown["txn"]) == (
            session,
            "call-1-0",
            "x1",
        )
        assert (shown["review"], shown["revision"]) == ("ask", 1)
        assert shown["reason"] == "not in your allow rules"
        assert shown["scopes"] == ["once", "session", "workspace"]
        (file,) = shown["files"]
        assert file["uri"] == URI
        assert file["hunks"][1] == {
            "id": "h2",
            "range": {"start": {"line": 3, "character": 0}, "end": {"line": 4, "character": 0}},
            "oldText": "four\n",
            "newText": "FOUR\n",
        }


async def test_hunks_are_decided_one_by_one_and_the_gate_opens_with_the_last(
    tmp_path: Path,
) -> None:
    tool = watching()
    async with served(
        tmp_path, EDIT, Say("Ok."), tools=[tool], policy=asking("edit"), capabilities=OURS
    ) as world:
        _, prompt, _ = await proposed(world, tmp_path)
        first = await resolve(world, 1, {"uri": URI, "hunk": "h1", "verdict": "accept"})
        assert first == {"txn": "x1", "revision": 2, "state": "proposed"}
        second = await resolve(world, 2, {"uri": URI, "hunk": "h2", "verdict": "reject"})
        assert second == {"txn": "x1", "revision": 3, "state": "approved"}
        await world.client.response(prompt)

        (resolution,) = tool.resolutions
        assert resolution is not None
        (decision,) = resolution.files
        assert (decision.accepted, decision.whole) == (frozenset({"h1"}), False)


async def test_a_whole_file_can_be_accepted_as_the_person_edited_it(tmp_path: Path) -> None:
    tool = watching()
    async with served(
        tmp_path, EDIT, Say("Ok."), tools=[tool], policy=asking("edit"), capabilities=OURS
    ) as world:
        _, prompt, _ = await proposed(world, tmp_path)
        await resolve(world, 1, {"uri": URI, "verdict": "accept", "editedText": "mine\n"})
        await world.client.response(prompt)

        (resolution,) = tool.resolutions
        assert resolution is not None
        assert resolution.files[0].edited_text == "mine\n"


async def test_a_rejection_with_words_reaches_the_model(tmp_path: Path) -> None:
    tool = watching()
    async with served(
        tmp_path, EDIT, Say("Ok."), tools=[tool], policy=asking("edit"), capabilities=OURS
    ) as world:
        _, prompt, _ = await proposed(world, tmp_path)
        state = (await resolve(world, 1, {"verdict": "reject"}, feedback="use tabs"))["state"]
        await world.client.response(prompt)

        assert state == "rejected"
        assert tool.ran == []
        assert "use tabs" in str(world.equipment.script.requests[-1].messages[-1])


async def test_states_follow_with_rising_revisions(tmp_path: Path) -> None:
    async with served(
        tmp_path, EDIT, Say("Ok."), tools=[watching()], policy=asking("edit"), capabilities=OURS
    ) as world:
        _, prompt, _ = await proposed(world, tmp_path)
        await resolve(world, 1, {"uri": URI, "hunk": "h1", "verdict": "accept"})
        await resolve(world, 2, {"uri": URI, "hunk": "h2", "verdict": "reject"})
        await world.client.response(prompt)

        (state,) = world.client.of("_agent-server/edit/state")
        assert (state["state"], state["revision"]) == ("approved", 4)
        assert [h["state"] for h in state["files"][0]["hunks"]] == ["accepted", "rejected"]


@pytest.mark.parametrize(
    ("params", "code", "reason"),
    [
        ({"txn": "nope", "revision": 1, "decisions": []}, -32602, "unknown_txn"),
        ({"txn": "x1", "revision": 7, "decisions": []}, -32801, "stale_revision"),
        (
            {
                "txn": "x1",
                "revision": 1,
                "decisions": [{"uri": URI, "hunk": "h9", "verdict": "accept"}],
            },
            -32602,
            "invalid_params",
        ),
        (
            {
                "txn": "x1",
                "revision": 1,
                "decisions": [{"uri": "file:///w/z.py", "verdict": "accept"}],
            },
            -32602,
            "invalid_params",
        ),
        (
            {"txn": "x1", "revision": 1, "decisions": [{"verdict": "maybe"}]},
            -32602,
            "invalid_params",
        ),
        ({"txn": "x1", "decisions": []}, -32602, "invalid_params"),
    ],
)
async def test_a_decision_that_makes_no_sense_changes_nothing(
    tmp_path: Path, params: dict[str, Any], code: int, reason: str
) -> None:
    async with served(
        tmp_path, EDIT, Say("Ok."), tools=[watching()], policy=asking("edit"), capabilities=OURS
    ) as world:
        _, prompt, _ = await proposed(world, tmp_path)
        with pytest.raises(Refused) as refused:
            await world.client.request("_agent-server/edit/resolve", params)
        assert (refused.value.code, refused.value.data["reason"]) == (code, reason)
        if reason == "stale_revision":
            assert refused.value.data["revision"] == 1

        assert (await resolve(world, 1, {"verdict": "reject"}))["state"] == "rejected"
        await world.client.response(prompt)


async def test_what_is_decided_stays_decided(tmp_path: Path) -> None:
    async with served(
        tmp_path, EDIT, Say("Ok."), tools=[watching()], policy=asking("edit"), capabilities=OURS
    ) as world:
        _, prompt, _ = await proposed(world, tmp_path)
        await resolve(world, 1, {"verdict": "reject"})
        with pytest.raises(Refused) as refused:
            await resolve(world, 2, {"verdict": "accept"})
        assert refused.value.data["reason"] == "already_decided"
        await world.client.response(prompt)


async def test_a_cancel_rejects_the_proposal_and_says_so(tmp_path: Path) -> None:
    tool = watching()
    async with served(
        tmp_path, EDIT, tools=[tool], policy=asking("edit"), capabilities=OURS
    ) as world:
        session, prompt, _ = await proposed(world, tmp_path)
        await world.client.notify("session/cancel", {"sessionId": session})
        assert (await world.client.response(prompt))["stopReason"] == "cancelled"

        assert world.client.of("_agent-server/edit/state")[-1]["state"] == "rejected"
        with pytest.raises(Refused) as refused:
            await resolve(world, 1, {"verdict": "accept"})
        assert refused.value.data["reason"] == "already_decided"
        assert tool.ran == []


async def test_a_yes_may_reach_no_further_than_was_offered(tmp_path: Path) -> None:
    async with served(
        tmp_path,
        EDIT,
        Say("Ok."),
        tools=[watching()],
        policy=asking("edit", floor=True),
        capabilities=OURS,
    ) as world:
        _, prompt, shown = await proposed(world, tmp_path)
        assert shown["scopes"] == ["once"]
        with pytest.raises(Refused, match="remember must be one of once"):
            await resolve(world, 1, {"verdict": "accept"}, remember="session")
        await resolve(world, 1, {"verdict": "accept"})
        await world.client.response(prompt)


async def test_a_text_too_large_to_send_is_fetched(tmp_path: Path) -> None:
    big = "x" * (1024 * 1024 + 1)
    large = FileChange("/w/a.py", "edit", big, "y", (Hunk("h1", 0, (big,), ("y",)),))
    tool = edit_tool(proposal("x1", large))
    async with served(
        tmp_path, EDIT, Say("Ok."), tools=[tool], policy=asking("edit"), capabilities=OURS
    ) as world:
        _, prompt, shown = await proposed(world, tmp_path)
        assert (shown["files"][0]["baseText"], shown["files"][0]["newText"]) == (None, None)
        texts = [
            await world.client.request(
                "_agent-server/edit/content", {"txn": "x1", "uri": URI, "side": side}
            )
            for side in ("base", "new")
        ]
        assert texts == [{"text": big}, {"text": "y"}]
        await resolve(world, 1, {"verdict": "reject"})
        await world.client.response(prompt)


async def test_a_command_is_still_asked_as_a_permission(tmp_path: Path) -> None:
    tool = FakeTool("shell", read_only=False)
    async with served(
        tmp_path, Say("", (("shell", "{}"),)), Say("Ok."),
        tools=[tool], policy=asking("shell"), capabilities=OURS,
    ) as world:  # fmt: skip
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")

        assert len(world.client.of("session/request_permission")) == 1


async def test_updates_are_numbered_without_gaps_and_carry_their_turn(tmp_path: Path) -> None:
    async with served(tmp_path, Say("a b c d"), Say("e f"), capabilities=OURS) as world:
        session = await world.client.new(str(tmp_path))
        turns = [
            (await world.client.prompt(session, "go"))["_meta"]["agent-server"]["turnId"]
            for _ in range(2)
        ]

        own = [p["_meta"]["agent-server"] for p in world.client.of("session/update")]
        assert [one["seq"] for one in own] == list(range(1, len(own) + 1))
        assert {one["turnId"] for one in own} - {None} == set(turns)


@pytest.mark.row("R141", "R147")
async def test_status_tells_the_states_of_a_turn(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hello"), capabilities=OURS) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")

        told = world.client.of("_agent-server/status")
        assert [(one["state"], one["busy"]) for one in (told[0], *told[-2:])] == [
            ("done", False),
            ("streaming", True),
            ("done", False),
        ]
        assert (told[-1]["reason"], told[-1]["detail"]) == ("model_stop", "text")
