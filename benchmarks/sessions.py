"""Many sessions in one process: 50 that idle while 8 of them stream, beside the smallest agent that streams (spec §11).

Rows: how long a request waits for its answer meanwhile, which is how long the loop is busy with others (median and the
99th percentile) · the delay of each delta of the eight · CPU · memory of an idle session that has had a turn. Quote the
ratios.
"""

import json
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.model import serving_model
from benchmarks.streaming import Conversation, delta
from benchmarks.wire import (
    FLOORS,
    INITIALIZE_ACP,
    OURS,
    PYTHON,
    Peer,
    configured,
    median,
    percentile,
)

IDLE = 50
STREAMING = 8
TICKS = 300
TICK_MS = 10
PING_MS = 20
PING = "_benchmark/nothing"
"""No agent knows it: each answers at once, by an error or not."""

Figures = Mapping[str, float]


@dataclass(frozen=True)
class Goal:
    """What spec §11 asks for."""

    name: str
    unit: str
    goal: str


GOALS = (
    Goal("loop lag p50", "ms", "-"),
    Goal("loop lag p99", "ms", "50"),
    Goal("delta p50 of eight", "ms", "-"),
    Goal("delta p99 of eight", "ms", "-"),
    Goal("CPU of eight, one second", "ms", "-"),
    Goal("memory of an idle session", "MB", "1"),
)


class Crowd:
    """The sessions of one agent, of which the first few stream."""

    def __init__(self, peer: Peer, folder: str) -> None:
        self.peer = peer
        self.sessions = [Conversation(peer, folder) for _ in range(IDLE)]
        for session in self.sessions:
            session.run("say 20")

    def stream(self) -> Figures:
        """Eight answers at once, and a request now and then."""
        asked: dict[int, int] = {}
        over = threading.Event()
        cpu, began = self.peer.cpu_s, time.monotonic()
        for session in self.sessions[:STREAMING]:
            session.prompt(f"tick {TICKS} {TICK_MS}")
        pinging = threading.Thread(target=self._ping, args=(asked, over))
        pinging.start()
        try:
            lags, delays = self._watch(asked)
        finally:
            over.set()
            pinging.join()
        took = time.monotonic() - began
        return {
            "loop lag p50": median(lags),
            "loop lag p99": percentile(lags, 99),
            "delta p50 of eight": median(delays),
            "delta p99 of eight": percentile(delays, 99),
            "CPU of eight, one second": (self.peer.cpu_s - cpu) * 1000 / took,
        }

    def _ping(self, asked: dict[int, int], over: threading.Event) -> None:
        """The only thread that sends; `asked` maps a request to the monotonic clock in ns."""
        while not over.wait(PING_MS / 1000):
            asked[self.peer.last_id + 1] = time.monotonic_ns()
            self.peer.send(PING, {})

    def _watch(self, asked: Mapping[int, int]) -> tuple[list[float], list[float]]:
        """Milliseconds until the pings were answered, and until the deltas came."""
        lags: list[float] = []
        delays: list[float] = []
        ended = 0
        while ended < STREAMING:
            body, at = self.peer.read_body(), time.monotonic_ns()
            ended += b'"stopReason"' in body
            delays += [(at - int(stamp)) / 1e6 for stamp in delta(body).split()]
            if b'"method"' not in body and (sent := asked.get(json.loads(body)["id"])):
                lags.append((at - sent) / 1e6)
        return lags, delays


def measure(command: list[str], folder: str, env: Mapping[str, str]) -> Figures:
    """All rows for one agent."""
    with Peer(command, "acp", env) as peer:
        peer.answer(peer.send("initialize", INITIALIZE_ACP))
        Conversation(peer, folder).run("say 20")
        time.sleep(2)  # what an agent does while nobody asks for anything is not measured here
        before = peer.pss_mb
        crowd = Crowd(peer, folder)
        time.sleep(1)
        memory = (peer.pss_mb - before) / IDLE
        return {**crowd.stream(), "memory of an idle session": memory}


def main() -> int:
    """Measure and print; 1 when a goal is missed."""
    with tempfile.TemporaryDirectory() as folder, serving_model() as base_url:
        env = configured(folder, base_url)
        floor = measure([PYTHON, str(FLOORS / "acp_stream.py")], folder, env)
        ours = measure([OURS, "acp"], folder, env)
    print(
        f"{f'{IDLE} sessions, {STREAMING} stream':28}{'floor':>10}{'ours':>10}{'ratio':>8}{'goal':>8}"
    )
    missed = 0
    for row in GOALS:
        below, here = floor[row.name], ours[row.name]
        ratio = f"{here / below:.2f}" if below > 0.01 else ""
        missed += row.goal != "-" and here > float(row.goal)
        print(f"{row.name:28}{below:>10,.2f}{here:>10,.2f}{ratio:>8}{row.goal:>8} {row.unit}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
