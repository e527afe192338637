"""Text with inline thinking (`<think>…</think>`) taken apart while it streams, however it is cut (field case ST-15)."""

import re
from typing import Literal

PartKind = Literal["said", "thought", "was_thought"]
"""`was_thought`: everything said before in this reply turns out to have been thought; its text is empty."""

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_SPECIAL = re.compile(r"[<`]")
_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>")
_BACKTICKS = re.compile("`+")


class ThinkSplitter:
    """Takes the content of one reply piece by piece and says what is thought and what is said.

    An opening tag counts at the start of a line and outside code. White space behind a tag is dropped. A thought that
    is never closed is all thought; a closing tag without an opening one means that all before it was.
    """

    def __init__(self) -> None:
        self.plain = False
        """Nothing is pending: a piece without `<` and backtick is said as it stands."""
        self._thinking = False
        self._thought = False
        """A thought was seen in this reply."""
        self._lead: str | None = ""
        """White space before anything else, which a thought may still swallow; None once something was said."""
        self._after_tag = False
        self._line_start = True
        self._code = 0
        """Length of the run of backticks that opened the code we are in; 0 outside."""
        self._held = ""
        """What may be the beginning of a tag or of a longer run of backticks."""
        self._out: list[tuple[PartKind, str]] = []

    def feed(self, piece: str, *, before: str = "") -> list[tuple[PartKind, str]]:
        """The parts that are certain now. `before` is the end of what was said while `plain`."""
        if self.plain:
            self._line_start = not before.rpartition("\n")[2].strip()
        text, self._held, self._out = self._held + piece, "", []
        at = 0
        while at < len(text):
            if self._after_tag and text[at].isspace():
                at += 1
                continue
            self._after_tag = False
            at = self._think(text, at) if self._thinking else self._say(text, at)
        self.plain = not (
            self._thinking
            or self._after_tag
            or self._held
            or self._lead is not None
            or 0 < self._code < 3
        )
        return self._out

    def end(self) -> list[tuple[PartKind, str]]:
        """What was held back, now that nothing follows."""
        held, self._held = self._held, ""
        if not held:
            return []
        return [("thought", held)] if self._thinking else [("said", (self._lead or "") + held)]

    def _think(self, text: str, at: int) -> int:
        for tag in _TAG.finditer(text, at):
            if tag[1]:
                self._put("thought", text[at : tag.start()])
                return self._behind(tag, thinking=False)
        cut = max(at, len(text) - _beginning_of_tag(text))
        self._put("thought", text[at:cut])
        self._held = text[cut:]
        return len(text)

    def _say(self, text: str, at: int) -> int:
        found = _SPECIAL.search(text, at)
        end = found.start() if found else len(text)
        if end > at:
            self._said(text[at:end])
            return end
        return self._backticks(text, at) if text[at] == "`" else self._angle(text, at)

    def _backticks(self, text: str, at: int) -> int:
        run = _BACKTICKS.match(text, at)
        assert run is not None
        if run.end() == len(text):
            self._held = run[0]
            return len(text)
        length = len(run[0])
        if self._code == 0:
            self._code = length
        elif length == self._code or 3 <= self._code <= length:
            self._code = 0
        self._said(run[0])
        return run.end()

    def _angle(self, text: str, at: int) -> int:
        tag = None if self._code else _TAG.match(text, at)
        if tag is None:
            if not self._code and len(text) - at <= _beginning_of_tag(text):
                self._held = text[at:]
                return len(text)
            self._said("<")
            return at + 1
        if tag[1]:
            self._close_late()
            return self._behind(tag, thinking=False)
        if self._line_start:
            return self._behind(tag, thinking=True)
        self._said(tag[0])
        return tag.end()

    def _close_late(self) -> None:
        """A closing tag while nothing was open: a stray one behind a thought is dropped."""
        if not self._thought:
            self._out = [("was_thought", ""), *(("thought", text) for _, text in self._out)]

    def _behind(self, tag: "re.Match[str]", *, thinking: bool) -> int:
        self._thinking, self._thought, self._after_tag = thinking, True, True
        self._lead, self._line_start = None, True
        return tag.end()

    def _said(self, text: str) -> None:
        if self._lead is not None:
            if text.isspace():
                self._lead += text
                return
            text, self._lead = self._lead + text, None
        last_line = text.rpartition("\n")
        self._line_start = bool(last_line[1] or self._line_start) and not last_line[2].strip()
        if last_line[1] and self._code < 3:
            self._code = 0
        self._put("said", text)

    def _put(self, kind: PartKind, text: str) -> None:
        if text:
            self._out.append((kind, text))


def _beginning_of_tag(text: str) -> int:
    """How many characters at the end may be the beginning of a tag."""
    at = text.rfind("<")
    tail = text[at:].lower()
    return len(tail) if at >= 0 and any(tag.startswith(tail) for tag in _TAGS) else 0
