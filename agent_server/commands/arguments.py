"""The command line as typed values. Imports argparse, so only what is no plain start comes here."""

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import Literal, NoReturn, cast, get_args

from agent_server.config import LogLevel
from agent_server.frozen import frozen
from agent_server.loop.model import MODES
from agent_server.options import Options
from agent_server.version import __version__

Command = Literal["acp", "lsp", "chat", "demo", "sessions", "doctor", "schema"]
COMMANDS: tuple[Command, ...] = get_args(Command)
Action = Literal["list", "show", "export", "delete"]
ACTIONS: tuple[Action, ...] = get_args(Action)
FORMATS = ("md", "json", "html")
LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
OPTIONS = (
    "--model", "--mode", "--config", "--log-level", "--log-file", "--trace",
    "--version", "--help", "--resume", "--yes", "--no", "--json", "--format", "--output",
)  # fmt: skip

_SERVING = ("trace", "log_level", "log_file")
IDLE_OPTIONS: dict[Command, tuple[str, ...]] = {
    "demo": ("model", "config"),
    "sessions": ("model", "mode", *_SERVING),
    "doctor": _SERVING,
    "schema": ("model", "mode", "config", *_SERVING),
}
"""Common options that a command refuses, because it would not heed them."""

DESCRIPTION = (
    "A coding agent that lives in the editor, speaking ACP and LSP over stdio. Without a command it serves whoever "
    "starts it on a pipe (the first byte says which protocol), and chats on a terminal."
)
LATER = (
    "Not in this version, planned: models, login, logout. "
    "Settings: config.toml; `agent-server doctor` says where it is and what it found."
)


@frozen
class Arguments:
    """What was asked for. Fields of other commands keep their defaults."""

    command: Command | None
    options: Options
    prompt: str | None = None
    """`chat`: the first prompt; None asks for it."""
    resume: str | None = None
    """`chat`: the session to go on with; empty means the last one in this folder."""
    answer: Literal["yes", "no"] | None = None
    """`chat`, `demo`: how every question is answered; None asks the person."""
    action: Action | None = None
    """`sessions`."""
    session: str | None = None
    """`sessions show`, `export`, `delete`."""
    form: Literal["md", "json", "html"] = "md"
    """`sessions export`."""
    output: str | None = None
    """`sessions export`: a file; None is stdout."""
    as_json: bool = False
    """`sessions list`."""


def parse(argv: Sequence[str]) -> Arguments:
    """The arguments after the program's name.

    Raises:
        SystemExit: 0 after `--help` and `--version`, 2 when they make no sense; the reason is on stderr.
    """
    _refuse_unknown_options(argv)
    found = cast("dict[str, object]", vars(_parser().parse_args(argv)))
    _refuse_idle_options(found)
    prompt = " ".join(cast("list[str]", found.get("prompt", [])))
    return Arguments(
        command=cast("Command | None", found.get("command")),
        options=Options(**{name: _text(found, name) for name in Options.__slots__}),
        prompt=prompt or None,
        resume=_text(found, "resume"),
        answer=cast('Literal["yes", "no"] | None', found.get("answer")),
        action=cast("Action | None", found.get("action")),
        session=_text(found, "session"),
        form=cast('Literal["md", "json", "html"]', found.get("form", "md")),
        output=_text(found, "output"),
        as_json=bool(found.get("as_json")),
    )


def _text(found: dict[str, object], name: str) -> str | None:
    value = found.get(name)
    return None if value is None else str(value)


class _Parser(argparse.ArgumentParser):
    """argparse, answering a mistake in one line, with what was probably meant."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {_in_our_words(message)}\n")


def _in_our_words(message: str) -> str:
    wrong = re.search(r"(?:argument (?P<what>\S+): )?invalid choice: '(?P<word>[^']*)'", message)
    if wrong is None:
        return message
    match wrong["what"]:
        case "COMMAND":
            return f"unknown command {wrong['word']!r}{_meant(wrong['word'], COMMANDS)}"
        case "ACTION":
            return f"unknown action {wrong['word']!r}{_meant(wrong['word'], ACTIONS)}"
        case _:
            return message + _meant(wrong["word"], (*MODES, *LEVELS, *FORMATS))


def _meant(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=2)
    if not close:
        return "; see agent-server --help"
    return f"; did you mean {' or '.join(map(repr, close))}?"


def _refuse_unknown_options(argv: Sequence[str]) -> None:
    """Before argparse, which would take the value of an unknown option for a command and complain about that."""
    for argument in argv:
        name = argument.partition("=")[0]
        if name == "--":
            return
        if name.startswith("--") and name not in OPTIONS:
            _Parser(prog="agent-server").error(f"unknown option {name!r}{_meant(name, OPTIONS)}")


def _refuse_idle_options(found: dict[str, object]) -> None:
    """An option that a command would not heed is a mistake: somebody relies on it."""
    command = cast("Command | None", found.get("command"))
    for name in IDLE_OPTIONS.get(command or "chat", ()):
        if name in found:
            option = f"--{name.replace('_', '-')}"
            _Parser(prog=f"agent-server {command}").error(f"{option} does nothing here")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="agent-server",
        description=DESCRIPTION,
        epilog=LATER,
        allow_abbrev=False,
        parents=[_common()],
    )
    parser.add_argument("--version", action="version", version=f"agent-server {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    def command(name: Command, summary: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name, help=summary, description=f"{summary}.", allow_abbrev=False, parents=[_common()]
        )

    command("acp", "serve ACP on stdin and stdout")
    command("lsp", "serve LSP on stdin and stdout")
    _add_chat(command("chat", "talk to the agent in this terminal"))
    _add_answer(command("demo", "see the whole job on a scripted model: offline, without a key"))
    _add_sessions(command("sessions", "look at the sessions that were kept"))
    command("doctor", "check the installation; exit 1 when something needs to be fixed")
    command("schema", "print the JSON Schema of the custom protocol")
    return parser


def _common() -> _Parser:
    """Options that may stand before and after the command; not given, they leave nothing that hides the other place."""
    options = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("common options")
    group.add_argument(
        "--model", help="the model, in litellm's words: anthropic/…, openai/…, ollama/…"
    )
    group.add_argument("--mode", choices=MODES, help="what the agent may do without asking")
    group.add_argument("--config", metavar="FILE", help="this file instead of config.toml")
    group.add_argument("--log-level", choices=LEVELS)
    group.add_argument("--log-file", metavar="FILE", help="log here instead of stderr")
    group.add_argument(
        "--trace", metavar="FILE", help="write every frame in and out here, secrets masked"
    )
    return options


def _add_chat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="*", metavar="PROMPT", help="the first prompt")
    parser.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="ID",
        help="go on with a session; without an id, with the last one in this folder",
    )
    _add_answer(parser)


def _add_answer(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    for word in ("yes", "no"):
        group.add_argument(
            f"--{word}",
            dest="answer",
            action="store_const",
            const=word,
            help=f"answer {word} to every question",
        )


def _add_sessions(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    listing = actions.add_parser("list", help="the sessions, the one spoken in last first")
    listing.add_argument(
        "--json", dest="as_json", action="store_true", help="as JSON, for programs"
    )
    show = actions.add_parser(
        "show", help="one session's transcript, with the effects of its calls"
    )
    show.add_argument("session", metavar="ID")
    export = actions.add_parser(
        "export", help="one session as a document, credentials of this environment masked"
    )
    export.add_argument("session", metavar="ID")
    export.add_argument("--format", dest="form", choices=FORMATS, default="md")
    export.add_argument("--output", metavar="FILE", help="a file instead of stdout")
    delete = actions.add_parser("delete", help="forget one session")
    delete.add_argument("session", metavar="ID")
