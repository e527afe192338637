"""The extension in a real VS Code: reviews, the server. What a person does is in `vscode/stories`; here is what they
start with and what must be on disk when they end.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import shell
from tests.e2e.vscode_support import Lab

pytestmark = [
    # The first run installs VS Code.
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="the lab's Node is for Linux"),
]

DATES = '''\
"""Dates as people write them."""

from datetime import date, datetime

FORMAT = "%Y-%m-%d"


def parse_date(text):
    return datetime.strptime(text, FORMAT)


def is_date(text):
    try:
        parse_date(text)
    except ValueError:
        return False
    return True


def format_date(day):
    return day.strftime(FORMAT)
'''
IMPORT = ("from datetime import date", "import re\nfrom datetime import date")
PATTERN = ("FORMAT = ", 'ISO_WEEK = re.compile(r"(\\d{4})-W(\\d{2})-(\\d)")\nFORMAT = ')
BRANCH = (
    "    return datetime.strptime(text, FORMAT)",
    """\
    if week := ISO_WEEK.fullmatch(text):
        return date.fromisocalendar(*map(int, week.groups()))
    return datetime.strptime(text, FORMAT)""",
)
FORMATTING = (
    "def format_date(day):\n    return day.strftime(FORMAT)",
    "def format_date(day, format=FORMAT):\n    return day.strftime(format)",
)
HUNKS = (IMPORT, PATTERN, BRANCH, FORMATTING)

LOOK = {
    "thinking": "The parser and its callers first.",
    "text": "I'll look at the parser and its callers first.",
    "calls": [
        {"name": "search", "arguments": {"pattern": "parse_date"}},
        {"name": "read", "arguments": {"path": "dates.py"}},
    ],
}
CHANGE = {
    "text": "Two changes are needed.",
    "calls": [
        {
            "name": "edit",
            "arguments": {
                "path": "dates.py",
                "edits": [{"old_text": old, "new_text": new} for old, new in HUNKS],
            },
        }
    ],
}


def changed(*hunks: tuple[str, str]) -> str:
    """The file with those changes."""
    text = DATES
    for old, new in hunks:
        text = text.replace(old, new, 1)
    return text


FILES = {"dates.py": DATES, "other.py": "import dates\n"}


def test_an_edit_is_judged_hunk_by_hunk_and_a_command_is_asked_about(lab: Lab) -> None:
    check = shell('python3 -c "import dates; print(dates.FORMAT)"', "Now the check.")
    done = {"text": "Done: `parse_date` takes ISO weeks.", "expect": "%Y-%m-%d"}

    workspace = lab.play("review.review", [LOOK, CHANGE, check, done], files=FILES)

    assert (workspace / "dates.py").read_text() == changed(IMPORT, PATTERN, BRANCH)


def test_a_whole_review_is_done_by_keys(lab: Lab) -> None:
    hushed = {"agent.review.open": "never"}

    workspace = lab.play("review.keys", [CHANGE, {"text": "Done."}], files=FILES, settings=hushed)

    assert (workspace / "dates.py").read_text() == changed(PATTERN, BRANCH, FORMATTING)


PATCH = """\
*** Begin Patch
*** Update File: {one}/a.py
@@
-a = 1
+proposed = 1
*** Add File: {two}/b.py
+b = 1
*** Delete File: {out}/c.py
*** Update File: {two}/big.txt
@@
-first
+FIRST
*** Update File: {one}/old.py
*** Move to: {one}/new.py
@@
-o = 1
+n = 1
*** End Patch
"""

BIG = "first\n" + "a line of a text that is not sent with its proposal\n" * 25_000


def test_several_files_are_judged_one_by_one_with_the_persons_own_changes(
    lab: Lab, tmp_path: Path
) -> None:
    one, two = (lab.run / "review.several/workspace" / name for name in ("one", "two"))
    (tmp_path / "c.py").write_text("c = 1\n")
    patch = PATCH.format(one=one, two=two, out=tmp_path)
    script = [
        {"calls": [{"name": "patch", "arguments": {"patch": patch}}]},
        {"text": "Done.", "expect": "others use it"},
    ]

    lab.play(
        "review.several",
        script,
        files={"one/a.py": "a = 1\n", "one/old.py": "o = 1\n", "two/big.txt": BIG},
        folders=["one", "two"],
    )

    assert (one / "a.py").read_text() == "proposed = 1\nmine = 1\n"
    assert (two / "b.py").read_text() == "b = 1\n"
    assert (tmp_path / "c.py").read_text() == "c = 1\n"
    assert (two / "big.txt").read_text() == BIG.replace("first", "FIRST")
    assert [(one / "new.py").read_text(), (one / "old.py").exists()] == ["n = 1\n", False]


NUMBERS = "one\ntwo\nthree\nfour\nfive\nsix\n"


def test_what_stands_on_the_right_side_is_what_is_written_and_told(lab: Lab) -> None:
    names = [f"{number}.txt" for number in range(1, 7)]
    edits = [("one", "ONE"), ("five", "FIVE")]
    calls = [_edits(name, edits) for name in names]
    told = [None, "-one\n", "-five\n+FIVE", "+xONE", "+xONE", "+xONE", "+xONE"]
    script = [
        call if expected is None else {"expect": re.escape(expected), **call}
        for call, expected in zip([*calls, {"text": "Done."}], told, strict=True)
    ]

    workspace = lab.play("review.exact", script, files=dict.fromkeys(names, NUMBERS))

    both = NUMBERS.replace("five", "FIVE")
    assert [(workspace / name).read_text() for name in names] == [
        both.removeprefix("one\n"),
        both,
        both.replace("one", "xONE"),
        NUMBERS.replace("one", "xONE"),
        both.replace("one", "xONE"),
        both.replace("one", "xONE"),
    ]


CELLS = (
    '{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["one"]}], '
    '"metadata": {}, "nbformat": 4, "nbformat_minor": 2}\n'
)


def test_a_notebook_is_not_written_beneath_its_editor(lab: Lab) -> None:
    begin, end = "*** Begin Patch\n", "*** End Patch\n"
    patches = [
        f"{begin}*** Delete File: x.ipynb\n{end}",
        f"{begin}*** Update File: x.ipynb\n*** Move to: y.ipynb\n{end}",
    ]
    change = _edit("x.ipynb", "one", "two")
    refused = {"expect": "open as a notebook"}
    calls = [change, *({"calls": [{"name": "patch", "arguments": {"patch": p}}]} for p in patches)]
    script = [
        calls[0],
        *(refused | call for call in calls[1:]),
        refused | {"text": "It is open."},
        change,
        refused | {"text": "It was opened."},
    ]

    workspace = lab.play("review.notebook", script, files={"x.ipynb": CELLS})

    assert (workspace / "x.ipynb").read_text() == CELLS
    assert not (workspace / "y.ipynb").exists()


def _edits(path: str, edits: Sequence[tuple[str, str]]) -> dict[str, Any]:
    texts = [{"old_text": old, "new_text": new} for old, new in edits]
    return {"calls": [{"name": "edit", "arguments": {"path": path, "edits": texts}}]}


def _edit(path: str, old: str, new: str) -> dict[str, Any]:
    return _edits(path, [(old, new)])


def test_a_yes_to_all_leaves_what_is_outside_of_the_workspace(lab: Lab, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("old\n")
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-a = 1\n+a = 2\n"
        f"*** Update File: {hosts}\n@@\n-old\n+new\n*** End Patch\n"
    )
    script = [{"calls": [{"name": "patch", "arguments": {"patch": patch}}]}, {"text": "Done."}]

    workspace = lab.play("review.outside", script, files={"a.py": "a = 1\n"})

    assert [(workspace / "a.py").read_text(), hosts.read_text()] == ["a = 2\n", "new\n"]


def test_edits_of_a_turn_are_listed_when_made_and_asked_about_at_its_end(lab: Lab) -> None:
    script = [
        _edit("broken.json", "1 ", "1, "),
        {"delay_ms": 2500, **_edit("broken.json", "2,", "2")},
        {"text": "Done."},
    ]

    workspace = lab.play(
        "review.staged",
        script,
        files={"broken.json": '{"a": 1 "b": 2,}\n'},
        settings={"agent.review.when": "turn"},
    )

    assert (workspace / "broken.json").read_text() == '{"a": 1, "b": 2}\n'


def test_an_edit_of_a_file_that_moved_underneath_is_not_forced_in(lab: Lab) -> None:
    workspace = lab.play("review.conflict", [CHANGE, {"text": "Done."}], files=FILES)

    assert (workspace / "dates.py").read_text() == DATES.replace(
        "datetime\n", "datetime, time\n", 1
    )


def test_a_checkpoint_is_restored_and_that_undone_and_a_hunk_is_taken_back(lab: Lab) -> None:
    workspace = lab.play("review.back", [CHANGE, {"text": "Done."}], files=FILES)

    assert (workspace / "dates.py").read_text() == DATES


def test_an_edit_that_a_killed_server_left_open_can_still_be_decided(lab: Lab) -> None:
    workspace = lab.play("server.leftOpen", [CHANGE, {"text": "Done."}], files=FILES)

    assert (workspace / "dates.py").read_text() == changed(PATTERN, BRANCH, FORMATTING)


def test_escape_ends_an_answer_and_keeps_what_was_said(lab: Lab) -> None:
    counting = " ".join(map(str, range(1, 1000)))

    lab.play("chat.cancel", [{"text": counting, "delay_ms": 30, "chunk": 4}])


def test_a_question_with_the_chat_hidden_takes_no_key_and_a_reload_loses_nothing(lab: Lab) -> None:
    refused = {"text": "I did not run it.", "expect": "not now"}
    slow = {"delay_ms": 1000}  # so that the chat can be hidden before the question comes
    asked = shell("echo asked > asked.txt", "I run it.") | slow

    workspace = lab.play("chat.hidden", [asked, refused], files={"notes.txt": ""})

    assert not (workspace / "asked.txt").exists()


def test_who_opens_the_chat_types_in_it(lab: Lab) -> None:
    lab.play("chat.focus", [], files={"notes.txt": ""})


def test_random_keys_allow_nothing_and_no_letter_is_lost(lab: Lab) -> None:
    """In the desktop's defaults; `AGENT_SERVER_QUESTIONS=20 AGENT_SERVER_KEYS=50` for all of it."""
    count = int(os.environ.get("AGENT_SERVER_QUESTIONS", "3"))
    slow = {"delay_ms": 1500}  # so that keys are typed before, while and after a question comes
    asked = [
        shell(f"touch allowed-{number}", "I run it.") | slow
        if number % 2
        else _edit("target.txt", "untouched", f"allowed {number}") | slow
        for number in range(count + 1)
    ]
    files = {"notes.txt": "", "target.txt": "untouched\n"}
    quiet = {"files.autoSave": "off", "editor.quickSuggestions": {"other": "off"}}
    more = [{"text": "Done."}] * 40

    workspace = lab.play(
        "random.keys", [{"text": "Ready."}, *asked, *more], files=files, settings=quiet
    )

    assert (workspace / "target.txt").read_text() == "untouched\n"
    assert list(workspace.glob("allowed-*")) == []


def test_a_killed_server_comes_back_with_the_session(lab: Lab) -> None:
    lab.play("server.killed", [{"text": "First answer."}, {"text": "Second answer."}])


def test_the_doctor_reports_in_an_editor_and_the_demo_is_a_task(lab: Lab) -> None:
    lab.play("server.programs", [], settings={"terminal.integrated.gpuAcceleration": "off"})


def test_a_missing_server_is_explained(lab: Lab) -> None:
    lab.play("server.missing", [], machine={"agent.server.command": "/nowhere/agent-server"})
