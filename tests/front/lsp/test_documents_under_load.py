"""A document of 20,000 lines that is typed in fast: an edit costs what it touches, and holds nothing else up."""

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from agent_server.edits.text import lines, positions
from agent_server.front.lsp import documents
from tests.front.lsp.test_documents import change, opened
from tests.front.lsp.world import served

LINES = 20_000
TEXT = "".join(f"line {number} = {number}\n" for number in range(LINES))
EDITS = 400


class Counting:
    """What the document has cut into lines and looked for positions in, in characters."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.characters = 0
        monkeypatch.setattr(documents, "split_lines", self._split)
        monkeypatch.setattr(documents, "PositionMap", self._map)

    def _split(self, text: str) -> list[str]:
        self.characters += len(text)
        return lines.split_lines(text)

    def _map(self, text: str, encoding: positions.PositionEncoding) -> positions.PositionMap:
        self.characters += len(text)
        return positions.PositionMap(text, encoding)


@pytest.mark.parametrize(("typed", "each"), [("x", 1), ("x\n", 1), ("", 3)])
def test_an_edit_looks_at_the_lines_it_touches_only(
    monkeypatch: pytest.MonkeyPatch, typed: str, each: int
) -> None:
    document = opened(TEXT)
    counting = Counting(monkeypatch)
    longest = len("line 19999 = 19999\n") + EDITS

    for number in range(EDITS):
        line = number * 40
        place = change((line, 0), (line, each), typed)
        document.take(number + 2, [place])

    assert counting.characters < EDITS * 6 * longest  # two positions, one splice, its neighbours
    assert document._joined is None  # nobody asked for the whole text


@pytest.mark.anyio
async def test_typing_lets_everything_else_run_between_two_edits(tmp_path: Path) -> None:
    """A burst in one packet; a task that only counts its turns gets at least one for each edit."""
    beats = 0

    async def heart() -> None:
        nonlocal beats
        while True:
            await anyio.lowlevel.checkpoint()
            beats += 1

    async with served(tmp_path) as world:
        uri = await world.client.open(world.root / "a.py", TEXT)
        await world.client.request("agent/session/list", {})
        at = {"line": 10_000, "character": 4}
        burst = [
            {
                "method": "textDocument/didChange",
                "params": {
                    "textDocument": {"uri": uri, "version": version + 2},
                    "contentChanges": [{"range": {"start": at, "end": at}, "text": "x"}],
                },
            }
            for version in range(EDITS)
        ]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(heart)
            await world.client.tell(*burst)
            await world.client.request("agent/session/list", {})
            tasks.cancel_scope.cancel()

        assert beats >= EDITS
