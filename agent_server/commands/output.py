"""Writing to a terminal what people, models and files wrote: nothing of it may steer the terminal or fail to print."""

import re
import sys

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def harmless(text: str) -> str:
    """The text with control characters made visible; line ends and tabs stay."""
    return _STEERING.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def one_line(text: str, width: int) -> str:
    """The start of the text as one line of at most `width` characters."""
    words = " ".join(harmless(text).split())
    return words if len(words) <= width else words[: width - 1] + "…"


def say(text: str) -> None:
    """Print a line on stdout, whatever its encoding can hold."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
