"""The settings as typed values, and where the program keeps its files. `config_load` reads them from their sources.

A field's `metadata` holds the bounds of its value in pydantic's words (`ge`, `gt`, `le`). Names of tables and keys are
those of `config.toml`.
"""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from agent_server.frozen import frozen
from agent_server.loop.model import Mode, Review

Engine = Literal["auto", "http", "litellm"]
Preset = Literal["mana", "mibyan", "vanta"]
LogLevel = Literal["debug", "info", "warning", "error"]

POSITIVE: Mapping[str, float] = MappingProxyType({"gt": 0})
COUNT: Mapping[str, float] = MappingProxyType({"ge": 0})
SHARE: Mapping[str, float] = MappingProxyType({"ge": 0, "le": 1})


@frozen
class Models:
    """`[models]`: litellm names for particular jobs; None means the main model."""

    small: str | None = None
    summary: str | None = None
    subagent: str | None = None
    upgrade: str | None = None


@frozen
class Limits:
    """`[limits]`: the fuses of one turn (steps, seconds) and of one session (tokens, dollars). None: no limit."""

    max_turns: int = field(default=100, metadata=POSITIVE)
    """Steps (model replies) in one turn."""
    on_max_turns: Literal["summary", "stop"] = "summary"
    max_session_tokens: int | None = field(default=None, metadata=POSITIVE)
    max_cost_usd: float | None = field(default=None, metadata=POSITIVE)
    max_wall_s: float | None = field(default=None, metadata=POSITIVE)
    same_error: int = field(default=3, metadata=COUNT)
    """Repeats of one tool error after the first."""
    empty_results: int = field(default=3, metadata=COUNT)
    invalid_replies: int = field(default=3, metadata=COUNT)


@frozen
class ContextSettings:
    """`[context]`: shares of the usable window at which something happens to the history."""

    window: int | None = field(default=None, metadata=POSITIVE)
    """Tokens; None means what is known about the model."""
    reserve_output: int | None = field(default=None, metadata=COUNT)
    """Tokens kept free for the answer; None means the model's largest output, at most a fifth of the window."""
    prune_at: float = field(default=0.60, metadata=SHARE)
    upgrade_at: float = field(default=0.75, metadata=SHARE)
    auto_upgrade: bool | None = None
    """None means where `models.upgrade` names a model."""
    compact_at: float = field(default=0.85, metadata=SHARE)
    between_turns_at: float | None = field(default=None, metadata=SHARE)
    """When a turn begins; None means `compact_at`, which holds then too."""


@frozen
class Compression:
    """`[compression]`: what a summary leaves as it is."""

    protect_last_n: int = field(default=20, metadata=COUNT)
    """Entries of the log at its end, unless the conversation does not fit otherwise."""
    in_place: bool = True
    """The session goes on under its id after a summary."""


@frozen
class Retry:
    """`[retry]`: how often a failed request is sent again, and the longest pause before it."""

    transient: int = field(default=3, metadata=COUNT)
    max_delay_s: float = field(default=30.0, metadata=COUNT)


@frozen
class Timeouts:
    """`[timeouts]` of a request to a model, in seconds."""

    connect_s: float = field(default=10.0, metadata=POSITIVE)
    """Long enough for a TLS handshake over a bad line."""
    first_token_s: float = field(default=300.0, metadata=POSITIVE)
    """Large prompts on local machines are read at some hundred tokens a second."""
    idle_s: float = field(default=120.0, metadata=POSITIVE)
    """Between two chunks; keep-alive comments do not count."""


@frozen
class ToolSettings:
    """`[tools]`."""

    parallel: Literal["safe", "all", "off"] = "safe"
    start_early: bool = True
    """Read-only calls may start while the reply still streams."""
    read_retries: int = field(default=1, metadata={"ge": 0, "le": 5})
    output_chars: int = field(default=30_000, metadata=POSITIVE)


@frozen
class Guard:
    """`[guard]`: identical calls with identical outcomes, in a row; 0 disables."""

    repeat_warn: int = field(default=3, metadata=COUNT)
    repeat_stop: int = field(default=5, metadata=COUNT)


@frozen
class Approval:
    """`[approval]`: questions to the person."""

    timeout_s: float = field(default=0.0, metadata=COUNT)
    """0 waits as long as it takes."""
    on_deny: Literal["continue", "stop"] = "continue"


@frozen
class Delegation:
    """`[delegation]`: sub-agents."""

    max_iterations: int = field(default=50, metadata=POSITIVE)
    """Steps of one sub-agent; the model cannot raise it."""
    max_depth: int = field(default=1, metadata=COUNT)
    """1: sub-agents have none of their own. 0: there are none at all."""


@frozen
class Edits:
    """`[edits]`."""

    save: Literal["never", "after_accept"] = "never"
    """Whether the editor is asked to save an open document once an accepted edit was made in it."""


@frozen
class Effects:
    """`[effects]`."""

    receipts: bool = True
    """Whether `.agent/tool-effects.jsonl` in the workspace says which calls may have changed something."""


@frozen
class Workspace:
    """`[workspace]`."""

    prompt_while_busy: Literal["queue", "steer", "reject"] = "queue"
    """A prompt that comes while a turn runs waits for its end, is added to it, or is refused."""


@frozen
class Updates:
    """`[updates]`."""

    per_second: int = field(default=0, metadata={"ge": 0, "le": 1000})
    """Of a text that grows, at most, for a client that does not say how many it wants. 0: decision 5's own pace."""


@frozen
class Permissions:
    """`[permissions]`: rules such as `shell(git status:*)`; the strictest that fits wins."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


@frozen
class PriceSettings:
    """`price` of a provider, in US dollars for a million tokens."""

    input: float = field(default=0.0, metadata=COUNT)
    output: float = field(default=0.0, metadata=COUNT)
    cached: float | None = field(default=None, metadata=COUNT)
    """None means as dear as `input`."""


@frozen
class ProviderSettings:
    """`[providers.<name>]`: where `<name>/…` models are reached. Keys themselves never stand in a file."""

    base_url: str | None = None
    api_mode: Literal["chat_completions"] = "chat_completions"
    api_key_env: str | None = None
    """The environment variable that holds the key."""
    api_key_command: str | None = None
    """A shell command that prints the key; asked again when the key was refused."""
    window: int | None = field(default=None, metadata=POSITIVE)
    max_output: int | None = field(default=None, metadata=POSITIVE)
    price: PriceSettings | None = None


@frozen
class FallbackProvider:
    """`[[fallback_providers]]`: a model to go on with when the first one cannot."""

    model: str = ""
    base_url: str | None = None
    api_key_env: str | None = None


@frozen
class Fallback:
    """`[fallback]`."""

    when_pinned: bool = False
    """Whether a model the person chose in the session may be replaced by a fallback."""


@frozen
class Settings:
    """All settings, merged."""

    model: str | None = None
    """litellm's name; None lets `providers.routes` choose."""
    mode: Mode = "ask"
    review: Review = "each"
    preset: Preset | None = None
    engine: Engine = "auto"
    log_level: LogLevel = "warning"
    trace: str | None = None
    """A file that receives every frame in both directions."""
    models: Models = field(default_factory=Models)
    limits: Limits = field(default_factory=Limits)
    context: ContextSettings = field(default_factory=ContextSettings)
    compression: Compression = field(default_factory=Compression)
    retry: Retry = field(default_factory=Retry)
    timeouts: Timeouts = field(default_factory=Timeouts)
    tools: ToolSettings = field(default_factory=ToolSettings)
    guard: Guard = field(default_factory=Guard)
    approval: Approval = field(default_factory=Approval)
    delegation: Delegation = field(default_factory=Delegation)
    permissions: Permissions = field(default_factory=Permissions)
    edits: Edits = field(default_factory=Edits)
    effects: Effects = field(default_factory=Effects)
    workspace: Workspace = field(default_factory=Workspace)
    updates: Updates = field(default_factory=Updates)
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict[str, ProviderSettings])
    fallback_providers: tuple[FallbackProvider, ...] = ()
    fallback: Fallback = field(default_factory=Fallback)


@frozen
class Problem:
    """A setting that was not taken; the value below it in the order of sources, or the default, holds."""

    source: str
    """The file's path, or `environment`, or `options`."""
    key: str
    """Dotted, as in `limits.max_turns`; empty when it is the whole file."""
    message: str
    line: int | None = None
    """1-based, in a file."""
    idle: bool = False
    """Nothing is wrong with it, but this version does nothing with it."""

    def __str__(self) -> str:
        """One line for a person."""
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"

    @property
    def sentence(self) -> str:
        """What a session's person is told."""
        return f"setting without effect: {self}" if self.idle else f"setting ignored: {self}"


@frozen
class Home:
    """Where this person's files are. None of them needs to exist."""

    config_toml: Path
    sessions_db: Path
    blobs: Path
    cache: Path
    log: Path
    config_named: bool = False
    """`config_toml` is the file that `--config` names: that it is gone is no longer fine."""
