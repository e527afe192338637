"""The process that litellm lives in: `python -m agent_server.providers.litellm_worker`, JSON lines on stdin and stdout.

litellm takes 3–10 s and 200 MB to import, prints on stdout, reads `.env` files and stalls its thread; none of that may
happen in the server. Here it gets only the environment it needs, and the process ends with its parent (end of stdin).

In:  {"op": "stream", "id": 1, "call": {arguments of litellm.acompletion}}      {"op": "cancel", "id": 1}
Out: {"ready": true}   {"fatal": sentence}
     {"id": 1, "chunk": {...}} …   then one of
     {"id": 1, "end": true}   {"id": 1, "closed": true}   {"id": 1, "error": {status, kind, message, headers}}
"""

import asyncio
import json
import os
import re
import sys
import threading
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, BinaryIO

from agent_server.providers.waits import HEADERS

GUARDS: Mapping[str, str] = {
    "LITELLM_OFFLINE_MODE": "true",  # no price table, no tokenizers from the network
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",  # in its default mode it loads a `.env` from above its own folder
    "REPEATED_STREAMING_CHUNK_LIMIT": "1000000000",  # else a table of `, 0x00` kills the stream
}
ALWAYS: Mapping[str, object] = {
    "stream": True,
    "stream_options": {"include_usage": True},
    "num_retries": 0,  # retries are the loop's
    "max_retries": 0,
}


_LABELS = "_FINISH_REASON_MAP"


class Worker:
    """Runs streams, each as a task, and writes what comes of them."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source = source
        self._sink = sink
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._litellm: Any = None

    async def run(self) -> None:
        """Serve until stdin ends, which ends the process."""
        loop = asyncio.get_running_loop()
        # A thread, so that the end of the parent is seen while the import below blocks everything else.
        threading.Thread(target=self._listen, args=(loop,), daemon=True).start()
        self._litellm = _imported()
        self._send({"ready": True})
        await asyncio.Event().wait()

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        for line in self._source:
            loop.call_soon_threadsafe(self._take, json.loads(line))
        os._exit(0)

    def _take(self, message: Mapping[str, Any]) -> None:
        number: int = message["id"]
        match message["op"]:
            case "stream":
                self._tasks[number] = asyncio.create_task(self._stream(number, message["call"]))
            case _:
                if task := self._tasks.get(number):
                    task.cancel()

    async def _stream(self, number: int, call: Mapping[str, Any]) -> None:
        try:
            # Without aclosing, a stream that is left early keeps its connection open.
            async with aclosing(await self._litellm.acompletion(**call, **ALWAYS)) as chunks:
                async for chunk in chunks:
                    self._send({"id": number, "chunk": plain(chunk)})
            self._send({"id": number, "end": True})
        except asyncio.CancelledError:
            self._send({"id": number, "closed": True})
        except Exception as error:  # noqa: BLE001 - the boundary: whatever it is, the parent is told
            self._send({"id": number, "error": described(error)})
        finally:
            del self._tasks[number]

    def _send(self, message: Mapping[str, object]) -> None:
        self._sink.write(json.dumps(message, default=str).encode() + b"\n")
        self._sink.flush()


def _imported() -> Any:
    # Here and nowhere else: see the module's first lines.
    import litellm

    litellm.suppress_debug_info = True  # else every error prints an advertisement
    litellm.drop_params = True
    _keep_labels()
    return litellm


def _keep_labels() -> None:
    """Let labels through as the provider says them where litellm makes `stop` of them, also of those of failures."""
    try:
        from litellm.litellm_core_utils import core_helpers
    except ImportError:  # another version: then its labels are taken as it says them
        return
    known: Mapping[str, str] = getattr(core_helpers, _LABELS, {})

    class Labels(dict[str, str]):
        """litellm's table of labels, in which each that means no more than `stop` means itself."""

        def get(self, label: Any, default: Any = None) -> Any:
            """What a label becomes."""
            meaning = known.get(label) if isinstance(label, str) else None
            return label if meaning in (None, "stop") else meaning

    setattr(core_helpers, _LABELS, Labels(known))


def plain(chunk: Any) -> dict[str, Any]:
    """A chunk as JSON, without what is None."""
    whole: dict[str, Any] = chunk.model_dump(exclude_none=True)
    return {key: whole[key] for key in ("choices", "usage") if key in whole}


def described(error: Exception) -> dict[str, Any]:
    """What the parent needs of an error to find its fault."""
    response: Any = getattr(error, "response", None)
    found: dict[str, str] = {}
    for headers in (
        getattr(error, "litellm_response_headers", None),
        getattr(response, "headers", None),
    ):
        found.update({name: str(headers[name]) for name in HEADERS if headers and name in headers})
    return {
        "status": getattr(error, "status_code", None),
        "kind": type(error).__name__,
        "message": _words(str(error)) or "it gave no reason",
        "headers": found,
    }


_CLASSES = r"(litellm\.)?\w*(Error|Exception|Timeout)\b\s*[:-]\s*|litellm\.\w+: "
_INTERNAL = re.compile(
    r"\bobject (has no attribute|is not \w+|does not support)|^'?\w+'?$|validation errors? for \w+"
    r"|unexpected keyword argument|\bNoneType\b|indices must be|index out of range"
)
"""What Python says about code that met something it did not expect; no user can make anything of that."""


def _words(message: str) -> str:
    """The provider's words without the names of litellm's classes before them and its own story behind them."""
    words = message.partition("Original exception:")[0]
    words = re.sub(rf"^({_CLASSES})+", "", words).strip()
    return "litellm could not read its answer" if _INTERNAL.search(words) else words


def main() -> None:
    """Keep the pipes for ourselves, then serve."""
    os.environ.update(GUARDS)
    os.environ.pop("LITELLM_LOG", None)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout = sys.stderr
    try:
        asyncio.run(Worker(source, sink).run())
    except ImportError as error:
        sink.write(json.dumps({"fatal": f"litellm cannot be imported: {error}"}).encode() + b"\n")
        sink.flush()
        raise


if __name__ == "__main__":
    main()
