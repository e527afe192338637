"""`agent-server demo`: the main job on a scripted model, offline, in a sample project made for it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.text import Text

from agent_server.edits.text.hunks import hunks
from agent_server.front.terminal.chat import CANCELLED, exit_code, nobody
from agent_server.front.terminal.conversation import Place, conversation
from agent_server.front.terminal.diffview import diff_body, diff_header
from agent_server.front.terminal.input import Terminal
from agent_server.front.terminal.page import Page
from agent_server.front.terminal.person import Automatic
from agent_server.front.terminal.rows import file_rows
from agent_server.front.terminal.screen import Screen, standard_console
from agent_server.front.terminal.style import INDENT, uncut
from agent_server.front.terminal.turn import Quit
from agent_server.loop.proposal import FileChange
from agent_server.options import Options
from agent_server.providers.demo import DEMO_PROMPT, SAMPLE_FILES, write_sample

MODEL = "scripted:demo"
"""Its name says what it is."""


def main(options: Options, *, answer: Automatic | None = None) -> int:
    """Run the demo; 0 when the conversation ended well. The project stays; everything else it made is gone."""
    screen = Screen(standard_console())
    project = make_project()
    home = Path(tempfile.mkdtemp(prefix="agent-server-demo-home-"))
    try:
        return _play(
            screen, project, Place(project, _environment(home), _scripted(options)), answer
        )
    except Quit:
        return CANCELLED
    finally:
        screen.close()
        shutil.rmtree(home, ignore_errors=True)


def make_project() -> Path:
    """The sample project in a new folder, under git where there is one, so that `git diff` works there."""
    project = Path(tempfile.mkdtemp(prefix="agent-server-demo-")).resolve()
    write_sample(project)
    if shutil.which("git"):
        identity = ("-c", "user.name=demo", "-c", "user.email=demo@localhost")
        for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "The sample"]):
            subprocess.run(["git", *arguments], cwd=project, check=False, capture_output=True)
    return project


def changes_on_disk(project: Path) -> list[FileChange]:
    """What is different from the sample now."""
    found = ((project / name, text) for name, text in SAMPLE_FILES.items())
    now = [(path, text, path.read_text(encoding="utf-8")) for path, text in found if path.exists()]
    return [
        FileChange(str(path), "edit", before, after, hunks(before, after))
        for path, before, after in now
        if after != before
    ]


def _play(screen: Screen, project: Path, place: Place, answer: Automatic | None) -> int:
    page = Page(screen)
    _introduce(screen, project)
    with conversation(place, page, Terminal()) as chat:
        chat.open(None)
        chat.show_header()
        screen.print(Text(""), Text.assemble(("› ", "key"), (DEMO_PROMPT, "person")))
        page.start()
        screen.print(Text(""))
        code = exit_code(chat.turn(DEMO_PROMPT, answer or nobody(screen)))
    _show_changes(page, project)
    _say_how_to_go_on(page, project)
    return code


def _scripted(options: Options) -> Options:
    """The person's options, but for the model; a file of settings would only disturb."""
    return Options(
        model=MODEL,
        mode=options.mode or "ask",
        log_level=options.log_level,
        log_file=options.log_file,
        trace=options.trace,
    )


def _environment(home: Path) -> Mapping[str, str]:
    """A server without the person's settings and sessions: the demo is the same everywhere."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("AGENT_SERVER_")}
    return kept | {"AGENT_SERVER_HOME": str(home)}


def _introduce(screen: Screen, project: Path) -> None:
    screen.print(
        Text.assemble(
            ("A demo with a scripted model.", "bold"),
            " Offline, without a key: its words are fixed,",
        ),
        Text("the search, the edits, your review and the test run are real."),
        uncut(f"The project: {project}", "quiet"),
        Text(""),
    )


def _show_changes(page: Page, project: Path) -> None:
    changes = changes_on_disk(project)
    if not changes:
        page.add(Text("Nothing was changed on disk.", "bold"))
        return
    page.add(
        Text(
            f"On disk now, {len(changes)} {'file' if len(changes) == 1 else 'files'} changed:",
            "bold",
        )
    )
    for change in changes:
        width = page.screen.width
        page.add(
            diff_header(change, change.hunks, cwd=str(project), width=width),
            diff_body(file_rows(change), plain=page.screen.plain),
        )


def _program() -> str:
    """How this program can be called again: by its name, where the shell finds it."""
    name = Path(sys.argv[0]).name
    return name if shutil.which(name) else sys.argv[0]


def _say_how_to_go_on(page: Page, project: Path) -> None:
    pad = " " * INDENT
    page.add(
        Text("Go on", "bold"),
        uncut(f"{pad}cd {project}"),
        uncut(f"{pad}OPENAI_API_KEY=… {_program()} chat --model openai/<name>"),
        Text(f"{pad}or in your editor: agent-server acp, agent-server lsp", "quiet"),
    )
