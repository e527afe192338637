"""Streamed updates other than tool calls: chunks, plan, usage, title, notices."""

from collections.abc import Sequence

from agent_server.front.blocks import Json, block_of, text_block
from agent_server.front.render.status import usage_object
from agent_server.loop.events import ModelSwitched, Notice, Retrying, TextDiscarded, UsageChanged
from agent_server.loop.model import Part, PlanItem, TurnEndEntry
from agent_server.session.builtin.command import Command


def message_chunk(message_id: str, text: str) -> Json:
    """A piece of the agent's answer."""
    return _chunk("agent_message_chunk", message_id, text_block(text))


def thought_chunk(message_id: str, text: str) -> Json:
    """A piece of the agent's thinking."""
    return _chunk("agent_thought_chunk", message_id, text_block(text))


def user_chunks(message_id: str, parts: Sequence[Part]) -> list[Json]:
    """What the person said, one chunk per part."""
    return [_chunk("user_message_chunk", message_id, block_of(part)) for part in parts]


def discarded(event: TextDiscarded) -> Json:
    """ACP cannot take text back: say that it is void, and tell clients of ours which message to remove."""
    update = thought_chunk(
        f"{event.message_id}-discarded", "The answer broke off; what follows starts it again."
    )
    return update | {"_meta": {"agent-server": {"discarded": event.message_id}}}


def as_notice(event: Retrying | ModelSwitched | Notice) -> Notice:
    """A notice; a repeated request and another model are told in words."""
    match event:
        case Retrying(delay_s=delay_s, message=message):
            return Notice("info", f"Trying again in {delay_s:.1f} s", message)
        case ModelSwitched(model=model, before=before, reason=reason):
            return Notice(
                "warning", f"{model} goes on instead of {before}", f"because of: {reason}"
            )
        case Notice():
            return event


def notice(event: Notice) -> Json:
    """For clients that declared `session.notices`."""
    shown: Json = {"sessionUpdate": "notice", "severity": event.severity, "title": event.title}
    if event.description:
        shown["description"] = event.description
    return shown


def notice_in_words(event: Notice, message_id: str) -> Json:
    """A notice for clients without them: a warning must be seen, the rest may be folded away."""
    text = f"{event.title}: {event.description}" if event.description else event.title
    if event.severity == "info":
        return thought_chunk(message_id, text)
    return message_chunk(message_id, f"> {text}\n\n")


def plan(items: Sequence[PlanItem]) -> Json:
    """The whole plan (rule 31); our plans know no priorities."""
    return {
        "sessionUpdate": "plan",
        "entries": [
            {"content": item.text, "priority": "medium", "status": item.status} for item in items
        ],
    }


def usage(event: UsageChanged) -> Json:
    """Tokens in use of the window, and the session's cost when it is known."""
    shown: Json = {"sessionUpdate": "usage_update", "used": event.used, "size": event.window}
    if event.session.cost is not None:
        shown["cost"] = {"amount": float(event.session.cost), "currency": "USD"}
    return shown


def title(text: str | None) -> Json:
    """The session's title."""
    return {"sessionUpdate": "session_info_update", "title": text}


def available_commands(commands: Sequence[Command]) -> Json:
    """What a prompt may begin with, and is then answered by us."""
    return {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [_command(one) for one in commands],
    }


def turn_end(entry: TurnEndEntry) -> Json:
    """How a turn of a stored conversation ended: ACP has no update for it, so an empty one carries it."""
    own: Json = {
        "turnId": entry.turn,
        "reason": entry.reason.value,
        "detail": entry.detail,
        "usage": usage_object(entry.usage),
    }
    return {
        "sessionUpdate": "session_info_update",
        "_meta": {"agent-server": {"turnEnd": own}},
    }


def _command(command: Command) -> Json:
    shown: Json = {"name": command.name, "description": command.description}
    return shown if command.hint is None else shown | {"input": {"hint": command.hint}}


def _chunk(kind: str, message_id: str, block: Json) -> Json:
    return {"sessionUpdate": kind, "messageId": message_id, "content": block}
