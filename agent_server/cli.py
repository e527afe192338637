"""The commands by name. What each needs is imported when it is asked for: a server waits for no terminal's code."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from agent_server.commands.arguments import Arguments, parse
from agent_server.config import Home
from agent_server.loop.errors import AgentServerError, BadSetting


def main(argv: Sequence[str]) -> int:
    """Run the command that the arguments (without the program's name) ask for; the exit code."""
    try:
        return _run(_checked(parse(argv)))
    except SystemExit as asked:  # argparse, after --help, --version or a mistake
        return asked.code if isinstance(asked.code, int) else 1
    except AgentServerError as error:
        sys.stderr.write(f"agent-server: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read us has seen enough (`| head`). Python must not try to flush what is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _checked(arguments: Arguments) -> Arguments:
    """See that the files the options name can be used; `doctor` tells itself what is wrong with them.

    Raises:
        SystemExit: 2, the reason on stderr: nothing runs without what it was told to run with.
    """
    if arguments.command == "doctor" or not arguments.options.as_arguments():
        return arguments
    from agent_server.config_named import with_named_files  # no plain start needs it

    try:
        return replace(arguments, options=with_named_files(arguments.options))
    except BadSetting as error:
        sys.stderr.write(f"agent-server: {error}\n")
        raise SystemExit(2) from error


def _run(arguments: Arguments) -> int:
    match arguments.command:
        case None:
            return _chat(arguments) if sys.stdin.isatty() else _serve(None, arguments)
        case "acp" | "lsp":
            return _serve(arguments.command, arguments)
        case "chat":
            return _chat(arguments)
        case "demo":
            return _demo(arguments)
        case "sessions":
            return _sessions(arguments)
        case "doctor":
            return _doctor(arguments)
        case "schema":
            return _schema()
        case _:
            assert_never(arguments.command)


def _serve(dialect: str | None, arguments: Arguments) -> int:
    from agent_server.first_stage import start

    return start(dialect, arguments.options)


def _chat(arguments: Arguments) -> int:
    from agent_server.front.terminal import chat  # rich

    return chat.main(
        arguments.options,
        prompt=arguments.prompt,
        resume=arguments.resume,
        answer=arguments.answer,
    )


def _demo(arguments: Arguments) -> int:
    from agent_server.front.terminal import demo  # rich

    return demo.main(arguments.options, answer=arguments.answer)


def _sessions(arguments: Arguments) -> int:
    import anyio  # asyncio

    from agent_server.commands import sessions  # sqlite3
    from agent_server.config_load import find_home

    home = find_home(os.environ)
    path, session = home.sessions_db, arguments.session or ""
    match arguments.action:
        case "show":
            return anyio.run(sessions.show_session, path, session)
        case "delete":
            return anyio.run(sessions.delete_session, path, home.blobs, session)
        case "export":
            return _export(arguments, home)
        case "list" | None:
            return anyio.run(lambda: sessions.list_sessions(path, as_json=arguments.as_json))


def _export(arguments: Arguments, home: Home) -> int:
    import anyio  # asyncio

    from agent_server.commands.export import export_session  # the renderers

    async def run() -> int:
        return await export_session(
            home,
            arguments.session or "",
            arguments.form,
            output=arguments.output,
            environ=os.environ,
        )

    return anyio.run(run)


def _doctor(arguments: Arguments) -> int:
    from agent_server.commands.doctor import examine  # the settings' checks, sqlite3

    return examine(arguments.options, environ=os.environ, cwd=Path.cwd())


def _schema() -> int:
    from agent_server.front.protocol.schema import schema_text  # pydantic

    sys.stdout.flush()
    sys.stdout.buffer.write(schema_text().encode())
    return 0
