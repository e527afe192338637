r"""What a line is in this program: text up to and with `\r\n`, `\n` or `\r`, as in LSP, and nothing else.

`str.splitlines` also breaks at form feeds and U+2028, which would move every later line number.
"""

import re
from collections import Counter
from collections.abc import Iterable

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """Lines with their ends kept; joined they are `text`. The last may have no end; `""` has no lines."""
    if "\r" in text:
        return _LINE.findall(text)
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def ending(line: str) -> str:
    r"""The line's own end: `\r\n`, `\n`, `\r` or, on a last line, nothing."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1] if line.endswith(("\n", "\r")) else ""


def content(line: str) -> str:
    """The line without its end."""
    return line[: len(line) - len(ending(line))]


def usual_ending(lines: Iterable[str]) -> str:
    r"""The most frequent line end; `\n` where there is none."""
    counts = Counter(end for line in lines if (end := ending(line)))
    return counts.most_common(1)[0][0] if counts else "\n"


def unify_endings(text: str) -> str:
    r"""The text with `\n` at the end of every line, as a model sees it."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
