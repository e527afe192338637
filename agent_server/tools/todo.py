"""The plan: a list the model keeps and the person sees."""

from collections.abc import Sequence
from typing import Literal

from agent_server.frozen import frozen
from agent_server.loop.action import Action
from agent_server.loop.errors import BadArguments
from agent_server.loop.events import PlanChanged
from agent_server.loop.model import CallKey, JsonObject, PlanItem, ToolKind, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import Resolution
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.tool import BuiltIn


@frozen
class TodoItem(Arguments):
    """One step."""

    text: str
    """The step, in a few words."""
    status: Literal["pending", "in_progress", "completed"]
    """Where it stands; at most one step is in_progress."""


@frozen
class TodoArguments(Arguments):
    """Arguments of `todo`."""

    items: tuple[TodoItem, ...]
    """The whole list, in order; it replaces the one before. Empty clears it."""


class Todo(BuiltIn):
    """Keep a visible plan for work of three steps or more.

    Send the whole list each time. Set a step to in_progress before you begin it and to completed as soon as it is done;
    one step at a time is in progress.
    """

    name = "todo"
    arguments = TodoArguments
    kind: ToolKind = "think"

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared:
        """Check that the list makes sense."""
        del key
        items = (await parse(TodoArguments, arguments)).items
        if sum(item.status == "in_progress" for item in items) > 1:
            raise BadArguments("items: more than one is in_progress; do one step at a time")
        if any(not item.text.strip() for item in items):
            raise BadArguments("items: one has no text")
        plan = tuple(PlanItem(item.text, item.status) for item in items)

        async def run(ctx: CallContext, resolution: Resolution | None) -> ToolResult:
            del resolution
            ctx.emit(PlanChanged(ctx.turn, plan))
            return ToolResult(True, _rendered(plan), summary=_progress(plan))

        return Prepared(Action("note", self.name), f"plan {_progress(plan)}", run)


def _rendered(plan: Sequence[PlanItem]) -> str:
    marks = {"pending": " ", "in_progress": ">", "completed": "x"}
    lines = [f"[{marks[item.status]}] {item.text}" for item in plan]
    return "\n".join(["the plan is now:", *lines]) if lines else "the plan is empty now"


def _progress(plan: Sequence[PlanItem]) -> str:
    done = sum(item.status == "completed" for item in plan)
    return f"{done} of {len(plan)} done"
