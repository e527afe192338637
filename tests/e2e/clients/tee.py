"""`python tee.py LOG COMMAND…`: run an agent between a client and itself, and write down every line both say.

Each line of LOG is `{"direction": "in" | "out", "line": …}`; `in` is client → agent. Standard library only.
"""

import json
import subprocess
import sys
import threading
from typing import IO


def main() -> int:
    """The agent's exit code."""
    with open(sys.argv[1], "a", encoding="utf-8") as log:  # noqa: PTH123 - starts before pathlib is worth it
        agent = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert agent.stdin is not None
        assert agent.stdout is not None
        threading.Thread(
            target=copy, args=(sys.stdin.buffer, agent.stdin, "in", log), daemon=True
        ).start()
        copy(agent.stdout, sys.stdout.buffer, "out", log)
        return agent.wait()


def copy(source: IO[bytes], target: IO[bytes], direction: str, log: IO[str]) -> None:
    """Pass on line by line; at the end of the source, or when nobody reads any more, close the target."""
    try:
        for line in source:
            entry = {"direction": direction, "line": line.decode("utf-8", "replace")}
            log.write(json.dumps(entry) + "\n")
            log.flush()
            target.write(line)
            target.flush()
    except (OSError, ValueError):
        pass
    finally:
        target.close()


if __name__ == "__main__":
    sys.exit(main())
