"""The smallest agent that streams: asyncio, a bare socket for the model, one line for each delta. No log, no tools."""

import asyncio
import json
import os
import sys
from typing import Any
from urllib.parse import urlsplit


def send(message: dict[str, Any]) -> None:
    """One line out, at once."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


async def prompt(request: dict[str, Any]) -> None:
    """Stream one answer, and close the connection whatever happens."""
    url = urlsplit(os.environ["OPENAI_BASE_URL"])
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    text = request["params"]["prompt"][0]["text"]
    body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    writer.write(
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )
    try:
        await stream(reader)
    except asyncio.CancelledError:
        send({"id": request["id"], "result": {"stopReason": "cancelled"}})
    else:
        send({"id": request["id"], "result": {"stopReason": "end_turn"}})
    finally:
        writer.close()


async def stream(reader: asyncio.StreamReader) -> None:
    """Each delta to the client, until the terminator."""
    while (line := await reader.readline()) != b"data: [DONE]\n":
        if not line.startswith(b"data: ") or not (choices := json.loads(line[6:])["choices"]):
            continue
        if text := choices[0]["delta"].get("content"):
            update = {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": text},
            }
            send({"method": "session/update", "params": {"sessionId": "s1", "update": update}})


async def main() -> None:
    """Serve until stdin ends."""
    loop = asyncio.get_running_loop()
    stdin = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    turn: asyncio.Task[None] | None = None
    while line := await stdin.readline():
        message = json.loads(line)
        match message["method"]:
            case "session/prompt":
                turn = asyncio.create_task(prompt(message))
            case "session/cancel":
                if turn is not None:
                    turn.cancel()
            case "initialize":
                send({"id": message["id"], "result": {"protocolVersion": 1}})
            case _:
                send({"id": message["id"], "result": {"sessionId": "s1"}})


asyncio.run(main())
