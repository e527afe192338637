"""Chunks of a chat completion to pieces and, at the end, one `Reply`. Knows no HTTP; both engines feed it."""

import json
import logging
from collections.abc import Callable, Mapping
from typing import cast

from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.model import Finish, Reasoning, Reply, Usage
from agent_server.loop.ports import Piece, ReasoningPiece, Request, TextPiece
from agent_server.providers.fragments import CallFragments, Json
from agent_server.providers.labels import End, Meaning, end_of
from agent_server.providers.prices import Price, priced
from agent_server.providers.shapes import as_object, objects, texts
from agent_server.providers.thinking import PartKind, ThinkSplitter

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where providers put thinking in a delta; the first that has text counts."""

log = logging.getLogger(__name__)

_FINISH: Mapping[Meaning, Finish] = {
    "stop": "stop",
    "calls": "tool_calls",
    "length": "length",
    "context": "length",
    "filter": "content_filter",
}
"""What the loop calls them; of the others none is a proper end, or its label is unknown."""


class Assembler:
    """Puts one reply together. `chunk` is the hot path: it runs once per delta."""

    def __init__(
        self, model: str, request: Request, receive: Callable[[Piece], None], price: Price | None
    ) -> None:
        self.terminated = False
        """The stream's terminator was seen."""
        self.error: object = None
        """An error that came inside a choice, beside or in place of its label."""
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
        self._end: End | None = None
        self._note: str | None = None
        self._usage: Json | None = None

    @property
    def anything(self) -> bool:
        """Whether something came that belongs to a completion."""
        return self.begun or bool(self._usage or self.terminated)

    @property
    def begun(self) -> bool:
        """Whether the model said, thought or called something, or its end was said."""
        return bool(self._texts or self._thoughts or self._calls or self._end)

    @property
    def ended(self) -> bool:
        """Whether the answer is whole: nothing that comes or breaks from now on can make it bad."""
        return self.terminated or self._end is not None

    def chunk(self, chunk: Json) -> None:
        """Take one chunk, or a whole completion, which differs only in `message`."""
        if choices := chunk.get("choices"):
            self._choice(_first(cast("object", choices)))
        if usage := as_object(chunk.get("usage")):
            self._usage = usage

    def say(self, words: str) -> None:
        """Remember what the provider said behind the end of its answer, which stands all the same."""
        log.warning("%s said after the end of its answer: %s", self._model, words)
        self._note = self._note or words

    def reply(self) -> Reply:
        """The reply, now that the stream is over.

        Raises:
            ModelFailure: its label says that it is not whole; whatever of it came is void.
        """
        self._parts(self._split.end())
        self._refuse_broken()
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
            note=self._note,
        )

    # ---- deltas --------------------------------------------------------------------------------

    def _choice(self, choice: Json) -> None:
        told: object = choice.get("delta") or choice.get("message")
        delta = cast("Json", told) if isinstance(told, dict) else _first(told)
        if delta:
            content = delta.get("content")
            if len(delta) > 1 or not content:
                self._delta(delta)
            if content:
                self._content(content)
            if calls := delta.get("tool_calls"):
                for fragment in objects(calls):
                    self._calls.add(fragment)
        if label := choice.get("finish_reason"):
            self._take_label(end_of(label))
        if error := choice.get("error"):
            self.error = error

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
        """Content as typed blocks, as Mistral sends it, as strings, or as one of them; other forms say nothing."""
        for item in cast("list[object]", blocks if isinstance(blocks, list) else [blocks]):
            block = as_object(item)
            if isinstance(item, str):
                self._content(item)
            elif block is not None:
                for thought in texts(block.get("thinking")):
                    self._think("reasoning_content", thought)
                for text in texts(block.get("text")):
                    self._content(text)

    def _delta(self, delta: Json) -> None:
        """What is in a delta besides text and calls."""
        for field in REASONING_FIELDS:
            if (told := delta.get(field)) is None:
                continue
            text = told if isinstance(told, str) else "".join(texts(told))
            self._think(field, text)
            if text:
                break
        if refusal := "".join(texts(delta.get("refusal"))):
            self._end = End("filter", "refusal")
            self._content(refusal)
        for block in objects(delta.get("thinking_blocks")):
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
        last["thinking"] = "".join((*texts(last.get("thinking")), *texts(block.get("thinking"))))
        if signature := block.get("signature"):
            last["signature"] = signature

    def _take_label(self, end: End | None) -> None:
        """The last label counts; but what a filter or a failure ended, no later one makes good."""
        if end is not None and (self._end is None or self._end.meaning not in ("filter", "failed")):
            self._end = end

    # ---- the whole -----------------------------------------------------------------------------

    def _refuse_broken(self) -> None:
        end = self._end
        if end is None:
            return
        if end.meaning == "failed":
            words = f"{self._model} broke off its answer and said why: {end.word}"
            raise ModelFailure(words, fault=Fault.TRANSIENT)
        if end.meaning == "context" and not (self._calls or "".join(self._texts).strip()):
            words = f"{self._model} found no room for an answer in its window ({end.word})"
            raise ModelFailure(words, fault=Fault.OVERFLOW)
        if end.meaning == "unknown":
            self._note = (
                f"{self._model} ended its answer with a label that is not known: {end.word}"
            )
            log.warning("%s ended its answer with the label %r", self._model, end.word)

    def _finish(self) -> Finish:
        natural: Finish = "tool_calls" if self._calls else "stop"
        if self._end is None:
            return natural if self.terminated else "interrupted"
        finish = _FINISH.get(self._end.meaning, "stop")
        return natural if finish in ("stop", "tool_calls") else finish

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


def _first(value: object) -> Json:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return cast("Json", value[0])
    found = objects(cast("object", value))
    return found[0] if found else {}


def _usage(usage: Json) -> Usage:
    asked = as_object(usage.get("prompt_tokens_details")) or {}
    said = as_object(usage.get("completion_tokens_details")) or {}
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
