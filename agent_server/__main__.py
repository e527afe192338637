"""The program `agent-server`. The common ways to start it are told apart here, before arguments are parsed."""

import sys

from agent_server.version import __version__


def main() -> int:
    """Run what the command line says; the exit code."""
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


def _on_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


if __name__ == "__main__":
    sys.exit(main())
