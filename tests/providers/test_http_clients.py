"""What goes over the wire and through which connection, whatever is asked for."""

import gzip
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from agent_server.providers.http_clients import BrokenOff, HttpClients, Unusable, _proxy, _split

pytestmark = pytest.mark.anyio

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


@asynccontextmanager
async def answering(answer: bytes) -> AsyncGenerator[tuple[str, list[bytes]]]:
    """Answers each request with the same bytes: its host and port, and the heads of the requests."""
    heads: list[bytes] = []

    async def serve(stream: SocketStream) -> None:
        async with stream:
            got = b""
            while b"\r\n\r\n" not in got:
                got += await stream.receive()
            heads.append(got)
            await stream.send(answer)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    with anyio.fail_after(10):
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, serve)
            port = listener.extra(SocketAttribute.local_port)
            yield f"127.0.0.1:{port}", heads
            group.cancel_scope.cancel()


async def asked(url: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    clients = HttpClients()
    try:
        async with clients.post(url, b"{}", headers or {}, connect_s=5) as answer:
            return answer.status, b"".join([data async for data in answer.chunks()])
    finally:
        await clients.aclose()


async def test_the_head_says_where_to_how_much_and_that_nothing_be_packed() -> None:
    async with answering(OK) as (place, heads):
        assert await asked(f"http://{place}/v1/x?y=1", {"X-Own": "1"}) == (200, b"hi")

    first, *lines = heads[0].decode().splitlines()
    assert first == "POST /v1/x?y=1 HTTP/1.1"
    assert {f"Host: {place}", "Content-Length: 2", "Accept-Encoding: identity", "X-Own: 1"} <= set(
        lines
    )


async def test_a_body_that_is_packed_all_the_same_is_unpacked() -> None:
    body = gzip.compress(b"data: {}")
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    async with answering(head.encode() + body) as (place, _):
        assert await asked(f"http://{place}/") == (200, b"data: {}")


async def test_a_packed_body_that_cannot_be_unpacked_is_broken() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\noops"
    async with answering(answer) as (place, _):
        with pytest.raises(BrokenOff):
            await asked(f"http://{place}/")


async def test_what_is_no_http_is_broken() -> None:
    async with answering(b"220 smtp.example ESMTP\r\n") as (place, _):
        with pytest.raises(BrokenOff):
            await asked(f"http://{place}/")


async def test_a_login_in_the_address_is_sent_unless_there_is_a_key() -> None:
    async with answering(OK) as (place, heads):
        await asked(f"http://me:p%40ss@{place}/")
        await asked(f"http://me:p%40ss@{place}/", {"Authorization": "Bearer k"})

    assert b"Authorization: Basic bWU6cEBzcw==" in heads[0]
    assert heads[1].count(b"Authorization: ") == 1
    assert b"Authorization: Bearer k" in heads[1]


async def test_a_proxy_of_the_environment_gets_the_request_and_its_own_login(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with answering(OK) as (place, heads):
        monkeypatch.setenv("http_proxy", f"me:pass@{place}")
        monkeypatch.setenv("no_proxy", "other.example")
        assert await asked("http://model.example/v1") == (200, b"hi")

    assert heads[0].startswith(b"POST http://model.example/v1 HTTP/1.1\r\n")
    assert b"Host: model.example\r\n" in heads[0]
    assert b"Proxy-Authorization: Basic bWU6cGFzcw==\r\n" in heads[0]


@pytest.mark.parametrize("excepted", ["model.example", ".example", "*"])
async def test_what_the_environment_excepts_goes_past_the_proxy(
    monkeypatch: pytest.MonkeyPatch, excepted: str
) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", excepted)

    assert _proxy(urlsplit("https://model.example/v1")) is None


@pytest.mark.parametrize(
    "url", ["", "nonsense", "http://", "http://[::1/v1", "http://h:x/", "http://ü/"]
)
async def test_what_is_no_address_is_told_without_asking_anybody(url: str) -> None:
    with pytest.raises(Unusable):
        await asked(url)
    await HttpClients().warm(url)


@pytest.mark.parametrize("key", ["sk-ü", "sk-\n"])
async def test_a_header_that_cannot_be_sent_is_told_without_its_words(key: str) -> None:
    async with answering(OK) as (place, heads):
        with pytest.raises(Unusable) as caught:
            await asked(f"http://{place}/", {"Authorization": key})

    assert heads == []
    assert "sk-" not in f"{caught.value}{caught.value.__cause__}"


async def test_requests_that_come_while_the_pool_is_made_share_it() -> None:
    clients, url = HttpClients(), "http://127.0.0.1:9/v1"
    pools: list[object] = []

    async def take() -> None:
        pools.append(await clients._pool(_split(url)))

    async with anyio.create_task_group() as group:
        group.start_soon(clients.warm, url)
        group.start_soon(take)
        group.start_soon(take)

    assert pools[0] is pools[1]
    await clients.aclose()
