"""From spawn to the first answers, beside the floor, interleaved in one run: the ratios of spec §11.

Rows: bare interpreter · ACP floor (asyncio) and ours · `session/new` · first delta of the first prompt, nothing idle
between · LSP floor (bare pygls) and ours · exit after the end of input. Milliseconds are medians; quote the ratios.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.model import serving_model
from benchmarks.wire import (
    FLOORS,
    INITIALIZE_ACP,
    INITIALIZE_LSP,
    OURS,
    PYTHON,
    Framing,
    Peer,
    median,
)

ROUNDS = 9


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as folder, serving_model() as base_url:
        env = {
            "AGENT_SERVER_HOME": folder,
            "AGENT_SERVER_MODEL": "openai/mock",
            "OPENAI_API_KEY": "sk-mock",
            "OPENAI_BASE_URL": base_url,
        }
        figures = _measure(rounds, env, folder)
    _print(figures)


def _measure(rounds: int, env: dict[str, str], folder: str) -> dict[str, list[float]]:
    figures: dict[str, list[float]] = {}
    for turn in range(rounds + 1):
        for name, seconds in _one_round(env, folder):
            if turn:  # the first round warms caches
                figures.setdefault(name, []).append(seconds * 1000)
    return figures


def _one_round(env: dict[str, str], folder: str) -> list[tuple[str, float]]:
    floor_acp = [PYTHON, str(FLOORS / "acp_asyncio.py")]
    floor_lsp = [PYTHON, str(FLOORS / "lsp_pygls.py")]
    rows = [("python -c pass", _timed(lambda: subprocess.run([PYTHON, "-c", "pass"], check=True)))]
    rows.append(("ACP floor: initialize", _initialize(floor_acp, "acp", {})))
    rows += _acp(env, folder)
    rows.append(("LSP floor: initialize", _initialize(floor_lsp, "lsp", {})))
    rows.append(("LSP ours: initialize", _initialize([OURS, "lsp"], "lsp", env)))
    return rows


def _timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _initialize(command: list[str], framing: Framing, env: dict[str, str]) -> float:
    with Peer(command, framing, env) as peer:
        params = INITIALIZE_ACP if framing == "acp" else INITIALIZE_LSP
        peer.answer(peer.send("initialize", params))
        return time.perf_counter() - peer.started


def _acp(env: dict[str, str], folder: str) -> list[tuple[str, float]]:
    with Peer([OURS, "acp"], "acp", env) as peer:
        peer.answer(peer.send("initialize", INITIALIZE_ACP))
        initialized = time.perf_counter()
        time.sleep(
            1
        )  # an editor is idle here; the second session below is what a running server costs
        asked = time.perf_counter()
        peer.answer(peer.send("session/new", {"cwd": folder, "mcpServers": []}))
        created = time.perf_counter()
        rows = [
            ("ACP ours: initialize", initialized - peer.started),
            ("ACP ours: session/new", created - asked),
        ]
    with Peer([OURS, "acp"], "acp", env) as peer:
        peer.answer(peer.send("initialize", INITIALIZE_ACP))
        made = peer.answer(peer.send("session/new", {"cwd": folder, "mcpServers": []}))["result"]
        prompt = [{"type": "text", "text": "hello"}]
        request = peer.send("session/prompt", {"sessionId": _session_id(made), "prompt": prompt})
        while "agent_message_chunk" not in str(peer.read()):
            pass
        first = time.perf_counter()
        peer.answer(request)
        rows.append(("ACP ours: spawn to first delta", first - peer.started))
        closing = time.perf_counter()
    rows.append(("ACP ours: exit after EOF", time.perf_counter() - closing))
    return rows


def _session_id(made: object) -> str:
    match made:
        case {"sessionId": str(session)}:
            return session
        case _:
            raise TypeError(f"no session: {made}")


def _print(figures: dict[str, list[float]]) -> None:
    middle = {name: median(values) for name, values in figures.items()}
    print(f"{'':34}{'median ms':>10}{'best':>8}{'goal':>30}")
    for name, values in figures.items():
        print(f"{name:34}{middle[name]:10.1f}{min(values):8.1f}")
    acp = middle["ACP ours: initialize"] / middle["ACP floor: initialize"]
    lsp = middle["LSP ours: initialize"] / middle["LSP floor: initialize"]
    first = middle["ACP ours: spawn to first delta"] / middle["ACP floor: initialize"]
    print(f"\nACP initialize / asyncio floor   {acp:5.2f}   (goal 45/89 = 0.51)")
    print(f"LSP initialize / bare pygls      {lsp:5.2f}   (goal 1.15)")
    print(f"first delta / asyncio floor      {first:5.2f}   (goal 300/89 = 3.37)")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main()
