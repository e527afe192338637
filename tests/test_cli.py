"""The command line: what is asked for, what is refused, what the small commands print."""

import json
import os
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from agent_server import first_stage
from agent_server.cli import main
from agent_server.commands.arguments import parse
from agent_server.loop.model import (
    CallKey,
    DoneReason,
    Entry,
    ResultEntry,
    SessionId,
    StartedEntry,
    ToolResult,
    TurnEndEntry,
    TurnId,
    Usage,
)
from agent_server.options import Options
from agent_server.store.sessions import SessionStore
from tests.store.entries import call_entry, said

TURN = TurnId("t")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for each test."""
    for name in [name for name in os.environ if name.startswith("AGENT_SERVER_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AGENT_SERVER_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def kept(home: Path, *entries: Entry, title: str | None = None, cwd: str = "/work") -> SessionId:
    """A session in the store."""

    async def keep() -> SessionId:
        store = SessionStore(home / "state" / "sessions.db")
        made = await store.create(cwd, title=title)
        await (await store.open_log(made.id)).append(*entries)
        await store.aclose()
        return made.id

    return anyio.run(keep)


def test_common_options_stand_before_or_after_the_command():
    before = parse(["--model", "m", "--mode=plan", "acp"])
    after = parse(["acp", "--model", "m", "--mode=plan"])

    assert before.options == after.options == Options(model="m", mode="plan")
    assert before.command == after.command == "acp"


def test_options_come_back_as_arguments_for_a_child():
    options = Options(model="-odd", log_file="/a b", trace="=")

    assert parse([*options.as_arguments(), "acp"]).options == options


def test_chat_takes_a_prompt_of_several_words_and_an_answer():
    asked = parse(["chat", "fix", "the bug", "--yes"])

    assert (asked.prompt, asked.answer, asked.resume) == ("fix the bug", "yes", None)


@pytest.mark.parametrize(
    ("argv", "resume"),
    [(["chat"], None), (["chat", "--resume"], ""), (["chat", "--resume=s1"], "s1")],
)
def test_resume_names_a_session_or_means_the_last_one(argv: Sequence[str], resume: str | None):
    assert parse(argv).resume == resume


@pytest.mark.parametrize(
    ("argv", "said_"),
    [
        (["sesions", "list"], "unknown command 'sesions'; did you mean 'sessions'?"),
        (["xyzzy"], "unknown command 'xyzzy'; see agent-server --help"),
        (["sessions", "lst"], "unknown action 'lst'; did you mean 'list'?"),
        (["--modle", "x"], "unknown option '--modle'; did you mean '--mode' or '--model'?"),
        (["acp", "--trase=x"], "unknown option '--trase'; did you mean '--trace'?"),
        (["--mod", "plan", "acp"], "unknown option '--mod'; did you mean '--mode' or '--model'?"),
        (["--mode", "aks", "acp"], "did you mean 'ask'?"),
        (["sessions"], "ACTION"),
        (["chat", "--yes", "--no"], "not allowed with"),
        (["demo", "--model", "m"], "--model does nothing here"),
        (["demo", "--config", "f"], "--config does nothing here"),
        (["--mode", "plan", "sessions", "list"], "--mode does nothing here"),
        (["--log-file", "f", "sessions", "list"], "--log-file does nothing here"),
        (["doctor", "--trace", "f"], "--trace does nothing here"),
        (["schema", "--config", "f"], "--config does nothing here"),
    ],
)
def test_what_makes_no_sense_ends_with_2_and_a_suggestion(
    argv: Sequence[str], said_: str, capsys: pytest.CaptureFixture[str]
):
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said_ in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", [["acp"], ["lsp"], ["chat", "hi"], ["sessions", "list"], []])
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "there is no such file"),
        ("[permissions]\ndeny = [\n", "is not valid TOML: "),
        (b"\xff\xfe", "is not UTF-8"),
        ("folder", "is not a file"),
    ],
)
def test_a_named_config_file_that_cannot_be_used_ends_every_command_before_it_begins(
    command: list[str],
    content: str | bytes | None,
    why: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    path = tmp_path / "mine.toml"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    assert main(["--config", str(path), *command]) == 2

    out, err = capsys.readouterr()
    assert (out, f"--config {path}: {why}" in err) == ("", True)
    assert "line" in err or "TOML" not in err


@pytest.mark.parametrize("option", ["--log-file", "--trace"])
def test_a_named_file_that_cannot_be_written_ends_the_command_before_it_begins(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([option, str(tmp_path / "no" / "file"), "acp"]) == 2
    assert f"{option} {tmp_path}/no/file: cannot be written" in capsys.readouterr().err


def test_help_names_the_commands_and_what_comes_later(capsys: pytest.CaptureFixture[str]):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(
        name in out for name in ("acp", "lsp", "chat", "demo", "sessions", "doctor", "schema")
    )
    assert "planned: models, login, logout." in out


def test_version_is_printed(capsys: pytest.CaptureFixture[str]):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("agent-server 0.")


@pytest.mark.parametrize(
    ("argv", "dialect"), [([], None), (["acp"], "acp"), (["lsp"], "lsp"), (["--mode=ask"], None)]
)
def test_serving_goes_to_the_first_stage(
    argv: Sequence[str], dialect: str | None, monkeypatch: pytest.MonkeyPatch
):
    started: list[tuple[str | None, str | None]] = []

    def start(asked: str | None, options: Options) -> int:
        started.append((asked, options.model))
        return 7

    monkeypatch.setattr(first_stage, "start", start)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    assert main(["--model=m", *argv]) == 7
    assert started == [(dialect, "m")]


def test_schema_prints_the_bytes_of_the_schema(capfdbinary: pytest.CaptureFixture[bytes]):
    from agent_server.front.protocol.schema import schema_text

    assert main(["schema"]) == 0
    assert capfdbinary.readouterr().out == schema_text().encode()


def test_no_sessions_are_no_error_and_make_no_file(home: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["sessions", "list"]) == 0
    assert capsys.readouterr().out == "There are no sessions yet.\n"
    assert not home.exists()


def test_sessions_are_listed_for_people_and_for_programs(
    home: Path, capsys: pytest.CaptureFixture[str]
):
    session = kept(home, said("hello"), title="Fix \x1b[31mdates", cwd="/home/me/\udcff")

    assert main(["sessions", "list"]) == 0
    line = capsys.readouterr().out
    assert line.startswith(session)
    assert "Fix \u241b[31mdates" in line

    assert main(["sessions", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["id"], listed["title"], listed["cwd"]) == (
        session,
        "Fix \x1b[31mdates",
        "/home/me/\udcff",
    )


def test_a_damaged_session_is_listed_as_damaged(home: Path, capsys: pytest.CaptureFixture[str]):
    kept(home, said("hello"))
    with closing(sqlite3.connect(home / "state" / "sessions.db")) as connection, connection:
        connection.execute("UPDATE entry SET body = x'00'")
    connection.close()

    assert main(["sessions", "list"]) == 0
    assert "DAMAGED" in capsys.readouterr().out


def test_show_renders_what_was_said_and_what_each_call_did(
    home: Path, capsys: pytest.CaptureFixture[str]
):
    session = kept(
        home,
        said("make it\nwork"),
        call_entry(1, tool="shell", arguments='{"command": "make"}'),
        StartedEntry(TURN, CallKey(1, 0)),
        ResultEntry(TURN, CallKey(1, 0), ToolResult(True, "done", summary="exit 0"), "confirmed"),
        call_entry(2, tool="shell", arguments='{"command": "sleep"}'),
        StartedEntry(TURN, CallKey(2, 0)),
        ResultEntry(TURN, CallKey(2, 0), ToolResult(False, "cut \x1b]0;x"), "unknown"),
        call_entry(3, tool="read"),
        TurnEndEntry(TURN, DoneReason.USER_ABORT, "cancel", Usage(10, 2)),
        title="Work",
    )

    assert main(["sessions", "show", session]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [f"session  {session}", "title    Work", "folder   /work"]
    assert lines[5:] == [
        "> make it",
        "  work",
        '  + shell {"command": "make"} (exit 0; ran to its end)',
        '  x shell {"command": "sleep"} (cut \u241b]0;x; effect unknown: interrupted while it ran)',
        "  -- user_abort (cancel); 10 tokens in, 2 out",
        "  ? read {} (never started)",
    ]


def test_show_of_an_unknown_session_says_so(capsys: pytest.CaptureFixture[str]):
    assert main(["sessions", "show", "nobody"]) == 1
    assert capsys.readouterr().err == "agent-server: there is no session 'nobody'\n"


def test_a_session_is_exported_without_the_credentials_of_the_environment(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    session = kept(home, said("my key is sk-0123456789"), title="Keys: sk-0123456789")

    for form, begins in (("md", "# Keys: [masked]\n"), ("json", "{\n"), ("html", "<!doctype")):
        assert main(["sessions", "export", session, "--format", form]) == 0
        out = capsys.readouterr().out
        assert out.startswith(begins)
        assert "my key is [masked]" in out
        assert "sk-0123456789" not in out


def test_an_export_into_a_file_is_for_its_owner_alone(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    session = kept(home, said("hello"))
    file = tmp_path / "out.md"

    assert main(["sessions", "export", session, "--output", str(file)]) == 0
    assert "> hello" in file.read_text("utf-8")
    assert file.stat().st_mode & 0o777 == 0o600
    assert capsys.readouterr().out == f"Session {session} was written to {file}\n"
    assert main(["sessions", "export", session, "--output", str(tmp_path)]) == 1
    assert f"{tmp_path} cannot be written" in capsys.readouterr().err


def test_delete_forgets_a_session_and_does_not_know_another(
    home: Path, capsys: pytest.CaptureFixture[str]
):
    session = kept(home, said("hello"))

    assert main(["sessions", "delete", session]) == 0
    assert capsys.readouterr().out == f"Session {session} was deleted.\n"
    for action in ("delete", "export", "show"):
        assert main(["sessions", action, session]) == 1
        assert f"there is no session '{session}'" in capsys.readouterr().err


def test_deleting_from_no_store_makes_none(home: Path):
    assert main(["sessions", "delete", "nobody"]) == 1
    assert not (home / "state" / "sessions.db").exists()
