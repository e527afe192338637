"""Loading stored sessions: the time until `session/load` is answered, and until the next answer begins (spec §11).

The sessions are written straight into the store, turn by turn: a prompt, a `read` and its result, an answer, the end.
Each load is by a process of its own that had a second to rest, as an editor's server has. The last line compares 10,000
entries with 1,000: what grows linearly takes ten times as long.
"""

import tempfile
import time
from collections.abc import Mapping
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


def load(env: Mapping[str, str], folder: str, session: SessionId) -> tuple[float, float]:
    """Milliseconds until the session is loaded, and from a prompt to the first delta of its answer."""
    with Peer([OURS, "acp"], "acp", env) as peer:
        peer.answer(peer.send("initialize", INITIALIZE_ACP))
        time.sleep(1)
        began = time.perf_counter()
        wanted: dict[str, object] = {"sessionId": session, "cwd": folder, "mcpServers": []}
        request = peer.send("session/load", wanted)
        while b'"session/update"' in (body := peer.read_body()):
            pass
        if b'"error"' in body:
            raise RuntimeError(f"request {request} failed: {body!r}")
        loaded = time.perf_counter()
        time.sleep(1)
        asked = time.perf_counter()
        prompt = [{"type": "text", "text": "say 1"}]
        peer.send("session/prompt", {"sessionId": session, "prompt": prompt})
        while b"agent_message_chunk" not in peer.read_body():
            pass
        return (loaded - began) * 1000, (time.perf_counter() - asked) * 1000


def main() -> None:
    """Measure and print."""
    print(f"{'entries':>8}{'load ms':>10}{'goal':>8}{'next first delta ms':>22}{'goal':>8}")
    with tempfile.TemporaryDirectory() as folder, serving_model() as base_url:
        env = configured(folder, base_url)
        loads: list[float] = []
        for turns, goal in ((SHORT, "25"), (1_000 // PER_TURN, "-"), (10_000 // PER_TURN, "1,000")):
            session = anyio.run(write, Path(env["AGENT_SERVER_HOME"]), folder, turns)
            times = [load(env, folder, session) for _ in range(TIMES)]
            loads.append(median([loaded for loaded, _ in times]))
            first = median([first for _, first in times])
            print(f"{turns * PER_TURN:>8}{loads[-1]:>10.1f}{goal:>8}{first:>22.1f}{'50':>8}")
        print(f"10,000 entries take {loads[2] / loads[1]:.1f} times as long as 1,000 (linear: 10)")


if __name__ == "__main__":
    main()
