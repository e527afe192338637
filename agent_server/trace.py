"""`--trace FILE`: every frame in and out, one JSON line each, with the values of credentials masked."""

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from typing import Literal

MASK = b"[masked]"
SHORTEST_SECRET = 8
"""Shorter values of such variables are flags and names; masking them would riddle the trace."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


def open_trace(
    path: str, environ: Mapping[str, str]
) -> Callable[[Literal["in", "out"], bytes], None]:
    """A function that appends a frame to the file at `path`, readable by its owner alone; open until we end.

    Raises:
        OSError: the file cannot be written.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    secrets = secret_values(environ)

    def write(direction: Literal["in", "out"], frame: bytes) -> None:
        for secret in secrets:
            frame = frame.replace(secret, MASK)
        text = frame.decode("utf-8", "replace").strip()
        line = {"at": round(time.time(), 6), "direction": direction, "frame": text}
        os.write(
            descriptor, json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        )

    return write


def secret_values(environ: Mapping[str, str]) -> tuple[bytes, ...]:
    """The values of the environment's credentials, longest first, also as JSON would write them."""
    values = {
        v for name, v in environ.items() if _SECRET_NAME.search(name) and len(v) >= SHORTEST_SECRET
    }
    values |= {json.dumps(v, ensure_ascii=False)[1:-1] for v in values}
    return tuple(
        sorted((v.encode("utf-8", "surrogateescape") for v in values), key=len, reverse=True)
    )
