"""Items as rich shows them: pure functions from a transcript to what is printed."""

from collections.abc import Iterator
from pathlib import Path
from typing import assert_never

from rich.console import ConsoleRenderable
from rich.constrain import Constrain
from rich.padding import Padding
from rich.style import Style
from rich.text import Text

from agent_server.front.hidden_characters import printable
from agent_server.front.terminal.inbound import TurnEnd
from agent_server.front.terminal.style import (
    FRAMES_PER_S,
    INDENT,
    PROSE,
    SIGNS,
    SPINNER,
    Prose,
    Trimmed,
    line,
    seconds,
    spread,
    tokens,
)
from agent_server.front.terminal.transcript import (
    CallItem,
    Item,
    NoticeItem,
    PlanItem,
    TextItem,
    ThoughtItem,
    Transcript,
    UserItem,
)
from agent_server.front.uris import file_uri

WORTH_SAYING_S = 0.05
"""A call that took less took no time."""
STEPS = {"completed": ("✓", "green"), "in_progress": ("●", "cyan"), "pending": ("○", "dim")}
ENDINGS = {
    "user_abort": "cancelled",
    "max_turns": "stopped: the step limit is reached",
    "budget_exceeded": "stopped: the budget is used up",
    "loop_detected": "stopped: it was repeating itself",
    "error": "failed",
}
DETAILS = {"refusal": "the model refused", "truncated": "cut off: the model's output limit"}
STOPS = {
    "cancelled": "cancelled",
    "max_tokens": "cut off: the model's output limit",
    "max_turn_requests": "stopped",
    "refusal": "the model refused",
}


def item_view(item: Item, *, now: float, plain: bool = False) -> ConsoleRenderable:
    """One item. `plain`: Markdown stays as it was written."""
    match item:
        case UserItem(text):
            return Text.assemble(("› ", "key"), (printable(text), "person"))
        case TextItem(text=text):
            return _prose(printable(text).strip("\n"), plain=plain)
        case ThoughtItem():
            return _thought(item, now)
        case CallItem():
            return call_text(item, now)
        case PlanItem(steps):
            return _plan(steps)
        case NoticeItem(severity, text):
            style = "quiet" if severity == "info" else severity
            return Padding(
                Text.assemble(("! ", style), (printable(text), style)), (0, 0, 0, INDENT)
            )
        case _:
            assert_never(item)


def air_between(before: Item, after: Item) -> bool:
    """Whether an empty line makes the page easier to read."""
    match before, after:
        case (CallItem(), CallItem()) | (NoticeItem(), NoticeItem()):
            return False
        case ThoughtItem(), (TextItem() | CallItem() | ThoughtItem()):
            return False
        case _:
            return True


def live_view(transcript: Transcript, *, now: float, width: int) -> Iterator[ConsoleRenderable]:
    """What may still change, and the line that says what is happening, for how long, and how to stop it."""
    shown = [
        item for item in transcript.items if not (isinstance(item, TextItem) and not item.text)
    ]
    for at, item in enumerate(shown):
        if at and air_between(shown[at - 1], item):
            yield Text("")
        yield item_view(item, now=now)
    if not transcript.label:
        return
    if shown:
        yield Text("")
    yield _status(transcript, now, width)


def header(version: str, model: str, mode: str, cwd: str, width: int) -> Text:
    """The first line."""
    parts = [f"agent-server {version}", model or "no model", mode, home_relative(cwd)]
    left = Text(" · ".join(part for part in parts if part), no_wrap=True, overflow="ellipsis")
    left.stylize("bold", 0, len("agent-server"))
    return spread(left, Text("ctrl-c stop · /help", "quiet"), width)


def ending(end: TurnEnd, elapsed_s: float) -> Text:
    """The last line of a turn: the reason if it is not the normal one, tokens, cost, time."""
    parts = [tokens(end.tokens)] if end.tokens else []
    if end.cost is not None and float(end.cost.partition(" ")[0]):
        parts.append(money(end.cost))
    parts.append(seconds(elapsed_s))
    quiet = (" · ".join(parts), "quiet")
    if end.error is not None:
        return Text.assemble(
            " " * INDENT, ("✗ ", "error"), printable(end.error), "\n", " " * INDENT, quiet
        )
    if (reason := unusual(end)) is None:
        return Text.assemble(" " * INDENT, quiet)
    return Text.assemble(" " * INDENT, (reason, "warning"), (" · ", "quiet"), quiet)


def unusual(end: TurnEnd) -> str | None:
    """Why the turn ended, when it is not because the model was done."""
    return ENDINGS.get(end.reason) or DETAILS.get(end.detail) or STOPS.get(end.stop_reason)


def money(cost: str) -> str:
    """`$0.0123` for `0.0123 USD`."""
    amount, _, currency = cost.partition(" ")
    return f"${amount}" if currency == "USD" else cost


def home_relative(path: str) -> str:
    """`~/shop` for a folder at home."""
    try:
        home = Path.home()
        inside = Path(path).relative_to(home)
    except (ValueError, RuntimeError):  # elsewhere, or nobody has a home
        return path
    is_home = home.is_absolute() and home != Path(home.anchor)
    return f"~/{inside}".removesuffix("/.") if is_home else path


def call_text(item: CallItem, now: float) -> Text:
    """`✓ search "x" in src (12 hits, 0.1 s)`: verb, object, outcome; the object is a link."""
    sign, style = SIGNS[item.sign]
    verb, _, rest = printable(item.title).replace("\n", " ").partition(" ")
    link = Style(link=file_uri(item.path)) if item.path and Path(item.path).is_absolute() else ""
    text = line((f"{sign} ", style), verb)
    if rest:
        text.append(" ")
        text.append(rest, link)
    if outcome := _outcome(item, now):
        text.append(outcome, "quiet" if item.sign != "failed" else "error")
    return text


def _outcome(item: CallItem, now: float) -> str:
    took = seconds(item.seconds) if item.seconds and item.seconds >= WORTH_SAYING_S else ""
    said = printable(item.outcome).replace("\n", " ")
    if said in item.title:
        said = ""
    match item.sign:
        case "pending":
            return ""
        case "running":
            lines = f", {item.lines} lines" if item.lines > 1 else ""
            return f" (running {max(0, now - item.began):.0f} s{lines})"
        case "failed":
            return f": {said}" if said else ""
        case "done" | "skipped":
            inside = ", ".join(part for part in (said, took) if part)
            return f" ({inside})" if inside else ""
        case _:
            assert_never(item.sign)


def _thought(item: ThoughtItem, now: float) -> Text:
    if item.ended is None:
        return line(("▸ ", "quiet"), (f"thinking {now - item.began:.0f} s", "thought"))
    took = item.ended - item.began
    said = f"thought {took:.0f} s" if took >= 1 else "thought"
    return line(("▸ ", "quiet"), (said, "thought"))


def _plan(steps: tuple[tuple[str, str], ...]) -> Text:
    text = Text()
    for at, (step, status) in enumerate(steps):
        sign, style = STEPS.get(status, STEPS["pending"])
        text.append("\n" if at else "")
        text.append(f"{' ' * INDENT}{sign} ", style)
        text.append(printable(step), "quiet" if status == "completed" else "")
    return text


def _prose(text: str, *, plain: bool) -> ConsoleRenderable:
    if plain:
        return Text(text)
    return Padding(Trimmed(Constrain(Prose(text), PROSE)), (0, INDENT))


def _status(transcript: Transcript, now: float, width: int) -> Text:
    frame = SPINNER[int(now * FRAMES_PER_S) % len(SPINNER)]
    sign = ("· ", "quiet") if transcript.writing else (f"{frame} ", "cyan")
    used = f" · {tokens(transcript.tokens)}" if transcript.tokens else ""
    left = line(
        sign,
        printable(transcript.label),
        (f" {max(0, now - transcript.since):.0f} s{used}", "quiet"),
    )
    return spread(left, Text("ctrl-c stop", "quiet"), width)
