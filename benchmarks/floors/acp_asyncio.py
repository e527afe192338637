"""The smallest asyncio agent: answers `initialize` and `session/new`, nothing else. The floor for ACP in Python."""

import asyncio
import json
import sys


async def main() -> None:
    """Serve until stdin ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        message = json.loads(line)
        result = (
            {"protocolVersion": 1} if message["method"] == "initialize" else {"sessionId": "s1"}
        )
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


asyncio.run(main())
