"""Characters that are not seen or that turn the order of others round: shown as what they are, and named.

What a user reads before a yes has to be what is done. Emoji that are joined, Arabic and Hebrew letters alarm nobody.
"""

import re
import unicodedata
from typing import Final

_HIDDEN: Final = re.compile(
    # C0 but tab and newline, DEL, C1; marks and overrides of writing direction.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    # Nothing to be seen: soft hyphen, joiners, fillers, zero widths, separators, selectors, tags.
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200d\u2028\u2029\u2060-\u2064\u206a-\u206f"
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
"""A flag of a region: the only tags that are seen."""
MOST_NAMED: Final = 6


def printable(text: str) -> str:
    """The text with every hidden character as a picture or an escape of itself; CRLF becomes a newline."""
    text = text.replace("\r\n", "\n")
    return _HIDDEN.sub(lambda found: _shown(found, text, _flags(text)), text)


def printable_line(text: str) -> str:
    """The same on one line."""
    return re.sub(r"\s*\n\s*", " ⏎ ", printable(text))


def hidden_note(*texts: str) -> str | None:
    """A sentence that names the hidden characters of the texts; None when there is none."""
    found: dict[str, None] = {}
    for text in texts:
        text = text.replace("\r\n", "\n")
        flags = _flags(text)
        matches = (m for m in _HIDDEN.finditer(text) if not _is_seen(m, text, flags))
        found |= dict.fromkeys(m[0] for m in matches)
    if not found:
        return None
    names = [_name(character) for character in sorted(found)]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"holds hidden characters: {', '.join(names[:MOST_NAMED])}{more}"


def _flags(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in _FLAG.finditer(text)] if "\U0001f3f4" in text else []


def _shown(found: re.Match[str], text: str, flags: list[tuple[int, int]]) -> str:
    if _is_seen(found, text, flags):
        return found[0]
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _is_seen(found: re.Match[str], text: str, flags: list[tuple[int, int]]) -> bool:
    """Whether it changes how the character before it looks: a joiner of emoji or of a script, or a flag's tag."""
    if any(start <= found.start() < end for start, end in flags):
        return True
    if found[0] not in "\u200c\u200d":
        return False
    before = text[: found.start()].rstrip("\ufe0f")[-1:]
    return bool(before) and unicodedata.category(before) in ("So", "Sk", "Lo", "Mn", "Mc")


def _name(character: str) -> str:
    code = f"U+{ord(character):04X}"
    name = unicodedata.name(character, "")
    return f"{code} {name}" if name else code
