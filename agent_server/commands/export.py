"""`sessions export`: a session as a document, without the credentials of this environment."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import aclosing

from agent_server.commands.output import say
from agent_server.config import Home
from agent_server.config_load import load
from agent_server.export.conversation import About
from agent_server.export.formats import Format, document
from agent_server.loop.errors import AgentServerError
from agent_server.loop.model import SessionId
from agent_server.store.records import SessionRecord
from agent_server.store.sessions import SessionStore
from agent_server.trace import secret_values


async def export_session(
    home: Home, session: str, form: Format, *, output: str | None, environ: Mapping[str, str]
) -> int:
    """Write the document to `output`, a file that only this user may read, or to stdout.

    Raises:
        UnknownSession: no session has that id.
        StoreFailure: it cannot be read.
        AgentServerError: the file cannot be written.
    """
    async with aclosing(SessionStore(home.sessions_db)) as store:
        record = await store.read(SessionId(session))
        log = await store.open_log(record.id)
    text = document(form, _about(record), log.entries, secrets=_secrets(home, environ))
    # A text that is no Unicode was written by a tool or a model, and shall not cost the document.
    data = text.encode("utf-8", "backslashreplace")
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return 0
    _write(output, data)
    say(f"Session {record.id} was written to {output}")
    return 0


def _about(record: SessionRecord) -> About:
    return About(
        id=record.id,
        title=record.title,
        cwd=record.cwd,
        model=record.model,
        created=record.created.isoformat(timespec="seconds"),
        updated=record.updated.isoformat(timespec="seconds"),
    )


def _secrets(home: Home, environ: Mapping[str, str]) -> Iterator[str]:
    """The values of variables that are called like a credential, or that the settings name as one."""
    for value in secret_values(environ):
        yield value.decode("utf-8", "surrogateescape")
    settings, _ = load(home, None, environ, {})
    for entry in (*settings.providers.values(), *settings.fallback_providers):
        yield environ.get(entry.api_key_env or "", "")


def _write(path: str, data: bytes) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        raise AgentServerError(f"{path} cannot be written: {error.strerror}") from error
