"""A model that replays a script: the embedded demo, and the double that tests put in place of a model."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import cast, get_args

import anyio

from agent_server.frozen import frozen
from agent_server.loop.errors import BadSetting, ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.model import CallKey, Finish, JsonObject, Reasoning, Reply, ToolCall, Usage
from agent_server.loop.ports import (
    AssistantMessage,
    CallClosed,
    CallOpened,
    CallPiece,
    Message,
    Piece,
    ReasoningPiece,
    Request,
    TextPiece,
    ToolMessage,
    UserMessage,
)


@frozen
class ScriptedCall:
    """A tool call of a step; `arguments` is JSON text, malformed if the script wants it so."""

    name: str
    arguments: str


@frozen
class Step:
    """What one request is answered with. A step with `fault` or `hang` shows its text first."""

    text: str = ""
    thinking: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    delay_ms: float = 0
    """Before each piece."""
    chunk: int = 12
    """Characters in a piece."""
    fault: Fault | None = None
    status: int | None = None
    retry_after_s: float | None = None
    hang: bool = False
    finish: Finish | None = None
    """None: `tool_calls` with calls, else `stop`."""
    usage: Usage | None = None
    """None: four characters are a token."""
    expect: str | None = None
    """A regular expression that the last message must contain."""


class ScriptedModel:
    """Answers each request with the next step. One object per session.

    The first request finds its step by the number its reply will have, because every attempt takes a number: so a
    restart goes on where it was. Each later request takes the step after the last, also when that one failed, hung or
    was cancelled, and also a request for a summary, whose reply has the number 0.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        *,
        name: str = "scripted",
        window: int = 128_000,
        after: Step | None = None,
    ) -> None:
        """`after` answers when the steps are used up; without it that is a failure."""
        self.name = name
        self.window = window
        self._steps = tuple(steps)
        self._after = after
        self._last: tuple[int, int] | None = None
        """Reply number and step of the last request."""

    async def stream(self, request: Request, receive: Callable[[Piece], None]) -> Reply:
        """The next step, in pieces."""
        at = self._position(request.reply_number)
        self._last = (request.reply_number or (self._last or (0, 0))[0], at)
        step = self._step(at)
        if step.expect and not re.search(step.expect, last := _last_text(request.messages)):
            raise ModelFailure(
                f"{self.name}: step {at + 1} expects {step.expect!r}, the last message is {last[:200]!r}",
                fault=Fault.INVALID,
            )
        reply = _reply(step, request, self.name)
        for piece in _pieces(step, reply):
            await anyio.sleep(step.delay_ms / 1000)
            receive(piece)
        if step.hang:
            await anyio.sleep_forever()
        if step.fault is not None:
            raise ModelFailure(
                f"{self.name}: step {at + 1} fails as scripted ({step.fault})",
                fault=step.fault,
                status=step.status,
                retry_after_s=step.retry_after_s,
            )
        return reply

    async def refresh_auth(self) -> bool:
        """There is no credential."""
        return False

    def _position(self, reply_number: int) -> int:
        if self._last is None or 0 < reply_number < self._last[0]:
            return max(0, reply_number - 1)
        return self._last[1] + 1

    def _step(self, at: int) -> Step:
        if at < len(self._steps):
            return self._steps[at]
        if self._after is None:
            raise ModelFailure(
                f"{self.name}: the script has {len(self._steps)} steps and all are used",
                fault=Fault.INVALID,
            )
        return self._after


def _reply(step: Step, request: Request, name: str) -> Reply:
    number = request.reply_number
    calls = tuple(
        ToolCall(CallKey(number, at), f"scripted_{number}_{at}", call.name, call.arguments)
        for at, call in enumerate(step.calls)
    )
    return Reply(
        text=step.text,
        calls=calls,
        finish=step.finish or ("tool_calls" if calls else "stop"),
        model=name,
        usage=step.usage or _estimate(step, request),
        reasoning=(Reasoning(step.thinking, name),) if step.thinking else (),
    )


def _pieces(step: Step, reply: Reply) -> Iterator[Piece]:
    yield from map(ReasoningPiece, _cut(step.thinking, step.chunk))
    yield from map(TextPiece, _cut(step.text, step.chunk))
    for at, call in enumerate(reply.calls):
        yield CallOpened(at, call.name)
        yield from (CallPiece(at, text) for text in _cut(call.arguments, step.chunk))
        if reply.finish != "length":
            yield CallClosed(call)


def _cut(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def _estimate(step: Step, request: Request) -> Usage:
    said = len(step.text) + len(step.thinking) + sum(len(c.arguments) for c in step.calls)
    asked = len(request.system) + sum(len(_text_of(m)) for m in request.messages)
    return Usage(input=asked // 4, output=said // 4, cost=Decimal(0))


def _last_text(messages: Sequence[Message]) -> str:
    return _text_of(messages[-1]) if messages else ""


def _text_of(message: Message) -> str:
    match message:
        case UserMessage(parts):
            return "\n".join(
                text for part in parts if isinstance(text := getattr(part, "text", None), str)
            )
        case AssistantMessage(text=text) | ToolMessage(text=text):
            return text


# ---- scripts in files ------------------------------------------------------------------------------


def read_script(path: Path) -> tuple[Step, ...]:
    """The steps of a JSON file: a list of objects with the fields of `Step`.

    Raises:
        BadSetting: the file or a step of it cannot be used; the sentence says which.
    """
    try:
        steps = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadSetting(f"script {path} cannot be read: {error}") from error
    if not isinstance(steps, list):
        raise BadSetting(f"script {path} should be a list of steps")
    return tuple(
        parse_step(step, f"step {at} of script {path}")
        for at, step in enumerate(cast("list[object]", steps), start=1)
    )


def parse_step(step: object, where: str = "a step") -> Step:
    """One step from its JSON object; `where` begins the sentence of an error.

    Raises:
        BadSetting: a field has no meaning or a value that does not fit.
    """
    if not isinstance(step, dict):
        raise BadSetting(f"{where} should be an object")
    given = cast("dict[str, object]", step)
    if unknown := sorted(given.keys() - Step.__dataclass_fields__.keys()):
        raise BadSetting(f"{where} has the unknown field {unknown[0]!r}")
    try:
        return Step(**{key: _field(key, value) for key, value in given.items()})  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError, KeyError, ArithmeticError) as error:
        raise BadSetting(f"{where} is not usable: {error}") from error


def _field(key: str, value: object) -> object:
    match key, value:
        case (("text" | "thinking" | "expect"), str()):
            return value
        case "calls", list():
            return tuple(_call(cast("JsonObject", call)) for call in cast("list[object]", value))
        case (("chunk" | "status"), int()) if value > 0:
            return value
        case (("delay_ms" | "retry_after_s"), int() | float()) if value >= 0:
            return float(value)
        case "fault", str():
            return Fault(value)
        case "finish", str() if value in get_args(Finish):
            return value
        case "usage", dict():
            return _usage(cast("dict[str, int | str]", value))
        case "hang", bool():
            return value
        case _:
            raise ValueError(f"{key!r} cannot be {value!r}")


def _usage(given: dict[str, int | str]) -> Usage:
    cost = given.pop("cost", None)
    counts = {key: int(value) for key, value in given.items()}
    return replace(Usage(**counts), cost=None if cost is None else Decimal(str(cost)))  # pyright: ignore[reportArgumentType]


def _call(call: JsonObject) -> ScriptedCall:
    arguments = call.get("arguments", {})
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ScriptedCall(str(call["name"]), raw)
