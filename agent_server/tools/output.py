"""Text for the model within bounds: cut in the middle, with a marker that says how much is missing."""

import re

_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
    r"|[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]"
)


def middle_cut(text: str, limit: int) -> str:
    """`text`, or its beginning and end when it is longer than `limit` characters; cut at line ends where near."""
    if len(text) <= limit:
        return text
    return joined_cut(
        text[: limit // 2], text[len(text) - limit // 2 :], omitted=len(text) - 2 * (limit // 2)
    )


def joined_cut(head: str, tail: str, *, omitted: int) -> str:
    """A beginning and an end, with a marker for the `omitted` characters between them."""
    end = head.rfind("\n", len(head) - len(head) // 4) + 1 or len(head)
    start = tail.find("\n", 0, len(tail) // 4) + 1
    omitted += len(head) - end + start
    return f"{head[:end].rstrip()}\n[… {omitted:,} characters left out …]\n{tail[start:]}"


def shortened(line: str, limit: int) -> str:
    """A line cut at its end, saying how long it was."""
    return line if len(line) <= limit else f"{line[:limit]} [… line of {len(line):,} characters]"


def plain(text: str) -> str:
    """Terminal output as text: no escape sequences, of a line that was redrawn only its last state."""
    text = _CONTROL.sub("", text).replace("\r\n", "\n")
    return "\n".join(map(_last_state, text.split("\n"))) if "\r" in text else text


def _last_state(line: str) -> str:
    """What follows the last return to the line's start that has anything behind it."""
    return line[line.rfind("\r", 0, len(line) - 1) + 1 :]


def counted(number: int, noun: str) -> str:
    """`1 hit`, `12 hits`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
