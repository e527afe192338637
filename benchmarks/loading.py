"""Loading stored sessions: the time until `session/load` is answered, and until the next answer begins (spec §11).

The sessions are written straight into the store, turn by turn: a prompt, a `read` and its result, an answer, the end.
Each load is by a process of its own that had a second to rest, as an editor's server has. What grows linearly takes
ten times as long for 10,000 entries as for 1,000, or less.
"""

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from agent_server.loop.model import (
    CallKey,
    DoneReason,
    Entry,
    Reply,
    ReplyEntry,
    ResultEntry,
    SessionId,
    Text,
    ToolCall,
    ToolResult,
    TurnEndEntry,
    TurnId,
    Usage,
    UserEntry,
)
from agent_server.store.sessions import SessionStore
from benchmarks.model import serving_model
from benchmarks.wire import INITIALIZE_ACP, OURS, Peer, configured, median

PER_TURN = 5
"""Entries."""
SHORT = 16
"""Turns with 32 messages of person and agent."""
TIMES = 5
BATCH = 500
"""Entries in one commit while the sessions are written."""


def turn(number: int) -> tuple[Entry, ...]:
    """The entries of one turn."""
    name, first = TurnId(f"turn-{number}"), number * 2 + 1
    key = CallKey(first, 0)
    call = ToolCall(key, f"call_{number}", "read", f'{{"path": "src/module_{number}.py"}}')
    looked = Reply("I look at it first.", (call,), "tool_calls", "openai/mock", Usage(900, 20))
    said = Reply("It does what its name says. " * 8, (), "stop", "openai/mock", Usage(1000, 60))
    return (
        UserEntry(name, (Text(f"What does module {number} do, and who calls it?"),)),
        ReplyEntry(name, first, looked),
        ResultEntry(name, key, ToolResult(True, "1\tdef f() -> int: ...\n" * 10), "none"),
        ReplyEntry(name, first + 1, said),
        TurnEndEntry(name, DoneReason.MODEL_STOP, "text"),
    )


async def write(home: Path, cwd: str, turns: int) -> SessionId:
    """A stored session of so many turns."""
    store = SessionStore(home / "state" / "sessions.db")
    record = await store.create(cwd, mode="ask")
    log = await store.open_log(record.id)
    entries = [entry for number in range(turns) for entry in turn(number)]
    for start in range(0, len(entries), BATCH):
        await log.append(*entries[start : start + BATCH])
    await store.release(record.id)
    await store.aclose()
    return record.id


@dataclass(frozen=True)
class Loaded:
    """One load, in ms; CPU is the server's, all threads."""

    load: float
    load_cpu: float
    first: float
    """From a prompt to the first delta of its answer; the model server's reading of the request is in it."""
    first_cpu: float


def load(env: Mapping[str, str], folder: str, session: SessionId) -> Loaded:
    """Load it in a process of its own, and ask something."""
    with Peer([OURS, "acp"], "acp", env) as peer:
        peer.answer(peer.send("initialize", INITIALIZE_ACP))
        time.sleep(1)
        cpu, began = peer.cpu_s, time.perf_counter()
        wanted: dict[str, object] = {"sessionId": session, "cwd": folder, "mcpServers": []}
        request = peer.send("session/load", wanted)
        while b'"session/update"' in (body := peer.read_body()):
            pass
        if b'"error"' in body:
            raise RuntimeError(f"request {request} failed: {body!r}")
        load_s, load_cpu_s = time.perf_counter() - began, peer.cpu_s - cpu
        time.sleep(1)
        cpu, asked = peer.cpu_s, time.perf_counter()
        prompt = [{"type": "text", "text": "say 1"}]
        peer.send("session/prompt", {"sessionId": session, "prompt": prompt})
        while b"agent_message_chunk" not in peer.read_body():
            pass
        first_s, first_cpu_s = time.perf_counter() - asked, peer.cpu_s - cpu
    return Loaded(load_s * 1000, load_cpu_s * 1000, first_s * 1000, first_cpu_s * 1000)


def main() -> None:
    """Measure and print."""
    print(
        f"{'entries':>8}{'load ms':>10}{'CPU':>8}{'goal':>8}{'first delta ms':>17}{'CPU':>8}{'goal':>8}"
    )
    with tempfile.TemporaryDirectory() as folder, serving_model() as base_url:
        env = configured(folder, base_url)
        for turns, goal in ((SHORT, "25"), (1_000 // PER_TURN, "-"), (10_000 // PER_TURN, "1,000")):
            session = anyio.run(write, Path(env["AGENT_SERVER_HOME"]), folder, turns)
            loads = [load(env, folder, session) for _ in range(TIMES)]
            wall, cpu = median([one.load for one in loads]), median([one.load_cpu for one in loads])
            print(f"{turns * PER_TURN:>8}{wall:>10.1f}{cpu:>8.1f}{goal:>8}", end="")
            wall, cpu = (
                median([one.first for one in loads]),
                median([one.first_cpu for one in loads]),
            )
            print(f"{wall:>17.1f}{cpu:>8.1f}{'50':>8}")


if __name__ == "__main__":
    main()
