"""Exact replacements in one file."""

from agent_server.edits.proposal import propose_edit
from agent_server.edits.text.match import Replacement
from agent_server.frozen import frozen
from agent_server.loop.errors import BadArguments, EditRefused
from agent_server.loop.model import CallKey, JsonObject, ToolKind, ToolResult
from agent_server.loop.ports import Prepared
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.commit import Pending, refused
from agent_server.tools.paths import locate
from agent_server.tools.told import Part
from agent_server.tools.tool import BuiltIn


@frozen
class OneEdit(Arguments):
    """One replacement."""

    old_text: str
    """Text as it is in the file, without line numbers; enough of it to occur only once."""
    new_text: str
    """What should stand there instead."""
    replace_all: bool | None = None
    """Replace every occurrence."""


@frozen
class EditArguments(Arguments):
    """Arguments of `edit`."""

    path: str
    """The file."""
    edits: tuple[OneEdit, ...]
    """All are made or none; each is matched against the file as it was before the call."""


class Edit(BuiltIn):
    """Change an existing file by replacing pieces of its text. Prefer this to write.

    The person may accept all of it, parts of it, or change it: the result says what was really applied.
    """

    name = "edit"
    arguments = EditArguments
    kind: ToolKind = "edit"

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        """Compute the proposal."""
        given = await parse(EditArguments, arguments)
        if not given.edits:
            raise BadArguments("edits: empty")
        place = await locate(self._services, given.path)
        if isinstance(place, ToolResult):
            return place
        await self._services.look_beneath()
        edits = [Replacement(e.old_text, e.new_text, bool(e.replace_all)) for e in given.edits]
        try:
            change = await propose_edit(self._services.documents, place.named, edits)
        except EditRefused as error:
            return refused(self._services, place, error)
        pending = Pending.of(self._services, f"edit {place.shown}", Part(change, place))
        return await pending.prepared(self.name, key)
