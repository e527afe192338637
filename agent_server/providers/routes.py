"""From a model's name to a `Model`.

Names are litellm's (`openai/gpt-x`), `demo`, or `scripted:FILE`. `auto` takes our own engine where it reaches, litellm
for the rest; the setting `engine` decides otherwise.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from agent_server.config import ProviderSettings, Settings
from agent_server.frozen import frozen
from agent_server.loop.errors import BadSetting
from agent_server.loop.ports import Model
from agent_server.providers.catalog import PROVIDERS, Provider, provider, set_address, set_variable
from agent_server.providers.choice import DEMO, SCRIPTED
from agent_server.providers.http_chat import Endpoint, HttpChatModel
from agent_server.providers.http_clients import HttpClients
from agent_server.providers.keys import CommandKey, EnvironmentKey, Key
from agent_server.providers.prices import DEFAULT_WINDOW, FREE, Facts, Price, facts

if TYPE_CHECKING:  # an engine is imported when a model is reached through it; no cycle
    from agent_server.providers.litellm_process import LitellmProcess

# ---- which engine ----------------------------------------------------------------------------------


@frozen
class Route:
    """How a model is reached."""

    name: str
    """Ours, and litellm's."""
    provider: Provider
    model: str
    """What the provider calls it."""
    base_url: str | None
    """None: litellm knows where."""
    engine: str
    key: Key
    window: int
    price: Price | None


def route(name: str, settings: Settings, environ: Mapping[str, str]) -> Route:
    """How the model of that name is reached.

    Raises:
        BadSetting: it cannot be reached as the settings want.
    """
    known, model = _split(name)
    own = settings.providers.get(known.name, ProviderSettings())
    override = own.base_url or set_address(known, environ)
    base_url = override or known.base_url
    if settings.engine == "http" and base_url is None:
        raise BadSetting(
            f"engine is http, but {known.name} has no OpenAI-compatible address: set providers.{known.name}.base_url"
        )
    found = facts(name)
    return Route(
        name,
        known,
        model,
        base_url,
        engine="http" if base_url is not None and settings.engine != "litellm" else "litellm",
        key=_key(known, own, environ),
        window=settings.context.window or own.window or found.window or DEFAULT_WINDOW,
        price=_price(known, own, found, elsewhere=override is not None),
    )


def _split(name: str) -> tuple[Provider, str]:
    """Provider and the provider's name for the model. A name without a provider is OpenAI's, as for litellm."""
    first, slash, rest = name.partition("/")
    if not name or (slash and not (first and rest)):
        raise BadSetting(f"{name!r} is no name of a model; it should look like openai/<name>")
    return (provider(first), rest) if slash else (provider(_guess(name)), name)


def _guess(name: str) -> str:
    for beginning, guessed in (
        ("claude", "anthropic"),
        ("gemini", "gemini"),
        ("deepseek", "deepseek"),
    ):
        if name.startswith(beginning):
            return guessed
    return "openai"


def _key(known: Provider, own: ProviderSettings, environ: Mapping[str, str]) -> Key:
    if own.api_key_command:
        return CommandKey(own.api_key_command)
    variable = own.api_key_env or set_variable(known, environ) or known.key_variables[0]
    return EnvironmentKey.read(variable, environ)


def _price(
    known: Provider, own: ProviderSettings, found: Facts, *, elsewhere: bool
) -> Price | None:
    """What it costs; unknown at an address that is not the provider's own."""
    if own.price is not None:
        return Price.from_settings(own.price)
    if known.local:
        return FREE
    return None if elsewhere else found.price


# ---- models ----------------------------------------------------------------------------------------


class Models:
    """Makes models, and owns what they share: HTTP clients and litellm's workers, one for each provider in use."""

    def __init__(self, environ: Mapping[str, str], tasks: TaskGroup, clients: HttpClients) -> None:
        self._environ = environ
        self._tasks = tasks
        self._clients = clients
        self._workers: dict[str, LitellmProcess] = {}

    def model(self, name: str, settings: Settings, folder: Path | None = None) -> Model:
        """The model of that name, for one session that works in `folder`.

        Raises:
            BadSetting: there is no such model or script, or it cannot be reached as the settings want.
        """
        if name == DEMO or name.startswith(SCRIPTED):
            return _scripted(name, folder)
        way = route(name, settings, self._environ)
        return self._http(way, settings) if way.engine == "http" else self._litellm(way, settings)

    def warm(self, name: str, settings: Settings) -> None:
        """Start, without waiting, what the first request would wait for: litellm's worker, or our HTTP client.

        Raises:
            BadSetting: as `model`.
        """
        if name == DEMO or name.startswith(SCRIPTED):
            return
        way = route(name, settings, self._environ)
        if way.engine == "litellm":
            self._worker(way).warm()
        elif way.base_url is not None:
            self._tasks.start_soon(self._clients.warm, way.base_url)

    def _http(self, way: Route, settings: Settings) -> Model:
        assert way.base_url is not None
        endpoint = Endpoint(way.base_url, way.model, way.key, self._output_field(way))
        return HttpChatModel(
            way.name,
            endpoint,
            self._clients,
            window=way.window,
            timeouts=settings.timeouts,
            price=way.price,
        )

    def _output_field(self, way: Route) -> str:
        """A provider's own way of naming the limit holds at its own address only."""
        return way.provider.output_field if way.base_url == way.provider.base_url else "max_tokens"

    def _litellm(self, way: Route, settings: Settings) -> Model:
        from agent_server.providers.litellm_port import LitellmModel

        elsewhere = way.base_url if way.base_url != way.provider.base_url else None
        # A provider of the person's own is unknown to litellm, but what it speaks is not.
        foreign = elsewhere is not None and way.provider not in PROVIDERS
        return LitellmModel(
            way.name,
            self._worker(way),
            way.key,
            model=f"openai/{way.model}" if foreign else way.name,
            window=way.window,
            timeouts=settings.timeouts,
            base_url=elsewhere,
            price=way.price,
        )

    def _worker(self, way: Route) -> "LitellmProcess":
        from agent_server.providers.litellm_process import LitellmProcess, environment_for

        name = way.provider.name
        if name not in self._workers:
            self._workers[name] = LitellmProcess(environment_for(name, self._environ), self._tasks)
        return self._workers[name]


def _scripted(name: str, folder: Path | None) -> Model:
    from agent_server.providers.demo import demo_model
    from agent_server.providers.scripted import ScriptedModel, read_script

    file = name.removeprefix(SCRIPTED)
    return demo_model(folder) if file == DEMO else ScriptedModel(read_script(Path(file)), name=name)


@asynccontextmanager
async def open_models(environ: Mapping[str, str]) -> AsyncGenerator[Models]:
    """Models until the block is left; then connections are closed and workers ended."""
    clients = HttpClients()
    async with anyio.create_task_group() as tasks:
        try:
            yield Models(environ, tasks, clients)
        finally:
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await clients.aclose()
