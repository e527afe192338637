"""The few commands that no mode, rule or answer lets through: they destroy more than a session may."""

import posixpath
import re

from agent_server.policy.commands import SHELLS, Command, simple_commands
from agent_server.policy.places import Places

_RAW_DEVICE = re.compile(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|md|dm-|mapper/|disk|rdisk|loop|mem|kmem|port|nbd)\w*"
)
_FORK_BOMB = re.compile(r"(\S+)\s*\(\)\s*\{[^}]*\1\s*\|\s*\1\s*&")
_DOWNLOADERS = frozenset({"curl", "wget", "fetch", "aria2c", "http", "xh", "lynx"})
_INTERPRETER = re.compile(r"python[\d.]*|perl|ruby|node|php|deno|bun|lua")
_WRITERS = frozenset(
    {"tee", "cp", "mv", "shred", "wipefs", "blkdiscard", "sgdisk", "fdisk", "parted"}
)
_HOMES = ("~", "$HOME", "${HOME}")


def hazard(line: str, *, cwd: str, places: Places) -> str | None:
    """Why this command line must never run, in a few words; None when nothing is recognised."""
    if _FORK_BOMB.search(line):
        return "a fork bomb"
    try:
        commands = simple_commands(line)
    except ValueError:
        return None  # not understood: asked about, like every command
    return _deletion(commands, cwd, places) or _device(commands) or _download(commands)


def _deletion(commands: tuple[Command, ...], cwd: str, places: Places) -> str | None:
    for command in commands:
        name, *words = command.argv or ("",)
        if name in ("cd", "pushd") and words:
            cwd = _absolute(words[0], cwd, places.home)
        if name != "rm" or not _is_recursive(words):
            continue
        for word in _operands(words):
            if lost := places.holds_all_of(_absolute(word, cwd, places.home)):
                return f"it deletes all of {lost}"
    return None


def _is_recursive(words: list[str]) -> bool:
    short = "".join(w for w in words if w.startswith("-") and not w.startswith("--"))
    return "r" in short.lower() or "--recursive" in words


def _operands(words: list[str]) -> list[str]:
    end = words.index("--") if "--" in words else len(words)
    return [w for w in words[:end] if not w.startswith("-")] + words[end + 1 :]


def _absolute(word: str, cwd: str, home: str) -> str:
    """Where a word leads; everything in a folder (`/*`) counts as the folder."""
    word = re.sub(r"(^|/)(?:\.?\*|\.\[!?\^?\.\]\*|\{\*,\.\*\})$", r"\1", word) or "."
    word = word.replace("${PWD}", cwd).replace("$PWD", cwd)
    for name in _HOMES:
        if word == name or word.startswith(name + "/"):
            word = home + word[len(name) :]
    return posixpath.normpath(posixpath.join(cwd, word))


def _device(commands: tuple[Command, ...]) -> str | None:
    for command in commands:
        name, *words = command.argv or ("",)
        places = list(command.writes)
        places += [w.removeprefix("of=") for w in words if name == "dd" and w.startswith("of=")]
        if name in _WRITERS or name.startswith("mkfs"):
            places += words
        if device := next((p for p in places if _RAW_DEVICE.fullmatch(p)), None):
            return f"it writes to the raw device {device}"
    return None


def _download(commands: tuple[Command, ...]) -> str | None:
    """Text from the network straight into an interpreter: through a pipe, `<(…)`, `$(…)`."""
    fetched = False
    for command in commands:
        name, *words = command.argv or ("",)
        fetched = name in _DOWNLOADERS or (fetched and command.piped)
        if fetched and _reads_program(name, words):
            return f"it runs what it downloads with {name}"
        if name in (*SHELLS, "eval", "source", ".") and any(_fetches(w) for w in words):
            return f"it runs what it downloads with {name}"
    return None


def _reads_program(name: str, words: list[str]) -> bool:
    if name in SHELLS:
        return not any(
            w.startswith("-") and "c" in w and not w.startswith("--") for w in words
        ) and ("-s" in words or not [w for w in words if not w.startswith("-")])
    return _INTERPRETER.fullmatch(name) is not None and (not words or words[0] == "-")


def _fetches(word: str) -> bool:
    if not ("$(" in word or "<(" in word or "`" in word):
        return False
    return any(c.argv[:1] and c.argv[0] in _DOWNLOADERS for c in simple_commands(word))
