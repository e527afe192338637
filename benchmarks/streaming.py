"""What an agent adds to a model's answer, on both wires, beside the smallest agent that streams, in one run: spec §11.

Rows: prompt → first delta · delay of each delta at one in 10 ms · a burst of 5,000 deltas · cancel → prompt answered,
while the model streams and while it is silent · one round of a tool · memory. Quote the ratios.
"""

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.model import serving_model, words
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
    percentile,
    session_id,
)

BURST = 5_000
TICKS = 200
TICK_MS = 10
ROUNDS = 20
"""Of the tool, in one turn."""
TIMES = 5
"""How often everything quick is repeated in a turn at measuring."""
TURNS = 3
"""Floor and agent take turns, so that they share whatever else the machine does; the median counts."""

Figures = Mapping[str, float]

EDITOR: dict[str, object] = INITIALIZE_LSP | {
    "capabilities": {"experimental": {"agent": {"version": 1, "sessionUpdate": True}}}
}
"""What a client says that gets each delta over LSP."""


@dataclass(frozen=True)
class Goal:
    """What spec §11 asks for, and of what kind it is."""

    name: str
    unit: str
    goal: str


GOALS = (
    Goal("prompt to first delta", "ms", "5"),
    Goal("delta p50, one in 10 ms", "ms", "0.42"),
    Goal("delta p99, one in 10 ms", "ms", "1.5"),
    Goal("burst: deltas a second", "/s", "25,000"),
    Goal("burst: CPU", "ms", "300"),
    Goal("cancel, model streaming", "ms", "5"),
    Goal("cancel, model silent", "ms", "5"),
    Goal("one tool round", "ms", "5"),
    Goal("memory at the first delta", "MB", "45"),
    Goal("memory at the end", "MB", "-"),
)


class Conversation:
    """One session of one agent."""

    def __init__(self, peer: Peer, folder: str) -> None:
        self.peer = peer
        self.prefix = "agent/" if peer.framing == "lsp" else ""
        """Of ACP's methods on this wire."""
        new = peer.send(self.prefix + "session/new", {"cwd": folder, "mcpServers": []})
        made = peer.answer(new)
        self.session = session_id(made)

    def prompt(self, order: str) -> int:
        """Ask the model server for something; the request's id."""
        said = [{"type": "text", "text": order}]
        return self.peer.send(
            self.prefix + "session/prompt", {"sessionId": self.session, "prompt": said}
        )

    def run(self, order: str) -> list[tuple[int, bytes]]:
        """Everything that came until the prompt was answered, each with the monotonic clock in ns."""
        self.prompt(order)
        came: list[tuple[int, bytes]] = []
        while not came or b'"stopReason"' not in came[-1][1]:
            body = self.peer.read_body()
            came.append((time.monotonic_ns(), body))
        return came

    def first_delta_ms(self) -> float:
        """From a prompt to the first delta of its answer."""
        began = time.perf_counter()
        request = self.prompt("say 1")
        while b"agent_message_chunk" not in self.peer.read_body():
            pass
        first = time.perf_counter() - began
        self.peer.answer(request)
        return first * 1000

    def delays_ms(self) -> list[float]:
        """Of each delta: from the model's clock in its text to its arrival."""
        came = self.run(f"tick {TICKS} {TICK_MS}")
        sent = [(at, stamp) for at, body in came for stamp in delta(body).split()]
        return [(at - int(stamp)) / 1e6 for at, stamp in sent]

    def burst(self) -> tuple[float, float]:
        """Deltas a second, and CPU in ms. Raises when a character is missing or twice there."""
        cpu, began = self.peer.cpu_s, time.perf_counter()
        came = self.run(f"say {BURST}")
        took = time.perf_counter() - began
        if "".join(delta(body) for _, body in came) != words(BURST):
            raise RuntimeError("the text that arrived is not the text that was sent")
        return BURST / took, (self.peer.cpu_s - cpu) * 1000

    def cancel_ms(self, order: str, *, after_s: float) -> float:
        """From `session/cancel` to the prompt's answer."""
        request = self.prompt(order)
        time.sleep(after_s)
        began = time.perf_counter()
        self.peer.notify(self.prefix + "session/cancel", {"sessionId": self.session})
        self.peer.answer(request)
        return (time.perf_counter() - began) * 1000

    def tool_round_ms(self, file: str) -> float:
        """One of many rounds of `read` in a turn."""
        began = time.perf_counter()
        self.run(f"loop {ROUNDS} {file}")
        return (time.perf_counter() - began) * 1000 / ROUNDS


def delta(body: bytes) -> str:
    """The text of a message's delta, if it is one."""
    if b"agent_message_chunk" not in body:
        return ""
    return json.loads(body)["params"]["update"]["content"]["text"]


@dataclass(frozen=True)
class Agent:
    """What is measured, over which wire."""

    command: tuple[str, ...]
    framing: Framing = "acp"
    tools: bool = True

    def begin(self, peer: Peer) -> None:
        """Introduce the client."""
        hello = EDITOR if self.framing == "lsp" else INITIALIZE_ACP
        peer.answer(peer.send("initialize", hello))
        if self.framing == "lsp":
            peer.notify("initialized", {})


AGENTS = {
    "floor": Agent((PYTHON, str(FLOORS / "acp_stream.py")), tools=False),
    "ACP": Agent((OURS, "acp")),
    "LSP": Agent((OURS, "lsp"), "lsp"),
}


def measure(agent: Agent, folder: str, env: Mapping[str, str]) -> Figures:
    """All rows for one agent."""
    with Peer(agent.command, agent.framing, env) as peer:
        agent.begin(peer)
        talk = Conversation(peer, folder)
        talk.first_delta_ms()
        figures = {"memory at the first delta": peer.pss_mb}
        time.sleep(2)  # what an agent does while nobody asks for anything is not measured here
        figures["prompt to first delta"] = middle(talk.first_delta_ms)
        delays = talk.delays_ms() + talk.delays_ms()
        figures["delta p50, one in 10 ms"] = median(delays)
        figures["delta p99, one in 10 ms"] = percentile(delays, 99)
        bursts = [talk.burst() for _ in range(TIMES)]
        figures["burst: deltas a second"] = median([rate for rate, _ in bursts])
        figures["burst: CPU"] = median([cpu for _, cpu in bursts])
        figures["cancel, model streaming"] = middle(
            lambda: talk.cancel_ms("tick 999 5", after_s=0.1)
        )
        figures["cancel, model silent"] = middle(lambda: talk.cancel_ms("silent", after_s=0.1))
        if agent.tools:
            file = Path(folder, "read.txt")
            file.write_text("line\n" * 100, encoding="utf-8")
            figures["one tool round"] = middle(
                lambda: Conversation(peer, folder).tool_round_ms(str(file))
            )
        figures["memory at the end"] = peer.pss_mb
    return figures


def middle(measured: Callable[[], float]) -> float:
    """The median of several."""
    return median([measured() for _ in range(TIMES)])


def together(turns: list[Figures]) -> Figures:
    """The median of each row."""
    return {name: median([turn[name] for turn in turns]) for name in turns[0]}


def main() -> None:
    """Measure and print."""
    turns: dict[str, list[Figures]] = {name: [] for name in AGENTS}
    with tempfile.TemporaryDirectory() as folder, serving_model() as base_url:
        env = configured(folder, base_url)
        for _ in range(TURNS):
            for name, agent in AGENTS.items():
                turns[name].append(measure(agent, folder, env))
    floor, acp, lsp = (together(turns[name]) for name in ("floor", "ACP", "LSP"))
    print(f"{'':30}{'floor':>10}{'ACP':>10}{'ratio':>8}{'LSP':>10}{'ratio':>8}{'goal':>10}")
    for row in GOALS:
        below = floor.get(row.name)
        shown = "" if below is None else f"{below:,.2f}"
        columns = "".join(beside(ours[row.name], below) for ours in (acp, lsp))
        print(f"{row.name:30}{shown:>10}{columns}{row.goal:>10} {row.unit}")


def beside(figure: float, floor: float | None) -> str:
    """Two columns: the figure, and its ratio to the floor where there is one."""
    return f"{figure:>10,.2f}{'' if floor is None else f'{figure / floor:.2f}':>8}"


if __name__ == "__main__":
    main()
