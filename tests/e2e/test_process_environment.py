"""In a bare, broken or hostile environment `initialize` is answered, and what is wrong is said in words (PR-11)."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.support import PROGRAM, WIRES, Place, Server, Wire, edit, running
from tests.fakes.acp_client import Refused
from tests.fakes.answers import call, http, say
from tests.fakes.model_server import ModelServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(60),
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="descendants are found there"
    ),
]
both_wires = pytest.mark.parametrize("wire", WIRES)

NOTICES = {"session": {"notices": {}}}
EDIT = [
    edit("x = 1", "x = 2"),
    {"text": "", "calls": [{"name": "search", "arguments": {"pattern": "x ="}}]},
    {"text": "Done."},
]


def stripped(place: Place, wire: Wire, **environment: str) -> list[str]:
    """A command that starts the agent with these variables and no other."""
    kept = {k: v for k, v in os.environ.items() if k == "PYTHONPATH"}
    given = [f"{name}={value}" for name, value in (kept | environment).items()]
    return ["/usr/bin/env", "-i", *given, PROGRAM, wire]


async def edits(server: Server) -> None:
    """A whole conversation works: an edit, a search, an answer."""
    session = await server.client.new(str(server.place.workspace))
    assert (await server.client.prompt(session, "go"))["stopReason"] == "end_turn"
    assert server.place.file.read_text() == "x = 2\n"
    assert server.client.text(session).endswith("Done.")


@both_wires
async def test_with_no_environment_at_all_a_person_can_work(wire: Wire, tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    command = stripped(
        place,
        wire,
        AGENT_SERVER_HOME=str(place.root / "state"),
        AGENT_SERVER_MODEL=place.script(*EDIT),
    )
    async with running(place, wire, command=command) as server:
        await edits(server)


async def test_without_home_the_folders_of_the_platform_are_found_all_the_same(
    tmp_path: Path,
) -> None:
    place = Place.at(tmp_path)
    names = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    folders = {name: str(place.root / name.lower()) for name in names}
    command = stripped(place, "acp", AGENT_SERVER_MODEL=place.script(*EDIT), **folders)
    async with running(place, command=command) as server:
        await edits(server)
    assert list((place.root / "xdg_state_home").rglob("sessions.db"))


async def test_without_any_program_on_path_files_can_be_read_searched_and_edited(
    tmp_path: Path,
) -> None:
    """No git, no rg, no shell."""
    place = Place.at(tmp_path)
    env = {"PATH": "/nonexistent", "AGENT_SERVER_MODEL": place.script(*EDIT)}
    async with running(place, env=env) as server:
        await edits(server)


@both_wires
async def test_without_a_model_or_key_a_prompt_is_answered_and_says_how_to_choose_one(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    command = stripped(place, wire, AGENT_SERVER_HOME=str(place.root / "state"))
    capabilities = NOTICES if wire == "acp" else {}
    async with running(place, wire, command=command, capabilities=capabilities) as server:
        client = server.client
        session = await client.new(str(place.workspace))
        result = await client.prompt(session, "hello")

        assert result["stopReason"] == "end_turn"
        assert client.text(session)
        assert wire == "lsp" or "model" in str(client.updates(session, "notice"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('model = "openai/mock"\nmodle = 1\n', ("config.toml:2", "modle")),
        ("[limits]\nmax_turns = \n", ("config.toml:2", "TOML")),
        ('[limits]\nmax_turns = "many"\n', ("config.toml:2", "limits.max_turns")),
        ("\0\xff", ("config.toml",)),
    ],
)
async def test_a_config_that_cannot_be_used_is_named_with_file_line_and_key(
    text: str, named: tuple[str, ...], tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    (place.root / "state").mkdir()
    (place.root / "state" / "config.toml").write_text(text, encoding="latin-1")
    async with running(
        place, env={"AGENT_SERVER_MODEL": place.script(*EDIT)}, capabilities=NOTICES
    ) as server:
        session = await server.client.new(str(place.workspace))
        await server.client.prompt(session, "go")

        notices = str(server.client.updates(session, "notice"))
        assert all(word in notices for word in named), notices
        assert server.place.file.read_text() == "x = 2\n"


@pytest.mark.parametrize(
    ("wire", "broken"),
    [
        ("acp", {"AGENT_SERVER_LOG_LEVEL": "shout"}),
        ("acp", {"AGENT_SERVER_TRACE": "/nonexistent/trace"}),
        ("lsp", {"AGENT_SERVER_LOG_LEVEL": "shout", "AGENT_SERVER_TRACE": "/nonexistent/trace"}),
        ("acp", {"AGENT_SERVER_MODE": "yolo", "AGENT_SERVER_ENGINE": "warp"}),
        ("acp", {"HOME": "relative/home", "PYTHONUTF8": "0", "LC_ALL": "C"}),
    ],
)
async def test_a_variable_with_a_wrong_value_stops_nothing(
    wire: Wire, broken: Mapping[str, str], tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    env = {**broken, "AGENT_SERVER_MODEL": place.script(*EDIT)}
    async with running(place, wire, env=env) as server:
        await edits(server)


@both_wires
async def test_names_of_files_are_utf8_whatever_the_locale_is(wire: Wire, tmp_path: Path) -> None:
    """FC-16: `LC_ALL=C` with both of Python's own remedies switched off."""
    place = Place.at(tmp_path)
    file = place.workspace / "ünï" / "naïve.txt"
    file.parent.mkdir()
    file.write_text("one\n")
    steps = [edit("one", "two", path="ünï/naïve.txt"), {"text": "Done."}]
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    env = {**ascii_only, "AGENT_SERVER_MODEL": place.script(*steps)}
    async with running(place, wire, env=env) as server:
        session = await server.client.new(str(place.workspace))
        await server.client.prompt(session, "go")

    assert file.read_text() == "two\n"


@both_wires
async def test_a_home_that_cannot_be_written_is_said_to_be_so(wire: Wire, tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    (place.root / "state").write_text("a file where a folder should be")
    async with running(place, wire) as server:
        with pytest.raises(Refused) as refused:
            await server.client.new(str(place.workspace))
        assert str(place.root / "state") in str(refused.value)
        with pytest.raises(Refused):
            await server.client.new(str(place.workspace))


@both_wires
async def test_a_script_that_does_not_exist_is_named(wire: Wire, tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    env = {"AGENT_SERVER_MODEL": f"scripted:{place.root / 'gone.json'}"}
    async with running(place, wire, env=env) as server:
        session = await server.client.new(str(place.workspace))
        with pytest.raises(Refused) as refused:
            await server.client.prompt(session, "go")
        assert "gone.json" in str(refused.value)


# ---- standard output (PR-05) ---------------------------------------------------------------------

LOUD = {
    "PYTHONWARNINGS": "always",
    "PYTHONDEVMODE": "1",
    "AGENT_SERVER_LOG_LEVEL": "debug",
    "LITELLM_LOG": "DEBUG",
}
PRINTING = (
    """echo '{"jsonrpc":"2.0","id":1,"result":{}}'; echo out > /dev/stdout; echo err >&2; """
    """echo fd > /proc/self/fd/1; printf 'Content-Length: 2\\r\\n\\r\\n{}'"""
)


@both_wires
async def test_standard_output_is_frames_only_however_loud_everything_is(
    wire: Wire, tmp_path: Path
) -> None:
    """The client fails at the first byte that belongs to no frame."""
    place = Place.at(tmp_path)
    script = [
        call("shell", command=PRINTING),
        call("edit", path="a.py", edits=[{"old_text": "x = 1", "new_text": "x = 2"}]),
        say("Done."),
    ]
    async with ModelServer(script) as model, running(place, wire, model=model, env=LOUD) as server:
        session = await server.client.new(str(place.workspace))
        assert (await server.client.prompt(session, "go"))["stopReason"] == "end_turn"
        assert place.file.read_text() == "x = 2\n"
        assert model.refused == []


@pytest.mark.parametrize("engine", ["http", "litellm"])
@pytest.mark.parametrize("wire", ["acp", "lsp"])
async def test_a_provider_error_is_an_answer_in_words_and_no_noise(
    wire: Wire, engine: str, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    body = {"error": {"message": "the key is no good", "type": "invalid_request_error"}}
    env = {**LOUD, "AGENT_SERVER_ENGINE": engine}
    async with (
        ModelServer([http(401, body=body), say("again")]) as model,
        running(place, wire, model=model, env=env) as server,
    ):
        session = await server.client.new(str(place.workspace))
        with pytest.raises(Refused) as refused:
            await server.client.prompt(session, "go")
        assert "OPENAI_API_KEY" in str(refused.value)
        assert "sk-test-of-nobody" not in place.errors.read_text()
        assert (await server.client.prompt(session, "next"))["stopReason"] == "end_turn"
        assert server.client.text(session) == "again"
        assert model.refused == []
