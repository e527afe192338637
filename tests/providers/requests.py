"""Requests as the loop would make them, and a collector of pieces."""

from dataclasses import dataclass, field

from agent_server.loop.model import CallKey, Text, ToolCall
from agent_server.loop.ports import (
    AssistantMessage,
    Message,
    Piece,
    ReasoningPiece,
    Request,
    TextPiece,
    ToolMessage,
    ToolSpec,
    UserMessage,
)

READ = ToolSpec(
    "read",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def user(text: str) -> UserMessage:
    return UserMessage((Text(text),))


def request(*messages: Message, number: int = 1, tools: tuple[ToolSpec, ...] = (READ,)) -> Request:
    return Request("You are a test.", messages or (user("hello"),), tools, number)


def step_messages(number: int, arguments: str = '{"path": "a"}') -> tuple[Message, ...]:
    """One earlier step: a call and its result."""
    call = ToolCall(CallKey(number, 0), f"id-{number}", "read", arguments)
    return AssistantMessage("", (call,)), ToolMessage(call.id, "read", "text of a")


@dataclass
class Pieces:
    """Collects what a model hands out."""

    all: list[Piece] = field(default_factory=list)

    def __call__(self, piece: Piece) -> None:
        self.all.append(piece)

    @property
    def text(self) -> str:
        return "".join(p.text for p in self.all if isinstance(p, TextPiece))

    @property
    def reasoning(self) -> str:
        return "".join(p.text for p in self.all if isinstance(p, ReasoningPiece))
