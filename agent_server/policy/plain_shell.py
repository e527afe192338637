"""A strict reader of plain command lines: words, pipes, lists and redirects, and nothing that the shell expands.

`policy.commands` looks for known disasters in any line and may misread the rest. This reader is for the opposite
question, whether a line is understood whole, so it refuses every construct that it does not know.
"""

import re
from dataclasses import field

from agent_server.frozen import frozen, mutable

_OPERATOR = re.compile(r"&&|\|\||;(?![;&])|\n|\|(?!&)")
_REDIRECT = re.compile(r"([012]?)(>>|>\||>(?![&(>|])|<(?![<&>(]))|(&>>|&>)")
_DUPLICATE = re.compile(r"[12]?>&[12](?=$|[\s;|&])")
_LITERAL = re.compile(r"[^\s'\"\\$`|&;()<>{}~*?\[\]#!^]+")
_REFUSED = {
    "$": "a variable or a substitution",
    "`": "a substitution",
    "(": "a subshell or a function",
    ")": "a subshell or a function",
    "{": "braces",
    "}": "braces",
    "&": "a command in the background",
    "<": "a here-document or another special input",
    ">": "a special redirect",
    ";": "a case or another special form",
    "|": "a special pipe",
}
_KEYWORDS = frozenset(
    [
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "select",
        "function",
        "coproc",
        "in",
        "[[",
        "!",
    ]
)


class NotPlain(Exception):
    """The line holds something that this reader does not take; the text names it."""


@frozen
class Word:
    """One word, quotes taken off."""

    text: str
    glob: bool = False
    """Some of `*?[` stands in it unquoted: the shell puts file names in its place."""
    home: bool = False
    """It begins with an unquoted `~/` or is `~`."""


@frozen
class Redirect:
    """A file that the shell opens for a command."""

    target: Word
    writes: bool


@frozen
class PlainCommand:
    """One simple command."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    after: str
    """The operator between it and the command before: `&&`, `||`, `;`, `|`, a newline; empty for the first."""


def plain_commands(line: str) -> tuple[PlainCommand, ...]:
    """Every command of the line, in order.

    Raises:
        NotPlain: something in it is not plain.
    """
    if hidden := next((c for c in line if not c.isprintable() and c not in "\n\t"), None):
        raise NotPlain(f"a hidden character (U+{ord(hidden):04X})")
    reader = _Reader(line)
    reader.read()
    return tuple(reader.found)


@mutable
class _Reader:
    text: str
    at: int = 0
    found: list[PlainCommand] = field(default_factory=list[PlainCommand])
    words: list[Word] = field(default_factory=list[Word])
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    redirect: bool | None = None
    """A redirect waits for its file; whether it writes."""
    after: str = ""

    def read(self) -> None:
        while self.at < len(self.text):
            self._step()
        self._end_command()

    def _step(self) -> None:
        char = self.text[self.at]
        if char in " \t":
            self.at += 1
        elif self.text.startswith("\\\n", self.at):
            self.at += 2
        elif char == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif match := _DUPLICATE.match(self.text, self.at):
            self._no_redirect_open()
            self.at = match.end()
        elif match := _REDIRECT.match(self.text, self.at):
            self._no_redirect_open()
            self.redirect = "<" not in match[0]
            self.at = match.end()
        elif match := _OPERATOR.match(self.text, self.at):
            self._end_command()
            if match[0] != "\n" or self.after not in ("|", "&&", "||"):
                self.after = match[0]  # a line may end behind an operator
            self.at = match.end()
        else:
            self._take(self._word())

    def _word(self) -> Word:
        start, text, glob = self.at, "", False
        home = self.text[self.at] == "~"
        if home and not re.match(r"~(?=$|[/\s;|&])", self.text[self.at :]):
            raise NotPlain("somebody's home folder")
        self.at += home
        text = "~" * home
        while self.at < len(self.text) and self.text[self.at] not in " \t\n;|&<>":
            piece, open_glob = self._piece()
            text, glob = text + piece, glob or open_glob
        if self.at == start:
            raise NotPlain(_REFUSED.get(self.text[self.at], "a special sign"))
        return Word(text, glob, home)

    def _piece(self) -> tuple[str, bool]:
        char = self.text[self.at]
        if char == "'":
            return self._quoted("'"), False
        if char == '"':
            return self._quoted('"'), False
        if char == "\\":
            self.at += 2
            escaped = self.text[self.at - 1 : self.at]
            if not escaped:
                raise NotPlain("a backslash at the end")
            return escaped.replace("\n", ""), False
        if match := _LITERAL.match(self.text, self.at):
            self.at = match.end()
            return match[0], False
        if char in _REFUSED:
            raise NotPlain(_REFUSED[char])
        if char == "~" and not self.text[self.at - 1].isalnum():
            raise NotPlain("a ~ inside a word")
        self.at += 1
        return char, char in "*?["

    def _quoted(self, quote: str) -> str:
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            raise NotPlain("a quote without an end")
        inside, self.at = self.text[self.at + 1 : end], end + 1
        if quote == '"' and (sign := next((s for s in "$`\\" if s in inside), None)):
            raise NotPlain(_REFUSED.get(sign, "a backslash between double quotes"))
        return inside

    def _take(self, word: Word) -> None:
        if self.redirect is None:
            self.words.append(word)
            return
        self.redirects.append(Redirect(word, self.redirect))
        self.redirect = None

    def _no_redirect_open(self) -> None:
        if self.redirect is not None:
            raise NotPlain("a redirect without a file")

    def _end_command(self) -> None:
        self._no_redirect_open()
        if not self.words and not self.redirects:
            return
        if self.words and self.words[0].text in _KEYWORDS:
            raise NotPlain(f"the shell's own word {self.words[0].text}")
        self.found.append(PlainCommand(tuple(self.words), tuple(self.redirects), self.after))
        self.words, self.redirects, self.after = [], [], ""
