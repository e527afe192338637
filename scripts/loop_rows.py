"""Writes `docs/loop.md`: what the loop promises, row by row, and the tests that show it.

A test says what it shows with `@pytest.mark.row("R4")`; this script reads the tests' source, so it runs nothing. Rows
are numbered as in the specification; numbers that are missing here belong to other parts of the product.
"""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "loop.md"


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that belong together: number → the promise in our words."""

    title: str
    rows: Mapping[str, str]


GROUPS: Sequence[Group] = (
    Group(
        "Shape",
        {
            "R1": "A session has one flat history; what a sub-agent says to itself is not in it",
            "R2": "A step is one request to a model; nothing below the loop repeats it",
            "R3": "Text and calls of one reply stay together in one message",
            "R4": "A text without calls ends the turn",
            "R5": "Calls run whatever the reply's label says, and run once",
            "R6": "The label `stop` beside calls is as good as `tool_calls`",
            "R7": "The turn ends at a text without calls, or at a limit, and nowhere else",
            "R8": "Six states, visited in a known order",
            "R9": "Limits are looked at before a request is made",
            "R10": "A call that only reads may run while its reply still streams",
            "R11": "Executing runs one segment of the calls per visit",
            "R12": "A yes runs the call next; a no is a result, and the other calls go on",
            "R13": "Compacting leads back to thinking, or to the end when nothing can be left out",
            "R14": "Every turn ends once, in the log and for the client",
            "R15": "Limits end a turn between two states",
            "R16": "Every state has its handler and its edges; any other edge is a defect",
            "R17": "One object is shared by the states, small, and without messages",
            "R18": "Both wires show the same events of the same turns",
            "R19": "In Python: a text for a prompt, or a result with everything about it",
        },
    ),
    Group(
        "Limits and endings",
        {
            "R20": "So many steps for one prompt and no more",
            "R21": "Every agent has steps of its own",
            "R22": "At the limit of steps, one request without tools asks for a summary",
            "R23": "A sub-agent has fifty steps and cannot get more; what it uses counts for its parent",
            "R24": "A model that stalls in thought takes no step away from the one that follows it",
            "R25": "Tokens, dollars and seconds end a turn, at most one step late",
            "R26": "The fourth equal failure ends the turn",
            "R27": "Three results in a row with nothing in them end the turn",
            "R28": "The same calls with the same results end it, or the person says go on",
            "R29": "A tool may end the turn",
            "R30": "A cancel in any state settles everything and is an ending of its own",
            "R31": "What cannot be helped ends with an error that a program can read",
            "R32": "Each of the reference systems' endings exists",
            "R33": "A sub-agent is a session below a call; its parent sees one result",
            "R34": "A client that goes away does not tear a turn",
            "R35": "The end is in the log before anybody hears of it",
            "R36": "Cancelling twice, too early or for nothing does no harm",
            "R37": "Who gives up says which tool failed, how, and how often",
        },
    ),
    Group(
        "Empty, cut and silent replies",
        {
            "R38": "A reply with nothing in it is a reply",
            "R39": "It is asked for once more with the same messages",
            "R40": "After tools, one nudge; white space is nothing",
            "R41": "Nudges are bounded and in no log",
            "R42": "Same request, nudge, another model, the end: in this order",
            "R43": "Three replies of thought alone are a reason for another model",
            "R44": "A cut call never runs; a cut text is continued, twice",
            "R45": "A refusal is not asked for again",
        },
    ),
    Group(
        "Other models and the past, plainly",
        {
            "R50": "The fallbacks are tried in their order, and the conversation goes on",
            "R51": "Text of an attempt that failed is taken back and in no log",
            "R52": "Without another model the turn ends with what was wrong",
            "R53": "A model that the person picked is not replaced",
            "R60": "Past its share of the window, the past is summarised before the next request",
            "R62": "An overflow is answered by one summary, once",
            "R66": "What the person said last stays word for word",
            "R68": "One summary stands at the head; the next one replaces it",
            "R69": "A summary that fails is replaced by an extract",
            "R73": "A cut never parts a call from its result",
        },
    ),
    Group(
        "Calls",
        {
            "R76": "Reads of one reply run at once",
            "R77": "A call that needs the person runs alone",
            "R78": "Nothing crosses a call that changes things",
            "R79": "Results reach the model in the order of the calls",
            "R80": "A tool that breaks is a result",
            "R81": "A read that failed for a passing reason is tried again",
            "R82": "The second of two equal calls in a reply is not run",
            "R83": "Prepared, judged, asked about, started, run, settled: in this order",
            "R84": "Arguments are checked before anything happens",
            "R86": "A result and what it did to the world are one commit",
            "R87": "A tool changes things unless it says that it only reads",
            "R88": "A failure is told to the model with the number of the attempt",
            "R89": "Errors are the same when only numbers, addresses and temporary paths differ",
            "R90": "Equal errors are counted once for a reply, different ones apart",
            "R91": "A wrong name is answered with the nearest; replies of nothing else end the turn",
        },
    ),
    Group(
        "Effects and the log",
        {
            "R105": "All calls of a reply are in the log before one begins",
            "R106": "That a call starts is durable before its tool runs",
            "R107": "A call that never began, or only read, did nothing",
            "R108": "A tool that returned did what it says",
            "R109": "A call that was broken off in the middle is unknown",
            "R110": "After a crash each open call is settled once, and the model is told what is not known",
            "R111": "Receipts in the workspace: six fields, no contents",
            "R112": "Every call of a reply gets a result, whatever ended it",
            "R113": "A store that fails ends the turn before the next effect",
            "R115": "A session is taken up again with all of it and the same first bytes",
        },
    ),
    Group(
        "The prompt, plainly",
        {
            "R117": "What requests share comes first and does not change",
            "R121": "The system prompt is made once and kept",
        },
    ),
    Group(
        "Messages",
        {
            "R128": "Providers get OpenAI's messages, and only they do",
            "R129": "Thoughts go back unchanged to the model that had them, and to no other",
            "R130": "Person and model alternate",
            "R131": "Results follow their calls, in order",
            "R132": "The double of a provider refuses what a strict one would",
        },
    ),
    Group(
        "While a turn runs",
        {
            "R133": "Words can be added, can redirect, and can stop it softly",
            "R134": "A cancelled answer is in no log and its connection is closed",
            "R135": "The next prompt works",
            "R136": "What was shown of a dropped answer is for people, not for the model",
            "R137": "Words that came too late are the next prompt, or are handed back",
        },
    ),
    Group(
        "Events",
        {
            "R138": "Text is shown as it comes, the first piece at once",
            "R139": "A running tool, and a sub-agent, shows its progress",
            "R140": "Every event of a call carries the call's key",
            "R141": "It is seen when the model begins and ends to think",
            "R142": "A call and a step are reported finished when they are, not when something follows",
            "R143": "Thoughts are events",
            "R144": "The model asks the person, whose answer is the result of its call",
            "R145": "A call is announced as soon as its name is known",
            "R146": "Deltas, as R138",
            "R147": "The state is an event",
            "R148": "A question is an event that names its call",
            "R149": "The end is the last event and says reason and usage",
            "R150": "Events are notifications on both wires",
            "R151": "No contents in receipts",
        },
    ),
)

ELSEWHERE = {
    "R85": "the agent's own tools are tools like any other; its memory is a feature of its own",
}
"""Numbers inside of the groups that have no test here, and why."""


def promises() -> dict[str, str]:
    """Every row of the table."""
    return {number: text for group in GROUPS for number, text in group.rows.items()}


def shown_by(tests: Path) -> dict[str, list[str]]:
    """Row → the tests that say they show it, as `file::test` below `tests`, sorted."""
    found: dict[str, list[str]] = {}
    for file in sorted(tests.rglob("test_*.py")):
        if "node_modules" in file.parts:
            continue
        for test, rows in _marked(file):
            for row in rows:
                found.setdefault(row, []).append(f"{file.relative_to(tests)}::{test}")
    return {row: sorted(names) for row, names in found.items()}


def page(shown: Mapping[str, Sequence[str]]) -> str:
    """The whole document."""
    lines = [
        "# What the loop promises",
        "",
        "Row by row, and the tests that show it. Written by `python scripts/loop_rows.py` from the marks on the tests;",
        "a test fails when a row has none, or when this page is not what the marks say.",
    ]
    for group in GROUPS:
        lines += ["", f"## {group.title}", "", "| row | promise | shown by |", "|---|---|---|"]
        lines += [_line(number, text, shown) for number, text in group.rows.items()]
    lines += ["", "## Elsewhere", "", "| row | why not here |", "|---|---|"]
    lines += [f"| {number} | {why} |" for number, why in ELSEWHERE.items()]
    return "\n".join(lines) + "\n"


def _line(number: str, text: str, shown: Mapping[str, Sequence[str]]) -> str:
    tests = "<br>".join(f"`{_short(name)}`" for name in shown.get(number, ()))
    return f"| {number} | {text} | {tests} |"


def _short(name: str) -> str:
    file, _, test = name.partition("::")
    return f"{file.removesuffix('.py')}: {test.removeprefix('test_').replace('_', ' ')}"


def _marked(file: Path) -> Iterator[tuple[str, list[str]]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            rows = [row for mark in node.decorator_list for row in _rows(mark)]
            if rows:
                yield node.name, rows


def _rows(mark: ast.expr) -> list[str]:
    match mark:
        case ast.Call(func=ast.Attribute(attr="row"), args=arguments):
            return [str(a.value) for a in arguments if isinstance(a, ast.Constant)]
        case _:
            return []


def main() -> int:
    """Write the page; 1 and their names when rows have no test."""
    shown = shown_by(ROOT / "tests")
    PAGE.write_text(page(shown), encoding="utf-8")
    missing = [number for number in promises() if number not in shown]
    if missing:
        print(f"no test shows {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
