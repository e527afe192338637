"""The commands that `chat` answers itself, `/help` and its kin, and those that it leaves to the server."""

import difflib
from typing import Literal, get_args

from agent_server.frozen import frozen
from agent_server.session.builtin import words

Name = Literal[
    "help", "mode", "model", "undo", "rewind", "new", "fork", "title", "sessions", "quit"
]
NAMES: tuple[Name, ...] = get_args(Name)
SERVERS = ("cost", "compact")
"""Of the server's commands those that are better nowhere else: a prompt like any other."""
HELP: tuple[tuple[str, str], ...] = (
    ("/help", "this"),
    ("/mode [ask|accept_edits|plan|auto]", "what the agent may do without asking"),
    ("/model [NAME]", "the model, in litellm's words: openai/…, anthropic/…, ollama/…"),
    ("/undo", f"{words.UNDO}; shows them and asks first"),
    (f"/rewind [N] {words.WHAT_HINT}", words.REWIND),
    ("/cost", words.COST),
    ("/compact", words.COMPACT),
    ("/new", "a new session in this folder"),
    ("/fork", "go on in a copy of this session; this one stays as it is"),
    ("/title TEXT", "name this session"),
    ("/sessions", "the sessions of this folder; `agent-server chat --resume ID` goes on with one"),
    ("/quit", "leave; ctrl-d does the same"),
    ("ctrl-c", "stop the turn; twice: leave"),
    ('\\ at the end, or """', "a prompt of several lines"),
)


@frozen
class Slash:
    """A command and what stands behind it."""

    name: Name
    argument: str = ""


@frozen
class Mistaken:
    """Looks like a command and is none; `sentence` says so."""

    sentence: str


def parse_slash(text: str) -> Slash | Mistaken | None:
    """The command; None for a prompt: also a path at the beginning (`/etc/hosts …`), and what is left to the server."""
    word, _, argument = text.strip().partition(" ")
    if not word.startswith("/") or "/" in word[1:] or "\n" in text:
        return None
    said = "quit" if word == "/exit" else word[1:]
    if said in SERVERS:
        return None
    for name in NAMES:
        if said == name:
            return Slash(name, argument.strip())
    close = difflib.get_close_matches(said, (*NAMES, *SERVERS), n=1)
    hint = f"did you mean /{close[0]}?" if close else "/help lists them"
    return Mistaken(f"there is no command {word}; {hint}")
