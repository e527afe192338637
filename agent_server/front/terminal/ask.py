"""A question about a call: what, where, why, how far a yes goes; and the answer, by the person or by an option."""

from collections.abc import Iterator

from rich.console import Group
from rich.text import Text

from agent_server.front.hidden_characters import printable
from agent_server.front.terminal.person import Person
from agent_server.front.terminal.questions import Option, Permission, Picked
from agent_server.front.terminal.style import INDENT, keys, line, spread
from agent_server.front.terminal.view import home_relative
from agent_server.frozen import frozen

HEADINGS = {
    "execute": "run a command",
    "read": "read",
    "search": "search",
    "edit": "change a file",
    "delete": "delete",
    "move": "move",
    "fetch": "reach the network",
}


@frozen
class Choice:
    """A key, what it says after its bracket, and what it picks."""

    key: str
    words: str
    option: Option
    with_words: bool = False


def ask(person: Person, question: Permission) -> Picked:
    """The answer: the automatic one where there is one, else the person's; `cancelled` when it was withdrawn.

    Raises:
        StopTurn: the person wants the turn to end.
    """
    if person.automatic is not None:
        return _answer_for(person, question)
    choices = {choice.key: choice for choice in choices_of(question)}
    shown = Group(
        Text(""), *_parts(question, person), keys((c.key, c.words) for c in choices.values())
    )
    pressed = person.key(shown, "".join(choices), subject=question.call.id)
    if pressed is None:
        return Picked(None)
    choice = choices[pressed]
    return Picked(choice.option, person.words("  why not? ") if choice.with_words else None)


def automatic_option(question: Permission, *, yes: bool) -> Option | None:
    """What `--yes` or `--no` picks: a yes only ever once, and never on the floor."""
    if yes and not question.floor:
        return question.first("allow_once", "allow_always")
    return question.first("reject_once", "reject_always")


def choices_of(question: Permission) -> list[Choice]:
    """The options by key, in their order; a no may carry words."""
    wider = iter("sw")
    choices: list[Choice] = []
    for option in question.options:
        match option.kind:
            case "allow_once":
                choices.append(Choice("y", " once", option))
            case "allow_always":
                if key := next(wider, None):
                    choices.append(Choice(key, f" {_plain_name(option)}", option))
            case "reject_once":
                choices.append(Choice("n", " no", option))
                choices.append(Choice("r", " no, and say why", option, with_words=True))
            case "reject_always":
                choices.append(Choice("x", f" {_plain_name(option)}", option))
    return choices


def _answer_for(person: Person, question: Permission) -> Picked:
    option = automatic_option(question, yes=person.automatic == "yes")
    said = "yes" if option is not None and option.kind.startswith("allow") else "no"
    why, feedback = f"--{person.automatic}", None
    if question.floor and person.automatic == "yes":
        why = "--yes never answers a question of the safety floor"
        if question.reason:
            feedback = f"Nobody could be asked, and --yes does not answer this: {question.reason}"
    title = printable(question.call.title or "a tool call")
    said_so = line(("? ", "question"), title, (f": {said} ({why})", "quiet"))
    person.page.add(said_so, attached=True)
    if feedback:
        person.page.add(
            line(("  why asked: ", "quiet"), printable(question.reason or "")), attached=True
        )
    return Picked(option, feedback)


def _parts(question: Permission, person: Person) -> Iterator[Text]:
    call = question.call
    what = HEADINGS.get(call.kind or "", printable(call.title or "use a tool"))
    left = Text.assemble(" " * INDENT, ("? ", "question"), (what, "bold"))
    where = Text(f"in {home_relative(person.cwd)}", "quiet")
    yield spread(left, where, person.page.screen.width)
    yield from _body(call.output or "", call.title or "")
    if question.reason and question.reason not in (call.output or ""):
        yield Text.assemble(" " * INDENT, ("why asked: ", "quiet"), printable(question.reason))


def _body(content: str, title: str) -> Iterator[Text]:
    """The thing itself: what is fenced stands out, other lines are quiet; without any, the title."""
    fenced = False
    lines = [said for said in printable(content).splitlines() if said.strip()]
    if not lines:
        yield Text(f"{' ' * INDENT}  {printable(title)}", "bold")
    for said in lines:
        if said.startswith("```"):
            fenced = not fenced
        elif fenced:
            yield Text(f"{' ' * INDENT}  {said}", "bold")
        else:
            yield Text(f"{' ' * INDENT}{said}", "quiet")


def _plain_name(option: Option) -> str:
    return printable(option.name).replace("`", "").replace("\n", " ")
