"""What happens before the server proper is imported. ACP: Initialization and our spec §3, §11."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from agent_server.first_stage import answer_to, greet
from agent_server.front.rpc.envelope import MAX_FRAME
from agent_server.stdio import Pipes

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}

# Stands in for the server proper, and tells what it got and what was imported by then.
HARNESS = """
import json, sys, types
def serve(dialect, *, read_fd, write_fd, received, initialized, initialize_result, options,
          parent):
    json.dump({"dialect": dialect, "received": received.decode(), "initialized": initialized,
               "modules": sorted(sys.modules)}, sys.stderr)
    return 0
def chat(arguments):
    json.dump({"arguments": arguments}, sys.stderr)
    return 0
for name, functions in {"app": {"serve": serve}, "cli": {"main": chat}}.items():
    module = types.ModuleType("agent_server." + name)
    vars(module).update(functions)
    sys.modules[module.__name__] = module
from agent_server.__main__ import main
sys.exit(main())
"""


def line(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def run(
    given: bytes, *arguments: str
) -> tuple[list[dict[str, Any]], dict[str, Any], subprocess.CompletedProcess[bytes]]:
    """The lines on stdout, what the server proper was given, and the process."""
    done = subprocess.run(
        [sys.executable, "-c", HARNESS, *arguments],
        input=given,
        capture_output=True,
        timeout=15,
        check=False,
    )
    handed = json.loads(done.stderr) if done.stderr else {}
    return [json.loads(text) for text in done.stdout.splitlines()], handed, done


def test_initialize_is_answered_before_anything_large_is_imported() -> None:
    answers, handed, _ = run(line(INITIALIZE))

    assert [a["id"] for a in answers] == [0]
    large = {
        "anyio", "argparse", "asyncio", "concurrent", "dataclasses", "httpx2", "importlib.metadata",
        "inspect", "litellm", "logging", "lsprotocol", "pydantic", "pygls", "select", "socket", "sqlite3",
        "subprocess", "threading", "typing",
    }  # fmt: skip
    assert large.isdisjoint(handed["modules"])


def test_the_answer_promises_what_works() -> None:
    answers, _, _ = run(line(INITIALIZE))
    result = answers[0]["result"]

    assert result["protocolVersion"] == 1
    assert result["agentInfo"]["name"] == "agent-server"
    assert result["agentCapabilities"]["loadSession"] is True
    assert set(result["agentCapabilities"]["sessionCapabilities"]) == {
        "list", "resume", "close", "delete", "fork", "title", "additionalDirectories",
    }  # fmt: skip
    assert result["agentCapabilities"]["_meta"]["agent-server"]["version"] == 1
    assert [set(m) for m in result["authMethods"]] == [{"id", "name", "description"}]


def test_what_follows_initialize_is_handed_on_byte_for_byte() -> None:
    beyond = line({"é": 1}) + b"\r\n{\n" + b'{"half'
    _, handed, _ = run(line(INITIALIZE) + beyond, "acp")

    assert handed["dialect"] == "acp"
    assert handed["initialized"] == {"protocolVersion": 1}
    assert handed["received"] == beyond.decode().replace("\r\n", "")


@pytest.mark.parametrize("arguments", [[], ["lsp"]])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\r\n "])
def test_a_header_means_lsp_and_nothing_of_it_is_lost(arguments: list[str], start: bytes) -> None:
    header = b"content-length: 2\r\n\r\n{}"
    answers, handed, _ = run(start + header, *arguments)

    assert answers == []
    assert handed["dialect"] == "lsp"
    assert handed["initialized"] is None
    if not arguments:
        assert handed["received"] == header.decode()


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"\n \r\n"])
def test_a_mark_or_blanks_before_the_first_line_do_not_matter(start: bytes) -> None:
    answers, handed, _ = run(start + line(INITIALIZE))

    assert answers[0]["result"]["protocolVersion"] == 1
    assert handed["dialect"] == "acp"


def test_initialize_needs_no_line_end_at_the_end_of_input() -> None:
    answers, handed, _ = run(line(INITIALIZE).rstrip())

    assert answers[0]["result"]["protocolVersion"] == 1
    assert handed["received"] == ""


@pytest.mark.parametrize("arguments", [[], ["acp"]])
@pytest.mark.parametrize("given", [b"", b"\xef", b"\n\n", line({"jsonrpc": "2.0", "method": "x"})])
def test_a_client_that_leaves_before_initialize_costs_nothing(
    given: bytes, arguments: list[str]
) -> None:
    answers, handed, done = run(given, *arguments)

    assert done.returncode == 0
    assert handed == {}
    assert [a["error"]["code"] for a in answers] in ([], [-32700])


def test_bad_lines_before_initialize_are_answered_and_forgiven() -> None:
    """Field case PR-01."""
    bad = [
        b'{"jsonrpc":"2.0","method":"x","params":\n',
        b"1\n",
        b"[]\n",
        b'"a"\n',
        b"\xff\n",
        b"x" * (MAX_FRAME + 1) + b"\n",
        line({**INITIALIZE, "params": None}),
        line({"jsonrpc": "2.0", "id": "n", "method": "session/new", "params": {}}),
        line({"id": None, "error": {"code": -32700}}),
        line({"jsonrpc": "2.0", "method": "$/whatever"}),
    ]
    answers, handed, _ = run(b"".join(bad) + line(INITIALIZE), "acp")

    assert [(a["id"], a["error"]["code"] if "error" in a else "result") for a in answers] == [
        (None, -32700),
        (None, -32600),
        (None, -32600),
        (None, -32600),
        (None, -32700),
        (None, -32600),
        (0, -32602),
        ("n", -32600),
        (0, "result"),
    ]
    assert handed["initialized"] == {"protocolVersion": 1}


@pytest.mark.parametrize("version", [0, 1, 2, 99, 65535])
def test_any_version_is_answered_with_ours(version: int) -> None:
    answer, params = answer_to(line({**INITIALIZE, "params": {"protocolVersion": version}}))

    assert answer is not None
    assert json.loads(json.dumps(answer))["result"]["protocolVersion"] == 1
    assert params == {"protocolVersion": version}


@pytest.mark.parametrize(
    "params", [{}, [], "1", None, *({"protocolVersion": v} for v in ("1", True, 1.0, -1, 65536))]
)
def test_a_version_that_is_none_is_refused(params: object) -> None:
    answer, good = answer_to(line({**INITIALIZE, "params": params}))

    assert answer is not None
    assert json.loads(json.dumps(answer))["error"]["code"] == -32602
    assert good is None


def test_a_client_that_reads_no_more_ends_the_stage() -> None:
    ours, theirs = os.pipe()
    gone, write = os.pipe()
    os.close(gone)
    try:
        os.write(theirs, line(INITIALIZE))
        assert greet(Pipes(ours, write), b"") is None
    finally:
        for fd in (ours, theirs, write):
            os.close(fd)


def test_the_version_needs_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agent_server", "--version"],
        capture_output=True,
        timeout=15,
        check=True,
    )

    assert done.stdout.startswith(b"agent-server ")


def test_other_arguments_go_to_the_command_line() -> None:
    _, handed, _ = run(b"", "sessions", "list")

    assert handed["arguments"] == ["sessions", "list"]


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals there")
def test_on_a_terminal_a_bare_start_is_a_chat() -> None:
    import pty  # does not exist on Windows

    leader, follower = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", HARNESS],
            stdin=follower,
            capture_output=True,
            timeout=15,
            check=True,
        )
    finally:
        os.close(leader)
        os.close(follower)

    assert json.loads(done.stderr)["arguments"] == ["chat"]
