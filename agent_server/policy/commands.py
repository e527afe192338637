"""A shell command line cut into its simple commands: what runs, what feeds it, where its output goes.

Good enough to recognise a few disasters and a denied program anywhere in a line. It grants nothing: what it misreads is
asked about like every other command.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import field
from itertools import pairwise

from agent_server.frozen import frozen, mutable

_OPERATOR = re.compile(r"\|\||\|&|\||&&|&(?!>)|;;?&?|\n|[(){}](?=[\s;&|()]|$)|\(")
_REDIRECT = re.compile(r"\d*(?:<<<|<<-?|<>|<&|<(?!\()|&>>?|>\||>>|>&|>(?!\())")
_PLAIN = re.compile(r"[^\s'\"\\$`|&;()<>#]+|.", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_WRAPPERS = frozenset((
    "sudo", "doas", "env", "nohup", "nice", "time", "timeout", "exec", "command", "builtin", "stdbuf", "xargs",
    "setsid",
))  # fmt: skip
_KEYWORDS = frozenset(
    {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "fi", "done"}
)
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash"})


@frozen
class Command:
    """One simple command, wrappers such as `sudo` and assignments taken off."""

    argv: tuple[str, ...]
    """The program by its base name, then its words; substitutions stand in them as written."""
    piped: bool
    """It reads what the command before it writes."""
    writes: tuple[str, ...] = ()
    """Where its output is redirected to."""


def simple_commands(line: str) -> tuple[Command, ...]:
    """Every command a line can run, in order: also inside substitutions, quotes that substitute, and `sh -c`.

    Raises:
        ValueError: a quote or a substitution has no end.
    """
    scanner = _Scanner(line)
    scanner.run()
    return tuple(scanner.found)


@mutable
class _Scanner:
    text: str
    at: int = 0
    found: list[Command] = field(default_factory=list[Command])
    words: list[str] = field(default_factory=list[str])
    word: str | None = None
    writes: list[str] = field(default_factory=list[str])
    redirect: str | None = None
    piped: bool = False
    heredocs: list[str] = field(default_factory=list[str])

    def run(self) -> None:
        while self.at < len(self.text):
            self._step()
        self._end_command()

    def _step(self) -> None:
        char = self.text[self.at]
        if char in " \t\r":
            self._end_word()
            self.at += 1
        elif char == "#" and self.word is None:
            self.at = _line_end(self.text, self.at)
        elif char == "'":
            self._add(self._until("'"))
        elif char == '"':
            self._double_quoted()
        elif char == "\\":
            self._add(self.text[self.at + 1 : self.at + 2].replace("\n", ""))
            self.at += 2
        elif (inner := self._substitution()) is not None:
            self._add(inner)
        elif match := _REDIRECT.match(self.text, self.at):
            self._end_word()
            self.redirect = match[0].lstrip("0123456789")
            self.at = match.end()
        elif (match := _OPERATOR.match(self.text, self.at)) and (
            self.word is None or match[0] not in "{}"
        ):
            self.at = match.end()
            self._operator(match[0])
        else:
            match = _PLAIN.match(self.text, self.at)
            assert match is not None  # the pattern takes any character
            self._add(match[0])
            self.at = match.end()

    def _add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def _until(self, quote: str) -> str:
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            raise ValueError(f"no end of {quote}")
        start, self.at = self.at + 1, end + 1
        return self.text[start:end]

    def _double_quoted(self) -> None:
        self.at += 1
        self._add("")
        while self.text[self.at : self.at + 1] != '"':
            if self.at >= len(self.text):
                raise ValueError('no end of "')
            if (inner := self._substitution()) is not None:
                self._add(inner)
                continue
            self.at += self.text[self.at] == "\\"
            self._add(self.text[self.at : self.at + 1])
            self.at += 1
        self.at += 1

    def _substitution(self) -> str | None:
        """The raw text of a substitution that starts here, its commands noted; None when none starts."""
        if self.text[self.at] == "`":
            raw = self._until("`")
            self.found += simple_commands(raw)
            return f"`{raw}`"
        opening = self.text[self.at : self.at + 2]
        if opening not in ("$(", "<(", ">("):
            return None
        end = _closing(self.text, self.at + 2)
        raw, self.at = self.text[self.at + 2 : end], end + 1
        self.found += simple_commands(raw)
        return f"{opening}{raw})"

    def _end_word(self) -> None:
        if self.word is None:
            return
        match self.redirect:
            case None:
                self.words.append(self.word)
            case "<<" | "<<-":
                self.heredocs.append(self.word)
            case operator if ">" in operator:
                self.writes.append(self.word)
            case _:
                pass
        self.word = self.redirect = None

    def _operator(self, operator: str) -> None:
        self._end_command()
        self.piped = operator in ("|", "|&")
        if operator == "\n":
            self._skip_heredocs()

    def _skip_heredocs(self) -> None:
        for delimiter in self.heredocs:
            while self.at < len(self.text):
                end = _line_end(self.text, self.at)
                line, self.at = self.text[self.at : end], end + 1
                if line.strip() == delimiter:
                    break
        self.heredocs.clear()

    def _end_command(self) -> None:
        self._end_word()
        argv = _unwrapped(self.words)
        if argv or self.writes:
            self.found.append(Command(argv, self.piped, tuple(self.writes)))
            self.found += _scripts(argv)
        self.words, self.writes, self.redirect = [], [], None


def _unwrapped(words: list[str]) -> tuple[str, ...]:
    rest = list(words)
    while rest:
        name = posixpath.basename(rest[0])
        if name in _KEYWORDS or _ASSIGNMENT.match(rest[0]):
            rest.pop(0)
        elif name in _WRAPPERS:
            rest = list(_after_options(rest[1:]))
        else:
            return (name, *rest[1:])
    return ()


def _after_options(words: list[str]) -> Iterator[str]:
    """What a wrapper runs: its options are skipped, and a number (`timeout 5`, `nice -n 5`)."""
    started = False
    for word in words:
        started = started or not (
            word.startswith("-") or word.replace(".", "").rstrip("smhd").isdigit()
        )
        if started:
            yield word


def _scripts(argv: tuple[str, ...]) -> tuple[Command, ...]:
    """The commands inside `sh -c '…'` and `eval …`."""
    if argv[:1] == ("eval",):
        return simple_commands(" ".join(argv[1:]))
    if not argv or argv[0] not in SHELLS:
        return ()
    for option, script in pairwise(argv[1:]):
        if option.startswith("-") and not option.startswith("--") and "c" in option:
            return simple_commands(script)
    return ()


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _closing(text: str, start: int) -> int:
    """Index of the `)` that ends what was opened before `start`; quotes are stepped over."""
    depth, quote, at = 1, "", start
    while at < len(text):
        char = text[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        else:
            depth += (char == "(") - (char == ")")
        if depth == 0:
            return at
        at += 1
    raise ValueError("no end of a substitution")
