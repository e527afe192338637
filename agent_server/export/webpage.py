"""As one web page: no script, nothing loaded from anywhere, every text escaped. Folds by `<details>`."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import assert_never

from agent_server.export.conversation import (
    About,
    Answered,
    Called,
    Ended,
    Item,
    Planned,
    Said,
    Summarised,
    Thought,
    Turn,
)
from agent_server.export.words import PLAN_SIGNS, ending, outcome, speaker, visible

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Were a text ever to escape its escaping, a browser would still run and load nothing."""
STYLE = """
:root { color-scheme: light dark; --line: #8884; --add: #1a7f3722; --del: #cf222e22 }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0 }
pre.text { font: inherit }
pre.code { font: 13px/1.45 ui-monospace, monospace }
section { border-top: 1px solid var(--line); padding: .5rem 0 }
details { border: 1px solid var(--line); border-radius: 6px; padding: .25rem .75rem; margin: .5rem 0 }
summary { cursor: pointer; overflow-wrap: anywhere }
h2 { font-size: 1rem; margin: .5rem 0 }
dt { float: left; clear: left; width: 8rem; opacity: .7 }
dd { overflow-wrap: anywhere; margin-left: 8rem }
.said pre { border-left: 3px solid #0969da; padding-left: .75rem }
.add { background: var(--add) } .del { background: var(--del) }
.note { opacity: .7; font-size: .875rem }
"""


def render(about: About, turns: Sequence[Turn]) -> str:
    """The whole page."""
    title = _text(about.title or "Session")
    facts = {
        "Session": about.id,
        "Folder": about.cwd,
        "Model": about.model or "",
        "Created": about.created,
        "Last message": about.updated,
    }
    rows = "".join(f"<dt>{k}</dt><dd>{_text(v)}</dd>\n" for k, v in facts.items() if v)
    body = "".join(part for turn in turns for part in _turn(turn))
    return (
        "<!doctype html>\n<html>\n<head>\n"
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n<dl>\n{rows}</dl>\n{body}</body>\n</html>\n"
    )


def _turn(turn: Turn) -> Iterator[str]:
    yield "<section>\n"
    for item in turn.items:
        yield from _item(item)
    yield "</section>\n"


def _item(item: Item) -> Iterator[str]:
    match item:
        case Said():
            attached = "".join(f"\n[{name}]" for name in item.attached)
            yield f'<div class="said"><h2>{_text(speaker(item))}</h2>'
            yield f"{_prose(item.text + attached)}</div>\n"
        case Thought(text=text):
            yield f"<details><summary>Thought</summary>{_prose(text)}</details>\n"
        case Answered(text=text, broken_off=broken_off):
            yield f"<h2>Agent</h2>{_prose(text)}\n"
            if broken_off:
                yield '<p class="note">broken off</p>\n'
        case Called():
            yield from _called(item)
        case Planned(items=items):
            plan = "\n".join(f"[{PLAN_SIGNS[one.status]}] {one.text}" for one in items)
            yield f"<h2>Plan</h2>{_code(plan)}\n"
        case Summarised(text=text):
            yield "<details><summary>From here on the model knows what was before as this</summary>"
            yield f"{_prose(text)}</details>\n"
        case Ended():
            yield f'<p class="note">{_text(ending(item))}</p>\n'
        case _:
            assert_never(item)


def _called(call: Called) -> Iterator[str]:
    opened = " open" if call.diffs else ""
    yield f"<details{opened}><summary><code>{_text(call.tool)}</code>: {outcome(call)}</summary>\n"
    yield _code(call.arguments)
    for diff in call.diffs:
        yield f'<pre class="code">{"".join(map(_diff_line, diff.text.splitlines(True)))}</pre>\n'
    if call.output:
        yield _code(call.output)
    yield "</details>\n"


def _diff_line(line: str) -> str:
    kind = {"+": "add", "-": "del"}.get(line[:1])
    return _text(line) if kind is None else f'<span class="{kind}">{_text(line)}</span>'


def _prose(text: str) -> str:
    return f'<pre class="text">{_text(text.rstrip())}</pre>'


def _code(text: str) -> str:
    return f'<pre class="code">{_text(text.rstrip())}</pre>\n'


def _text(text: str) -> str:
    return escape(visible(text))
