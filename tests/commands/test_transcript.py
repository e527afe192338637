"""A log as `sessions show` prints it: all that happened, in its order, what was taken back too."""

from agent_server.commands.transcript import render
from agent_server.loop.model import AsideEntry, Entry, RewoundEntry, Text, TurnId, UserEntry

NO_TURN = TurnId("")


def said(text: str) -> UserEntry:
    return UserEntry(TurnId(text), (Text(text),))


def test_what_was_taken_back_is_shown_with_the_place_it_went_back_to() -> None:
    log: list[Entry] = [
        said("one"), said("two"), RewoundEntry(NO_TURN, 1), AsideEntry(NO_TURN, "(look)"), said("three"),
    ]  # fmt: skip

    assert [line for line in render(log) if line] == [
        "> one", "> two", "  [taken back: from here on the conversation is as it was after entry 1]",
        "> three",
    ]  # fmt: skip
