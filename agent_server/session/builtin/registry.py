"""The table of commands, and a session's use of it."""

from agent_server.loop.errors import AgentServerError
from agent_server.loop.model import Text
from agent_server.session.builtin import words
from agent_server.session.builtin.command import Command, Here, Shown
from agent_server.session.builtin.compact import compact
from agent_server.session.builtin.cost import cost
from agent_server.session.builtin.rewind import APPLY, rewind
from agent_server.session.builtin.undo import undo
from agent_server.session.prompts import Parts, Prompt
from agent_server.session.session import Session


async def _help(here: Here) -> str:
    del here
    rows = [
        f"- `/{one.name}{f' {one.hint}' if one.hint else ''}`: {one.description}"
        for one in COMMANDS
    ]
    return "\n".join(rows)


COMMANDS = (
    Command("undo", words.UNDO, undo),
    Command("rewind", words.REWIND, rewind, hint=f"[N] {words.WHAT_HINT} [{APPLY}]"),
    Command("cost", words.COST, cost, changes=False),
    Command("compact", words.COMPACT, compact),
    Command("help", "what the server answers by itself", _help, changes=False),
)
_BY_NAME = {one.name: one for one in COMMANDS}


class Builtin:
    """Implements `session.commanded.Commands`."""

    def __init__(self, session: Session) -> None:
        """Nothing was shown yet."""
        self._session = session
        self._shown = Shown()

    def named(self, parts: Parts) -> str | None:
        """The command: first word of the only text. What else is attached does not count."""
        found = _parse(parts)
        return None if found is None else found[0].name

    async def run(self, item: Prompt) -> str:
        """See `Commands`."""
        found = _parse(item.parts)
        if found is None:
            raise RuntimeError(f"turn {item.turn} is no command")
        command, argument = found
        if argument and command.hint is None:
            return f"`/{command.name}` takes nothing behind it; nothing was done."
        if command.changes and self._session.read_only is not None:
            return f"`/{command.name}` cannot be done here: {self._session.read_only}."
        try:
            return await command.run(Here(self._session, item, self._shown, argument))
        except AgentServerError as error:
            return f"`/{command.name}` was not done: {error}."


def _parse(parts: Parts) -> tuple[Command, str] | None:
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) != 1:
        return None
    word, *more = texts[0].split(maxsplit=1) or [""]
    command = _BY_NAME.get(word[1:]) if word.startswith("/") else None
    return None if command is None else (command, more[0].strip() if more else "")
