"""Chunks of a chat completion to pieces and, at the end, one `Reply`. Knows no HTTP; both engines feed it."""

import json
from collections.abc import Callable
from typing import cast

from agent_server.loop.model import Finish, Reasoning, Reply, Usage
from agent_server.loop.ports import Piece, ReasoningPiece, Request, TextPiece
from agent_server.providers.fragments import CallFragments, Json
from agent_server.providers.prices import Price, priced
from agent_server.providers.thinking import PartKind, ThinkSplitter

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where providers put thinking in a delta; the first that has text counts."""

_LABELS: dict[str, Finish] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "safety": "content_filter",
}


class Assembler:
    """Puts one reply together. `chunk` is the hot path: it runs once per delta."""

    def __init__(
        self, model: str, request: Request, receive: Callable[[Piece], None], price: Price | None
    ) -> None:
        self.terminated = False
        """The stream's terminator was seen."""
        self._model = model
        self._receive = receive
        self._price = price
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._field: str | None = None
        """The reasoning field this provider uses."""
        self._blocks: list[Json] = []
        """Signed or encrypted thinking, which must go back as it came."""
        self._split = ThinkSplitter()
        self._calls = CallFragments(request.reply_number, receive)
        self._label: Finish | None = None
        self._usage: Json | None = None

    @property
    def anything(self) -> bool:
        """Whether something came that belongs to a completion."""
        return bool(
            self._texts
            or self._thoughts
            or self._calls
            or self._label
            or self._usage
            or self.terminated
        )

    def chunk(self, chunk: Json) -> None:
        """Take one chunk, or a whole completion, which differs only in `message`."""
        choices = chunk.get("choices")
        if choices:
            choice: Json = choices[0]
            delta: Json | None = choice.get("delta") or choice.get("message")
            if delta:
                content = delta.get("content")
                if len(delta) > 1 or not content:
                    self._delta(delta)
                if content:
                    self._content(content)
                if calls := delta.get("tool_calls"):
                    for fragment in calls:
                        self._calls.add(fragment)
            if label := choice.get("finish_reason"):
                self._end(str(label))
        if usage := chunk.get("usage"):
            self._usage = usage

    def reply(self) -> Reply:
        """The reply, now that the stream is over."""
        self._parts(self._split.end())
        finish = self._finish()
        if finish in ("stop", "tool_calls"):
            self._calls.close_whole()
        told = self._usage or {}
        return Reply(
            text="".join(self._texts),
            calls=self._calls.calls(),
            finish=finish,
            model=self._model,
            usage=priced(_usage(told), self._price if told else None, told.get("cost")),
            reasoning=self._reasoning(),
        )

    # ---- deltas --------------------------------------------------------------------------------

    def _content(self, content: object) -> None:
        if not isinstance(content, str):
            self._content_blocks(content)
        elif self._split.plain and "<" not in content and "`" not in content:
            self._texts.append(content)
            self._receive(TextPiece(content))
        else:
            self._parts(self._split.feed(content, before="".join(self._texts[-8:])))

    def _parts(self, parts: list[tuple[PartKind, str]]) -> None:
        for kind, text in parts:
            match kind:
                case "said":
                    self._texts.append(text)
                    self._receive(TextPiece(text))
                case "thought":
                    self._thoughts.append(text)
                    self._receive(ReasoningPiece(text))
                case "was_thought":
                    self._thoughts.extend(self._texts)
                    self._texts.clear()

    def _content_blocks(self, blocks: object) -> None:
        """Content as a list of typed blocks, as Mistral sends it."""
        for item in cast("list[Json]", blocks):
            if isinstance(text := item.get("text"), str):
                self._content(text)
            for thought in item.get("thinking") or ():
                self._think("reasoning_content", str(thought.get("text") or ""))

    def _delta(self, delta: Json) -> None:
        """What is in a delta besides text and calls."""
        for field in REASONING_FIELDS:
            if isinstance(text := delta.get(field), str):
                self._think(field, text)
                if text:
                    break
        if refusal := delta.get("refusal"):
            self._label = "content_filter"
            self._content(str(refusal))
        for block in delta.get("thinking_blocks") or ():
            self._block(block)

    def _think(self, field: str, text: str) -> None:
        self._field = self._field or field
        if text:
            self._thoughts.append(text)
            self._receive(ReasoningPiece(text))

    def _block(self, block: Json) -> None:
        """A piece of a thinking block: text and signature of one block come apart."""
        last = self._blocks[-1] if self._blocks else None
        signed = last is not None and "signature" in last
        if (
            block.get("type") != "thinking"
            or last is None
            or last.get("type") != "thinking"
            or signed
        ):
            self._blocks.append({key: value for key, value in block.items() if key != "index"})
            return
        last["thinking"] = last.get("thinking", "") + (block.get("thinking") or "")
        if signature := block.get("signature"):
            last["signature"] = signature

    def _end(self, label: str) -> None:
        if self._label != "content_filter":
            self._label = _LABELS.get(label.lower(), "stop")

    # ---- the whole -----------------------------------------------------------------------------

    def _finish(self) -> Finish:
        natural: Finish = "tool_calls" if self._calls else "stop"
        match self._label:
            case None:
                return natural if self.terminated else "interrupted"
            case "stop" | "tool_calls":
                return natural
            case label:
                return label

    def _reasoning(self) -> tuple[Reasoning, ...]:
        if self._blocks:
            return tuple(
                Reasoning(str(b.get("thinking") or ""), self._model, json.dumps({"block": b}))
                for b in self._blocks
            )
        if not self._thoughts and self._field is None:
            return ()
        opaque = None if self._field is None else json.dumps({"field": self._field})
        return (Reasoning("".join(self._thoughts), self._model, opaque),)


def _usage(usage: Json) -> Usage:
    asked: Json = usage.get("prompt_tokens_details") or {}
    said: Json = usage.get("completion_tokens_details") or {}
    return Usage(
        input=_count(usage.get("prompt_tokens")),
        output=_count(usage.get("completion_tokens")),
        cached=_count(
            asked.get("cached_tokens")
            or usage.get("cache_read_input_tokens")
            or usage.get("prompt_cache_hit_tokens")
        ),
        cache_write=_count(
            usage.get("cache_creation_input_tokens") or asked.get("cache_write_tokens")
        ),
        reasoning=_count(said.get("reasoning_tokens")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
