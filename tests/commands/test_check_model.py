"""What `doctor` says of keys, of the model a session would get, and of its address."""

import socket
from collections.abc import Iterable, Iterator, Mapping

import pytest

from agent_server.commands.check_model import check_keys, check_model, check_reach
from agent_server.commands.findings import Finding, lines
from agent_server.config import ProviderSettings, Settings


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxies of the machine that tests are none of theirs."""
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def listening() -> Iterator[str]:
    """An address on which something listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


@pytest.fixture
def silent() -> str:
    """An address on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"http://127.0.0.1:{port}/v1"


def states(findings: Iterable[Finding]) -> list[str]:
    return [finding.state for finding in findings]


def checked(environ: Mapping[str, str], **settings: object) -> list[Finding]:
    return list(check_model(Settings(**settings), environ, option=None))  # pyright: ignore[reportArgumentType]


def test_keys_are_named_by_their_variable_and_never_printed():
    environ = {"OPENAI_API_KEY": "sk-SECRET", "MINE": "SECRET-too"}
    settings = Settings(
        providers={
            "mine": ProviderSettings(api_key_env="MINE"),
            "vault": ProviderSettings(api_key_command="echo SECRET"),
        }
    )

    (said,) = lines(check_keys(settings, environ))
    assert (
        said
        == "OK       keys: openai (OPENAI_API_KEY), mine (MINE), vault (api_key_command, not run)"
    )


def test_no_key_at_all_is_noted_with_what_to_do():
    assert states(check_keys(Settings(), {})) == ["note"]


def test_without_a_model_the_demo_is_noted_as_no_real_one():
    (found,) = checked({})
    assert found.state == "note"
    assert "no real model" in found.what


def test_a_model_with_its_key_at_an_address_that_answers_is_fine(listening: str):
    environ = {"OPENAI_API_KEY": "sk-SECRET", "OPENAI_BASE_URL": listening}

    found = checked(environ, model="openai/x")
    assert states(found) == ["OK", "OK"]
    assert found[0].what.startswith("model openai/x. It is the `model` of the settings.")
    assert "SECRET" not in "".join(lines(found))


def test_a_model_whose_key_is_missing_is_a_problem_that_names_the_variable():
    (found,) = checked({}, model="anthropic/claude-x")
    assert (found.state, found.fix) == ("problem", "set ANTHROPIC_API_KEY")


def test_a_server_of_the_person_s_own_needs_no_key(listening: str):
    assert states(checked({"OPENAI_BASE_URL": listening}, model="openai/x")) == ["OK", "OK"]


def test_an_address_where_nothing_listens_is_a_problem(silent: str):
    found = check_reach("openai/x", silent)
    assert found.state == "problem"
    assert found.what.startswith(f"openai/x cannot be reached at {silent[7:-3]}: ")


@pytest.mark.parametrize(
    "address", ["", "nonsense", "ftp://host/v1", "http://", "http://host:port/", "http://["]
)
def test_what_is_no_address_is_a_problem(address: str):
    found = check_reach("openai/x", address)
    assert (found.state, "is no HTTP address" in found.what) == ("problem", True)


def test_behind_a_proxy_nothing_is_tried(silent: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    assert check_reach("openai/x", silent).state == "note"


def test_a_script_that_is_not_there_is_a_problem():
    (found,) = checked({}, model="scripted:/nowhere/script.md")
    assert found.state == "problem"
    assert "There is no file /nowhere/script.md" in found.what


def test_a_name_that_is_none_is_a_problem():
    assert states(checked({}, model="openai/")) == ["problem"]
