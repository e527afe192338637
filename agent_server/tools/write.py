"""Whole files: new ones, or an old one replaced."""

from agent_server.edits.proposal import propose_write
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused
from agent_server.loop.model import CallKey, JsonObject, ToolKind, ToolResult
from agent_server.loop.ports import Prepared
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.commit import Pending, refused
from agent_server.tools.paths import locate
from agent_server.tools.told import Part
from agent_server.tools.tool import BuiltIn


@frozen
class WriteArguments(Arguments):
    """Arguments of `write`."""

    path: str
    """The file; missing folders are made."""
    content: str
    """Its whole text."""


class Write(BuiltIn):
    """Create a file, or replace all of one that you have read. To change a part of a file use edit.

    The person may accept it or change it: the result says what was really applied.
    """

    name = "write"
    arguments = WriteArguments
    kind: ToolKind = "edit"

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        """Compute the proposal."""
        given = await parse(WriteArguments, arguments)
        place = await locate(self._services, given.path)
        if isinstance(place, ToolResult):
            return place
        await self._services.look_beneath()
        try:
            change = await propose_write(self._services.documents, place.named, given.content)
        except EditRefused as error:
            return refused(self._services, place, error)
        verb = "create" if change.kind == "create" else "write"
        pending = Pending.of(self._services, f"{verb} {place.shown}", Part(change, place))
        return await pending.prepared(self.name, key)
