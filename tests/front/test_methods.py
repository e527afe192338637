"""The table: what it serves, and that nobody promises anything else."""

import subprocess
import sys

import pytest

from agent_server import first_stage
from agent_server.front.front import Front
from agent_server.front.methods import NOTIFICATIONS, REQUESTS, dispatch, extensions, served
from agent_server.front.vocabulary import Vocabulary, wire_name
from tests.acp_oracle import SCHEMA, UNSTABLE

CAPABILITY_OF = {"title": "set_title"}
"""Methods whose capability has another name than they."""


def nobody() -> Front:
    raise AssertionError


@pytest.mark.parametrize(
    ("name", "ours", "acp", "lsp"),
    [
        ("session/new", False, "session/new", "agent/session/new"),
        ("edit/resolve", True, "_agent-server/edit/resolve", "agent/edit/resolve"),
        ("status", True, "_agent-server/status", "agent/status"),
    ],
)
def test_a_name_is_said_in_both_vocabularies(name: str, ours: bool, acp: str, lsp: str) -> None:
    assert wire_name(name, Vocabulary.ACP, ours=ours) == acp
    assert wire_name(name, Vocabulary.LSP, ours=ours) == lsp


def test_the_first_stage_advertises_exactly_our_own_methods() -> None:
    assert extensions(Vocabulary.ACP) == first_stage.EXTENSIONS


def test_the_first_stage_advertises_no_session_method_that_is_not_served() -> None:
    promised = first_stage.initialize_result()["agentCapabilities"]
    assert isinstance(promised, dict)
    names = set(dict(served(Vocabulary.ACP)))

    wanted = {
        f"session/{CAPABILITY_OF.get(name, name)}" for name in promised["sessionCapabilities"]
    }
    wanted |= {"session/load"} if promised["loadSession"] else set()
    assert wanted - {"session/additionalDirectories"} <= names


def test_every_method_that_is_not_ours_is_one_of_acps() -> None:
    known = {d.get("x-method") for s in (SCHEMA, UNSTABLE) for d in s["$defs"].values()}
    names = {r.name for r in REQUESTS if not r.ours} | {n.name for n in NOTIFICATIONS}

    assert names <= known


def test_lsp_serves_the_same_but_its_own_handshake() -> None:
    table = dispatch(nobody, Vocabulary.LSP)

    assert all(name.startswith("agent/") for name in (*table.requests, *table.notifications))
    assert "agent/initialize" not in table.requests
    assert table.settles_cancel == {"agent/session/prompt"}


def test_serving_acp_imports_nothing_that_its_first_answers_do_not_need() -> None:
    code = "import sys, agent_server.front.acp.server; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    heavy = {"pydantic", "pygls", "lsprotocol", "httpx2", "litellm", "rich", "http.client"}
    assert heavy & set(loaded.stdout.split()) == set()
