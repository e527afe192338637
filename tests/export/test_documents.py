"""A log as a document: everything in it, in order, escaped, and no credential (spec §3, §7)."""

import json
import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from html import escape
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from agent_server.edits.text.hunks import hunks
from agent_server.export.conversation import About
from agent_server.export.formats import RENDERERS, Format, document
from agent_server.loop.model import (
    AsideEntry,
    CallKey,
    DoneReason,
    Entry,
    Image,
    PartialEntry,
    PlanEntry,
    PlanItem,
    Reasoning,
    Reply,
    ReplyEntry,
    Resource,
    ResultEntry,
    RewoundEntry,
    StartedEntry,
    SummaryEntry,
    Text,
    ToolCall,
    ToolResult,
    TurnEndEntry,
    TurnId,
    Usage,
    UserEntry,
)
from agent_server.loop.proposal import FileChange
from tests.store.entries import entries

ABOUT = About("s1", "Fix <it>", "/w", "openai/x", "2026-01-01T00:00:00", "2026-01-02T00:00:00")
TURN, NEXT = TurnId("t1"), TurnId("t2")
FORMATS: tuple[Format, ...] = ("md", "json", "html")


def conversation() -> list[Entry]:
    """One of everything."""
    calls = tuple(
        ToolCall(CallKey(1, i), f"c{i}", tool, arguments)
        for i, (tool, arguments) in enumerate(
            [("edit", '{"path": "a.py"}'), ("shell", '{"command": "make"}'), ("read", "{}")]
        )
    )
    change = FileChange("/w/a.py", "edit", "old\n", "new\n", hunks("old\n", "new\n"))
    reply = Reply("On it.", calls, "tool_calls", "m", Usage(), (Reasoning("hm", "m"),))
    return [
        UserEntry(TURN, (Text("Fix ```it```"), Image("image/png", "AAAA"), Resource("u", "n"))),
        ReplyEntry(TURN, 1, reply),
        StartedEntry(TURN, CallKey(1, 0)),
        ResultEntry(TURN, CallKey(1, 0), ToolResult(True, "", changes=(change,)), "confirmed"),
        StartedEntry(TURN, CallKey(1, 1)),
        UserEntry(TURN, (Text("use tabs"),), "steer"),
        PlanEntry(TURN, (PlanItem("look", "completed"), PlanItem("do", "in_progress"))),
        PartialEntry(TURN, "I was"),
        TurnEndEntry(TURN, DoneReason.USER_ABORT, "shutdown", Usage(10, 2), "the server stopped"),
        SummaryEntry(NEXT, "It was about tabs.", 3, 1),
        UserEntry(NEXT, (Text("and now"),)),
        TurnEndEntry(NEXT, DoneReason.MODEL_STOP, "text", Usage(1, 1)),
    ]


def test_markdown_reads_like_the_conversation() -> None:
    assert document("md", ABOUT, conversation(), secrets=()) == snapshot("""\
# Fix <it>

- Session: `s1`
- Folder: `/w`
- Model: `openai/x`
- Created: 2026-01-01T00:00:00
- Last message: 2026-01-02T00:00:00

## You

> Fix ```it```
> Attached: `image (image/png)`
> Attached: `n (u)`

<details><summary>Thought</summary>

```
hm
```

</details>

## Agent

On it.

### `edit`: succeeded, ran to its end

```json
{"path": "a.py"}
```

```diff
--- a/w/a.py
+++ b/w/a.py
@@ -1 +1 @@
-old
+new
```

### `shell`: started, never ended

```json
{"command": "make"}
```

### `read`: never started

```json
{}
```

## You, meanwhile

> use tabs

**Plan**

- [x] look
- [~] do

## Agent

I was

*(broken off)*

*Ended: user_abort (shutdown): the server stopped · 10 tokens in, 2 out*

---

**From here on the model knows what was before as this:**

> It was about tabs.

## You

> and now

*Done · 1 tokens in, 1 out*

---
""")


def test_json_has_every_turn_and_item_by_name() -> None:
    found = json.loads(document("json", ABOUT, conversation(), secrets=()))

    assert found["session"]["title"] == "Fix <it>"
    assert [t["id"] for t in found["turns"]] == ["t1", "t2"]
    items = found["turns"][0]["items"]
    assert [i["type"] for i in items] == [
        "said", "thought", "answered", "called", "called", "called", "said", "planned", "answered",
        "ended",
    ]  # fmt: skip
    edit, shell, read = items[3:6]
    assert (edit["ok"], edit["effect"], edit["diffs"][0]["path"]) == (True, "confirmed", "/w/a.py")
    assert (shell["started"], shell["ok"]) == (True, None)
    assert (read["started"], read["ok"]) == (False, None)


class Page(HTMLParser):
    """What a browser would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= set(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


TAGS = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "dl", "dt", "dd", "section",
    "div", "p", "pre", "code", "details", "summary", "span",
}  # fmt: skip
ATTRIBUTES = {"charset", "http-equiv", "content", "name", "class", "open"}


def test_the_page_shows_everything_and_loads_nothing() -> None:
    page = Page(document("html", ABOUT, conversation(), secrets=()))

    for text in ("Fix <it>", "Fix ```it```", "On it.", "hm", "-old", "+new", "use tabs", "I was"):
        assert text in page.text
    assert page.tags <= TAGS
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes


ATTACKS = ["<script>x</script>", "</pre><img src=x onerror=y>", '"><b', "</style>", "]]>", "&lt;"]


@settings(deadline=None)
@given(st.lists(entries, max_size=5), st.sampled_from(ATTACKS))
def test_no_text_becomes_markup(log: list[Entry], attack: str) -> None:
    log = [_filled(entry, attack) for entry in log]
    about = replace(ABOUT, title=attack, cwd=attack)
    page = Page(document("html", about, log, secrets=()))

    assert page.tags <= TAGS
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    assert page.text.count(attack) >= 2


@pytest.mark.parametrize("form", FORMATS)
@settings(deadline=None)
@given(log=st.lists(entries, max_size=8))
def test_any_log_becomes_a_document(form: Format, log: list[Entry]) -> None:
    text = document(form, ABOUT, log, secrets=())

    text.encode("utf-8", "backslashreplace")
    if form == "json":
        json.loads(text)
    else:
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)


SECRET = 'sk-<"é\\>-0123456789'


@pytest.mark.parametrize("form", FORMATS)
@settings(deadline=None)
@given(log=st.lists(entries, max_size=5))
def test_no_credential_is_in_any_document(form: Format, log: list[Entry]) -> None:
    log = [_filled(entry, f"a{SECRET}b") for entry in log]
    about = replace(ABOUT, title=f"my {SECRET}", cwd=f"/{SECRET}")
    text = document(form, about, log, secrets=[SECRET, json.dumps(SECRET)[1:-1]])

    for written in (SECRET, escape(SECRET), json.dumps(SECRET)[1:-1]):
        assert written not in text
    assert "[masked]" in text


def test_a_secret_of_several_lines_is_masked_in_a_diff_too() -> None:
    secret = "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----\n"
    change = FileChange("/w/k", "create", None, secret, hunks("", secret))
    call = ToolCall(CallKey(1, 0), "c", "write", "{}")
    log: Sequence[Entry] = [
        ReplyEntry(TURN, 1, Reply("", (call,), "tool_calls", "m", Usage())),
        ResultEntry(TURN, call.key, ToolResult(True, "", changes=(change,)), "confirmed"),
    ]

    assert "MIIEvQ" not in document("md", ABOUT, log, secrets=[secret])


def test_a_fence_is_longer_than_any_inside() -> None:
    call = ToolCall(CallKey(1, 0), "c", "shell", '{"command": "echo ````"}')
    log = [ReplyEntry(TURN, 1, Reply("", (call,), "tool_calls", "m", Usage()))]

    assert "`````json" in document("md", ABOUT, log, secrets=())


def test_every_format_has_a_renderer() -> None:
    assert set(RENDERERS) == set(FORMATS)


def _filled(value: Any, text: str) -> Any:
    """The entry with this in place of every free text in it."""
    if isinstance(value, tuple):
        return tuple(_filled(one, text) for one in value)
    if not is_dataclass(value) or isinstance(value, (type, CallKey, Usage)):
        return value
    free = {"text", "output", "message", "arguments", "name", "path", "uri", "mime"}
    free |= {"summary", "base_text", "new_text"}
    changed = {
        field.name: text
        if field.name in free and isinstance(getattr(value, field.name), str)
        else _filled(getattr(value, field.name), text)
        for field in fields(value)
    }
    return replace(value, **changed)


@pytest.mark.parametrize("form", FORMATS)
def test_what_was_taken_back_is_not_in_it_nor_what_was_said_aside(form: Format):
    log: list[Entry] = [
        UserEntry(TURN, (Text("the first"),)),
        AsideEntry(TurnId(""), "(said aside)"),
        RewoundEntry(TurnId(""), 0),
        AsideEntry(TurnId(""), "(look again)"),
        UserEntry(NEXT, (Text("(look again)"), Text("the second"))),
    ]
    text = document(form, ABOUT, log, secrets=())

    assert "the second" in text
    assert [word for word in ("the first", "aside", "look again") if word in text] == []
