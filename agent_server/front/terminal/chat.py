"""`agent-server chat`: a person at a terminal, or one prompt from the command line or a pipe."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from agent_server.config_load import find_home
from agent_server.front.terminal.conversation import Conversation, Place, conversation
from agent_server.front.terminal.inbound import TurnEnd
from agent_server.front.terminal.input import Terminal, read_prompt, visible_prompt
from agent_server.front.terminal.page import Page
from agent_server.front.terminal.person import Automatic
from agent_server.front.terminal.screen import Screen, standard_console
from agent_server.front.terminal.slash import Slash, parse_slash
from agent_server.front.terminal.turn import Quit
from agent_server.loop.errors import AgentServerError
from agent_server.options import Options

CANCELLED: Final = 130
"""Exit code of a turn that was stopped: what shells expect after SIGINT."""


def main(
    options: Options,
    *,
    prompt: str | None = None,
    resume: str | None = None,
    answer: Automatic | None = None,
) -> int:
    """Chat; the exit code. With a prompt, or with a pipe as stdin, one turn and out.

    `resume` empty means the newest session of this folder. Nobody at a terminal and no `answer`: every question is
    answered no, because nobody can be asked.
    """
    screen = Screen(standard_console())
    place = Place(Path.cwd(), os.environ, options)
    try:
        if prompt is None and not sys.stdin.isatty():
            prompt = sys.stdin.read()
        if prompt is not None:
            return once(place, screen, prompt, resume=resume, answer=answer)
        return talk(place, screen, resume=resume, answer=answer)
    except Quit:
        return CANCELLED
    finally:
        screen.close()


def once(
    place: Place, screen: Screen, prompt: str, *, resume: str | None, answer: Automatic | None
) -> int:
    """One turn; 0 when it ended well, 1 when not, 130 when it was cancelled."""
    if not prompt.strip():
        raise AgentServerError("the prompt is empty")
    page = Page(screen)
    with conversation(place, page, Terminal()) as chat:
        chat.open(resume)
        if not screen.plain:
            chat.show_header()
        chat.show_past()
        return exit_code(chat.turn(prompt, answer or nobody(screen)))


def talk(place: Place, screen: Screen, *, resume: str | None, answer: Automatic | None) -> int:
    """Prompt after prompt, until the person leaves."""
    terminal = Terminal(find_home(place.env).sessions_db.parent / "history")
    page = Page(screen)
    with contextlib.ExitStack() as stack:
        stack.callback(terminal.remember)
        chat = stack.enter_context(conversation(place, page, terminal))
        chat.open(resume)
        chat.show_header()
        chat.show_past()
        answer = answer or nobody(screen)
        if resume is not None:
            chat.decide_left_open(answer)
        return _prompts(chat, answer)


def nobody(screen: Screen) -> Automatic | None:
    """`no` where nobody can be asked, said once; None where the person can."""
    if sys.stdin.isatty() and not screen.plain:
        return None
    note = "nobody can be asked here: every question is answered no (--yes answers yes)"
    Console(stderr=True).print(note, style="dim", highlight=False)
    return "no"


def exit_code(end: TurnEnd) -> int:
    """What a shell should know of a turn."""
    if end.stop_reason == "cancelled":
        return CANCELLED
    return 0 if end.stop_reason == "end_turn" and end.reason != "error" else 1


def _prompts(chat: Conversation, answer: Automatic | None) -> int:
    prompt = visible_prompt("› ", "1;36" if chat.page.screen.coloured else "1")
    more = visible_prompt("… ", "2")
    warned = False
    while True:
        chat.page.screen.print(Text(""))
        try:
            text = read_prompt(chat.keyboard, prompt, more)
        except KeyboardInterrupt:
            if warned:
                return CANCELLED
            warned = True
            chat.page.screen.print(
                Text("  ctrl-c again leaves; /help lists what else there is", "quiet")
            )
            continue
        warned = False
        if text is None:
            chat.page.screen.print(Text(""))
            return 0
        if not text.strip():
            continue
        command = parse_slash(text)
        if command == Slash("quit"):
            return 0
        if command is not None:
            chat.obey(command, answer)
        else:
            chat.turn(text, answer)
