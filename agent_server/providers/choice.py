"""Which model a session uses, and which ones are offered, from settings and environment (spec §4)."""

from collections.abc import Mapping

from agent_server.config import ProviderSettings, Settings
from agent_server.frozen import frozen
from agent_server.providers.catalog import PROVIDERS, Provider, set_variable

DEMO = "demo"
SCRIPTED = "scripted:"
"""Begins the name of a scripted model; the script's file follows."""


@frozen
class Choice:
    """The model a session uses, and why."""

    name: str
    why: str
    """A sentence for a person."""

    @property
    def real(self) -> bool:
        """Whether a language model answers, rather than a script."""
        return self.name != DEMO and not self.name.startswith(SCRIPTED)


def choose(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    session: str | None = None,
    option: str | None = None,
) -> Choice:
    """The first of: `option` (`--model`), `session` (chosen in it), the settings, a provider with a key, the demo."""
    if option:
        return Choice(option, "It was named by --model.")
    if session:
        return Choice(session, "It was chosen in this session.")
    if settings.model:
        return Choice(settings.model, "It is the `model` of the settings.")
    with_key = [(known, v) for known in PROVIDERS if (v := set_variable(known, environ))]
    for known, variable in with_key:
        if name := _default(known, settings, environ):
            return Choice(name, f"No model is named, and {variable} is set.")
    if with_key:
        why = "its address is not the provider's own, so which models it has is not known"
        return Choice(DEMO, f"No model is named; {with_key[0][1]} is set, but {why}.")
    return Choice(DEMO, "No model is named, and no provider's key was found.")


def selectable(settings: Settings, environ: Mapping[str, str], *, current: str) -> tuple[str, ...]:
    """Models to offer: the current one, those the settings name, and the usual one of each provider with a key."""
    roles = settings.models
    named = (settings.model, roles.upgrade, roles.small, roles.subagent, roles.summary)
    fallbacks = (entry.model for entry in settings.fallback_providers)
    found = (
        _default(known, settings, environ) for known in PROVIDERS if set_variable(known, environ)
    )
    return tuple(dict.fromkeys(name for name in (current, *named, *fallbacks, *found) if name))


def _default(known: Provider, settings: Settings, environ: Mapping[str, str]) -> str | None:
    """The provider's usual model; None at an address that is not the provider's own, where it may not exist."""
    own = settings.providers.get(known.name, ProviderSettings())
    moved = own.base_url or any(environ.get(name) for name in known.url_variables)
    return None if moved else known.model
