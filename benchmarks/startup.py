"""From spawn to the first answers, beside the floor, interleaved in one run: the ratios of spec §11.

Rows: bare interpreter · ACP: the smallest asyncio agent and ours · `session/new` of a server at rest · the first delta
of the first prompt, nothing idle between · LSP: a bare pygls server and ours · exit after the end of input. Quote
ratios, and those of CPU time before those of the clock: machines differ and are shared.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.model import serving_model
from benchmarks.wire import (
    FLOORS,
    INITIALIZE_ACP,
    INITIALIZE_LSP,
    OURS,
    PYTHON,
    Framing,
    Peer,
    configured,
    median,
    session_id,
)

ROUNDS = 9
PYTHON_PASS = "python -c pass"
ACP_FLOOR, ACP, FIRST = "ACP floor: initialize", "ACP: initialize", "ACP: spawn to first delta"
LSP_FLOOR, LSP = "LSP floor: initialize", "LSP: initialize"
NEW, NEW_AT_ONCE, EXIT = "ACP: session/new, at rest", "ACP: spawn to session", "ACP: exit after EOF"
GOALS = ((ACP, ACP_FLOOR, 45 / 89), (FIRST, ACP_FLOOR, 300 / 89), (LSP, LSP_FLOOR, 1.15))
"""A row, the floor it is divided by, and the goal for that: spec §11's milliseconds on the machine they are from."""


@dataclass(frozen=True)
class Row:
    """One measurement of one round."""

    name: str
    wall_s: float
    cpu_s: float = 0.0
    """Of the server, all threads; 0: not measured."""


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    figures: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory() as folder, serving_model() as base_url:
        for turn in range(rounds + 1):
            for row in one_round(configured(folder, base_url), folder):
                if turn:  # the first round warms caches
                    figures.setdefault(row.name, []).append(row)
    show(figures)


def one_round(env: Mapping[str, str], folder: str) -> list[Row]:
    """All rows once, floors and ours in turn, so that they share whatever else the machine does."""
    began = time.perf_counter()
    subprocess.run([PYTHON, "-c", "pass"], check=True)
    return [
        Row(PYTHON_PASS, time.perf_counter() - began),
        initialize(ACP_FLOOR, [PYTHON, str(FLOORS / "acp_asyncio.py")], "acp", {}),
        initialize(ACP, [OURS, "acp"], "acp", env),
        *first_prompt(env, folder),
        *at_rest(env, folder),
        initialize(LSP_FLOOR, [PYTHON, str(FLOORS / "lsp_pygls.py")], "lsp", {}),
        initialize(LSP, [OURS, "lsp"], "lsp", env),
    ]


def initialize(name: str, command: list[str], framing: Framing, env: Mapping[str, str]) -> Row:
    """From spawn to the answer to `initialize`."""
    with Peer(command, framing, env) as peer:
        params = INITIALIZE_ACP if framing == "acp" else INITIALIZE_LSP
        peer.answer(peer.send("initialize", params))
        return Row(name, time.perf_counter() - peer.started, peer.cpu_s)


def first_prompt(env: Mapping[str, str], folder: str) -> list[Row]:
    """As fast as a client can: initialize, a session, a prompt, its first delta; then the end of input."""
    with Peer([OURS, "acp"], "acp", env) as peer:
        peer.answer(peer.send("initialize", INITIALIZE_ACP))
        made = peer.answer(peer.send("session/new", {"cwd": folder, "mcpServers": []}))
        created = Row(NEW_AT_ONCE, time.perf_counter() - peer.started, peer.cpu_s)
        prompt = [{"type": "text", "text": "say 1"}]
        request = peer.send("session/prompt", {"sessionId": session_id(made), "prompt": prompt})
        while b"agent_message_chunk" not in peer.read_body():
            pass
        first = Row(FIRST, time.perf_counter() - peer.started, peer.cpu_s)
        peer.answer(request)
        closing = time.perf_counter()
    return [created, first, Row(EXIT, time.perf_counter() - closing)]


def at_rest(env: Mapping[str, str], folder: str) -> list[Row]:
    """What a session costs once the server has nothing else to do, as in an editor that was just started."""
    with Peer([OURS, "acp"], "acp", env) as peer:
        peer.answer(peer.send("initialize", INITIALIZE_ACP))
        time.sleep(1)
        cpu_s, asked = peer.cpu_s, time.perf_counter()
        peer.answer(peer.send("session/new", {"cwd": folder, "mcpServers": []}))
        return [Row(NEW, time.perf_counter() - asked, peer.cpu_s - cpu_s)]


def show(figures: Mapping[str, list[Row]]) -> None:
    """Print the table, then the ratios with their goals."""
    wall = {name: median([row.wall_s for row in rows]) * 1000 for name, rows in figures.items()}
    cpu = {name: median([row.cpu_s for row in rows]) * 1000 for name, rows in figures.items()}
    print(f"{'':28}{'median ms':>10}{'best':>9}{'CPU ms':>9}")
    for name, rows in figures.items():
        best = min(row.wall_s for row in rows) * 1000
        used = f"{cpu[name]:.1f}" if cpu[name] else ""
        print(f"{name:28}{wall[name]:10.1f}{best:9.1f}{used:>9}")
    print(f"\n{'divided by the floor':28}{'clock':>10}{'CPU':>9}{'goal':>9}")
    for name, floor, goal in GOALS:
        print(f"{name:28}{wall[name] / wall[floor]:10.2f}{cpu[name] / cpu[floor]:9.2f}{goal:9.2f}")
    print(f"\n{NEW:28}{wall[NEW]:7.1f} ms (goal 10)\n{EXIT:28}{wall[EXIT]:7.1f} ms (goal 200)")


if __name__ == "__main__":
    main()
