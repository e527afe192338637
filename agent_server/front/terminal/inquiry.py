"""A question of the model itself: options by their digits, or an answer in words; never answered for the person."""

from rich.console import Group
from rich.text import Text

from agent_server.front.hidden_characters import printable
from agent_server.front.terminal.person import Person
from agent_server.front.terminal.questions import Inquiry
from agent_server.front.terminal.style import INDENT, keys, line

MOST = 9
"""Options that a digit can pick."""


def inquire(person: Person, inquiry: Inquiry) -> str | None:
    """The person's answer; None when there is none, or nobody to ask.

    Raises:
        StopTurn: the person wants the turn to end.
    """
    asked = Text.assemble(" " * INDENT, ("? ", "question"), (printable(inquiry.question), "bold"))
    if person.automatic is not None:
        person.page.add(asked, line((f"no answer (--{person.automatic})", "quiet"), indent=INDENT))
        return None
    if not inquiry.options:
        person.page.add(asked)
        return person.words("  your answer: ")
    options = inquiry.options[:MOST]
    choices = {str(number): option for number, option in enumerate(options, 1)}
    shown = [_option(key, option) for key, option in choices.items()]
    others = keys([("w", " other words"), ("n", " no answer")])
    pressed = person.key(
        Group(Text(""), asked, *shown, others), "".join((*choices, "wn")), subject=inquiry.call_id
    )
    answer = person.words("  your answer: ") if pressed == "w" else choices.get(pressed or "")
    person.page.add(asked, line((printable(answer or "no answer"), "quiet"), indent=INDENT + 2))
    return answer


def _option(key: str, option: str) -> Text:
    return Text.assemble(" " * INDENT, "[", (key, "key"), "] ", printable(option))
