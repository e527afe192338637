"""A `Request` in the JSON of OpenAI's chat completions, which every engine of ours speaks towards its provider."""

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import assert_never

from agent_server.context.call_forms import SIGNED
from agent_server.loop.model import Image, Part, Reasoning, Resource, Text
from agent_server.loop.ports import (
    AssistantMessage,
    Message,
    Request,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from agent_server.providers.fragments import Json


def messages(request: Request, model: str) -> list[Json]:
    """System prompt and messages. `model` is our name for the model: only its own reasoning goes back to it (ST-16)."""
    field = reasoning_field(request.messages, model)
    return system(request) + [message(m, model, field) for m in request.messages]


def system(request: Request) -> list[Json]:
    """The system prompt, when there is one."""
    return [{"role": "system", "content": request.system}] if request.system else []


def tools(specs: Sequence[ToolSpec]) -> list[Json]:
    """The tools as functions."""
    return [
        {
            "type": "function",
            "function": {"name": s.name, "description": s.description, "parameters": s.parameters},
        }
        for s in specs
    ]


def message(said: Message, model: str, field: str | None) -> Json:
    """One message; reasoning of `model` goes into `field`."""
    match said:
        case UserMessage(parts):
            return {"role": "user", "content": _content(parts)}
        case AssistantMessage():
            return _assistant(said, model, field)
        case ToolMessage(call_id, _, text):
            return {"role": "tool", "tool_call_id": id_form(model)(call_id), "content": text}
        case _:
            assert_never(said)


def id_form(model: str) -> Callable[[str], str]:
    """How ids of calls are written for a model: Mistral takes nine letters and digits; only Gemini signs in them."""
    name = model.lower()
    if "mistral" in name or "codestral" in name:
        return _nine
    return str if "gemini" in name else _unsigned


def _nine(call_id: str) -> str:
    if len(call_id) == 9 and call_id.isascii() and call_id.isalnum():
        return call_id
    return sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:9]


def _unsigned(call_id: str) -> str:
    return _nine(call_id) if SIGNED in call_id else call_id


def _assistant(message: AssistantMessage, model: str, field: str | None) -> Json:
    out: Json = {"role": "assistant", "content": message.text or None}
    if not message.calls:
        return out
    form = id_form(model)
    out["tool_calls"] = [
        {
            "id": form(call.id),
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments or "{}"},
        }
        for call in message.calls
    ]
    own = [(r, how) for r in message.reasoning if (how := _how(r, model))]
    if blocks := [how["block"] for _, how in own if "block" in how]:
        out["thinking_blocks"] = blocks
    elif field is not None:
        out[field] = "".join(r.text for r, _ in own)
    return out


def reasoning_field(said: Sequence[Message], model: str) -> str | None:
    """The field in which this model gave reasoning; providers that use one demand it on every tool turn, if empty."""
    hows = (_how(r, model) for m in said if isinstance(m, AssistantMessage) for r in m.reasoning)
    return next((str(how["field"]) for how in hows if how and "field" in how), None)


def _how(reasoning: Reasoning, model: str) -> Json | None:
    """How the provider sent this reasoning (see `Assembler`); None when it may not go back."""
    return json.loads(reasoning.opaque) if reasoning.opaque and reasoning.model == model else None


def _content(parts: Sequence[Part]) -> str | list[Json]:
    """Plain text where that is enough: some servers know nothing else."""
    if any(isinstance(part, Image) for part in parts):
        return list(_blocks(parts))
    return "\n\n".join(_text(part) for part in parts if not isinstance(part, Image))


def _blocks(parts: Sequence[Part]) -> Iterator[Json]:
    for part in parts:
        if isinstance(part, Image):
            yield {
                "type": "image_url",
                "image_url": {"url": f"data:{part.mime};base64,{part.data}"},
            }
        else:
            yield {"type": "text", "text": _text(part)}


def _text(part: Text | Resource) -> str:
    match part:
        case Text(text):
            return text
        case Resource(uri, name, None):
            return f"[{name}]({uri})"
        case Resource(uri, _, text):
            return f'<resource uri="{uri}">\n{text}\n</resource>'
        case _:
            assert_never(part)
