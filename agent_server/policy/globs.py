"""Glob patterns for paths: `*` and `?` stay in one folder, `**` does not, `{a,b}` and `[a-z]` choose."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

_TOKEN = re.compile(r"(?:(?:^|(?<=/))\*\*/)+|/\*\*$|\*+|\?|\[[!^]?\]?[^\]/]*\]|\\.|.", re.DOTALL)
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
ALTERNATIVES = 256
"""Patterns that braces may multiply into."""


def compiled(pattern: str) -> re.Pattern[str]:
    """As in .gitignore: a pattern without a slash is a name in any folder, others begin at the top.

    Raises:
        ValueError: as `anchored`.
    """
    pattern = pattern.removeprefix("./")
    return anchored(pattern if "/" in pattern or pattern == "**" else f"**/{pattern}")


@lru_cache(maxsize=512)
def anchored(pattern: str) -> re.Pattern[str]:
    """For `fullmatch` on a relative path with `/`; the pattern begins where the path does.

    Raises:
        ValueError: too many alternatives, or a character set without sense.
    """
    try:
        return re.compile("|".join(map(_expression, _alternatives(pattern, [0]))), re.DOTALL)
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
    """Each `*` but the last takes as little as it can and never reconsiders, else `*a*a*a*b` would take hours."""
    if pattern == "**":
        return ".+"
    first, *rest = _between_stars(_TOKEN.findall(pattern))
    last = len(rest) - 1
    steps = (
        f"(?>[^/]*?{piece})" if number < last and not crosses else f"[^/]*{piece}"
        for number, (piece, crosses) in enumerate(rest)
    )
    return first[0] + "".join(steps)


def _between_stars(tokens: Sequence[str]) -> list[tuple[str, bool]]:
    """What stands before, between and after the stars, and whether it crosses folders."""
    pieces = [("", False)]
    for token in tokens:
        if token.strip("*") == "":
            pieces.append(("", False))
        else:
            text, crosses = pieces[-1]
            pieces[-1] = (text + _piece(token), crosses or "**" in token)
    return pieces


def _piece(token: str) -> str:
    match token:
        case "/**":
            return "/.+"
        case "?":
            return "[^/]"
        case _ if token.endswith("**/"):
            return "(?:[^/]+/)*"
        case _ if token.startswith("[") and len(token) > 2:
            return _one_of(token[1:-1])
        case _:
            return re.escape(token[1:] if token.startswith("\\") and len(token) == 2 else token)


def _one_of(inside: str) -> str:
    """A set of characters; `-` stays a range, everything else means itself."""
    negated = inside[0] in "!^"
    chars = "".join(c if c == "-" else re.escape(c) for c in inside[negated:])
    chars = chars.replace("--", r"-\-")
    return f"(?!/)[{'^' if negated else ''}{chars}]"
