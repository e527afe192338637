"""The shape that keeps the loop readable, measured (loop.md R16, R17, §6)."""

import ast
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from agent_server.loop import loop
from agent_server.loop.loop import go
from agent_server.loop.model import DoneReason
from agent_server.loop.states import NAMES, NEXT, Done, Executing, State, Thinking
from agent_server.loop.turn import Turn
from tests.fakes.loop import stage

FILES = sorted(Path(str(loop.__file__)).parent.glob("*.py"))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


@pytest.mark.row("R8", "R16")
def test_every_state_has_a_name_and_its_edges_and_the_end_has_none():
    states = set(get_args(State))
    assert set(NEXT) == set(NAMES) == states
    assert all(set(followers) <= states for followers in NEXT.values())
    assert NEXT[Done] == ()


@pytest.mark.row("R16")
def test_an_edge_that_is_not_in_the_table_is_a_defect():
    with pytest.raises(RuntimeError, match="no edge thinking -> executing"):
        go(stage().turn(), Thinking(), Executing(1))
    with pytest.raises(RuntimeError, match="no edge done -> thinking"):
        go(stage().turn(), Done(DoneReason.MODEL_STOP, "text"), Thinking())


@pytest.mark.row("R17")
def test_the_turn_holds_at_most_twenty_things_and_no_messages():
    fields = {f.name for f in dataclasses.fields(Turn)}
    assert len(fields) <= 20
    assert not {name for name in fields if "message" in name or "history" in name}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_no_function_is_longer_than_sixty_lines_and_nothing_is_any(file: Path):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert [f"{f.name}: {lines(f)}" for f in functions(tree) if lines(f) > 60] == []
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "Any"]


def test_the_whole_loop_fits_on_a_screen():
    tree = ast.parse(Path(str(loop.__file__)).read_text(encoding="utf-8"))
    core = {f.name: f for f in functions(tree) if f.name in ("run", "step", "go", "end")}
    assert len(core) == 4
    assert sum(map(lines, core.values())) <= 80
