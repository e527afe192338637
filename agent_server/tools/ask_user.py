"""The model asks the person, whose answer is the result (loop.md R144)."""

from agent_server.frozen import frozen
from agent_server.loop.action import Action
from agent_server.loop.errors import BadArguments
from agent_server.loop.model import CallKey, JsonObject, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import Resolution
from agent_server.tools.arguments import Arguments, parse
from agent_server.tools.delegate import headline
from agent_server.tools.output import middle_cut
from agent_server.tools.tool import BuiltIn

TITLE_CHARS = 60
MOST_OPTIONS = 9
"""Each has a digit where keys are pressed."""
NOBODY = "nobody can be asked here; decide yourself, and say in your answer what you assumed"
NO_WORDS = "the person cannot answer in words here: give options to choose from, or decide yourself"
NO_ANSWER = "the person gave no answer; go on without it, and say in your answer what you assumed"


@frozen
class AskUserArguments(Arguments):
    """Arguments of `ask_user`."""

    question: str
    """One question, complete in itself: the person may see nothing else of what you are doing."""
    options: tuple[str, ...] | None = None
    """Two to nine short answers to choose from. Without it the person answers in words, which not every editor can."""


class AskUser(BuiltIn):
    """Ask the person one question and wait for the answer, which is the result.

    Only for what you can neither find out nor sensibly decide, and what would be expensive to get wrong. Offer options
    where you can. Do not ask for permission, which is asked for you, nor for passwords and keys.
    """

    name = "ask_user"
    arguments = AskUserArguments

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared:
        """Check that something is asked, and that the options differ."""
        given = await parse(AskUserArguments, arguments)
        question, options = given.question.strip(), _options(given.options or ())
        if not question:
            raise BadArguments("question: it is empty")

        async def run(ctx: CallContext, resolution: Resolution | None) -> ToolResult:
            del ctx, resolution
            return await self._asked(key, question, options)

        return Prepared(Action("ask", self.name), f"ask: {headline(question, TITLE_CHARS)}", run)

    async def _asked(self, key: CallKey, question: str, options: tuple[str, ...]) -> ToolResult:
        person = self._services.questions()
        if not person.takes(options):
            text = NO_WORDS if not options and person.takes(("yes", "no")) else NOBODY
            return ToolResult(False, text, code="nobody_to_ask", summary="nobody to ask")
        answer = await person.ask(key, question, options)
        if answer is None or not answer.strip():
            return ToolResult(True, NO_ANSWER, summary="no answer")
        text = middle_cut(answer, self._services.limits.output_chars)
        return ToolResult(True, text, summary=headline(answer, TITLE_CHARS))


def _options(given: tuple[str, ...]) -> tuple[str, ...]:
    """Each on one line."""
    options = tuple(" ".join(option.split()) for option in given)
    if any(not option for option in options):
        raise BadArguments("options: one is empty")
    if len(set(options)) < len(options):
        raise BadArguments("options: two are the same")
    if options and not 2 <= len(options) <= MOST_OPTIONS:
        raise BadArguments(f"options: give 2 to {MOST_OPTIONS}, not {len(options)}, or none at all")
    return options
