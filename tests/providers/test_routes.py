"""Which model a session gets, and through which engine, spec §4."""

import json
import subprocess
import sys
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import anyio
import pytest

from agent_server.config import ContextSettings, PriceSettings, ProviderSettings, Settings
from agent_server.loop.errors import BadSetting
from agent_server.providers.catalog import PROVIDERS
from agent_server.providers.choice import choose, selectable
from agent_server.providers.demo import DEMO_SCRIPT, NO_MODEL, write_sample
from agent_server.providers.http_chat import HttpChatModel
from agent_server.providers.http_clients import HttpClients
from agent_server.providers.keys import CommandKey, EnvironmentKey
from agent_server.providers.litellm_port import LitellmModel
from agent_server.providers.prices import DEFAULT_WINDOW, FREE, facts
from agent_server.providers.routes import Models, open_models, route
from agent_server.providers.scripted import ScriptedModel
from tests.fakes.answers import say
from tests.fakes.model_server import ModelServer
from tests.providers.requests import Pieces, request

LOCAL = ProviderSettings(base_url="http://127.0.0.1:9999/v1")


# ---- which model -----------------------------------------------------------------------------------


def test_the_command_line_beats_the_session_beats_the_settings() -> None:
    settings = Settings(model="openai/c")

    assert choose(settings, {}, session="openai/b", option="openai/a").name == "openai/a"
    assert choose(settings, {}, session="openai/b").name == "openai/b"
    assert choose(settings, {}).name == "openai/c"


def test_the_first_provider_with_a_key_is_taken_and_the_variable_named() -> None:
    choice = choose(Settings(), {"GROQ_API_KEY": "x", "OPENAI_API_KEY": "y"})

    assert choice.name.startswith("openai/")
    assert choice.why == "No model is named, and OPENAI_API_KEY is set."
    assert choice.real


def test_a_key_for_another_address_names_no_model() -> None:
    environ = {"OPENAI_API_KEY": "y", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}

    choice = choose(Settings(), environ)

    assert choice.name == "demo"
    assert choice.why.startswith("No model is named; OPENAI_API_KEY is set, but its address is not")


def test_without_any_key_it_is_the_demo_and_no_real_model() -> None:
    choice = choose(Settings(), {"OPENAI_API_KEY": ""})

    assert (choice.name, choice.real) == ("demo", False)
    assert choice.why == "No model is named, and no provider's key was found."


def test_the_usual_models_are_known_to_litellms_table() -> None:
    usual = [p.model for p in PROVIDERS if p.model and p.name != "openrouter"]

    assert [name for name in usual if facts(name).window is None] == []


def test_offered_are_the_current_the_named_and_those_with_a_key() -> None:
    offered = selectable(Settings(model="x/m"), {"GROQ_API_KEY": "k"}, current="demo")

    assert offered == ("demo", "x/m", "groq/openai/gpt-oss-120b")


# ---- which engine ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "environ", "engine", "base_url", "model"),
    [
        ("openai/gpt-x", {}, "http", "https://api.openai.com/v1", "gpt-x"),
        ("openai/gpt-x", {"OPENAI_BASE_URL": "http://h/v1"}, "http", "http://h/v1", "gpt-x"),
        ("openrouter/a/b", {}, "http", "https://openrouter.ai/api/v1", "a/b"),
        ("ollama/qwen", {}, "http", "http://127.0.0.1:11434/v1", "qwen"),
        ("ollama/qwen", {"OLLAMA_API_BASE": "http://h:1"}, "http", "http://h:1/v1", "qwen"),
        ("ollama/qwen", {"OLLAMA_HOST": "0.0.0.0:2"}, "http", "http://127.0.0.1:2/v1", "qwen"),
        ("local/m", {}, "http", "http://127.0.0.1:9999/v1", "m"),
        ("gpt-4o", {}, "http", "https://api.openai.com/v1", "gpt-4o"),
        ("claude-x", {}, "litellm", None, "claude-x"),
        ("anthropic/claude-x", {}, "litellm", None, "claude-x"),
        ("bedrock/x.y", {}, "litellm", None, "x.y"),
    ],
)
def test_auto_takes_our_engine_where_it_reaches(
    name: str, environ: Mapping[str, str], engine: str, base_url: str | None, model: str
) -> None:
    way = route(name, Settings(providers={"local": LOCAL}), environ)

    assert (way.engine, way.base_url, way.model) == (engine, base_url, model)


def test_the_engine_may_be_named() -> None:
    assert route("openai/x", Settings(engine="litellm"), {}).engine == "litellm"
    with pytest.raises(BadSetting, match=r"set providers\.anthropic\.base_url"):
        route("anthropic/x", Settings(engine="http"), {})


@pytest.mark.parametrize("name", ["", "openai/", "/x"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(BadSetting, match="is no name of a model"):
        route(name, Settings(), {})


def test_keys_come_from_the_providers_variable_or_as_the_settings_say() -> None:
    environ = {"OPENAI_API_KEY": "a", "OTHER": "b", "NEW_ONE_API_KEY": "c"}
    own = {"openai": ProviderSettings(api_key_env="OTHER")}
    command = {"openai": ProviderSettings(api_key_command="pass openai")}

    assert route("openai/x", Settings(), environ).key == EnvironmentKey("OPENAI_API_KEY", "a")
    assert route("openai/x", Settings(providers=own), environ).key == EnvironmentKey("OTHER", "b")
    assert route("openai/x", Settings(providers=command), environ).key == CommandKey("pass openai")
    assert route("new-one/x", Settings(), environ).key == EnvironmentKey("NEW_ONE_API_KEY", "c")


def test_windows_come_from_settings_then_the_table_then_a_default() -> None:
    sized = Settings(providers={"openai": ProviderSettings(window=5)})

    assert route("openai/gpt-4o", Settings(context=ContextSettings(window=9)), {}).window == 9
    assert route("openai/gpt-4o", sized, {}).window == 5
    assert route("openai/gpt-4o", Settings(), {}).window == 128_000
    assert route("anthropic/claude-sonnet-4-5", Settings(), {}).window == 200_000
    assert route("openai/nobody-knows", Settings(), {}).window == DEFAULT_WINDOW


def test_prices_hold_at_the_providers_own_address_only() -> None:
    known = route("openai/gpt-4o", Settings(), {}).price
    own = Settings(providers={"openai": ProviderSettings(price=PriceSettings(2, 4))})

    assert known is not None
    assert known.input == Decimal("0.0000025")
    assert route("openai/gpt-4o", Settings(), {"OPENAI_BASE_URL": "http://h/v1"}).price is None
    assert route("ollama/qwen", Settings(), {}).price == FREE
    mine = route("openai/gpt-4o", own, {}).price
    assert mine is not None
    assert (mine.input, mine.output) == (Decimal("0.000002"), Decimal("0.000004"))


# ---- models ----------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_names_become_models(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps([{"text": "scripted"}]), encoding="utf-8")
    async with open_models({}) as models:
        made = {
            name: models.model(name, Settings(), tmp_path)
            for name in (
                "openai/x",
                "anthropic/x",
                f"scripted:{tmp_path}/s.json",
                "scripted:demo",
                "demo",
            )
        }

        assert [type(m) for m in made.values()] == [
            HttpChatModel, LitellmModel, ScriptedModel, ScriptedModel, ScriptedModel,
        ]  # fmt: skip
        reply = await made["demo"].stream(request(), Pieces())
        assert reply.text == NO_MODEL.text


@pytest.mark.anyio
async def test_the_demo_of_the_sample_project_is_the_script(tmp_path: Path) -> None:
    write_sample(tmp_path)
    async with open_models({}) as models:
        reply = await models.model("demo", Settings(), tmp_path).stream(request(), Pieces())

    assert reply.text == DEMO_SCRIPT[0].text


@pytest.mark.anyio
async def test_an_openai_compatible_endpoint_is_reached_through_the_environment() -> None:
    async with ModelServer([say("here")]) as server:
        environ = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}
        async with open_models(environ) as models:
            reply = await models.model("openai/mock", Settings()).stream(request(), Pieces())

        assert (reply.text, reply.model) == ("here", "openai/mock")
        assert server.bodies[0]["model"] == "mock"


@pytest.mark.anyio
async def test_warming_makes_ready_only_what_the_model_is_reached_through() -> None:
    clients = HttpClients()
    async with anyio.create_task_group() as tasks:
        models = Models({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, tasks, clients)
        models.warm("demo", Settings())
        models.warm("openai/x", Settings())
        assert models._workers == {}

    assert list(clients._ways) == [("http", "127.0.0.1:9")]
    await clients.aclose()


def test_importing_the_routes_imports_no_engine() -> None:
    """Each costs 100 ms to 5 s, and a session that does not use it must not pay."""
    program = (
        "import sys, agent_server.providers.routes\n"
        "print(sorted({'h11', 'httpx2', 'litellm', 'openai', 'pydantic', 'ssl', 'rich'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
