"""A tool call on the wire: `tool_call` once, then `tool_call_update`s that say only what changed (rule 29)."""

import json
import re

from agent_server.front.blocks import Json
from agent_server.front.hidden_characters import hidden_note, printable_line
from agent_server.front.render.content import (
    content_text,
    diffs,
    fenced,
    locations,
    one_line,
    raw_input,
)
from agent_server.loop.action import KINDS, Question
from agent_server.loop.events import CallFinished, CallPending, CallStarted
from agent_server.loop.model import CallKey, ToolKind, ToolResult
from agent_server.loop.proposal import Proposal

OBJECT_LIMIT = 80
"""Characters of a path or command in an early title."""
LONGEST_BEGINNING = 4_000
"""Characters of arguments in which an early title is looked for."""
_OBJECT = re.compile(r'\s*\{\s*"(?:path|command|pattern)"\s*:\s*("(?:[^"\\]|\\.)*")')
OUTPUT_TAIL = 2_000
"""Characters of a running tool's output that an update repeats: content is replaced whole, so it must stay small."""

PLAIN_OUTPUT = frozenset({"read", "list", "glob", "search", "shell", "diagnostics"})
"""Tools whose output is lines, not Markdown: clients that render it would join them."""


def call_opened(event: CallPending) -> Json:
    """The call's first appearance: its card, pending."""
    return {"sessionUpdate": "tool_call", **_described(event), "status": "pending"}


def call_understood(event: CallPending) -> Json:
    """What is known now that the arguments are complete; the card is already there."""
    return {"sessionUpdate": "tool_call_update", **_described(event)}


def arguments_chunk(call_id: str, text: str) -> Json:
    """A piece of a call's arguments while the model writes them; only clients of ours know the field."""
    growing = {"agent-server": {"argumentsDelta": text}}
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "_meta": growing}


def call_named(key: CallKey, tool: str, what: str) -> Json:
    """What a call is about, known before its arguments are whole."""
    return _update(key, title=f"{tool} {one_line(what, OBJECT_LIMIT)}")


def first_object(beginning: str) -> str | None:
    """The path, command or pattern that arguments begin with, once it is whole; None while it is not."""
    found = _OBJECT.match(beginning)
    if found is None:
        return None
    try:
        return str(json.loads(found[1]))
    except ValueError:
        return None


def call_started(event: CallStarted) -> Json:
    """Tool code runs."""
    return _update(event.key, status="in_progress")


def call_waits(key: CallKey) -> Json:
    """It goes on when the person has answered."""
    return _update(key, status="pending")


def call_progress(call_id: str, output: str) -> Json:
    """The end of what the running tool printed so far."""
    return _update(call_id, content=[content_text(fenced(output[-OUTPUT_TAIL:]))])


def call_finished(event: CallFinished, proposal: Proposal | None) -> Json:
    """The call's end. A refused or failed edit keeps its diff in view beside the reason (ED-27)."""
    result = event.result
    shown = result.changes or (proposal.files if proposal is not None else ())
    content = diffs(shown)
    if result.output and not (result.ok and content):
        is_plain = event.tool in PLAIN_OUTPUT and "\n" in result.output.strip()
        content.append(content_text(fenced(result.output) if is_plain else result.output))
    update = _update(event.key, status="completed" if result.ok else "failed", content=content)
    if result.locations:
        update["locations"] = locations(result.locations)
    return update | {"_meta": {"agent-server": _outcome(event, result)}}


def call_dropped(call_id: str) -> Json:
    """The end of a call that never got a result."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "failed"}


def call_asked(question: Question) -> Json:
    """The card of a call that a question is about, from the question alone."""
    return {"sessionUpdate": "tool_call", **asked_call(question, KINDS[question.action.kind])}


def asked_call(question: Question, kind: ToolKind | None) -> Json:
    """The call as a permission request shows it: what, where, and the thing itself (ui.md).

    `kind` is the tool's own, where the client has seen it: a request must not change what is shown.
    """
    action = question.action
    shown: Json = {
        "toolCallId": question.call_id,
        "title": printable_line(question.title),
        "name": action.tool,
        "kind": kind or KINDS[action.kind],
        "status": "pending",
        "content": _asked_content(question),
    }
    if action.paths:
        shown["locations"] = [{"path": path} for path in action.paths]
    return shown


def _asked_content(question: Question) -> list[Json]:
    """The diff, or the command; then the reason. The diff stands first: it is what is decided."""
    content = diffs(question.proposal.files) if question.proposal is not None else []
    if question.action.command is not None:
        content.append(content_text(fenced(question.action.command, "sh")))
    if (note := hidden_in(question)) is not None:
        content.append(content_text(f"Look closely: it {note}"))
    if question.decision.reason and (question.proposal is None or question.decision.floor):
        content.append(content_text(f"Why you are asked: {question.decision.reason}"))
    return content


def hidden_in(question: Question) -> str | None:
    """What is hidden in the title, the command, the names and the new lines that are asked about."""
    action, proposal = question.action, question.proposal
    texts = [question.title, action.command or "", *action.paths]
    for change in () if proposal is None else proposal.files:
        new = [line for hunk in change.hunks for line in hunk.added] or [change.new_text or ""]
        texts += [change.path, change.old_path or "", *new]
    return hidden_note(*texts)


def _described(event: CallPending) -> Json:
    described: Json = {
        "toolCallId": str(event.key),
        "title": event.title,
        "name": event.tool,
        "kind": event.kind,
    }
    if event.locations:
        described["locations"] = locations(event.locations)
    if event.arguments is not None and (arguments := raw_input(event.arguments)) is not None:
        described["rawInput"] = arguments
    if event.proposal is not None:
        described["content"] = diffs(event.proposal.files)
    return described


def _update(key: CallKey | str, **changed: object) -> Json:
    return {"sessionUpdate": "tool_call_update", "toolCallId": str(key), **changed}


def _outcome(event: CallFinished, result: ToolResult) -> Json:
    """What ACP has no field for: the summary of a tool line, the failure's code, whether the world was touched."""
    return {
        "summary": result.summary,
        "code": result.code,
        "effect": event.effect,
        "seconds": event.seconds,
    }
