"""Judges a whole ACP conversation, message by message, as strictly as any client might.

Shapes by the v1 schema, per method (its root `anyOf` accepts everything); what a schema cannot say by hand: gating,
order, ids, absolute paths, 1-based lines, fields that nobody defined. Numbers of rules are those of docs/acp.md.
Used by every driver of the server, in memory and over pipes:

    oracle.sent(message)       # client → agent, as it is written
    oracle.received(message)   # agent → client, as it is read
    assert oracle.violations == []
"""

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parent / "acp_schema" / "v1.schema.json").read_text(encoding="utf-8")
)
UNSTABLE: dict[str, Any] = json.loads(
    (Path(__file__).parent / "acp_schema" / "v1.schema.unstable.json").read_text(encoding="utf-8")
)
"""For methods and capabilities that the stable schema does not have yet."""
EXTENSIONS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "protocol" / "schema.json").read_text(encoding="utf-8")
)
OURS = "_agent-server/"
QUIET_UPDATES = frozenset(
    {
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
        "notice",
    }
)
"""May come outside a turn (rule 17)."""
ENDED = ("completed", "failed")
Message = Mapping[str, Any]


@dataclass
class Oracle:
    """One connection. Violations are sentences; an empty list is a pass."""

    violations: list[str] = field(default_factory=list)
    _requests: dict[Any, Message] = field(default_factory=dict)
    """The client's open requests, by id."""
    _asked: dict[Any, Message] = field(default_factory=dict)
    """The agent's open requests, by id."""
    _used_ids: set[Any] = field(default_factory=set)
    _capabilities: Message = field(default_factory=dict)
    _sessions: set[str] = field(default_factory=set)
    _resumed: set[str] = field(default_factory=set)
    """Those that a client of ours resumed and that have not run a turn since."""
    _calls: dict[tuple[str, str], str] = field(default_factory=dict)
    """Status by session and call id."""
    _steered: set[str] = field(default_factory=set)
    """Sessions to which the client said something beside its prompts: their turns need no open prompt."""
    _busy: set[str] = field(default_factory=set)
    """Sessions whose status says that a turn runs."""

    def sent(self, message: Message) -> None:
        """The client wrote this."""
        if "method" not in message:
            self._asked.pop(message.get("id"), None)
        elif "id" in message:
            self._requests[message["id"]] = message
            if message["method"] == "initialize":
                self._capabilities = message["params"].get("clientCapabilities") or {}
            if message["method"] in ("session/load", "session/resume"):
                self._sessions.add(message["params"].get("sessionId"))
            if message["method"] == "session/prompt":
                self._resumed.discard(message["params"].get("sessionId"))
            if message["method"] == "session/resume" and _at(
                self._capabilities, "_meta", "agent-server"
            ):
                self._resumed.add(message["params"].get("sessionId"))
            if message["method"] == "session/load":
                self._forget_calls(message["params"].get("sessionId"))
            if message["method"] == f"{OURS}session/steer":
                self._steered.add(message["params"].get("sessionId"))

    def received(self, message: Message) -> None:
        """The agent wrote this."""
        if message.get("jsonrpc") != "2.0":
            self._violation("jsonrpc is not 2.0", message)
        if "method" not in message:
            self._response(message)
        elif "id" in message:
            self._request(message)
        else:
            self._notification(message)

    def finish(self) -> None:
        """The conversation is over: every request was answered."""
        for request in self._requests.values():
            self._violation("request was never answered", request)

    # ---- agent → client ----

    def _response(self, message: Message) -> None:
        if message.get("id") is None and "error" in message:
            return  # the answer to something that was no request
        request = self._requests.pop(message.get("id"), None)
        if request is None:
            self._violation("answers no open request", message)
            return
        if ("result" in message) == ("error" in message):
            self._violation("has not exactly one of result and error", message)
        if "error" in message:
            self._error(message["error"], message)
        elif request["method"].startswith("_"):
            self._extension(request["method"], "result", message["result"], message)
        else:
            self._shape(request["method"], "Response", "agent", message["result"], message)
        if request["method"] == "initialize" and "result" in message:
            able = message["result"].get("agentCapabilities") or {}
            offered = able.get("sessionCapabilities") or {}
            known = frozenset(UNSTABLE["$defs"]["SessionCapabilities"]["properties"])
            self._fields(offered, known, message)
        self._answered(request, message)

    def _answered(self, request: Message, message: Message) -> None:
        match request["method"]:
            case "session/new" | "session/fork" if "result" in message:
                session = message["result"].get("sessionId")
                if session in self._sessions:
                    self._violation("session was mentioned before its response (rule 14)", message)
                self._sessions.add(session)
            case "session/prompt":
                self._turn_ended(request["params"].get("sessionId"), message)
            case _:
                pass

    def _turn_ended(self, session: str, message: Message) -> None:
        if self._open("session/prompt", session):
            return  # another prompt is queued; its turn may have begun
        for (owner, call), status in self._calls.items():
            if owner == session and status not in ENDED:
                self._violation(f"turn ended while {call} is {status} (rule 29)", message)
        for asked in self._asked.values():
            if asked["params"].get("sessionId") == session and not asked.get("withdrawn"):
                self._violation("turn ended with an open request (rule 19)", asked)

    def _request(self, message: Message) -> None:
        if message["id"] in self._used_ids or message["id"] is None:
            self._violation("id is null or was used before", message)
        self._used_ids.add(message["id"])
        self._asked[message["id"]] = message
        method, params = message["method"], message.get("params") or {}
        if not method.startswith("_"):
            self._shape(method, "Request", "client", params, message)
        self._gate(method, message)
        self._paths(params, message)
        if method.startswith("fs/") and "_meta" in params:
            self._violation("fs request with _meta (rule 34)", message)
        if method == "session/request_permission":
            self._permission(params, message)

    def _permission(self, params: Message, message: Message) -> None:
        session, call = params.get("sessionId", ""), params.get("toolCall", {}).get("toolCallId")
        if not self._turn_runs(session):
            self._violation("permission request outside a turn (rule 36)", message)
        if self._calls.get((session, call)) != "pending":
            self._violation("permission for a call that is not pending (rule 29)", message)
        kinds = [option["kind"] for option in params.get("options", ())]
        if not {"allow_once", "reject_once"} <= set(kinds):
            self._violation("allow_once and reject_once are not both offered", message)

    def _notification(self, message: Message) -> None:
        method, params = message["method"], message.get("params") or {}
        self._gate(method, message)
        if method == "$/cancel_request":
            self._withdrawn(params.get("requestId"), message)
        elif method == "session/update":
            self._shape(method, "Notification", "client", params, message)
            self._paths(params, message)
            self._update(params.get("sessionId", ""), params.get("update", {}), message)
        elif method.startswith(OURS):
            if (session := params.get("sessionId")) not in self._sessions:
                self._violation(f"unknown session {session} (rule 14)", message)
            if method == f"{OURS}status":
                (self._busy.add if params.get("busy") else self._busy.discard)(str(session))
            self._extension(method, "params", params, message)
        else:
            self._violation("notification of no known method", message)

    def _withdrawn(self, request_id: Any, message: Message) -> None:
        if request_id not in self._used_ids:
            self._violation("withdraws a request that it never made", message)
        elif request_id in self._asked:  # else its answer crossed the withdrawal on the way
            self._asked[request_id] = {**self._asked[request_id], "withdrawn": True}

    def _update(self, session: str, update: Message, message: Message) -> None:
        kind = update.get("sessionUpdate", "")
        self._fields(update, _members("SessionUpdate"), message)
        self._terms((update.get("_meta") or {}).get("agent-server", {}), message)
        if session not in self._sessions:
            self._violation("update before the session's response (rule 14)", message)
        # A client of ours hears after a resume how calls ended that it saw begin.
        cut_off = session in self._resumed and update.get("status") in ENDED
        quiet = kind in QUIET_UPDATES or cut_off
        if not quiet and not self._turn_runs(session) and not self._open("session/load", session):
            self._violation(f"{kind} outside a turn (rule 17)", message)
        if kind == "notice" and not _at(self._capabilities, "session", "notices"):
            self._violation("notice to a client that has none", message)
        if kind == "notice" and self._open("session/load", session):
            self._violation("notice in a replay (rule 15)", message)
        if kind in ("tool_call", "tool_call_update") and not cut_off:
            self._call(session, update, message)

    def _call(self, session: str, update: Message, message: Message) -> None:
        key = (session, update.get("toolCallId", ""))
        first = update["sessionUpdate"] == "tool_call"
        if first == (key in self._calls):
            self._violation("tool_call must come once, before its updates (rule 29)", message)
        before = self._calls.get(key, "pending")
        if before in ENDED:
            self._violation("update of a finished call", message)
        self._calls[key] = update.get("status") or before

    # ---- checks ----

    def _gate(self, method: str, message: Message) -> None:
        wanted = {
            "fs/read_text_file": ("fs", "readTextFile"),
            "fs/write_text_file": ("fs", "writeTextFile"),
            "elicitation/create": ("elicitation", "form"),
        }.get(method)
        if wanted is not None and not _at(self._capabilities, *wanted):
            self._violation(f"{'.'.join(wanted)} was not advertised (rule 33)", message)
        if method.startswith("terminal/"):
            self._violation("not a method this agent may use", message)
        if method.startswith("_") and not _at(self._capabilities, "_meta", "agent-server"):
            self._violation("extension to a client that did not declare it", message)

    def _shape(self, method: str, kind: str, side: str, value: Any, message: Message) -> None:
        name = _definition(method, kind, side)
        if name is None:
            self._violation(f"{method} has no {kind} in the schema", message)
            return
        for error in _validator(name).iter_errors(value):
            where = "/".join(str(part) for part in error.absolute_path)
            self._violation(f"{name}: {where}: {error.message[:200]}", message)
        if isinstance(value, Mapping):
            self._fields(value, _members(name), message)

    def _extension(self, method: str, part: str, value: Any, message: Message) -> None:
        """Our own messages, by `protocol/schema.json`."""
        definition = _own_definition(method, part)
        if definition is None:
            self._violation(f"{method} has no {part} in the protocol", message)
            return
        for error in _own_validator(definition).iter_errors(value):
            where = "/".join(str(part) for part in error.absolute_path)
            self._violation(f"{definition}: {where}: {error.message[:200]}", message)

    def _terms(self, own: Message, message: Message) -> None:
        """Ours in an update's `_meta`: only what the protocol defines."""
        reference: str = EXTENSIONS["updateMeta"]["$ref"]
        known = EXTENSIONS["$defs"][reference.rpartition("/")[2]]["properties"]
        self._fields(own, frozenset(known), message)
        for error in _own_validator(reference).iter_errors(own):
            self._violation(f"_meta of an update: {error.message[:200]}", message)

    def _fields(self, value: Message, known: frozenset[str], message: Message) -> None:
        if unknown := set(value) - known:
            self._violation(f"fields that nobody defined: {sorted(unknown)} (rule 35)", message)

    def _error(self, error: Any, message: Message) -> None:
        for problem in _validator("Error").iter_errors(error):
            self._violation(f"Error: {problem.message[:200]}", message)

    def _paths(self, value: Any, message: Message) -> None:
        for name, found in _walk(value):
            if name in ("path", "cwd") and not PurePath(str(found)).is_absolute():
                self._violation(f"{name} {found!r} is not absolute (rule 27)", message)
            if name == "line" and found is not None and found < 1:
                self._violation("lines count from 1 (rule 27)", message)

    def _open(self, method: str, session: str) -> bool:
        return any(
            request["method"] == method and request["params"].get("sessionId") == session
            for request in self._requests.values()
        )

    def _turn_runs(self, session: str) -> bool:
        return self._open("session/prompt", session) or session in self._steered & self._busy

    def _forget_calls(self, session: str) -> None:
        """A replay shows the session's calls anew."""
        for key in [key for key in self._calls if key[0] == session]:
            del self._calls[key]

    def _violation(self, what: str, message: Message) -> None:
        self.violations.append(f"{what}: {json.dumps(message)[:500]}")


Transcript = Iterable[tuple[str, Message]]
"""Messages in their order, each with `in` (client → agent) or `out`."""


def check(transcript: Transcript, *, capabilities: Message | None = None) -> list[str]:
    """The violations of a recorded conversation; `capabilities` where it does not begin with `initialize`."""
    oracle = Oracle(_capabilities=capabilities or {})
    for direction, message in transcript:
        (oracle.sent if direction == "in" else oracle.received)(message)
    return oracle.violations


def read_trace(path: Path) -> Transcript:
    """What `AGENT_SERVER_TRACE` wrote of one ACP connection: everything after `initialize`."""
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        yield record["direction"], json.loads(record["frame"])


@functools.cache
def _definition(method: str, kind: str, side: str) -> str | None:
    for schema in (SCHEMA, UNSTABLE):
        for name, definition in schema["$defs"].items():
            ours = (definition.get("x-method"), definition.get("x-side")) == (method, side)
            if ours and name.endswith(kind):
                return name
    return None


def _definitions(name: str) -> dict[str, Any]:
    """Those of the schema that has `name`, the stable one first."""
    return SCHEMA["$defs"] if name in SCHEMA["$defs"] else UNSTABLE["$defs"]


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": _definitions(name)})


@functools.cache
def _own_definition(method: str, part: str) -> str | None:
    for described in EXTENSIONS["methods"].values():
        if described["acp"] == method and part in described:
            return described[part]["$ref"]
    return None


@functools.cache
def _own_validator(reference: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": reference, "$defs": EXTENSIONS["$defs"]})


@functools.cache
def _members(name: str) -> frozenset[str]:
    """Every property that any variant of a definition names."""
    definitions = _definitions(name)
    return frozenset(_properties(definitions[name], definitions))


def _properties(definition: Message, definitions: Message) -> Iterator[str]:
    yield from definition.get("properties", ())
    for combined in ("allOf", "oneOf", "anyOf"):
        for part in definition.get(combined, ()):
            yield from _properties(part, definitions)
    if "$ref" in definition:
        yield from _properties(definitions[definition["$ref"].rpartition("/")[2]], definitions)


def _walk(value: Any) -> Iterator[tuple[str, Any]]:
    """Every named value, at any depth, but for arguments a tool was given and metadata."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in ("rawInput", "rawOutput", "_meta"):
                yield name, inner
                yield from _walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner)


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value not in (None, False)
