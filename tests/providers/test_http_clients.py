"""What goes over the wire and through which connection, whatever is asked for."""

import gzip
import ssl
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
from anyio.abc import ByteReceiveStream, ByteStream, SocketAttribute, SocketStream
from anyio.streams.tls import TLSStream

from agent_server.providers.http_address import completions
from agent_server.providers.http_clients import HttpClients
from agent_server.providers.http_connection import Connection
from agent_server.providers.http_errors import BrokenOff, Unreachable, Unusable
from agent_server.providers.http_way import way
from tests.waiting import wait_until_async

pytestmark = pytest.mark.anyio

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
CERTIFICATE = Path(__file__).with_name("tls") / "localhost.pem"
"""For this machine and model.example, signed by itself, with its key; of no use anywhere else."""


@asynccontextmanager
async def answering(
    *answers: bytes, proxied: bool = False, tls: bool = False
) -> AsyncGenerator[tuple[str, list[bytes]]]:
    """Gives each connection one answer after the other: its host and port, and the heads of the requests.

    `proxied`: agrees to be a proxy first. `tls`: speaks TLS, after that.
    """
    heads: list[bytes] = []

    async def head(stream: ByteReceiveStream) -> bool:
        got = b""
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while b"\r\n\r\n" not in got:
                got += await stream.receive()
        heads.extend([got] if got else [])
        return bool(got)

    async def serve(stream: SocketStream) -> None:
        async with stream:
            if proxied and await head(stream):
                await stream.send(b"HTTP/1.1 200 Connected\r\n\r\n")
            try:
                secured: ByteStream = await _secured(stream) if tls else stream
            except (ssl.SSLError, anyio.EndOfStream, anyio.BrokenResourceError):
                return  # we are not trusted
            for answer in answers:
                if not await head(secured):
                    return
                await secured.send(answer)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    with anyio.fail_after(10):
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, serve)
            port = listener.extra(SocketAttribute.local_port)
            yield f"127.0.0.1:{port}", heads
            group.cancel_scope.cancel()


async def _secured(stream: SocketStream) -> ByteStream:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return await TLSStream.wrap(
        stream, server_side=True, ssl_context=context, standard_compatible=False
    )


async def asked(
    url: str, headers: dict[str, str] | None = None, *, times: int = 1
) -> tuple[int, bytes]:
    """Status and body, of the last time."""
    clients, said = HttpClients(), (0, b"")
    try:
        for _ in range(times):
            async with clients.post(url, b"{}", headers or {}, connect_s=5) as answer:
                said = answer.status, b"".join([data async for data in answer.chunks()])
        return said
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


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data)[2:-4]


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("GZIP", gzip.compress(b"hi")),
        ("x-gzip", gzip.compress(b"hi")),
        ("gzip, gzip", gzip.compress(gzip.compress(b"hi"))),
        ("deflate", zlib.compress(b"hi")),
        ("deflate", raw_deflate(b"hi")),
        ("Identity", b"hi"),
    ],
    ids=["GZIP", "x-gzip", "twice", "deflate", "raw deflate", "Identity"],
)
async def test_a_coding_is_undone_however_it_is_written(coding: str, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n"
    async with answering(head.encode() + body) as (place, _):
        assert await asked(f"http://{place}/") == (200, b"hi")


async def test_a_coding_that_is_not_known_is_named() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n"
    async with answering(head + b"hi") as (place, _):
        with pytest.raises(BrokenOff, match="packed as br"):
            await asked(f"http://{place}/")


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

    assert way(urlsplit("https://model.example/v1")).proxy is None


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


async def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again() -> None:
    clients = HttpClients()
    async with answering(OK) as (place, heads):
        for asked_before in range(2):
            async with clients.post(f"http://{place}/", b"{}", {}, connect_s=5) as answer:
                assert [data async for data in answer.chunks()] == [b"hi"]
            assert len(heads) == asked_before + 1
            ((kept, _),) = clients._idle["http", place]
            await wait_until_async(partial(getattr, kept, "stale"))
    await clients.aclose()


async def test_an_answer_that_ends_with_its_connection_is_whole() -> None:
    async with answering(CLOSING + b"hi") as (place, _):
        assert await asked(f"http://{place}/") == (200, b"hi")


async def test_an_answer_shorter_than_it_said_is_broken() -> None:
    async with answering(OK[:-1]) as (place, _):
        with pytest.raises(BrokenOff):
            await asked(f"http://{place}/")


async def test_what_comes_before_the_answer_proper_is_passed_over() -> None:
    async with answering(b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK) as (place, _):
        assert await asked(f"http://{place}/") == (200, b"hi")


async def test_tls_is_spoken_with_whom_the_environment_trusts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    async with answering(OK, OK, tls=True) as (place, heads):
        assert await asked(f"https://{place}/v1", times=2) == (200, b"hi")

    assert heads[0].startswith(b"POST /v1 HTTP/1.1\r\n")


async def test_tls_is_not_spoken_with_anybody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    async with answering(OK, tls=True) as (place, heads):
        with pytest.raises(Unreachable, match="certificate"):
            await asked(f"https://{place}/")

    assert heads == []


async def test_tls_goes_through_a_proxy_that_sees_the_place_and_not_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    async with answering(OK, proxied=True, tls=True) as (place, heads):
        monkeypatch.setenv("https_proxy", f"http://me:pass@{place}")
        monkeypatch.delenv("no_proxy", raising=False)
        said = await asked("https://model.example/v1", {"Authorization": "Bearer k"})

    to_proxy, inside = heads
    assert said == (200, b"hi")
    assert to_proxy.startswith(b"CONNECT model.example:443 HTTP/1.1\r\nHost: model.example:443\r\n")
    assert b"Proxy-Authorization: Basic bWU6cGFzcw==\r\n" in to_proxy
    assert b"Bearer" not in to_proxy
    assert b"Proxy-Authorization" not in inside
    assert inside.startswith(b"POST /v1 HTTP/1.1\r\nHost: model.example\r\n")


async def test_a_proxy_that_refuses_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n"
    async with answering(refusal) as (place, _):
        monkeypatch.setenv("https_proxy", place)
        monkeypatch.delenv("no_proxy", raising=False)
        with pytest.raises(Unreachable, match="the proxy answered 407"):
            await asked("https://model.example/v1")


async def test_more_than_the_answer_makes_a_connection_of_no_further_use() -> None:
    async with answering(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", OK) as (
        place,
        heads,
    ):
        assert await asked(f"http://{place}/", times=2) == (200, b"hi")

    assert len(heads) == 2


async def test_a_refusal_that_comes_before_the_body_was_sent_is_read() -> None:
    class Refusing(ByteStream):
        async def send(self, item: bytes) -> None:
            raise anyio.BrokenResourceError

        async def send_eof(self) -> None: ...

        async def receive(self, max_bytes: int = 65536) -> bytes:
            return b"HTTP/1.1 413 Too large\r\nContent-Length: 0\r\n\r\n"

        async def aclose(self) -> None: ...

    status, _ = await Connection(Refusing()).ask(
        "POST", "/", [(b"Host", b"h"), (b"Content-Length", b"2")], b"{}"
    )

    assert status == 413


@pytest.mark.parametrize(
    ("given", "asked_at"),
    [
        ("http://h/v1", "http://h/v1/chat/completions"),
        (" http://h/v1// ", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions/", "http://h/v1/chat/completions"),
        ("http://h/v1?api-version=1", "http://h/v1/chat/completions?api-version=1"),
        ("http://h/v1/chat/completions?a=1", "http://h/v1/chat/completions?a=1"),
    ],
)
async def test_the_address_of_completions_is_made_of_whatever_was_pasted(
    given: str, asked_at: str
) -> None:
    assert completions(given) == asked_at
