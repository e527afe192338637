"""What a line of the edit journal says beside its columns ↔ bytes. The stored form is ours to keep stable."""

from dataclasses import replace
from typing import get_args

from agent_server.edits.encodings import Encoding
from agent_server.edits.files import Form
from agent_server.edits.journal import Cause, Content, FileRecord, KeptDecision, Kind, Line
from agent_server.loop.model import SessionId, TurnId
from agent_server.loop.proposal import EditState
from agent_server.store.codec import from_bytes, to_bytes
from agent_server.store.fields import (
    Damaged,
    JsonValue,
    as_object,
    choice,
    flag,
    lines,
    many,
    number,
    optional_number,
    optional_text,
    text,
)
from agent_server.store.values import CHANGE_KINDS, Json, present, read_key, write_key

VERSION = 1
STATES: dict[str, EditState] = {value: value for value in get_args(EditState)}
KINDS: dict[str, Kind] = {value: value for value in get_args(Kind)}


def encode(line: Line) -> bytes:
    """The body of a line."""
    body: Json = {"v": VERSION}
    if line.files is not None:  # empty says that nothing stands, absent that nothing changed
        body["files"] = [_write_file(file) for file in line.files]
    if line.decisions is not None:
        body["decisions"] = [_write_decision(one) for one in line.decisions]
    return to_bytes(
        body
        | present(
            cause=None if line.cause is None else _write_cause(line.cause),
            turn=line.turn,
            message=line.message,
            gated=line.gated or None,
            waits=line.waits or None,
        )
    )


def decode(line: Line, body: bytes) -> Line:
    """The line whose columns are given, with what its body says.

    Raises:
        Damaged: the body is not ours, or a newer program wrote it.
    """
    fields = as_object(from_bytes(body), "the line")
    if number(fields, "v") > VERSION:
        raise Damaged("it was written by a newer agent-server")
    turn, cause = optional_text(fields, "turn"), fields.get("cause")
    return replace(
        line,
        files=None if fields.get("files") is None else many(fields, "files", _read_file),
        cause=None if cause is None else _read_cause(as_object(cause, "'cause'")),
        turn=None if turn is None else TurnId(turn),
        message=optional_text(fields, "message"),
        gated=fields.get("gated") is not None and flag(fields, "gated"),
        decisions=(
            None if fields.get("decisions") is None else many(fields, "decisions", _read_decision)
        ),
        waits=fields.get("waits") is not None and flag(fields, "waits"),
    )


def _write_decision(decision: KeptDecision) -> Json:
    return present(
        path=decision.path, hunk=decision.hunk, accept=decision.accept, hash=decision.edited
    )


def _read_decision(fields: JsonValue) -> KeptDecision:
    return KeptDecision(
        text(fields, "path"),
        optional_text(fields, "hunk"),
        flag(fields, "accept"),
        optional_text(fields, "hash"),
    )


def _write_cause(cause: Cause) -> Json:
    call = None if cause.call is None else write_key(cause.call)
    return present(kind=cause.kind, title=cause.title, call=call, of=cause.of, agent=cause.agent)


def _read_cause(fields: JsonValue) -> Cause:
    call, agent = fields.get("call"), optional_text(fields, "agent")
    return Cause(
        choice(fields, "kind", KINDS),
        text(fields, "title"),
        None if call is None else read_key(as_object(call, "'call'")),
        optional_text(fields, "of"),
        None if agent is None else SessionId(agent),
    )


def _write_file(file: FileRecord) -> Json:
    return present(
        path=file.path,
        kind=file.kind,
        before=None if file.before is None else _write_content(file.before),
        after=None if file.after is None else _write_content(file.after),
        old_path=file.old_path,
        folders=list(file.folders),
    )


def _read_file(fields: JsonValue) -> FileRecord:
    before, after = fields.get("before"), fields.get("after")
    return FileRecord(
        text(fields, "path"),
        choice(fields, "kind", CHANGE_KINDS),
        None if before is None else _read_content(as_object(before, "'before'")),
        None if after is None else _read_content(as_object(after, "'after'")),
        optional_text(fields, "old_path"),
        lines(fields, "folders"),
    )


def _write_content(content: Content) -> Json:
    form = content.form
    if form is None:
        return present(hash=content.hash, digest=content.digest)
    return present(
        hash=content.hash,
        digest=content.digest,
        codec=form.encoding.codec,
        bom=form.encoding.bom.hex() or None,
        mode=form.mode,
    )


def _read_content(fields: JsonValue) -> Content:
    codec, bom = optional_text(fields, "codec"), optional_text(fields, "bom") or ""
    try:
        encoding = None if codec is None else Encoding(codec, bytes.fromhex(bom))
    except ValueError as error:
        raise Damaged(f"'bom' is no byte order mark: {bom!r}") from error
    form = None if encoding is None else Form(encoding, optional_number(fields, "mode"))
    return Content(text(fields, "hash"), form, optional_text(fields, "digest"))
