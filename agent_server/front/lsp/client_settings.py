"""What the client sets: its `initializationOptions` and, over these, the `agent` section of its configuration.

They count for sessions that begin afterwards. A client without our plugin is asked for the section at the start and
each time it says that something changed (`workspace/configuration`); one with the plugin keeps its own settings there,
and passes ours on itself. Either may send them along with `workspace/didChangeConfiguration`.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Self

import anyio
import anyio.abc
from lsprotocol import types

from agent_server.front.params import as_list, as_object
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.frozen import frozen
from agent_server.loop.model import JsonObject

logger = logging.getLogger(__name__)

SECTION: Final = "agent"
TRUSTED: Final = "workspaceTrusted"
START_S: Final = 1.0
"""How long the agent's start waits for the configuration; what comes later counts from then on."""
REGISTRATION: Final = "agent-configuration"


@frozen
class Options:
    """What `initializationOptions` say."""

    settings: JsonObject
    workspace_trusted: bool | None
    """What the editor's person said when it asked them. Only here: a configuration may come from the workspace itself,
    which must not vouch for itself."""

    @classmethod
    def of(cls, given: object) -> Self:
        """`agent` of the options, or all of them from a client that has no other server."""
        options = as_object(given) or {}
        own = (as_object(options["agent"]) or {}) if SECTION in options else options
        trusted = own.get(TRUSTED)
        settings = {key: value for key, value in own.items() if key != TRUSTED}
        return cls(settings, trusted if isinstance(trusted, bool) else None)


class ClientSettings(Mapping[str, object]):
    """What holds now, nested as in `config.toml`. Changes when the client says so."""

    def __init__(self, initial: JsonObject) -> None:
        self._initial = initial
        self._now: dict[str, object] = dict(initial)

    def configure(self, section: JsonObject) -> bool:
        """Take the section as it is now, in place of the one before; whether that changes anything."""
        before, self._now = self._now, _over(self._initial, section)
        return before != self._now

    def __getitem__(self, key: str) -> object:
        return self._now[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now)

    def __len__(self) -> int:
        return len(self._now)


class Configuration:
    """Keeps the settings as the client's configuration has them."""

    def __init__(
        self,
        connection: Connection,
        settings: ClientSettings,
        *,
        pulls: bool,
    ) -> None:
        """`pulls`: the client is asked."""
        self._connection = connection
        self.settings = settings
        self._pulls = pulls
        self.changed: Callable[[], None] = lambda: None
        """Called when something is different from before."""

    async def pull(self) -> None:
        """Ask for the section, where the client is asked."""
        if not self._pulls:
            return
        params: JsonObject = {"items": [{"section": SECTION}]}
        try:
            answer = await self._connection.request("workspace/configuration", params)
        except (RemoteError, ConnectionClosed) as error:
            logger.debug("the client has no configuration: %s", error)
            return
        self._take(next(iter(as_list(answer) or ()), None))

    def begin(self, tasks: anyio.abc.TaskGroup) -> anyio.Event:
        """Pull in `tasks`, where it may take long; the event is set when that is done."""
        done = anyio.Event()

        async def pull() -> None:
            await self.pull()
            done.set()

        tasks.start_soon(pull)
        return done

    async def follow(self, params: types.DidChangeConfigurationParams) -> None:
        """The client says that its configuration changed."""
        sent = as_object(params.settings)
        if sent is not None and SECTION in sent:
            self._take(sent[SECTION])
        else:
            await self.pull()

    async def register(self) -> None:
        """Ask to be told of changes; for clients that tell only who asked."""
        registered: JsonObject = {
            "id": REGISTRATION,
            "method": types.WORKSPACE_DID_CHANGE_CONFIGURATION,
            "registerOptions": {"section": SECTION},
        }
        try:
            await self._connection.request(
                "client/registerCapability", {"registrations": [registered]}
            )
        except (RemoteError, ConnectionClosed) as error:
            logger.debug("the client tells nothing of its configuration: %s", error)

    def _take(self, section: object) -> None:
        if self.settings.configure(as_object(section) or {}):
            self.changed()


def _over(below: JsonObject, above: JsonObject) -> dict[str, object]:
    """`above` over `below`, tables key by key; null says nothing."""
    merged = dict(below)
    for key, value in above.items():
        inner, under = as_object(value), as_object(merged.get(key))
        if inner is not None:
            merged[key] = _over(under or {}, inner)
        elif value is not None:
            merged[key] = value
    return merged
