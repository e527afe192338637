"""Glob patterns for paths: `*` and `?` stay in one folder, `**` does not, `{a,b}` and `[a-z]` choose."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[[!^]?\]?[^\]/]*\]|\\.|.", re.DOTALL)
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
ALTERNATIVES = 256
"""Patterns that braces may multiply into."""


def compiled(pattern: str) -> re.Pattern[str]:
    """For `fullmatch` on a relative path with `/`. A pattern without a slash is a file name, in any folder.

    Raises:
        ValueError: too many alternatives, or a character set without sense.
    """
    pattern = pattern.removeprefix("./")
    if "/" not in pattern and pattern != "**":
        pattern = f"**/{pattern}"
    alternatives = list(_alternatives(pattern, [0]))
    try:
        return re.compile("|".join(map(_expression, alternatives)), re.DOTALL)
    except re.error as error:
        raise ValueError(f"{pattern} is no glob pattern: {error}") from error


def _alternatives(pattern: str, count: list[int]) -> Iterator[str]:
    match = _BRACES.search(pattern)
    if match is None:
        count[0] += 1
        if count[0] > ALTERNATIVES:
            raise ValueError(f"{pattern} has more than {ALTERNATIVES} alternatives")
        yield pattern
        return
    for choice in match[1].split(","):
        yield from _alternatives(pattern[: match.start()] + choice + pattern[match.end() :], count)


def _expression(pattern: str) -> str:
    return "".join(map(_piece, _TOKEN.findall(pattern)))


def _piece(token: str) -> str:
    match token:
        case "**/":
            return "(?:[^/]+/)*"
        case "/**":
            return "/.+"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if token.startswith("[") and len(token) > 2:
            inside = token[1:-1].replace("\\", r"\\")
            return f"(?!/)[{'^' + inside[1:] if inside[0] in '!^' else inside}]"
        case _:
            return re.escape(token[1:] if token.startswith("\\") and len(token) == 2 else token)
