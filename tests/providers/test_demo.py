"""The demo keeps its word: its edits fit its sample exactly and repair it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from agent_server.providers.demo import (
    DEMO_SCRIPT,
    NO_MODEL,
    SAMPLE_FILES,
    demo_model,
    is_sample,
    write_sample,
)
from tests.providers.requests import Pieces, request


def scripted_edits() -> list[tuple[str, str, str]]:
    """(path, old text, new text) of every edit in the script, in order."""
    calls = [
        json.loads(c.arguments) for step in DEMO_SCRIPT for c in step.calls if c.name == "edit"
    ]
    return [(call["path"], e["old_text"], e["new_text"]) for call in calls for e in call["edits"]]


def unittest_in(folder: Path) -> int:
    return subprocess.run(
        [sys.executable, "-m", "unittest", "-q"],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=15,
    ).returncode


def test_the_scripted_edits_match_once_and_turn_the_failing_test_green(tmp_path: Path) -> None:
    write_sample(tmp_path)
    before = unittest_in(tmp_path)

    for name, old, new in scripted_edits():
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (tmp_path / name).write_text(text.replace(old, new), encoding="utf-8")

    assert (before, unittest_in(tmp_path)) == (1, 0)
    assert {name for name, _, _ in scripted_edits()} == {"shop/prices.py", "shop/cart.py"}


def test_the_demo_says_first_that_it_is_a_script() -> None:
    assert "scripted demo" in DEMO_SCRIPT[0].text
    assert "not a model" in DEMO_SCRIPT[0].text


def test_the_demo_searches_reads_edits_and_runs_the_test() -> None:
    calls = [c for step in DEMO_SCRIPT for c in step.calls]

    assert [c.name for c in calls] == ["search", "read", "read", "edit", "edit", "shell"]
    assert json.loads(calls[-1].arguments) == {"command": "python3 -m unittest -q"}
    assert {cast("str", json.loads(c.arguments)["path"]) for c in calls if c.name == "read"} <= set(
        SAMPLE_FILES
    )


@pytest.mark.anyio
async def test_outside_the_sample_the_demo_only_says_that_no_model_is_configured(
    tmp_path: Path,
) -> None:
    (tmp_path / "README.md").write_text("my project", encoding="utf-8")
    model = demo_model(tmp_path)

    replies = [await model.stream(request(number=n), Pieces()) for n in (1, 2, 3)]

    assert {r.text for r in replies} == {NO_MODEL.text}
    assert "No model is configured" in NO_MODEL.text
    assert [r.calls for r in replies] == [(), (), ()]


@pytest.mark.anyio
async def test_in_its_sample_the_demo_runs_also_when_that_was_already_edited(
    tmp_path: Path,
) -> None:
    write_sample(tmp_path)
    (tmp_path / "shop" / "cart.py").write_text("edited", encoding="utf-8")

    reply = await demo_model(tmp_path).stream(request(), Pieces())

    assert is_sample(tmp_path)
    assert [c.name for c in reply.calls] == ["search"]
