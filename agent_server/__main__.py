"""The program `agent-server`. The common ways to start it are told apart here, before arguments are parsed."""

import os
import sys

from agent_server.version import __version__


def main() -> int:
    """Run what the command line says; the exit code."""
    _speak_utf8()
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130  # what shells expect of a program ended by SIGINT


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        sys.stdout.write(f"agent-server {__version__}\n")
        return 0
    if arguments in ([], ["acp"], ["lsp"]) and not (arguments == [] and _on_a_terminal()):
        from agent_server.first_stage import start  # `chat` and the rest have no use for it
        from agent_server.options import Options

        return start(arguments[0] if arguments else None, Options())
    from agent_server.cli import (
        main as run,  # argparse: too slow for a start that an editor waits for
    )

    return run(arguments or ["chat"])


def _speak_utf8() -> None:
    """Start again with names of files in UTF-8, where a locale (and `PYTHONUTF8=0`) would make them ASCII or Latin-1.

    Editors name files in UTF-8 whatever the locale is, and tools would fail for every name that has more than ASCII.
    """
    if os.name == "posix" and sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  it is we ourselves


def _on_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


if __name__ == "__main__":
    sys.exit(main())
