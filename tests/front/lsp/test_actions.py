"""Code actions, code lenses and `agent:` documents, in a client with none of our code."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.edits import asking
from tests.fakes.loop import Say
from tests.front.lsp.lsp_client import PLUGIN, STOCK, Refused
from tests.front.lsp.test_commands import CODE, LINES, said
from tests.front.lsp.test_conversation import DONE, EDIT, NEW, OLD, file
from tests.front.lsp.test_stock import ended, picking
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio

HERE = {"start": {"line": 3, "character": 6}, "end": {"line": 3, "character": 6}}
PROBLEM = {"range": HERE, "message": "'(' was never closed", "severity": 1}
ACTING: dict[str, Any] = {
    "dataSupport": True,
    "resolveSupport": {"properties": ["edit", "command"]},
    "tagSupport": {"valueSet": [1]},
}


def stock(*, actions: Any = ACTING, refresh: bool = True, virtual: bool = False) -> dict[str, Any]:
    """A stock client, as far as these capabilities go."""
    text = {"codeAction": actions, "codeLens": {}}
    workspace = {"codeLens": {"refreshSupport": refresh}}
    if virtual:
        workspace["textDocumentContent"] = {}
    return {**STOCK, "textDocument": text, "workspace": {**STOCK["workspace"], **workspace}}


async def offered(world: World, uri: str, part: Any, *problems: Any, **context: Any) -> list[Any]:
    params = {
        "textDocument": {"uri": uri},
        "range": part,
        "context": {"diagnostics": list(problems), **context},
    }
    return await world.client.request("textDocument/codeAction", params)


async def lenses(world: World, path: Path) -> list[tuple[int, str]]:
    params = {"textDocument": {"uri": path.as_uri()}}
    found = await world.client.request("textDocument/codeLens", params)
    return [(one["range"]["start"]["line"], one["command"]["title"]) for one in found]


async def test_a_problem_is_offered_to_be_fixed_and_is(tmp_path: Path) -> None:
    async with served(tmp_path, Say("fixed"), capabilities=stock()) as world:
        uri = await world.client.open(world.root / "a.py", CODE)
        [action] = await offered(world, uri, HERE, PROBLEM, only=["quickfix"])
        resolved = await world.client.request("codeAction/resolve", action)
        command = resolved["command"]
        await world.client.command(command["command"], *command["arguments"])
        await ended(world)

        assert (action["kind"], action["tags"], "command" in action) == (
            "quickfix.agent",
            [1],
            False,
        )
        assert "line 4: '(' was never closed" in said(world)


async def test_what_a_client_drops_of_data_has_a_default(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=stock()) as world:
        action = {"title": "x", "data": {"uri": "file:///w/a.py"}}
        resolved = await world.client.request("codeAction/resolve", action)

        assert resolved["command"]["command"] == "agent.fix"


async def test_an_action_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=stock()) as world:
        with pytest.raises(Refused) as refused:
            await world.client.request("codeAction/resolve", {"title": "x", "data": "theirs"})

        assert refused.value.code == -32602


async def test_a_selection_can_be_rewritten_explained_and_tested(tmp_path: Path) -> None:
    async with served(tmp_path, Say("done"), capabilities=stock()) as world:
        uri = await world.client.open(world.root / "a.py", CODE)
        found = await offered(world, uri, LINES, only=["refactor.rewrite"])
        resolved = [await world.client.request("codeAction/resolve", one) for one in found]

        assert [one["title"] for one in found] == [
            "Rewrite with the agent",
            "Explain with the agent",
            "Write a test with the agent",
        ]
        assert {one["kind"] for one in found} == {"refactor.rewrite.agent"}
        commands = [one["command"] for one in resolved]
        assert [c["command"] for c in commands] == ["agent.prompt", "agent.explain", "agent.prompt"]
        await world.client.command("agent.prompt", *commands[0]["arguments"])
        await ended(world)
        assert "Rewrite lines 1-2 of `a.py`" in said(world)


@pytest.mark.parametrize(
    ("context", "count"),
    [({"triggerKind": 2}, 0), ({"triggerKind": 1}, 2), ({"only": ["source"]}, 0), ({}, 2)],
)
async def test_a_cursor_that_moves_is_offered_nothing(
    tmp_path: Path, context: dict[str, Any], count: int
) -> None:
    async with served(tmp_path, capabilities=stock()) as world:
        uri = await world.client.open(world.root / "a.py", CODE)

        assert len(await offered(world, uri, HERE, **context)) == count


async def test_a_client_that_resolves_nothing_gets_the_command_at_once(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=stock(actions={})) as world:
        [action] = await offered(world, "file:///w/a.py", HERE, PROBLEM, triggerKind=2)

        assert action["command"]["command"] == "agent.fix"
        assert not {"data", "tags"} & set(action)


@pytest.mark.parametrize(
    ("wants", "offers"), [({}, False), ({"codeActions": True}, True)], ids=["own", "ours too"]
)
async def test_a_plugin_has_its_own_actions_unless_it_wants_ours(
    tmp_path: Path, wants: dict[str, bool], offers: bool
) -> None:
    agent = {**PLUGIN["experimental"]["agent"], **wants}
    capabilities = {**stock(virtual=True), "experimental": {"agent": agent}}
    async with served(tmp_path, initialize=False, capabilities=capabilities) as world:
        result = (await world.client.initialize(world.root))["capabilities"]

        assert ("codeActionProvider" in result) == offers
        assert "codeLensProvider" not in result
        assert "textDocumentContent" not in result["workspace"]


async def test_lenses_stand_at_the_hunks_that_wait_and_go_with_them(tmp_path: Path) -> None:
    refreshed: dict[str, Any] = {**picking(), "workspace/codeLens/refresh": lambda *_: None}
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=stock(), answers=refreshed
    ) as world:
        path = file(world)
        await world.client.open(path, OLD)
        assert await lenses(world, path) == []
        await world.client.command("agent.prompt", "go")
        await world.client.hears("workspace/codeLens/refresh")

        each = ["Accept", "Reject"]
        whole = ["Show changes", "Accept all", "Reject all"]
        assert await lenses(world, path) == [
            *((0, title) for title in (*each, *whole)),
            *((3, title) for title in each),
        ]
        await world.client.command("agent.acceptAll")
        await ended(world)
        assert await lenses(world, path) == []
        assert world.client.buffers[path.as_uri()][1] == NEW


async def test_in_a_document_that_moved_on_the_lenses_are_about_the_whole_edit(
    tmp_path: Path,
) -> None:
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=stock(refresh=False),
        answers=picking(),
    ) as world:  # fmt: skip
        path = file(world)
        uri = await world.client.open(path, OLD)
        await world.client.command("agent.prompt", "go")
        await world.client.hears("window/showMessageRequest")
        await world.client.type(uri, "new first line\n" + OLD)

        assert {line for line, _ in await lenses(world, path)} == {0}
        assert "Accept" not in [title for _, title in await lenses(world, path)]
        assert world.client.of("workspace/codeLens/refresh") == []
        await world.client.command("agent.rejectAll")


async def test_a_long_answer_is_an_agent_document_where_that_can_be_read(tmp_path: Path) -> None:
    text = ("word " * 200).strip()
    async with served(tmp_path, Say(text), capabilities=stock(virtual=True)) as world:
        await world.client.command("agent.prompt", "hi")
        shown = await world.client.hears("window/showDocument")
        read = await world.client.request("workspace/textDocumentContent", {"uri": shown["uri"]})

        assert shown["uri"].startswith("agent:/page/")
        assert read["text"].strip() == text
        assert not (world.root / ".agent" / "out").exists()


async def test_both_sides_of_an_edit_are_agent_documents(tmp_path: Path) -> None:
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=stock(virtual=True),
        answers=picking(),
    ) as world:  # fmt: skip
        path = file(world)
        await world.client.command("agent.prompt", "go")
        await world.client.hears("window/showMessageRequest")
        params = {"textDocument": {"uri": path.as_uri()}}
        [lens, *_] = await world.client.request("textDocument/codeLens", params)
        txn = lens["command"]["arguments"][0]["txn"]
        sides = [
            await world.client.request(
                "workspace/textDocumentContent", {"uri": f"agent:/edit/{txn}/{side}{path}"}
            )
            for side in ("base", "new")
        ]
        await world.client.command("agent.rejectAll")

        assert [side["text"] for side in sides] == [OLD, NEW]


async def test_an_agent_document_that_nobody_made_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=stock(virtual=True)) as world:
        for uri in ("agent:/page/x.md", "agent:/edit/x1/base/a.py", "file:///etc/passwd"):
            with pytest.raises(Refused) as refused:
                await world.client.request("workspace/textDocumentContent", {"uri": uri})
            assert refused.value.code == -32602
