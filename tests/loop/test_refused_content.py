"""Content that a provider refuses is told once and left out from then on, so that the session goes on (FC-05)."""

import json

import pytest

from agent_server.loop.events import Notice
from agent_server.loop.limits import Limits
from agent_server.loop.loop import run
from agent_server.loop.model import DoneReason, Image, Part, Text, WithheldEntry
from agent_server.loop.states import Done
from agent_server.providers.http_chat import HttpChatModel
from tests.fakes.answers import Answer, http, say
from tests.fakes.loop import MemoryLog, Stage
from tests.providers.test_ends import serving

pytestmark = pytest.mark.anyio

PICTURE = Image("image/png", "aGk=")


def refusal(words: str, status: int = 400) -> Answer:
    return http(status, body={"error": {"message": words, "type": "invalid_request_error"}})


async def prompt(model: HttpChatModel, log: MemoryLog, *parts: Part) -> tuple[Done, Stage]:
    """One more turn over the same log, as after a restart: nothing else is remembered."""
    stage = Stage(model, {}, log, limits=Limits(transient_retries=0))  # pyright: ignore[reportArgumentType]
    return await run(stage.turn(f"t{len(log.entries)}"), parts), stage


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("Could not process image", 400),
        ("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6 bytes", 400),
        ("Invalid content type. image_url is only supported by certain models.", 400),
        ("No endpoints found that support image input", 404),
        ("Payload Too Large", 413),
    ],
)
async def test_a_refused_picture_is_told_once_and_left_out_of_later_requests(
    words: str, status: int
) -> None:
    log = MemoryLog()
    async with serving(refusal(words, status), say("hello"), say("again")) as (model, server):
        first, stage = await prompt(model, log, Text("what is this?"), PICTURE)
        second, _ = await prompt(model, log, Text("never mind; say hello"))
        third, _ = await prompt(model, log, Text("and again"))

    assert (first.reason, words in (first.message or "")) == (DoneReason.ERROR, True)
    assert [second.reason, third.reason] == [DoneReason.MODEL_STOP, DoneReason.MODEL_STOP]
    assert ["data:image" in json.dumps(body) for body in server.bodies] == [True, False, False]
    assert "a picture was left out" in json.dumps(server.bodies[1])
    assert server.refused == []
    assert [e.title for e in stage.events if isinstance(e, Notice)] == [
        "Pictures are left out of later requests"
    ]


async def test_a_prompt_that_is_only_a_refused_picture_leaves_a_note() -> None:
    log = MemoryLog()
    async with serving(refusal("image too large"), say("ok")) as (model, server):
        await prompt(model, log, PICTURE)
        done, _ = await prompt(model, log, Text("go on"))

    assert done.reason is DoneReason.MODEL_STOP
    assert server.refused == []


async def test_a_new_picture_after_a_refusal_is_sent() -> None:
    log = MemoryLog()
    async with serving(refusal("image too large"), say("a cat")) as (model, server):
        await prompt(model, log, PICTURE)
        await prompt(model, log, Text("and this?"), Image("image/png", "bmV3"))

    sent = json.dumps(server.bodies[1])
    assert ("bmV3" in sent, "aGk=" in sent) == (True, False)


async def test_a_refusal_that_names_a_message_leaves_that_turn_out() -> None:
    log = MemoryLog()
    words = "messages.0.content: string too long"
    async with serving(refusal(words), say("hello")) as (model, server):
        await prompt(model, log, Text("x" * 50))
        done, _ = await prompt(model, log, Text("short"))

    assert done.reason is DoneReason.MODEL_STOP
    assert "xxx" not in json.dumps(server.bodies[1])
    assert "a message was left out" in json.dumps(server.bodies[1])


async def test_the_same_refusal_twice_in_a_row_leaves_the_turn_out_and_another_reason_does_not() -> (
    None
):
    log = MemoryLog()
    strange = refusal("I do not like this")
    async with serving(strange, strange, say("hello")) as (model, server):
        await prompt(model, log, Text("one"))
        await prompt(model, log, Text("two"))
        await prompt(model, log, Text("three"))
        kept = [e for e in log.entries if isinstance(e, WithheldEntry)]

    assert [e.what for e in kept] == ["turn"]
    sent = json.dumps(server.bodies[2])
    assert ("one" in sent, "two" in sent) == (True, False)


@pytest.mark.parametrize("status", [401, 402, 429, 500])
async def test_what_says_nothing_about_the_content_takes_nothing_away(status: int) -> None:
    log = MemoryLog()
    async with serving(refusal("image service is down", status), say("a cat")) as (model, server):
        await prompt(model, log, Text("what is this?"), PICTURE)
        await prompt(model, log, Text("again"))

    assert "data:image" in json.dumps(server.bodies[-1])
