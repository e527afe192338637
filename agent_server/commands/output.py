"""Printing what people, models and files wrote: nothing of it may steer the terminal or fail to print."""

import sys

from agent_server.front.hidden_characters import printable


def one_line(text: str, width: int) -> str:
    """The start of the text as one line of at most `width` characters."""
    words = " ".join(printable(text).split())
    return words if len(words) <= width else words[: width - 1] + "…"


def say(text: str) -> None:
    """Print a line on stdout, whatever its encoding can hold."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
