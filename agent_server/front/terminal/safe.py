"""Text of others on a terminal: what would move the cursor, ring, or turn the writing round is shown, not done."""

import re

_TAME = re.compile(
    # C0 but tab and newline, DEL, C1; marks and overrides of writing direction.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def printable(text: str) -> str:
    """The text with every control character as a picture or an escape of itself; CRLF becomes a newline."""
    return _TAME.sub(_shown, text.replace("\r\n", "\n"))


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"\\u{code:04x}"
