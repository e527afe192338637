"""Words of the commands here, and of `chat`, which has some of them itself: it shows more and asks."""

import re
from collections.abc import Iterable, Sequence
from os.path import relpath
from typing import Literal

from agent_server.edits.checkpoint_targets import Left
from agent_server.loop.errors import ClientMistake

What = Literal["files", "chat", "both"]
WHATS: tuple[What, ...] = ("files", "chat", "both")

UNDO = "take back the edits of the last turn"
REWIND = "go back to before a prompt: files, conversation or both; without N, the list"
WHAT_HINT = "[files|chat|both]"
COST = "tokens, cost, and how full the context is"
COMPACT = "summarise the conversation now, to make room"
NO_EDIT = "there is no edit of this session to take back"
NO_PLACE = "there is nothing to go back to yet"
NOTHING_CHANGES = "nothing would change"


def no_checkpoint(name: str) -> ClientMistake:
    """There is none of that name."""
    return ClientMistake(f"there is no checkpoint {name!r}; /rewind lists them")


def what_goes(said: str, checkpoint: str, *, chat: bool) -> What:
    """What goes back: what was said, or as much as can. `chat`: the checkpoint is one of the conversation too.

    Raises:
        ClientMistake: that cannot.
    """
    if not said:
        return "both" if chat else "files"
    match said:
        case "files" | "chat" | "both":
            wanted = said
        case _:
            raise ClientMistake(f"{said!r} cannot go back; say files, chat or both")
    if wanted != "files" and not chat:
        raise ClientMistake(f"{checkpoint} is of files alone: the conversation stays")
    return wanted


def names(paths: Iterable[str], cwd: str) -> str:
    """Files in a sentence."""
    return ", ".join(f"`{relpath(path, cwd)}`" for path in dict.fromkeys(paths))


def left_alone(left: Sequence[Left], cwd: str) -> list[str]:
    """A row for each file that is not touched, with the reason."""
    return [f"- left alone: `{relpath(one.path, cwd)}`: {_why(one, cwd)}" for one in left]


def _why(left: Left, cwd: str) -> str:
    return left.why.replace(left.path, relpath(left.path, cwd))


def fenced(text: str, language: str) -> str:
    """As a block of Markdown, between fences longer than any row of backticks inside."""
    longest = max((len(found) for found in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def paragraphs(*parts: str | None) -> str:
    """Those that are something."""
    return "\n\n".join(part for part in parts if part)
