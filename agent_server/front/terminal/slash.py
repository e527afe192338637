"""The commands that `chat` answers itself: `/help` and its kin."""

import difflib
from typing import Literal, get_args

from agent_server.frozen import frozen

Name = Literal[
    "help", "mode", "model", "undo", "rewind", "new", "fork", "title", "sessions", "quit"
]
NAMES: tuple[Name, ...] = get_args(Name)
HELP: tuple[tuple[str, str], ...] = (
    ("/help", "this"),
    ("/mode [ask|accept_edits|plan|auto]", "what the agent may do without asking"),
    ("/model [NAME]", "the model, in litellm's words: openai/…, anthropic/…, ollama/…"),
    ("/undo", "take back the edits of the last turn; shows them and asks first"),
    (
        "/rewind [N] [files|chat|both]",
        "go back to before a prompt: files, conversation or both; without N, the list",
    ),
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
    """The command; None for an ordinary prompt, which a path at the beginning (`/etc/hosts …`) is too."""
    word, _, argument = text.strip().partition(" ")
    if not word.startswith("/") or "/" in word[1:] or "\n" in text:
        return None
    said = "quit" if word == "/exit" else word[1:]
    for name in NAMES:
        if said == name:
            return Slash(name, argument.strip())
    close = difflib.get_close_matches(said, NAMES, n=1)
    hint = f"did you mean /{close[0]}?" if close else "/help lists them"
    return Mistaken(f"there is no command {word}; {hint}")
