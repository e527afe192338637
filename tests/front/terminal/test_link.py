from agent_server.front.terminal.inbound import Gone, Updated, Withdrawn
from agent_server.front.terminal.link import Inbox, Interrupted
from agent_server.front.terminal.updates import TextPiece


def test_only_the_question_that_was_withdrawn_is_void() -> None:
    inbox = Inbox()
    inbox.put(Withdrawn("x1"))
    assert (inbox.withdrawn("x1"), inbox.withdrawn("x2")) == (True, False)


def test_every_question_is_void_when_the_person_interrupts_or_the_server_is_gone() -> None:
    for arrival in (Interrupted(), Gone()):
        inbox = Inbox()
        inbox.put(arrival)
        assert inbox.withdrawn("x1")


def test_looking_for_a_withdrawal_loses_nothing_and_keeps_the_order() -> None:
    inbox = Inbox()
    first, second = Updated(TextPiece("m", "a")), Updated(TextPiece("m", "b"))
    inbox.put(first)
    assert not inbox.withdrawn("x1")
    inbox.put(second)
    assert [inbox.next(0), inbox.next(0), inbox.next(0)] == [first, second, None]
