"""`diagnostics`, and the errors that come with an edit (loop.md F40). The clock is short; nothing depends on it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import pytest

from agent_server.edits.ports import Diagnosed, Diagnostic
from agent_server.tools import settling
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio

UNKNOWN = Diagnostic(1, "error", "unknown name 'x'", "pyright", "reportUndefined")
UNUSED = Diagnostic(0, "warning", "unused import", "ruff", "F401")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("WAIT_S", 0.2), ("PAUSE_S", 0.001), ("REST_S", 0.01)):
        monkeypatch.setattr(settling, name, seconds)


class FakeDiagnostics:
    """Says one thing after the other, then the last again."""

    def __init__(self, *said: Sequence[Diagnosed]) -> None:
        self.said = [tuple(each) for each in said]
        self.asked: list[Sequence[str] | None] = []
        self.on_asked: Callable[[int], None] = lambda number: None

    async def diagnostics(self, paths: Sequence[str] | None) -> tuple[Diagnosed, ...] | None:
        await anyio.lowlevel.checkpoint()
        self.asked.append(paths)
        self.on_asked(len(self.asked))
        found = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        return found if paths is None else tuple(one for one in found if one.path in paths)


def desk_with(root: Path, *said: Sequence[Diagnosed]) -> tuple[Desk, FakeDiagnostics]:
    fake = FakeDiagnostics(*said)
    desk = Desk(root, diagnostics=fake)
    desk.file("a.py", "one\ntwo\n")
    return desk, fake


def of(root: Path, *found: Diagnostic, settled: bool | None = True) -> Diagnosed:
    return Diagnosed(str(root / "a.py"), found, settled)


async def edited(desk: Desk) -> str:
    result = await desk.call("edit", path="a.py", edits=[{"old_text": "two", "new_text": "x"}])
    assert result.ok
    return result.output


async def test_what_the_editor_says_of_a_file_is_listed_by_line(tmp_path: Path) -> None:
    desk, fake = desk_with(tmp_path, [of(tmp_path, UNKNOWN, UNUSED)])
    result = await desk.call("diagnostics", path="a.py")

    assert result.output == (
        "a.py\n"
        "  1: warning: unused import (ruff F401)\n"
        "  2: error: unknown name 'x' (pyright reportUndefined)"
    )
    assert (result.ok, result.summary) == (True, "1 error, 1 warning")
    assert fake.asked == [(str(tmp_path / "a.py"),)]


async def test_of_all_files_those_are_left_out_that_may_not_be_read_unasked(
    tmp_path: Path,
) -> None:
    root = tmp_path / "w"
    root.mkdir()
    outside = Diagnosed("/elsewhere/b.py", (UNKNOWN,), True)
    secret = Diagnosed(str(root / ".env"), (UNKNOWN,), True)
    desk, fake = desk_with(root, [of(root, UNUSED), outside, secret])
    result = await desk.call("diagnostics")

    assert result.output == "a.py\n  1: warning: unused import (ruff F401)"
    assert fake.asked == [None]


async def test_without_an_editor_the_tool_says_so(desk: Desk) -> None:
    result = await desk.call("diagnostics")

    assert (result.ok, result.code) == (False, "no_editor")
    assert "run the project's own checker" in result.output


async def test_a_file_that_is_not_watched_is_not_called_clean(tmp_path: Path) -> None:
    desk, _ = desk_with(tmp_path, [])

    assert "does not watch a.py" in (await desk.call("diagnostics", path="a.py")).output
    assert (await desk.call("diagnostics")).output == "nothing is reported"


async def test_an_editor_that_is_still_checking_is_waited_for(tmp_path: Path) -> None:
    checking = of(tmp_path, settled=False)
    desk, _ = desk_with(tmp_path, [checking], [checking], [of(tmp_path, UNKNOWN)])

    assert "unknown name" in (await desk.call("diagnostics", path="a.py")).output


async def test_an_editor_that_never_ends_checking_is_not_waited_for_for_ever(
    tmp_path: Path,
) -> None:
    desk, _ = desk_with(tmp_path, [of(tmp_path, UNUSED, settled=False)])
    with anyio.fail_after(5):
        result = await desk.call("diagnostics", path="a.py")

    assert result.output.endswith("[the editor is still checking: this may not be all]")


async def test_a_file_outside_is_asked_about(desk: Desk) -> None:
    prepared = await desk.prepared("diagnostics", path="../x.py")

    assert desk.policy.decide(prepared.action).verdict == "ask"


# ---- after an edit -----------------------------------------------------------------------------------------


async def test_an_edit_tells_the_errors_that_came_with_it_and_no_others(tmp_path: Path) -> None:
    old = Diagnostic(0, "error", "was wrong before")
    moved = Diagnostic(5, "error", "was wrong before")
    desk, _ = desk_with(tmp_path, [of(tmp_path, old)], [of(tmp_path, moved, UNKNOWN, UNUSED)])

    assert (await edited(desk)).endswith(
        "the editor reports new errors after this edit:\n"
        "a.py\n  2: error: unknown name 'x' (pyright reportUndefined)"
    )


async def test_a_second_error_of_the_same_words_is_new(tmp_path: Path) -> None:
    twice = [of(tmp_path, UNKNOWN, Diagnostic(4, "error", *_rest(UNKNOWN)))]
    desk, _ = desk_with(tmp_path, [of(tmp_path, UNKNOWN)], twice)

    assert "  5: error: unknown name 'x'" in await edited(desk)


async def test_an_edit_that_breaks_nothing_says_nothing_of_it(tmp_path: Path) -> None:
    desk, _ = desk_with(tmp_path, [of(tmp_path, UNKNOWN)])

    assert (await edited(desk)).endswith("+x")


async def test_an_editor_that_cannot_tell_is_heard_when_what_it_says_changes_and_rests(
    tmp_path: Path,
) -> None:
    before = [of(tmp_path, settled=None)]
    desk, fake = desk_with(tmp_path, before, before, before, [of(tmp_path, UNKNOWN, settled=None)])

    assert "unknown name" in await edited(desk)
    assert len(fake.asked) > 4


async def test_errors_of_an_editor_that_is_not_done_are_told_as_such(tmp_path: Path) -> None:
    desk, _ = desk_with(tmp_path, [of(tmp_path)], [of(tmp_path, UNKNOWN, settled=False)])

    assert (await edited(desk)).endswith(
        "(it was still checking: these may change, or more may come)"
    )


async def test_a_file_the_editor_does_not_watch_costs_one_question(tmp_path: Path) -> None:
    desk, fake = desk_with(tmp_path, [])
    await edited(desk)

    assert len(fake.asked) == 1


async def test_an_edit_that_was_made_is_told_though_the_turn_is_cancelled_meanwhile(
    tmp_path: Path,
) -> None:
    desk, fake = desk_with(tmp_path, [of(tmp_path, settled=False)])
    prepared = await desk.prepared(
        "edit", path="a.py", edits=[{"old_text": "two", "new_text": "x"}]
    )
    output = ""
    with anyio.CancelScope() as turn:
        fake.on_asked = lambda number: turn.cancel() if number == 3 else None
        output = (await desk.run(prepared)).output
        await anyio.lowlevel.checkpoint()  # the cancellation is not lost
        output = "went on"

    assert output.startswith("applied to a.py")
    assert (tmp_path / "a.py").read_text() == "one\nx\n"


def _rest(diagnostic: Diagnostic) -> tuple[str, str | None, str | None]:
    return diagnostic.message, diagnostic.source, diagnostic.code
