"""Whatever a client sends, each request is answered once and in order, and the next good one works (P2, P3, PR)."""

import json
from pathlib import Path

import pytest

from tests.e2e.support import WIRES, Place, Server, Wire, ends_of, running, shell
from tests.fakes.acp_client import NEVER, Message, prompt_params
from tests.fakes.answers import call, say
from tests.fakes.model_server import ModelServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(60),
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="descendants are found there"
    ),
]
both_wires = pytest.mark.parametrize("wire", WIRES)

TOO_LARGE = b'{"jsonrpc":"2.0","id":7,"method":"x","params":"' + b"x" * (33 << 20) + b'"}'
BAD_BODIES = (
    (b'{"jsonrpc":"2.0","method":"x","params":', -32700),
    (b"\xff\xfe", -32700),
    (b"1", -32600),
    (b'"a"', -32600),
    (b"[]", -32600),
    (b"null", -32600),
    (b'{"method":5}', -32600),
    (b'{"jsonrpc":"2.0","id":{},"method":"x"}', -32600),
    (TOO_LARGE, -32600),
)


def framed(wire: Wire, body: bytes) -> bytes:
    """A body as this wire carries it."""
    return body + b"\n" if wire == "acp" else b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def listed(server: Server) -> bool:
    """Whether a good request is still answered."""
    return "sessions" in await server.client.request("session/list", {})


@both_wires
async def test_every_bad_message_is_refused_by_its_kind_and_a_good_one_works_after_each(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    async with running(place, wire) as server:
        client = server.client
        for body, code in BAD_BODIES:
            seen = len(client.received)
            await client.send(framed(wire, body))
            assert await listed(server)
            errors = [m["error"]["code"] for m in client.received[seen:] if "error" in m]
            assert errors == [code], body[:80]
        for method, params, code in (
            ("session/nonsense", {}, -32601),
            ("session/new", None, -32602),
            ("session/new", [], -32602),
            ("session/new", {"cwd": "relative"}, -32602),
            ("session/new", {"cwd": str(place.root / "gone")}, -32602),
            ("session/prompt", {"sessionId": "none", "prompt": []}, None),
        ):
            request = await client.ask(method, params)
            answer = await client.until(lambda m, r=request: m.get("id") == r)
            assert answer["error"]["code"] == code or code is None, answer
            assert answer["error"]["message"]
            assert await listed(server)
        seen = len(client.received)
        await client.notify("$/nonsense", {})
        await client.notify("nonsense", {})
        await client.notify("session/cancel", {"sessionId": "none"})
        assert await listed(server)
        assert len(client.received) == seen + 1


async def test_a_line_too_large_is_not_kept_in_memory(tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    async with running(place) as server:
        await server.client.new(str(place.workspace))
        before = peak_kib(server)
        for _ in range(3):
            await server.client.send(TOO_LARGE + b"\n")
        assert await listed(server)

        assert peak_kib(server) - before < 2 * (33 << 10)


def peak_kib(server: Server) -> int:
    """The most memory that the process ever had."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


@both_wires
async def test_a_prompt_with_five_megabytes_of_a_file_reaches_the_model(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    text = "five megabytes " * 350_000
    async with ModelServer([say("seen")]) as model, running(place, wire, model=model) as server:
        session = await server.client.new(str(place.workspace))
        embedded = {"uri": "file:///big.txt", "mimeType": "text/plain", "text": text}
        prompt = [
            {"type": "text", "text": "look"},
            {"type": "resource", "resource": embedded},
        ]
        params = {"sessionId": session, "prompt": prompt}
        result = await server.client.request("session/prompt", params)

        assert result["stopReason"] == "end_turn"
        assert text.strip() in str(model.bodies[0]["messages"])


@both_wires
async def test_of_two_hundred_new_sessions_each_response_is_the_first_line_that_names_it(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    async with running(place, wire) as server:
        client = server.client
        params = {"cwd": str(place.workspace), "mcpServers": []}
        requests = range(1_000, 1_200)
        await client.tell(*({"id": r, "method": "session/new", "params": params} for r in requests))
        made = [(await client.response(request))["sessionId"] for request in requests]
        assert await listed(server)

        lines = [json.dumps(m) for m in client.received]
        for request, session in zip(requests, made, strict=True):
            first = next(at for at, line in enumerate(lines) if session in line)
            assert client.received[first].get("id") == request
        assert len(set(made)) == 200


@both_wires
async def test_every_update_of_a_turn_comes_before_the_answer_to_its_prompt(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    steps = [shell("echo one; echo two"), {"text": "all " * 200, "chunk": 3}]
    async with running(place, wire, env={"AGENT_SERVER_MODEL": place.script(*steps)}) as server:
        client = server.client
        sessions = [await client.new(str(place.workspace)) for _ in range(6)]
        prompts = {
            session: await client.ask("session/prompt", prompt_params(session, "go"))
            for session in sessions
        }
        for session, prompt in prompts.items():
            assert (await client.response(prompt))["stopReason"] == "end_turn"
            assert client.text(session) == "I run it." + "all " * 200
        assert await listed(server)

        for session, prompt in prompts.items():
            [answer] = ends_of(client, prompt)
            after = client.received[client.received.index(answer) + 1 :]
            assert [m for m in after if _is_of(m, session)] == []


def _is_of(message: Message, session: str) -> bool:
    params = message.get("params") or {}
    return message.get("method") == "session/update" and params.get("sessionId") == session


@both_wires
async def test_one_session_waits_for_an_answer_while_another_is_made_and_works(
    wire: Wire, tmp_path: Path
) -> None:
    """CP-13."""
    place = Place.at(tmp_path)
    script = [call("shell", command="true"), say("for b"), say("for a")]
    async with ModelServer(script) as model, running(place, wire, model=model) as server:
        client = server.client
        waiting = list[Message]()
        client.answer = lambda _, message: waiting.append(message) or NEVER
        first = await client.new(str(place.workspace))
        prompt = await client.ask("session/prompt", prompt_params(first, "a"))
        await client.until(lambda m: m.get("method") == "session/request_permission")
        second = await client.new(str(place.workspace))
        assert (await client.prompt(second, "b"))["stopReason"] == "end_turn"
        assert ends_of(client, prompt) == []
        [question] = waiting
        option = question["params"]["options"][0]["optionId"]
        outcome = {"outcome": {"outcome": "selected", "optionId": option}}
        await client.tell({"id": question["id"], "result": outcome})

        assert (await client.response(prompt))["stopReason"] == "end_turn"
        assert (client.text(first), client.text(second)) == ("for a", "for b")
        assert model.refused == []


@both_wires
async def test_a_second_prompt_waits_its_turn_and_a_cancel_spares_it(
    wire: Wire, tmp_path: Path
) -> None:
    """CP-14."""
    place = Place.at(tmp_path)
    env = {"AGENT_SERVER_MODEL": place.script({"text": "one", "hang": True}, {"text": "two"})}
    async with running(place, wire, env=env) as server:
        client = server.client
        session = await client.new(str(place.workspace))
        first = await client.ask("session/prompt", prompt_params(session, "1"))
        second = await client.ask("session/prompt", prompt_params(session, "2"))
        await client.until(lambda m: "agent_message_chunk" in str(m))
        assert await listed(server)
        await client.notify("session/cancel", {"sessionId": session})

        assert (await client.response(first))["stopReason"] == "cancelled"
        assert (await client.response(second))["stopReason"] == "end_turn"
        assert client.text(session) == "onetwo"


async def test_thirty_requests_cancelled_behind_a_slow_one_are_each_refused_as_cancelled(
    tmp_path: Path,
) -> None:
    """CP-17."""
    place = Place.at(tmp_path)
    env = {"AGENT_SERVER_MODEL": place.script({"text": "slow", "hang": True})}
    async with running(place, "lsp", env=env) as server:
        client = server.client
        session = await client.new(str(place.workspace))
        slow = await client.ask("session/prompt", prompt_params(session, "1"))
        await client.until(lambda m: "agent_message_chunk" in str(m))
        params = {"cwd": str(place.workspace), "mcpServers": []}
        many = range(100, 130)
        await client.tell(
            *({"id": r, "method": "session/new", "params": params} for r in many),
            *({"method": "$/cancel_request", "params": {"requestId": r}} for r in many),
        )
        for request in many:
            answer = await client.until(lambda m, r=request: m.get("id") == r)
            assert answer["error"]["code"] == -32800
        assert len((await client.request("session/list", {}))["sessions"]) == 1
        assert ends_of(client, slow) == []


@both_wires
async def test_a_command_that_reads_gets_the_end_of_input_and_none_of_the_clients_bytes(
    wire: Wire, tmp_path: Path
) -> None:
    """PR-09."""
    place = Place.at(tmp_path)
    script = [
        call(
            "shell", command="cat; read x; python3 -c 'input()' 2>/dev/null; echo ov''er; sleep 30"
        ),
        say("done"),
    ]
    async with ModelServer(script) as model, running(place, wire, model=model) as server:
        client = server.client
        session = await client.new(str(place.workspace))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        await client.until(lambda m: m.get("method") == "session/request_permission")
        for _ in range(20):
            assert await listed(server)
        await client.until(lambda m: "over" in str(m.get("params", {}).get("update", "")))
        assert await listed(server)
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.response(prompt))["stopReason"] == "cancelled"


async def test_a_command_that_prints_fifty_megabytes_is_cut_for_the_model_and_costs_no_memory(
    tmp_path: Path,
) -> None:
    """ST-21."""
    place = Place.at(tmp_path)
    command = "echo fi''rst; head -c 52428800 /dev/zero | tr '\\0' '#'; echo; echo la''st"
    script = [call("shell", command=command), say("done")]
    async with ModelServer(script) as model, running(place, model=model) as server:
        session = await server.client.new(str(place.workspace))
        before = peak_kib(server)
        assert (await server.client.prompt(session, "go"))["stopReason"] == "end_turn"

        [told] = [m["content"] for m in model.bodies[1]["messages"] if m["role"] == "tool"]
        assert "first" in told
        assert "last" in told
        assert "the whole output is in" in told
        assert len(told) < 100_000
        assert sum(len(json.dumps(m)) for m in server.client.received) < 5_000_000
        assert peak_kib(server) - before < 40 << 10
