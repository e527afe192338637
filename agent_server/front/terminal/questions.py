"""Questions of the server as values, and their answers. Pure: from JSON, and back."""

from typing import Literal, get_args

from agent_server.edits.text.lines import split_lines
from agent_server.front.params import as_list, as_object
from agent_server.front.protocol.edits import EditDecision, EditProposed, ProposedFile, ResolveEdit
from agent_server.front.protocol.session import Ask
from agent_server.front.terminal.updates import CallChange, call_change, own_meta
from agent_server.front.uris import file_uri, path_of
from agent_server.frozen import frozen
from agent_server.loop.action import Scope
from agent_server.loop.model import JsonObject
from agent_server.loop.proposal import FileChange, FileDecision, Hunk

OptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


@frozen
class Option:
    """One way to answer a permission request."""

    id: str
    name: str
    kind: OptionKind


@frozen
class Permission:
    """A question about a call: `session/request_permission`."""

    call: CallChange
    options: tuple[Option, ...]
    reason: str | None = None
    floor: bool = False
    """The server says that no automatic yes may answer this."""

    def first(self, *kinds: OptionKind) -> Option | None:
        """The first option of these kinds, the kinds in order of preference."""
        return next((o for kind in kinds for o in self.options if o.kind == kind), None)


@frozen
class Picked:
    """The answer to a permission request; without an option it is `cancelled`."""

    option: Option | None
    feedback: str | None = None


@frozen
class EditQuestion:
    """An edit to show, and with `ask` to decide: `_agent-server/edit/proposed`."""

    txn: str
    revision: int
    call_id: str
    ask: bool
    reason: str | None
    scopes: tuple[Scope, ...]
    files: tuple[FileChange, ...]

    @property
    def floor(self) -> bool:
        """On the floor a yes reaches no further than once, and no automatic one counts (protocol.md)."""
        return self.ask and self.scopes == ("once",)


@frozen
class Decided:
    """What the person decided about an edit, complete."""

    files: tuple[FileDecision, ...]
    remember: Scope = "once"
    feedback: str | None = None


@frozen
class Inquiry:
    """What the model wants to know: `_agent-server/ask`."""

    call_id: str
    question: str
    options: tuple[str, ...]
    """None: in words."""


def parse_permission(params: JsonObject) -> Permission | None:
    """The question, or None when it is about nothing."""
    call = call_change(as_object(params.get("toolCall")) or {})
    if call is None:
        return None
    meta = own_meta(params)
    reason = meta.get("reason")
    options = tuple(o for entry in as_list(params.get("options")) if (o := _option(entry)))
    return Permission(
        call,
        options,
        reason=reason if isinstance(reason, str) else None,
        floor=meta.get("floor") is True,
    )


def permission_result(picked: Picked) -> dict[str, object]:
    """The result of `session/request_permission`."""
    if picked.option is None:
        return {"outcome": {"outcome": "cancelled"}}
    outcome: dict[str, object] = {"outcome": "selected", "optionId": picked.option.id}
    if picked.feedback:
        outcome["_meta"] = {"agent-server": {"feedback": picked.feedback}}
    return {"outcome": outcome}


def parse_proposed(params: JsonObject) -> EditQuestion:
    """The edit.

    Raises:
        pydantic.ValidationError: it is not one.
    """
    said = EditProposed.parse(params)
    return EditQuestion(
        said.txn,
        said.revision,
        said.tool_call_id,
        said.review == "ask",
        said.reason,
        said.scopes,
        tuple(change_of(file) for file in said.files),
    )


def parse_inquiry(params: JsonObject) -> Inquiry:
    """The question.

    Raises:
        pydantic.ValidationError: it is not one.
    """
    said = Ask.parse(params)
    return Inquiry(said.tool_call_id, said.question, said.options)


def resolve_params(question: EditQuestion, decided: Decided) -> JsonObject:
    """The params of `_agent-server/edit/resolve`."""
    by_path = {change.path: change for change in question.files}
    decisions = [
        decision for file in decided.files for decision in _decisions(by_path[file.path], file)
    ]
    return ResolveEdit(
        txn=question.txn,
        revision=question.revision,
        decisions=tuple(decisions),
        remember=decided.remember,
        feedback=decided.feedback,
    ).dump()


def _decisions(change: FileChange, decision: FileDecision) -> list[EditDecision]:
    uri = file_uri(change.path)
    if decision.edited_text is not None:
        return [EditDecision(uri=uri, verdict="accept", edited_text=decision.edited_text)]
    if decision.whole or not decision.accepted:
        return [EditDecision(uri=uri, verdict="accept" if decision.whole else "reject")]
    return [
        EditDecision(
            uri=uri, hunk=hunk.id, verdict="accept" if hunk.id in decision.accepted else "reject"
        )
        for hunk in change.hunks
    ]


def _option(value: object) -> Option | None:
    option = as_object(value) or {}
    kind = next((known for known in get_args(OptionKind) if option.get("kind") == known), None)
    option_id, name = option.get("optionId"), option.get("name")
    if kind is None or not isinstance(option_id, str):
        return None
    return Option(option_id, name if isinstance(name, str) else kind, kind)


def change_of(file: ProposedFile) -> FileChange:
    """One file of it."""
    hunks = tuple(
        Hunk(
            hunk.id,
            hunk.range.start.line,
            tuple(split_lines(hunk.old_text)),
            tuple(split_lines(hunk.new_text)),
        )
        for hunk in file.hunks
    )
    return FileChange(
        path_of(file.uri) or file.uri,
        file.kind,
        file.base_text,
        file.new_text,
        hunks,
        base_version=file.base_version,
        base_hash=file.base_hash,
        old_path=path_of(file.old_uri) if file.old_uri else None,
    )
