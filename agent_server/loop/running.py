"""One call: understand it, judge it, run it. Nothing here is logged; a failure of any kind is a result."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace

from agent_server.loop.action import Answer, Decision
from agent_server.loop.errors import BadArguments, StoreFailure, unexpected
from agent_server.loop.events import CallPending, CallStarted, Event, PlanChanged
from agent_server.loop.model import JsonObject, PlanEntry, ToolCall, ToolResult
from agent_server.loop.ports import CallContext, Prepared, Tool
from agent_server.loop.proposal import Resolution
from agent_server.loop.suggest import unknown_tool
from agent_server.loop.turn import Turn

log = logging.getLogger(__name__)

PREVIEW = 200
"""Characters of malformed arguments shown back to the model."""


async def understand(t: Turn, call: ToolCall) -> tuple[Tool, Prepared] | ToolResult:
    """The tool and what the call is about to do; a result when that cannot be known (R83, R84)."""
    tool = t.tools.get(call.name)
    if tool is None:
        text = unknown_tool(call.name, t.tools)
        return ToolResult(False, text, code="unknown_tool", summary="no such tool")
    try:
        prepared = await tool.prepare(parse_arguments(call.arguments), call.key)
    except StoreFailure:
        raise
    except BadArguments as error:
        text = f"{call.name}: {error}"
        return ToolResult(False, text, code="bad_arguments", summary="bad arguments")
    except Exception as error:
        log.exception("preparing %s broke", call.name)
        return _crashed(call, error)
    return prepared if isinstance(prepared, ToolResult) else (tool, prepared)


def parse_arguments(raw: str) -> JsonObject:
    """Strict JSON object; empty means no arguments (ST-18).

    Raises:
        BadArguments: malformed, cut, or not an object; shows a bounded preview.
    """
    if not raw.strip():
        return {}
    try:
        value: object = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadArguments(
            f"the arguments are not valid JSON ({error}); they may have been cut, so send less at once. "
            f"They begin: {raw[:PREVIEW]}"
        ) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadArguments(f"the arguments must be a JSON object, not: {raw[:PREVIEW]}")
    return {str(k): v for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def show_understood(t: Turn, call: ToolCall, tool: Tool, prepared: Prepared) -> None:
    """Say what a call is about, now that its arguments are known."""
    t.emit(
        CallPending(
            t.id,
            call.key,
            call.name,
            prepared.title,
            tool.kind,
            prepared.locations,
            call.arguments,
            prepared.proposal,
        )
    )


def decide(t: Turn, prepared: Prepared) -> Decision:
    """The policy's verdict; a policy that breaks blocks (R92)."""
    try:
        return t.gate.policy.decide(prepared.action)
    except Exception:
        log.exception("the policy broke")
        return Decision("block", "the permission policy is unavailable")


async def execute(t: Turn, call: ToolCall, prepared: Prepared, answer: Answer | None) -> ToolResult:
    """Run the tool's code. Only cancellation and a store that fails come out of it as exceptions (R80)."""
    tool = t.tools[call.name]
    plans: list[PlanChanged] = []
    context = CallContext(t.id, call.key, _holding(t, plans), gated=answer is not None)
    resolution = answer.resolution if answer is not None else None
    t.emit(CallStarted(t.id, call.key))
    result = await _once(call, prepared, context, resolution)
    retries = t.limits.read_retries if tool.read_only else 0
    while result.code == "transient" and retries > 0:
        retries -= 1
        result = await _once(call, prepared, context, resolution)
    for plan in plans:
        await t.log.append(PlanEntry(t.id, plan.items))
        t.emit(plan)
    return _with_words(result, answer)


def _holding(t: Turn, plans: list[PlanChanged]) -> Callable[[Event], None]:
    """Emits at once, but for a new plan: that is a fact, and is told when it is in the log."""

    def emit(event: Event) -> None:
        if isinstance(event, PlanChanged):
            plans.append(event)
        else:
            t.emit(event)

    return emit


def _with_words(result: ToolResult, answer: Answer | None) -> ToolResult:
    """The result with what the person said beside their yes."""
    if answer is None or not answer.feedback:
        return result
    return replace(result, output=f"{result.output}\nThe person says: {answer.feedback}")


async def _once(
    call: ToolCall, prepared: Prepared, context: CallContext, resolution: Resolution | None
) -> ToolResult:
    try:
        return await prepared.run(context, resolution)
    except StoreFailure:
        raise
    except Exception as error:
        log.exception("tool %s broke", call.name)
        return _crashed(call, error)


def _crashed(call: ToolCall, error: Exception) -> ToolResult:
    text = f"{call.name} failed: {unexpected(error)}"
    return ToolResult(False, text, code="tool_crashed", summary="failed")
