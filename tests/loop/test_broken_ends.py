"""What becomes of a turn whose replies end badly: by a filter, by a failure, cut, or in an unknown way."""

import pytest

from agent_server.loop.events import CallFinished, Notice
from agent_server.loop.limits import Limits
from agent_server.loop.loop import run
from agent_server.loop.model import DoneReason, ReplyEntry, ResultEntry
from agent_server.loop.states import Done
from agent_server.providers.http_chat import HttpChatModel
from tests.fakes.answers import Answer, call, http, raw, raw_call, say
from tests.fakes.loop import FakeTool, MemoryLog, Stage, said
from tests.fakes.model_server import ModelServer
from tests.providers.test_ends import event, label, serving, text, tool

pytestmark = pytest.mark.anyio

LIMITS = Limits(transient_retries=1, max_delay_s=0)


def around(model: HttpChatModel, *tools: FakeTool, limits: Limits = LIMITS) -> Stage:
    """A turn with that model."""
    return Stage(model, {t.name: t for t in tools}, MemoryLog(), limits=limits)  # pyright: ignore[reportArgumentType]


async def play(
    *answers: Answer, tools: tuple[FakeTool, ...] = ()
) -> tuple[Done, Stage, ModelServer]:
    async with serving(*answers) as (model, server):
        stage = around(model, *tools)
        return await run(stage.turn(), said("go")), stage, server


def results(stage: Stage) -> list[str]:
    return [e.result.output for e in stage.log.entries if isinstance(e, ResultEntry)]


async def test_an_answer_that_a_failure_ended_is_asked_for_again() -> None:
    half = say("half of") + call("write") + Answer(finish="network_error")
    tool_ = FakeTool("write", read_only=False)
    done, stage, server = await play(half, say("all of it"), tools=(tool_,))

    assert (done.reason, len(server.exchanges), tool_.ran) == (DoneReason.MODEL_STOP, 2, [])
    (reply,) = [e.reply for e in stage.log.entries if isinstance(e, ReplyEntry)]
    assert reply.text == "all of it"


async def test_an_answer_that_failures_keep_ending_is_an_error_with_their_words() -> None:
    error = {"code": 502, "message": "upstream went away"}
    half = raw(text("half of"), label("error", error=error), b"data: [DONE]\n\n")
    done, _, server = await play(half, half)

    assert (done.reason, done.detail, len(server.exchanges)) == (DoneReason.ERROR, "provider", 2)
    assert "upstream went away" in (done.message or "")


@pytest.mark.parametrize("words", ["I would", ""])
@pytest.mark.parametrize("word", ["content_filter", "SAFETY", "RECITATION"])
async def test_a_reply_that_a_filter_ended_runs_no_calls(words: str, word: str) -> None:
    write, read = FakeTool("write", read_only=False), FakeTool("read", read_only=True)
    blocked = say(words) + call("write") + call("read") + Answer(finish=word)
    done, stage, server = await play(blocked, tools=(write, read))

    assert (done.reason, done.detail) == (DoneReason.MODEL_STOP, "refusal")
    assert (write.ran, read.ran, len(server.exchanges)) == ([], [], 1)
    assert len(results(stage)) == 2
    assert all("filter" in output for output in results(stage))
    finished = [e for e in stage.events if isinstance(e, CallFinished)]
    assert [e.result.ok for e in finished] == [False, False]


async def test_of_a_reply_that_was_cut_only_whole_calls_run() -> None:
    """A call without arguments may have been cut before them; text that was shown is not asked for again."""
    write = FakeTool("write", read_only=False)
    cut = say("Both.") + call("write", path="a") + raw_call("write", "") + Answer(end="clean")
    done, stage, server = await play(cut, say("fine"), tools=(write,))

    assert (done.reason, len(server.exchanges)) == (DoneReason.MODEL_STOP, 2)
    assert len(write.ran) == 1
    assert "was cut" in results(stage)[1]


async def test_a_reply_that_broke_off_in_a_call_and_said_nothing_is_asked_for_again() -> None:
    write = FakeTool("write", read_only=False)
    cut = raw_call("write", '{"pa') + Answer(end="clean")
    done, _, server = await play(cut, say("fine"), tools=(write,))

    assert (done.reason, len(server.exchanges), write.ran) == (DoneReason.MODEL_STOP, 2, [])


async def test_an_unknown_label_is_told_once_and_ends_the_turn() -> None:
    done, stage, _ = await play(say("all of it") + Answer(finish="flush"))

    assert (done.reason, done.detail) == (DoneReason.MODEL_STOP, "text")
    assert "flush" in (done.message or "")
    (notice,) = [e for e in stage.events if isinstance(e, Notice)]
    assert "flush" in (notice.description or "")


async def test_nothing_at_all_with_an_unknown_label_names_it() -> None:
    done, _, server = await play(Answer(finish="flush"), Answer(finish="flush"))

    assert (done.detail, len(server.exchanges)) == ("empty_response", 2)
    assert "flush" in (done.message or "")


async def test_a_request_that_is_wrong_is_not_repeated_whatever_the_shape_of_the_error() -> None:
    words = "the temperature must be below two"
    error = {"object": "error", "message": words, "type": "BadRequestError", "code": 400}
    for answer in (raw(event(error)), raw(text("half"), event(error)), raw(tool(), event(error))):
        done, _, server = await play(answer)
        assert (done.reason, done.detail, len(server.exchanges)) == (DoneReason.ERROR, "invalid", 1)
        assert words in (done.message or "")


async def test_an_error_in_a_group_is_told_by_its_own_words() -> None:
    class Broken(HttpChatModel):
        async def stream(self, request: object, receive: object) -> object:  # pyright: ignore[reportIncompatibleMethodOverride]
            raise ExceptionGroup("unhandled errors in a TaskGroup", [KeyError("the words")])

    async with serving() as (model, _):
        model.__class__ = Broken
        done = await run(around(model).turn(), said("go"))

    assert done.message == "something went wrong inside the server: 'the words'"


async def test_a_tool_that_breaks_is_told_by_its_words_without_the_name_of_a_class() -> None:
    async def break_(*_: object) -> object:
        raise ExceptionGroup("unhandled errors in a TaskGroup", [RuntimeError("no paper left")])

    tool_ = FakeTool("print", break_)  # pyright: ignore[reportArgumentType]
    _, stage, _ = await play(call("print"), say("fine"), tools=(tool_,))

    assert results(stage)[0].splitlines()[0].startswith("print failed: something went wrong inside")
    assert "no paper left" in results(stage)[0]
    assert "Group" not in results(stage)[0]


async def test_a_wait_that_is_too_long_is_told_at_once() -> None:
    body = {"error": {"message": "Please try again in 2h."}}
    for status in (429, 503):
        done, _, server = await play(http(status, body=body))
        assert (done.detail, len(server.exchanges)) == ("provider", 1)
        assert "it asks to wait 2 h" in (done.message or "")
