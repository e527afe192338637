"""The words that the documents for people share."""

from agent_server.export.conversation import Called, Ended, Said
from agent_server.loop.model import DoneReason, Effect

EFFECTS: dict[Effect, str] = {
    "none": "no effect",
    "confirmed": "ran to its end",
    "unknown": "effect unknown: interrupted while it ran",
}
PLAN_SIGNS = {"pending": " ", "in_progress": "~", "completed": "x"}


def speaker(said: Said) -> str:
    """Who spoke to the model."""
    match said.origin:
        case "prompt":
            return "You"
        case "steer":
            return "You, meanwhile"
        case "nudge" | "hook" | "continue":
            return f"agent-server ({said.origin})"


def outcome(call: Called) -> str:
    """What became of a call."""
    if call.ok is None or call.effect is None:
        return "started, never ended" if call.started else "never started"
    return f"{'succeeded' if call.ok else 'failed'}, {EFFECTS[call.effect]}"


def ending(end: Ended) -> str:
    """How a turn ended, and what it cost."""
    cost = "" if end.usage.cost is None else f", {end.usage.cost} USD"
    tokens = f"{end.usage.input} tokens in, {end.usage.output} out{cost}"
    normal = end.reason is DoneReason.MODEL_STOP and end.message is None
    why = "Done" if normal else f"Ended: {end.reason.value} ({end.detail})"
    return f"{why}{f': {end.message}' if end.message else ''} · {tokens}"


def visible(text: str) -> str:
    """The text without characters that command a terminal or that no document may hold."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if _is_control(char) else char
        for char in text.replace("\r\n", "\n")
    )


def _is_control(char: str) -> bool:
    code = ord(char)
    return (code < 0x20 and char not in "\n\t") or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000
