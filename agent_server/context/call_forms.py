"""The form in which a past tool call goes back to a model: what a model made up may be refused for ever otherwise.

Providers refuse a whole request for one name, id or argument text in its history that does not fit their patterns. The
log keeps what the model wrote; here each call gets a form that all of them take, the same in every later request.
"""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from agent_server.loop.model import CallKey, ToolCall

NAME_LENGTH: Final = 64
ID_LENGTH: Final = 40
"""OpenAI's limit; Anthropic and Bedrock have larger ones."""
UNNAMED: Final = "unknown_tool"
SIGNED: Final = "__thought__"
"""In ids of litellm's that carry a provider's signature; they have to go back whole."""
_STRANGE: Final = re.compile(r"[^A-Za-z0-9_-]")
_ID: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{ID_LENGTH}}}")


class CallForms:
    """The forms of the calls of one conversation, in the order in which they were made."""

    def __init__(self, used: dict[str, CallKey] | None = None) -> None:
        """`used` are the ids that stand for a call already."""
        self._used = {} if used is None else used

    def copy(self) -> "CallForms":
        """The same so far; what either gives a form later is its own."""
        return CallForms(self._used.copy())

    def form(self, call: ToolCall) -> ToolCall:
        """The call with a name, an id and arguments that every provider takes."""
        name = _STRANGE.sub("_", call.name)[:NAME_LENGTH] or UNNAMED
        call_id, arguments = self._id(call), _arguments(call.arguments)
        if (name, call_id, arguments) == (call.name, call.id, call.arguments):
            return call
        return replace(call, name=name, id=call_id, arguments=arguments)

    def _id(self, call: ToolCall) -> str:
        good = _ID.fullmatch(call.id) is not None or SIGNED in call.id
        own = f"call_{call.key.reply}_{call.key.index}"
        wanted = itertools.chain([call.id] if good else [], [own], _numbered(own))
        return next(one for one in wanted if self._used.setdefault(one, call.key) == call.key)


def _numbered(name: str) -> Iterator[str]:
    return (f"{name}_{number}" for number in itertools.count(2))


def _arguments(text: str) -> str:
    """The text when it is an object in strict JSON, else an empty object; the call's result told the model why."""
    try:
        good = isinstance(json.loads(text, parse_constant=_refuse), dict)
    except (ValueError, RecursionError):
        good = False
    return text if good else "{}"


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")
