"""A client with none of our code: it prompts by command, sees progress, is asked, and gets edits (spec §5.2)."""

from pathlib import Path
from typing import Any

import pytest

from agent_server.front.lsp import stock
from agent_server.front.lsp.pages import write_page
from agent_server.loop.faults import Fault
from tests.fakes.edits import asking
from tests.fakes.loop import FakeTool, Say
from tests.front.lsp.lsp_client import NEVER, STOCK, Answer
from tests.front.lsp.test_conversation import DONE, EDIT, NEW, OLD, file
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio


def picking(*titles: str) -> dict[str, Answer]:
    """A person who picks these, one after the other."""
    left = list(titles)
    return {"window/showMessageRequest": lambda *_: {"title": left.pop(0)} if left else NEVER}


def messages(world: World) -> list[str]:
    return [m["message"] for m in world.client.of("window/showMessage")]


def page_of(shown: Any) -> Path:
    """What `window/showDocument` opened."""
    return Path(shown["uri"].removeprefix("file://"))


async def ended(world: World) -> str:
    """The first message that is shown."""
    return (await world.client.hears("window/showMessage"))["message"]


async def test_a_command_answers_at_once_and_the_answer_is_a_message(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hello there"), capabilities=STOCK) as world:
        started = await world.client.command("agent.prompt", "hi")

        assert set(started) == {"sessionId", "turnId"}
        assert (await ended(world)).strip() == "hello there"
        assert [
            m["method"] for m in world.client.received if m.get("method", "").startswith("agent/")
        ] == []


async def test_progress_begins_and_ends(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hello"), capabilities=STOCK) as world:
        await world.client.command("agent.prompt", {"prompt": "hi"})
        await world.client.until(lambda m: "end" in str(m.get("params", {}).get("value", "")))

        values = [p["value"] for p in world.client.of("$/progress")]
        assert (values[0]["kind"], values[0]["title"], values[-1]) == (
            "begin",
            "Agent",
            {"kind": "end"},
        )


async def test_cancelling_the_progress_cancels_the_turn(tmp_path: Path) -> None:
    async with served(tmp_path, Say("never", hang=True), capabilities=STOCK) as world:
        await world.client.command("agent.prompt", "hi")
        progress = await world.client.hears("$/progress")
        await world.client.notify("window/workDoneProgress/cancel", {"token": progress["token"]})

        assert await ended(world) == "Cancelled"


async def test_the_cancel_command_ends_the_turn(tmp_path: Path) -> None:
    async with served(tmp_path, Say("never", hang=True), capabilities=STOCK) as world:
        await world.client.command("agent.prompt", "hi")
        await world.client.command("agent.cancel")

        assert await ended(world) == "Cancelled"


async def test_a_long_answer_is_a_page(tmp_path: Path) -> None:
    text = "word " * 200
    async with served(tmp_path, Say(text.strip()), capabilities=STOCK) as world:
        await world.client.command("agent.prompt", "hi")
        shown = await world.client.hears("window/showDocument")

        page = page_of(shown)
        assert page.parent == world.root / ".agent" / "out"
        assert page.read_text() == text
        assert page.stat().st_mode & 0o777 == 0o600
        assert (world.root / ".agent" / ".gitignore").read_text() == "out/\ntool-effects.jsonl\n"


async def test_a_failed_turn_is_an_error_message(tmp_path: Path) -> None:
    failing = Say(fault=Fault.INVALID)
    async with served(tmp_path, failing, capabilities=STOCK) as world:
        await world.client.command("agent.prompt", "hi")
        shown = await world.client.hears("window/showMessage")

        assert (shown["type"], "on purpose" in shown["message"]) == (1, True)


async def test_an_accepted_edit_of_an_open_document_is_one_apply_edit(tmp_path: Path) -> None:
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=STOCK, answers=picking("Accept")
    ) as world:
        path = file(world)
        uri = await world.client.open(path, OLD)
        await world.client.command("agent.prompt", "go")
        await ended(world)

        [question] = world.client.of("window/showMessageRequest")
        assert [a["title"] for a in question["actions"]] == ["Accept", "Reject", "Show"]
        assert "a.py" in question["message"]
        assert (world.client.buffers[uri][1], path.read_text()) == (NEW, OLD)
        assert len(world.client.of("workspace/applyEdit")) == 1


async def test_show_opens_the_diff_and_asks_again(tmp_path: Path) -> None:
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=STOCK,
        answers=picking("Show", "Reject"),
    ) as world:  # fmt: skip
        path = file(world)
        await world.client.command("agent.prompt", "go")
        await ended(world)

        [shown] = world.client.of("window/showDocument")
        assert "+ONE" in page_of(shown).read_text()
        assert len(world.client.of("window/showMessageRequest")) == 2
        assert path.read_text() == OLD


@pytest.mark.parametrize("answer", [None, {"title": "Whatever"}, "Accept", 5])
async def test_anything_but_a_clear_yes_is_no(tmp_path: Path, answer: Any) -> None:
    answers: dict[str, Answer] = {"window/showMessageRequest": lambda *_: answer}
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=STOCK, answers=answers
    ) as world:
        path = file(world)
        await world.client.command("agent.prompt", "go")
        await ended(world)

        assert path.read_text() == OLD


@pytest.mark.parametrize(("command", "text"), [("acceptAll", NEW), ("rejectAll", OLD)])
async def test_a_command_decides_what_the_message_asks(
    tmp_path: Path, command: str, text: str
) -> None:
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=STOCK, answers=picking()
    ) as world:
        path = file(world)
        await world.client.command("agent.prompt", "go")
        await world.client.hears("window/showMessageRequest")
        await world.client.command(f"agent.{command}")
        await ended(world)

        assert path.read_text() == text
        assert len(world.client.of("$/cancelRequest")) == 1  # the message is withdrawn


@pytest.mark.parametrize(
    ("floor", "titles"),
    [
        (False, ["Allow once", "Allow in this session", "Reject"]),
        (True, ["Allow once", "Reject"]),
    ],
)
async def test_anything_else_is_allowed_once_or_for_the_session(
    tmp_path: Path, floor: bool, titles: list[str]
) -> None:
    tool = FakeTool("run", read_only=False)
    async with served(
        tmp_path, Say("", (("run", "{}"),)), DONE, tools=[tool], policy=asking("run", floor=floor),
        capabilities=STOCK, answers=picking("Allow once"),
    ) as world:  # fmt: skip
        await world.client.command("agent.prompt", "go")
        await ended(world)

        [question] = world.client.of("window/showMessageRequest")
        assert [a["title"] for a in question["actions"]] == titles
        assert len(tool.ran) == 1


async def test_an_edit_is_declined_by_an_editor_that_takes_none(tmp_path: Path) -> None:
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities={}, answers=picking("Accept")
    ) as world:
        path = file(world)
        uri = await world.client.open(path, OLD)
        await world.client.command("agent.prompt", "go")
        await ended(world)

        assert (world.client.buffers[uri][1], path.read_text()) == (OLD, OLD)


async def test_a_new_session_is_the_current_one_from_then_on(tmp_path: Path) -> None:
    async with served(tmp_path, Say("one"), Say("two"), capabilities=STOCK) as world:
        first = await world.client.command("agent.prompt", "hi")
        new = await world.client.command("agent.newSession")
        second = await world.client.command("agent.prompt", "hi")

        assert first["sessionId"] != new["sessionId"] == second["sessionId"]


async def test_two_commands_at_once_share_the_session_and_run_in_order(tmp_path: Path) -> None:
    async with served(tmp_path, Say("one"), Say("two"), capabilities=STOCK) as world:
        run = {"method": "workspace/executeCommand"}
        prompts = [{"command": "agent.prompt", "arguments": [text]} for text in ("a", "b")]
        await world.client.tell(
            *({"id": f"c{n}", **run, "params": p} for n, p in enumerate(prompts))
        )
        answers = [await world.client.until(lambda m, n=n: m.get("id") == f"c{n}") for n in (0, 1)]
        await world.client.until(lambda m: m.get("params", {}).get("message", "").strip() == "two")

        assert len({answer["result"]["sessionId"] for answer in answers}) == 1
        assert [m.strip() for m in messages(world)] == ["one", "two"]


async def test_what_the_person_should_know_of_a_new_session_is_a_message(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=STOCK) as world:
        world.equipment.warnings = ("this is no real model",)
        await world.client.command("agent.newSession")
        shown = await world.client.hears("window/showMessage")

        assert (shown["type"], shown["message"]) == (2, "this is no real model")


async def test_progress_is_reported_seldom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many labels change; within the time between two reports nobody hears of them."""
    monkeypatch.setattr(stock, "REPORT_S", 60)
    looks = [Say("", (("list", "{}"),)) for _ in range(5)]
    async with served(tmp_path, *looks, Say("hello"), capabilities=STOCK) as world:
        await world.client.command("agent.prompt", "go")
        await world.client.until(lambda m: "end" in str(m.get("params", {}).get("value", "")))

        kinds = [p["value"]["kind"] for p in world.client.of("$/progress")]
        assert kinds == ["begin", "end"]


async def test_what_is_attached_is_the_buffer_not_the_disk(tmp_path: Path) -> None:
    async with served(tmp_path, Say("ok"), capabilities=STOCK) as world:
        uri = await world.client.open(file(world), "unsaved 😋 text\nmore\n")
        place = {"start": {"line": 0, "character": 8}, "end": {"line": 0, "character": 10}}
        await world.client.command("agent.prompt", {"prompt": "see", "uri": uri, "range": place})
        await ended(world)

        assert "😋" in str(world.equipment.script.requests[0].messages[0])
        assert "unsaved" not in str(world.equipment.script.requests[0].messages[0])


async def test_the_mode_can_be_set(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=STOCK) as world:
        assert await world.client.command("agent.setMode", {"mode": "plan"}) is None


def test_a_page_is_not_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".agent").symlink_to(outside)

    with pytest.raises(OSError, match="is a link"):
        write_page(tmp_path / "w", "x.md", "text")
    assert list(outside.iterdir()) == []


def test_a_page_replaces_a_link_that_has_its_name(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    out = tmp_path / ".agent" / "out"
    out.mkdir(parents=True)
    (out / "x.md").symlink_to(victim)

    write_page(tmp_path, "x.md", "text")

    assert (victim.read_text(), (out / "x.md").read_text()) == ("mine", "text")
