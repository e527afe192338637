"""Credentials: where a provider's key comes from. A key is in no `repr`, no message and no log."""

import subprocess
from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

import anyio

from agent_server.frozen import frozen, mutable
from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault

COMMAND_TIMEOUT_S = 60.0
"""For `api_key_command`: a password manager may ask the person to unlock it."""


class Key(Protocol):
    """A source of one key."""

    @property
    def source(self) -> str:
        """For a sentence: `the key in OPENAI_API_KEY`."""
        ...

    async def value(self) -> str | None:
        """The key; None when there is none, which local servers do not mind."""
        ...

    async def refresh(self) -> bool:
        """Fetch it again; True when it is another one now."""
        ...


@frozen
class EnvironmentKey:
    """A key in an environment variable of ours, as it was at start."""

    variable: str
    secret: str | None = field(repr=False)

    @staticmethod
    def read(variable: str, environ: Mapping[str, str]) -> "EnvironmentKey":
        """From the environment; an empty variable counts as none, white space around a key as a slip."""
        return EnvironmentKey(variable, environ.get(variable, "").strip() or None)

    @property
    def source(self) -> str:
        """Names the variable."""
        return f"the key in {self.variable}"

    async def value(self) -> str | None:
        """As it was at start."""
        return self.secret

    async def refresh(self) -> bool:
        """Our environment does not change."""
        return False


@mutable
class CommandKey:
    """A key that a command of the person's prints (`api_key_command`)."""

    command: str
    _secret: str | None = field(default=None, repr=False)

    @property
    def source(self) -> str:
        """Names the setting."""
        return "the key from api_key_command"

    async def value(self) -> str | None:
        """Asked for once, then remembered."""
        if self._secret is None:
            self._secret = await self._run()
        return self._secret

    async def refresh(self) -> bool:
        """Run the command again."""
        before, self._secret = self._secret, await self._run()
        return self._secret != before

    async def _run(self) -> str:
        with anyio.move_on_after(COMMAND_TIMEOUT_S):
            done = await anyio.run_process(
                self.command, check=False, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            if done.returncode == 0 and (key := done.stdout.decode("utf-8", "replace").strip()):
                return key
            raise ModelFailure(
                f"api_key_command ended with code {done.returncode} and printed no key",
                fault=Fault.AUTH,
            )
        raise ModelFailure(
            f"api_key_command took longer than {COMMAND_TIMEOUT_S:g} s", fault=Fault.AUTH
        )
