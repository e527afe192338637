"""Whether a command line is understood whole and stays in its place; if not, an automatic yes must not answer it.

An allow-list: programs, options and operands that `policy.programs` knows, in a line that `policy.plain_shell` reads.
Scripts, tests and builds of the workspace count as understood, whatever they do: they are the project's own.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from agent_server.frozen import frozen
from agent_server.policy.places import Places
from agent_server.policy.plain_shell import NotPlain, PlainCommand, Word, plain_commands
from agent_server.policy.programs import (
    INTERPRETERS,
    MODULES,
    PROGRAMS,
    SUBCOMMANDS,
    TEXT_VALUES,
    VARIABLES,
    WHY,
    Program,
    Role,
)
from agent_server.policy.protected import Access, protected

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_SYSTEM_FOLDERS = ("/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
_SHOWN_BY_GLOB = re.compile(
    r"[^./][^/]*\.(?:py|pyi|js|jsx|ts|tsx|mjs|css|html|md|rst|txt|rs|go|c|h|cc|cpp|hpp|java|kt|lua|rb|sh|csv|log|pyc|o)"
)
_TARGET = re.compile(r"[\w.][\w.:/@^~-]*")
_JOBS = re.compile(r"-j\d*")
_SED_PRINT = re.compile(r"\d+(?:,(?:\d+|\$))?p")
_SED_REPLACE = re.compile(r"s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/[gI\d]*")
_FIND_WORDS = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-type",
        "-maxdepth",
        "-mindepth",
        "-newer",
        "-size",
        "-empty",
        "-print",
        "-not",
        "-o",
        "-a",
    ]
)


def doubt(line: str, *, cwd: str, places: Places, links: Mapping[str, str]) -> str | None:
    """Say what is not understood or reaches too far; None when nothing.

    `links` maps a path as `paths_named` gives it to what it really leads to, where that differs.
    """
    try:
        moved = False
        for command, folder in _with_folders(line, cwd, places.home):
            moves = command.words[:1] == (Word("cd"),)
            if (moved and command.after not in ("&&", "|")) or (moves and command.after == "|"):
                raise _Doubt("cd: which command runs where is not sure; join them with &&")
            _Judge(folder, places, links).judge(command)
            moved = moved or moves
    except NotPlain as error:
        return f"not understood whole: {error}"
    except _Doubt as error:
        return str(error)
    return None


def paths_named(line: str, *, cwd: str, home: str) -> tuple[str, ...]:
    """List every path that the words of a line may name, for the caller to look for links in them."""
    found: list[str] = []
    try:
        for command, folder in _with_folders(line, cwd, home):
            words = [*command.words, *(r.target for r in command.redirects)]
            found += [_join(part, folder, home) for w in words for part in _parts(w)]
    except NotPlain:
        return ()
    return tuple(dict.fromkeys(found))


class _Doubt(Exception):
    """Why a command is not left to an automatic yes."""


def _with_folders(line: str, cwd: str, home: str) -> Iterator[tuple[PlainCommand, str]]:
    """Each command with the folder it runs in."""
    for command in plain_commands(line):
        yield command, cwd
        if len(command.words) == 2 and command.words[0].text == "cd":
            cwd = _join(command.words[1], cwd, home)


def _parts(word: Word) -> Iterator[Word]:
    """A word and what stands in it behind `=`, `:`, `@`: `--file=x`, `HEAD:x`, `@x`."""
    yield word
    pieces = re.split(r"[=:@,]", word.text)
    yield from (Word(p, word.glob, p.startswith("~/")) for p in pieces[1:] if p)


def _join(word: Word, cwd: str, home: str) -> str:
    text = home + word.text[1:] if word.home else word.text
    return posixpath.join(cwd, text)


@frozen
class _Judge:
    folder: str
    places: Places
    links: Mapping[str, str] = field(hash=False)

    def judge(self, command: PlainCommand) -> None:
        for redirect in command.redirects:
            if redirect.target.text != "/dev/null":
                self._path("write" if redirect.writes else "read", redirect.target)
        words = list(command.words)
        while words and (found := _ASSIGNMENT.fullmatch(words[0].text)):
            if found[1] not in VARIABLES:
                raise _Doubt(f"it sets the variable {found[1]}")
            self._free(words.pop(0))
        if words:
            self._run(words, inner=words[0] != command.words[0])

    def _run(self, words: Sequence[Word], *, inner: bool) -> None:
        name, rest = self._program(words[0]), list(words[1:])
        match name:
            case "cd" if inner or words[0].text != "cd":
                raise _Doubt("cd: where it goes is not understood")
            case "time":
                self._run_rest(rest)
            case "timeout" if rest and re.fullmatch(r"\d+[smh]?", rest[0].text):
                self._run_rest(rest[1:])
            case "cd":
                self._cd(rest)
            case "test" | "[":
                pass
            case "find":
                self._find(rest)
            case "sed":
                self._sed(rest)
            case "git" if rest and rest[0].text == "push":
                raise _Doubt(_push(rest))
            case _ if name in INTERPRETERS:
                self._script(name, rest)
            case _ if name.startswith("./"):
                self._arguments(rest)
            case _:
                self._known(name, rest)

    def _run_rest(self, words: Sequence[Word]) -> None:
        if not words:
            raise _Doubt("a command is missing")
        self._run(words, inner=True)

    def _program(self, word: Word) -> str:
        """The program's name; `./` in front of it for a script of the workspace."""
        folder, name = posixpath.split(word.text)
        if word.glob or word.home:
            raise _Doubt("the program's name is not plain")
        if not folder or folder in _SYSTEM_FOLDERS:
            return name
        self._path("read", word)
        return name if folder.endswith(("/bin", "/.bin")) else f"./{name}"

    def _known(self, name: str, rest: list[Word]) -> None:
        if name in SUBCOMMANDS and name not in PROGRAMS:
            if not rest or f"{name} {rest[0].text}" not in PROGRAMS:
                called = " ".join([name, *(w.text for w in rest[:1])])
                raise _Doubt(f"`{called}` is not a command that an automatic yes knows")
            name = f"{name} {rest.pop(0).text}"
        program = PROGRAMS.get(name)
        if program is None:
            why = WHY.get(name, "not a command that an automatic yes knows")
            raise _Doubt(f"{name}: {why}")
        operands = self._operands(name, program, rest)
        # With `-e` the pattern is an option, and the first operand is a file like the others.
        leads = program.first is not None and not any(w.text.startswith("-e") for w in rest)
        self._roles(name, program, operands, leads=leads)
        if name == "rm":
            self._deletion(operands)

    def _operands(self, name: str, program: Program, rest: Sequence[Word]) -> list[Word]:
        """The words that are no options; `--` ends those."""
        operands: list[Word] = []
        words = iter(rest)
        for word in words:
            if word.text == "--":
                return [*operands, *words]
            if not word.text.startswith("-") or word.text == "-":
                operands.append(word)
            elif not self._option(name, program, word, words):
                if name != "echo":
                    raise _Doubt(f"{name}: the option {word.text} is not one that is understood")
                operands.append(word)
        return operands

    def _option(self, name: str, program: Program, word: Word, words: Iterator[Word]) -> bool:
        text = word.text
        if text.startswith("--"):
            self._free(word)
            return text.partition("=")[0] in program.long
        if (program.numeric and text[1:].isdigit()) or (name == "make" and _JOBS.fullmatch(text)):
            return True
        for at, letter in enumerate(text[1:], 1):
            if letter in program.valued:
                value = Word(text[at + 1 :]) if text[at + 1 :] else next(words, Word(""))
                if name not in TEXT_VALUES:
                    self._free(value)
                return True
            if letter not in program.flags:
                return False
        return True

    def _roles(self, name: str, program: Program, operands: Sequence[Word], *, leads: bool) -> None:
        if operands and program.operands is None:
            raise _Doubt(f"{name}: {operands[0].text} is not understood there")
        for number, word in enumerate(operands):
            role = program.first if number == 0 and leads else program.operands
            assert role is not None
            self._operand(name, role, word)

    def _operand(self, name: str, role: Role, word: Word) -> None:
        match role:
            case "text":
                if name == "date" and not word.text.startswith("+"):
                    raise _Doubt("date: it sets the clock")
            case "read" | "write":
                self._path(role, word)
            case "name":
                self._inside(word)
            case "node":
                self._free(word)
                self._path("read", Word(word.text.partition("::")[0], word.glob, word.home))
            case "target":
                self._free(word)
                if word.glob or not _TARGET.fullmatch(word.text):
                    raise _Doubt(f"{name}: {word.text} is not a plain name")

    def _script(self, name: str, rest: list[Word]) -> None:
        """`python a.py words`: the file is the workspace's own, so it may run; a program in the line may not."""
        while rest and name.startswith("python") and rest[0].text in ("-B", "-u"):
            rest.pop(0)
        if rest and rest[0].text in ("--version", "-V") and len(rest) == 1:
            return
        if len(rest) > 1 and name.startswith("python") and rest[0].text == "-m":
            if rest[1].text not in MODULES:
                raise _Doubt(
                    f"{name} -m {rest[1].text} is not a module that an automatic yes knows"
                )
            self._known(rest[1].text, rest[2:])
            return
        if not rest or rest[0].text.startswith("-"):
            raise _Doubt(f"{name}: its program is not a file of the workspace")
        self._path("read", rest[0])
        self._arguments(rest[1:])

    def _arguments(self, words: Sequence[Word]) -> None:
        for word in words:
            self._free(word)

    def _cd(self, rest: Sequence[Word]) -> None:
        if len(rest) != 1 or rest[0].text in ("-", "--") or rest[0].glob:
            raise _Doubt("cd: where it goes is not understood")
        if _join(rest[0], self.folder, self.places.home) in self.links:
            raise _Doubt(f"cd: {rest[0].text} is a link")
        self._inside(rest[0])

    def _find(self, rest: Sequence[Word]) -> None:
        for number, word in enumerate(rest):
            if word.text.startswith("-"):
                if word.text not in _FIND_WORDS:
                    raise _Doubt(f"find: the option {word.text} is not one that is understood")
            elif number == 0 or not rest[number - 1].text.startswith("-"):
                self._inside(word)

    def _sed(self, rest: Sequence[Word]) -> None:
        """`sed -n '2,5p' file` and `sed [-i] 's/a/b/' file`; its other scripts can write and run."""
        options = [w.text for w in rest if w.text.startswith("-")]
        rest = [w for w in rest if not w.text.startswith("-")]
        pattern = _SED_PRINT if options == ["-n"] else _SED_REPLACE
        if options not in ([], ["-n"], ["-i"], ["-E"]) or not rest:
            raise _Doubt("sed: its options are not understood")
        if not pattern.fullmatch(rest[0].text):
            raise _Doubt("sed: its script is not understood")
        for word in rest[1:]:
            self._path("write" if options == ["-i"] else "read", word)

    def _deletion(self, operands: Sequence[Word]) -> None:
        for word in operands:
            if lost := self.places.holds_all_of(self._real(word)):
                raise _Doubt(f"it deletes all of {lost}")

    def _free(self, word: Word) -> None:
        """A word whose meaning is the program's: nothing in it may name a protected place."""
        for part in _parts(word):
            self._path("read", part)

    def _inside(self, word: Word) -> None:
        path = self._real(word)
        if not self.places.contains(path):
            raise _Doubt(f"outside the workspace: {path}")
        if self.places.is_own(path):
            raise _Doubt(f"{path} belongs to agent-server itself")

    def _path(self, access: Access, word: Word) -> None:
        if why := protected(access, self._real(word), self.places):
            raise _Doubt(why)
        self._inside(word)
        if word.glob and not self._harmless_glob(word.text):
            raise _Doubt(f"which files {word.text} means is not understood")

    def _harmless_glob(self, text: str) -> bool:
        folder, name = posixpath.split(text)
        return not re.search(r"[*?\[]", folder) and bool(_SHOWN_BY_GLOB.fullmatch(name))

    def _real(self, word: Word) -> str:
        joined = _join(word, self.folder, self.places.home)
        return self.links.get(joined, posixpath.normpath(joined))


def _push(rest: Sequence[Word]) -> str:
    words = [w.text for w in rest[1:]]
    forced = any(
        w.startswith(("-f", "+", "--force", "--mirror", "--delete", "--prune", ":"))
        or (re.fullmatch(r"-\w*[fd]\w*", w) is not None)
        for w in words
    )
    if forced:
        return "git push: it rewrites or deletes what others have"
    return "git push: it publishes to another machine"
