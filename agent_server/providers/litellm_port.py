"""The `litellm` engine: every provider that litellm knows, through a worker process."""

from collections.abc import Callable
from contextlib import aclosing

from agent_server.config import Timeouts
from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.model import Reply
from agent_server.loop.ports import Piece, Request
from agent_server.providers import faults, wire
from agent_server.providers.assemble import Assembler
from agent_server.providers.fragments import Json
from agent_server.providers.keys import Key
from agent_server.providers.litellm_process import LitellmProcess, WorkerDied
from agent_server.providers.prices import Price
from agent_server.providers.watch import Watch

_BY_KIND = {
    "ContextWindowExceededError": Fault.OVERFLOW,
    "ContentPolicyViolationError": Fault.REFUSAL,
    "APIConnectionError": Fault.TRANSIENT,
    "Timeout": Fault.TRANSIENT,
}
"""litellm's classes that say more than their status."""


class LitellmModel:
    """A model that litellm reaches."""

    def __init__(
        self,
        name: str,
        process: LitellmProcess,
        key: Key,
        *,
        window: int,
        timeouts: Timeouts,
        model: str | None = None,
        base_url: str | None = None,
        price: Price | None = None,
    ) -> None:
        """`model` is litellm's name when it is not ours."""
        self.name = name
        self._model = model or name
        self.window = window
        self._process = process
        self._key = key
        self._timeouts = timeouts
        self._base_url = base_url
        self._price = price

    async def stream(self, request: Request, receive: Callable[[Piece], None]) -> Reply:
        """Ask, see the port. The first request waits for the worker."""
        key = await self._key.value()
        call = self._call(request, key)
        try:
            await self._process.start()
            watch = Watch(self._timeouts)
            assembler = Assembler(self.name, request, receive, self._price)
            with watch.scope:
                return await self._streamed(call, assembler, watch, key)
            if assembler.ended:
                return assembler.reply()
        except WorkerDied as error:
            message = f"{self.name} broke off: the worker process of litellm died ({error})"
            raise ModelFailure(message, fault=Fault.TRANSIENT) from error
        raise faults.silent(self.name, watch.limit_s, began=watch.began)

    async def refresh_auth(self) -> bool:
        """Fetch the key again."""
        return await self._key.refresh()

    async def _streamed(
        self, call: Json, assembler: Assembler, watch: Watch, key: str | None
    ) -> Reply:
        async with aclosing(self._process.stream(call)) as messages:
            async for message in messages:
                if chunk := message.get("chunk"):
                    assembler.chunk(chunk)
                    watch.chunk(substance=assembler.anything, ended=assembler.ended)
                elif error := message.get("error"):
                    failure = self._failure(error, key)
                    if not assembler.ended:
                        raise failure
                    assembler.say(str(failure))
        # litellm makes an error of an end without a label, so this end was a proper one.
        assembler.terminated = True
        return assembler.reply()

    def _call(self, request: Request, key: str | None) -> Json:
        call: Json = {
            "model": self._model,
            "messages": wire.messages(request, self.name),
            # litellm's own limit of silence, behind ours.
            "timeout": max(self._timeouts.first_token_s, self._timeouts.idle_s) + 5,
        }
        if request.tools:
            call["tools"] = wire.tools(request.tools)
        if request.max_output is not None:
            call["max_tokens"] = request.max_output
        if self._base_url is not None:
            # Local servers want no key, but litellm refuses to ask them without one.
            call |= {"base_url": self._base_url, "api_key": "none"}
        if key is not None:
            call["api_key"] = key
        return call

    def _failure(self, error: Json, key: str | None) -> ModelFailure:
        status = error.get("status")
        if not isinstance(status, int):
            message = f"{self.name} failed: {faults.masked(str(error.get('message')), key)}"
            return ModelFailure(message, fault=_BY_KIND.get(str(error.get("kind")), Fault.INVALID))
        return faults.failure(
            self.name,
            status,
            str(error.get("message")),
            key_source=self._key.source,
            key=key,
            headers=error.get("headers") or {},
            fault=_BY_KIND.get(str(error.get("kind"))),
        )
