"""A tool whose calls are edits, as the loop sees them: a proposal, and a result that says what was taken."""

from agent_server.edits.hashes import content_hash
from agent_server.loop.action import Decision, Scope
from agent_server.loop.model import JsonObject, ToolResult
from agent_server.loop.ports import CallContext
from agent_server.loop.proposal import FileChange, Hunk, Proposal
from tests.fakes.loop import FakePolicy, FakeTool

OLD = "one\ntwo\nthree\nfour\n"
NEW = "ONE\ntwo\nthree\nFOUR\n"


def change(path: str = "/w/a.py") -> FileChange:
    """A change with two hunks."""
    hunks = (Hunk("h1", 0, ("one\n",), ("ONE\n",)), Hunk("h2", 3, ("four\n",), ("FOUR\n",)))
    return FileChange(path, "edit", OLD, NEW, hunks, base_hash=content_hash(OLD))


def proposal(txn: str = "x1", *files: FileChange) -> Proposal:
    """A proposal of these files, or of one."""
    return Proposal(txn, files or (change(),))


def edit_tool(proposed: Proposal | None = None) -> FakeTool:
    """The tool `edit`; it claims to have applied all of its proposal."""
    wanted = proposed if proposed is not None else proposal()

    async def body(context: CallContext, arguments: JsonObject) -> ToolResult:
        del context, arguments
        return ToolResult(True, "applied", changes=wanted.files)

    return FakeTool("edit", body, read_only=False, kind="edit", proposal=wanted)


def asking(*tools: str, floor: bool = False) -> FakePolicy:
    """A policy that asks about these tools."""
    scopes: tuple[Scope, ...] = ("once",) if floor else ("once", "session", "workspace")
    decision = Decision("ask", "not in your allow rules", floor, scopes)
    return FakePolicy(dict.fromkeys(tools, decision))
