"""Checks of what answers: keys that were found (never their values), the model a new session gets, and its address."""

import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from agent_server.commands.findings import Finding
from agent_server.config import Settings
from agent_server.loop.errors import BadSetting
from agent_server.providers.catalog import PROVIDERS
from agent_server.providers.choice import SCRIPTED, Choice, choose
from agent_server.providers.keys import EnvironmentKey
from agent_server.providers.routes import Route, route

REACH_S = 2.0
"""To a name's address and a connection; a person waits for it, and a model that is slower is a problem anyway."""
PORTS = {"http": 80, "https": 443}
NAME_ONE = (
    "name one: --model, AGENT_SERVER_MODEL or `model` in config.toml, with its provider's key"
)


def check_keys(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Where a key was found, provider by provider."""
    found = [
        f"{known.name} ({variable})"
        for known in PROVIDERS
        for variable in known.key_variables
        if environ.get(variable)
    ]
    for name, own in settings.providers.items():
        if own.api_key_command:
            found.append(f"{name} (api_key_command, not run)")
        elif own.api_key_env and environ.get(own.api_key_env):
            found.append(f"{name} ({own.api_key_env})")
    if found:
        yield Finding("OK", f"keys: {', '.join(found)}")
    else:
        yield Finding("note", "no provider's key in the environment", NAME_ONE)


def check_model(
    settings: Settings, environ: Mapping[str, str], *, option: str | None
) -> Iterator[Finding]:
    """The model that a new session gets, why, and whether it can be asked. `option` is `--model`."""
    choice = choose(settings, environ, option=option)
    said = f"model {choice.name}. {choice.why}"
    if not choice.real:
        yield _scripted(choice, said)
        return
    try:
        way = route(choice.name, settings, environ)
    except BadSetting as mistake:
        yield Finding("problem", f"{said} {mistake}", "correct the name or the setting")
        return
    yield _keyed(way, said)
    if way.base_url is not None:
        yield check_reach(choice.name, way.base_url)


def _scripted(choice: Choice, said: str) -> Finding:
    file = choice.name.removeprefix(SCRIPTED)
    if choice.name.startswith(SCRIPTED) and file != "demo" and not Path(file).is_file():
        return Finding("problem", f"{said} There is no file {file}", "correct the path")
    return Finding("note", f"{said} It is a script, no real model", NAME_ONE)


def _keyed(way: Route, said: str) -> Finding:
    keyless = isinstance(way.key, EnvironmentKey) and way.key.secret is None
    if not keyless:
        return Finding("OK", f"{said} It is asked with {way.key.source}, engine {way.engine}")
    if way.provider.local or way.base_url != way.provider.base_url:
        return Finding("OK", f"{said} It is asked without a key, engine {way.engine}")
    missing = way.key.source.removeprefix("the key in ")
    return Finding("problem", f"{said} Its key is missing", f"set {missing}")


def check_reach(name: str, base_url: str) -> Finding:
    """Whether something listens there. Sends nothing."""
    found = _address(base_url)
    if found is None:
        return Finding("problem", f"{name}: {base_url!r} is no HTTP address", "correct base_url")
    scheme, host, port = found
    if scheme in getproxies() and not proxy_bypass(host):
        return Finding("note", f"{name} is reached through a proxy; not tried")
    reason = _why_unreachable(host, port)
    if reason is None:
        return Finding("OK", f"{host}:{port} answers")
    return Finding(
        "problem",
        f"{name} cannot be reached at {host}:{port}: {reason}",
        "start it, or correct base_url",
    )


def _address(base_url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port."""
    try:
        address = urlsplit(base_url)
        host, port = address.hostname, address.port
    except ValueError:
        return None
    if host is None or address.scheme not in PORTS:
        return None
    return address.scheme, host, port or PORTS[address.scheme]


def _why_unreachable(host: str, port: int) -> str | None:
    reasons: list[str | None] = []

    def connect() -> None:
        try:
            socket.create_connection((host, port), timeout=REACH_S).close()
            reasons.append(None)
        except OSError as error:
            reasons.append(str(error))

    # In a thread, because looking up the name has no time limit of its own.
    attempt = threading.Thread(target=connect, daemon=True)
    attempt.start()
    attempt.join(REACH_S)
    return reasons[0] if reasons else f"no answer in {REACH_S:g} s"
