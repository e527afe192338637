"""The six states of a turn and which may follow which (loop.md R8–R16, §4.1)."""

from typing import Literal

from agent_server.frozen import frozen
from agent_server.loop.action import Answer, Question
from agent_server.loop.events import StateName
from agent_server.loop.model import CallKey, Detail, DoneReason, ToolCall
from agent_server.loop.ports import Prepared, Request


@frozen
class Thinking:
    """Check limits, hear what the person added, decide on compaction, build the request."""

    nudge: str | None = None
    """Said once, at the end of the next request only."""
    max_output: int | None = None
    """A larger output limit for that request, in tokens."""


@frozen
class Streaming:
    """One request is under way."""

    request: Request
    last: bool = False
    """The tool-less summary at the step limit: its answer ends the turn."""


@frozen
class Approved:
    """A call the person said yes to, ready to run."""

    call: ToolCall
    prepared: Prepared
    answer: Answer


@frozen
class Executing:
    """Run the next segment of the calls of reply `number`."""

    number: int
    approved: Approved | None = None


@frozen
class CallGate:
    """The question is whether a call may run."""

    number: int
    """Of the reply the call belongs to."""
    call: ToolCall
    prepared: Prepared


@frozen
class LoopGate:
    """The question is whether a turn that goes round in circles should go on; without a yes it ends as `done`."""

    key: CallKey
    """Under which the question is shown."""
    done: "Done"


@frozen
class ReviewGate:
    """The question is which of the staged edits are made (protocol.md, `review = "turn"`)."""

    key: CallKey
    """Under which the question is shown."""
    prepared: Prepared
    """Makes the accepted part."""
    then: "Executing | Done"
    """How the turn goes on afterwards."""
    call: ToolCall | None = None
    """What needs the disk, and waits for this."""


@frozen
class Confirming:
    """One question to the person is open."""

    question: Question
    gate: CallGate | LoopGate | ReviewGate


@frozen
class Compacting:
    """Summarise the past at a legal cut."""

    cause: Literal["preflight", "overflow", "user"]


@frozen
class Done:
    """The end; no successor."""

    reason: DoneReason
    detail: Detail
    message: str | None = None
    """A sentence for the person when it did not end normally."""


State = Thinking | Streaming | Executing | Confirming | Compacting | Done

NEXT: dict[type[State], tuple[type[State], ...]] = {
    Thinking: (Streaming, Compacting, Done),
    Streaming: (Executing, Confirming, Thinking, Compacting, Done),
    Executing: (Executing, Confirming, Compacting, Thinking, Done),
    Confirming: (Executing, Thinking, Done),
    Compacting: (Thinking, Done),
    Done: (),
}
"""The only legal edges."""

NAMES: dict[type[State], StateName] = {
    Thinking: "thinking",
    Streaming: "streaming",
    Executing: "executing",
    Confirming: "confirming",
    Compacting: "compacting",
    Done: "done",
}


def label(state: State) -> str:
    """What a status bar says of the state."""
    match state:
        case Thinking():
            return "Thinking"
        case Streaming():
            return "Writing"
        case Executing():
            return "Running tools"
        case Confirming(question=question):
            return f"Waiting for you: {question.title}"
        case Compacting():
            return "Summarising the conversation"
        case Done(reason=reason):
            return (
                "Done"
                if reason is DoneReason.MODEL_STOP
                else reason.value.replace("_", " ").capitalize()
            )
