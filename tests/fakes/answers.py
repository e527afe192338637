"""What a fake model answers to one request, and the notation for it.

In Python, combined by `+`:

    say("Let me look.") + call("read", path="a")      text, then a call
    call("read", path="a") + call("read", path="b")   two calls in one reply
    think("hm") + say("Done.")                        reasoning, then text
    empty()                                           a normal end with nothing in it
    http(429, retry_after="7")                        an HTTP error; `body=` for another one
    cut("half")                                       some text, then the connection is reset
    cut("half", clean=True)                           some text, then the stream ends without label or terminator
    length("half a sente")                            finish reason `length`
    length('{"path"', tool="write")                   the same inside a call
    hang()  /  say("a") + hang()                      headers (and text), then silence until the peer goes away
    tick(5, ms=10)                                    five deltas, 10 ms apart
    fragments([{...}, {...}], finish="stop")          the deltas of a chunk each, as they are
    raw(b"data: ...\\n\\n", ...)                        bytes of the body as they are
    plain(say("x"))                                   one JSON body although a stream was asked for

In scripts and scenario files, one line each (`answer(line)`): `say "Let me look." + call read(path=a)`, `empty`,
`think "hm"`, `http 429 ra=7`, `cut "half"`, `len "half"`, `hang`, `tick 5 10`; values of arguments are JSON where they
parse as JSON and words otherwise; `call edit {"path": "a", "edits": []}` takes a whole object.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

JsonDict = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """One answer; the fields are sent in the order they stand here."""

    thinking: str = ""
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """(name, raw arguments)."""
    deltas: tuple[JsonDict, ...] = ()
    raw: tuple[bytes, ...] = ()
    ticks: int = 0
    tick_ms: float = 0
    hang: bool = False
    end: Literal["normal", "reset", "clean"] = "normal"
    finish: str | None = None
    """None: `tool_calls` or `stop`, as it is."""
    usage: JsonDict | None = None
    """None: 100 prompt tokens, and one completion token per delta."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: JsonDict | None = None
    plain: bool = False
    chunk: int = 8
    """Characters in a delta."""
    delay_ms: float = 0
    """Between deltas."""
    reasoning_field: str = "reasoning_content"

    def __add__(self, other: "Answer") -> "Answer":
        """Both in one reply."""
        blank = Answer()
        changed = {
            name: value
            for name in self.__dataclass_fields__
            if (value := getattr(other, name)) != getattr(blank, name)
        }
        joined = {"thinking", "text", "calls", "deltas", "raw"} & changed.keys()
        return replace(
            self, **{n: getattr(self, n) + v if n in joined else v for n, v in changed.items()}
        )


def say(text: str, **options: Any) -> Answer:
    """Text."""
    return Answer(text=text, **options)


def think(text: str, **options: Any) -> Answer:
    """Reasoning."""
    return Answer(thinking=text, **options)


def call(name: str, /, **arguments: Any) -> Answer:
    """One tool call."""
    return Answer(calls=((name, json.dumps(arguments)),))


def raw_call(name: str, arguments: str) -> Answer:
    """One tool call with the arguments' text as it is."""
    return Answer(calls=((name, arguments),))


def empty() -> Answer:
    """Nothing at all, ended normally."""
    return Answer()


def http(
    status: int, *, body: JsonDict | None = None, retry_after: str | None = None, **headers: str
) -> Answer:
    """An HTTP error."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if retry_after is not None:
        given["retry-after"] = retry_after
    return Answer(status=status, headers=given, body=body)


def cut(text: str = "half of the", *, clean: bool = False) -> Answer:
    """Text, then the end of the connection."""
    return Answer(text=text, end="clean" if clean else "reset")


def length(text: str, *, tool: str | None = None) -> Answer:
    """Cut by the output limit, in a text or in a call's arguments."""
    return replace(Answer(text=text) if tool is None else raw_call(tool, text), finish="length")


def hang() -> Answer:
    """Silence until the peer closes."""
    return Answer(hang=True)


def tick(count: int, ms: float = 10) -> Answer:
    """Deltas at a steady pace."""
    return Answer(ticks=count, tick_ms=ms)


def fragments(deltas: Sequence[JsonDict], *, finish: str | None = "tool_calls") -> Answer:
    """Deltas as they are, one chunk each."""
    return Answer(deltas=tuple(deltas), finish=finish)


def call_fragments(items: Sequence[JsonDict], *, finish: str | None = "tool_calls") -> Answer:
    """Each item is one entry of `tool_calls`; `name` and `arguments` move into `function`."""
    return fragments([{"tool_calls": [_entry(dict(item))]} for item in items], finish=finish)


def _entry(item: JsonDict) -> JsonDict:
    function = {key: item.pop(key) for key in ("name", "arguments") if key in item}
    return {**item, "type": "function", "function": function}


def raw(*chunks: bytes, **options: Any) -> Answer:
    """The body, byte for byte, one HTTP chunk each."""
    return Answer(raw=chunks, **options)


def plain(given: Answer) -> Answer:
    """The same as one JSON body."""
    return replace(given, plain=True)


# ---- the notation as text ------------------------------------------------------------------------


def answer(line: str) -> Answer:
    """One line of notation; ValueError when it is none."""
    result = Answer()
    for part in _split(line):
        result = result + _term(part)
    return result


def _split(line: str) -> list[str]:
    """The terms between ` + `, quoted text and objects kept whole."""
    terms, start, depth, quoted, escaped = list[str](), 0, 0, False, False
    for at, char in enumerate(line):
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
            continue
        quoted = char == '"'
        depth += (char in "({[") - (char in ")}]")
        if depth == 0 and line[at : at + 3] == " + ":
            terms.append(line[start:at])
            start = at + 3
    return [*terms, line[start:]]


def _term(term: str) -> Answer:
    word, _, rest = term.strip().partition(" ")
    rest = rest.strip()
    match word:
        case "say":
            return say(_text(rest))
        case "think":
            return think(_text(rest))
        case "call":
            return _call_term(rest)
        case "empty":
            return empty()
        case "hang":
            return hang()
        case "cut":
            return cut(_text(rest)) if rest else cut()
        case "len":
            return length(_text(rest))
        case "tick":
            count, _, ms = rest.partition(" ")
            return tick(int(count), float(ms or 10))
        case "http":
            status, _, ra = rest.partition(" ra=")
            return http(int(status), retry_after=ra or None)
        case _:
            raise ValueError(f"no answer is written as {term!r}")


def _text(quoted: str) -> str:
    return json.loads(quoted) if quoted.startswith('"') else quoted


def _call_term(rest: str) -> Answer:
    name, brace, body = rest.partition("{")
    if brace:
        return raw_call(name.strip(), brace + body)
    found = re.fullmatch(r"([\w.-]+)\((.*)\)", rest, re.DOTALL)
    if found is None:
        raise ValueError(f"no call is written as {rest!r}")
    pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|[^,]*)(?:,\s*|$)', found[2])
    return call(found[1], **{key: _value(value.strip()) for key, value in pairs})


def _value(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word
