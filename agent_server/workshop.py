"""What sessions work with: models, tools and policy, made from the settings that hold in their workspace.

`open_sessions` is the engine behind every front. A `Bench` is what the sessions of one workspace work with; the sources
of settings and the models' clients are shared by all.
"""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import anyio.to_thread

from agent_server.config import FallbackProvider, Home, Problem, ProviderSettings, Settings
from agent_server.config_load import home_of, load
from agent_server.edits.documents import Documents
from agent_server.edits.journal import Blobs
from agent_server.edits.transaction import Transactions
from agent_server.edits.transaction_lease import Leases
from agent_server.frozen import frozen
from agent_server.loop.errors import BadSetting, ClientMistake
from agent_server.loop.limits import Limits
from agent_server.loop.model import Mode, Review, SessionId
from agent_server.loop.ports import Model
from agent_server.options import Options
from agent_server.permissions import places_of, policy_of, rules_of
from agent_server.policy.session_policy import SessionPolicy
from agent_server.providers.choice import DEMO, Choice, choose, selectable
from agent_server.providers.routes import Models, open_models
from agent_server.session.ports import Kit, Place, SubAgentTerms
from agent_server.session.sessions import Sessions
from agent_server.session.steering import WhileBusy
from agent_server.store.blobs import BlobStore
from agent_server.store.sessions import SessionStore
from agent_server.tools.lifeline import Lifeline
from agent_server.tools.registry import build, warm
from agent_server.tools.services import Limits as ToolLimits
from agent_server.tools.services import Services
from agent_server.tools.staged import StagedEdits

IDLE_S = 0.5
"""Before a session's tools are made ready: the answer to a prompt that comes at once does not wait for that."""
HOW_TO_CHOOSE = "Set `model` in config.toml, or AGENT_SERVER_MODEL; `agent-server doctor` says what was looked for."


@frozen
class Sources:
    """Where settings come from, beside the workspace's own file."""

    home: Home
    environ: Mapping[str, str]
    client: Mapping[str, object]
    """What the client says, nested as in `config.toml`; it may say something else later."""
    command_line: Mapping[str, object]
    """Stronger than the client; likewise nested."""
    trusted: bool | None = None
    """Whether the person trusts the workspace, as the editor knows; None: it did not ask, so nobody has said yes."""

    @property
    def overrides(self) -> Mapping[str, object]:
        """Client options and command line, as they are now."""
        return {**self.client, **self.command_line}


@frozen
class Shelf:
    """What all sessions of this process share, beside their models."""

    store: SessionStore
    blobs: Blobs
    leases: Leases
    lifeline: Lifeline
    """By which the commands of all sessions die with this process."""

    def transactions(self, place: Place) -> Transactions:
        """The edits of one session; a sub-agent's are its person's."""
        if place.transactions is not None:
            return place.transactions
        documents = Documents(place.editor)
        return Transactions(documents, self.store.journal(place.id), self.blobs, self.leases)


@asynccontextmanager
async def open_sessions(
    options: Options, client_options: Mapping[str, object], *, trusted: bool | None = None
) -> AsyncGenerator[Sessions]:
    """The sessions of this process; leaving ends and settles them all, then closes the models' clients.

    `client_options` may change meanwhile: they count as they are when a session begins. `trusted` is of `Sources`.
    """
    environ = dict(os.environ)
    sources = Sources(home_of(options, environ), environ, client_options, given(options), trusted)
    blobs = BlobStore(sources.home.blobs)
    store = SessionStore(sources.home.sessions_db, blobs=blobs)
    shelf = Shelf(store, blobs, Leases(), Lifeline())
    async with (
        _closing(shelf.lifeline),
        open_models(environ) as models,
        Sessions(store, lambda cwd: Bench.at(cwd, sources, shelf, models)) as sessions,
    ):
        yield sessions


@asynccontextmanager
async def _closing(lifeline: Lifeline) -> AsyncGenerator[None]:
    """Afterwards its watchdog is gone."""
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lifeline.close)


def given(options: Options) -> dict[str, object]:
    """The command line's settings, nested as in `config.toml`."""
    return {
        name: value for name in ("model", "mode") if (value := getattr(options, name)) is not None
    }


class Bench:
    """`session.ports.Equipment` for one session's workspace."""

    def __init__(
        self,
        cwd: str,
        sources: Sources,
        shelf: Shelf,
        models: Models,
        settings: Settings,
        problems: tuple[Problem, ...],
    ) -> None:
        """`problems` are what was not taken from the sources of settings."""
        self._sources = sources
        self._shelf = shelf
        self._settings = settings
        self._problems = problems
        self._shared = models
        self._cwd = cwd
        self._models: dict[str, Model] = {}
        self._policies: dict[SessionId, SessionPolicy] = {}
        """By the person's session: its sub-agents are judged by the same rules and answers."""

    @staticmethod
    def at(cwd: str, sources: Sources, shelf: Shelf, models: Models) -> "Bench":
        """From the settings as they are now."""
        settings, problems = load(
            sources.home,
            Path(cwd),
            sources.environ,
            sources.overrides,
            trusted=sources.trusted is True,
        )
        return Bench(cwd, sources, shelf, models, settings, problems)

    @property
    def mode(self) -> Mode:
        """See `Equipment`."""
        return self._settings.mode

    @property
    def choice(self) -> Choice:
        """The model a new session gets, and why."""
        return choose(self._settings, self._sources.environ)

    @property
    def model_name(self) -> str:
        """See `Equipment`."""
        return self.choice.name

    @property
    def subagents(self) -> SubAgentTerms:
        """See `Equipment`."""
        terms = self._settings.delegation
        return SubAgentTerms(terms.max_iterations, terms.max_depth, self._settings.models.subagent)

    @property
    def approval_timeout_s(self) -> float:
        """See `Equipment`."""
        return self._settings.approval.timeout_s

    @property
    def limits(self) -> Limits:
        """See `Equipment`."""
        s, limits = self._settings, self._settings.limits
        return Limits(
            max_turns=limits.max_turns,
            on_max_turns=limits.on_max_turns,
            max_session_tokens=limits.max_session_tokens,
            max_cost_usd=None if limits.max_cost_usd is None else Decimal(str(limits.max_cost_usd)),
            max_wall_s=limits.max_wall_s,
            same_error=limits.same_error,
            empty_results=limits.empty_results,
            invalid_replies=limits.invalid_replies,
            repeat_warn=s.guard.repeat_warn,
            repeat_stop=s.guard.repeat_stop,
            transient_retries=s.retry.transient,
            max_delay_s=s.retry.max_delay_s,
            start_early=s.tools.start_early,
            parallel=1 if s.tools.parallel == "off" else Limits().parallel,
            mixed=s.tools.parallel == "all",
            read_retries=s.tools.read_retries,
            compact_at=s.context.compact_at,
            between_turns_at=s.context.between_turns_at,
            stop_on_deny=s.approval.on_deny == "stop",
            reserve_output=s.context.reserve_output,
        )

    @property
    def prompt_while_busy(self) -> WhileBusy:
        """See `Equipment`."""
        return self._settings.workspace.prompt_while_busy

    @property
    def updates_per_second(self) -> int:
        """See `Equipment`."""
        return self._settings.updates.per_second

    @property
    def review(self) -> Review:
        """See `Equipment`."""
        return self._settings.review

    @property
    def receipts(self) -> bool:
        """See `Equipment`."""
        return self._settings.effects.receipts

    def titler(self) -> Model | None:
        """See `Equipment`. A name that is wrong costs the titles, nothing else."""
        return self._helper(self._settings.models.small)

    def summariser(self) -> Model | None:
        """See `Equipment`. A name that is wrong leaves summaries to the session's model."""
        return self._helper(self._settings.models.summary)

    def _helper(self, name: str | None) -> Model | None:
        with suppress(ClientMistake):
            return None if name is None else self.model(name)
        return None

    @property
    def protect_last_n(self) -> int:
        """See `Equipment`."""
        return self._settings.compression.protect_last_n

    def models(self) -> tuple[str, ...]:
        """See `Equipment`."""
        return selectable(self._settings, self._sources.environ, current=self.model_name)

    def model(self, name: str) -> Model:
        """See `Equipment`. One object per session and name: a scripted model remembers its place."""
        if name not in self._models:
            try:
                self._models[name] = self._shared.model(name, self._settings, Path(self._cwd))
            except BadSetting as error:
                raise ClientMistake(str(error)) from error
        return self._models[name]

    async def warm(self, name: str) -> None:
        """See `Equipment`. What is wrong with the name is said when it is asked for."""
        with suppress(BadSetting):
            self._shared.warm(name, self._settings)
        await anyio.sleep(IDLE_S)
        await anyio.to_thread.run_sync(warm, abandon_on_cancel=True)

    def fallbacks(self, name: str, *, pinned: bool) -> tuple[Model, ...]:
        """See `Equipment`."""
        if pinned and not self._settings.fallback.when_pinned:
            return ()
        return tuple(
            self._shared.model(entry.model, self._reaching(entry), Path(self._cwd))
            for entry in self._settings.fallback_providers
            if entry.model != name
        )

    def _reaching(self, entry: FallbackProvider) -> Settings:
        """The settings with the entry's own address and key, where it has them."""
        if entry.base_url is None and entry.api_key_env is None:
            return self._settings
        provider = entry.model.partition("/")[0]
        own = self._settings.providers.get(provider, ProviderSettings())
        own = replace(
            own,
            base_url=entry.base_url or own.base_url,
            api_key_env=entry.api_key_env or own.api_key_env,
        )
        return replace(self._settings, providers={**self._settings.providers, provider: own})

    def notices(self) -> tuple[str, ...]:
        """See `Equipment`."""
        choice = self.choice
        demo = (
            ()
            if choice.name != DEMO or self._settings.model is not None
            else (f"no model is configured: {choice.why} {HOW_TO_CHOOSE}",)
        )
        rules = rules_of(self._settings.permissions)
        broken = [f"permissions: {rule}" for rule in rules if isinstance(rule, BadSetting)]
        return (*demo, *(problem.sentence for problem in self._problems), *broken)

    async def kit(self, place: Place) -> Kit:
        """See `Equipment`."""
        places = await anyio.to_thread.run_sync(places_of, self._sources.home, place)
        owner = place.root or place.id
        if owner not in self._policies:
            self._policies[owner] = await policy_of(
                place,
                owner,
                places=places,
                permissions=self._settings.permissions,
                store=self._shelf.store,
            )
        policy = self._policies[owner]
        limits = ToolLimits(output_chars=self._settings.tools.output_chars)
        transactions = self._shelf.transactions(place)
        services = Services(
            place.cwd,
            transactions,
            policy,
            limits=limits,
            env=self._sources.environ,
            lifeline=self._shelf.lifeline,
            subagents=place.subagents,
            diagnostics=place.diagnostics,
            questions=place.questions,
            save_accepted=self._settings.edits.save == "after_accept",
        )
        staging = StagedEdits(services, lambda: place.review() == "turn")
        return Kit(build(services), policy, transactions, staging)
