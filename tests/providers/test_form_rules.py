"""Whatever models, users and providers did in a session: no request is refused for its form.

The rules are those of `tests/fakes/strict.py`.

By hand over more sessions: `SESSIONS=5000 pytest tests/providers/test_form_rules.py`.
"""

import os
import random

import pytest

from agent_server.context.compact import legal_cuts
from agent_server.context.wire import Projection, messages
from agent_server.loop.model import (
    CallKey,
    Entry,
    Image,
    Part,
    PartialEntry,
    Reply,
    ReplyEntry,
    Resource,
    ResultEntry,
    RewoundEntry,
    SummaryEntry,
    Text,
    ToolCall,
    ToolResult,
    TurnId,
    Usage,
    UserEntry,
    WithheldEntry,
)
from agent_server.loop.ports import Request
from agent_server.loop.standing import standing
from agent_server.providers import wire
from tests.fakes.strict import complaint

SESSIONS = int(os.environ.get("SESSIONS", "300"))
MODELS = ("openai/gpt-x", "anthropic/claude-x", "mistral/large", "bedrock/nova")
NAMES = ("read", "functions.read", 'read" path="a', "x" * 90, "", "liesé", "\ud800", "a b\nc")
IDS = ("c1", "c1", "fc_" + "a" * 50, "call|1", "", "ü", "abc123DEF", "x__thought__" + "A/+=" * 20)
ARGUMENTS = ("{}", '{"path": "a"}', '{"pa', "[1]", "null", "", '{"a": NaN}', "[" * 3000, '"x"')
TEXTS = ("hello", "", "  \n", "\ud83d", "ok " * 50)


class Session:
    """One session, made up turn by turn."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.log: list[Entry] = []
        self.replies = 0

    def turn(self, number: int) -> None:
        """A prompt and what came of it: replies, calls, results or none, a refusal, a rewind, a summary."""
        turn = TurnId(f"t{number}")
        self.log.append(UserEntry(turn, self.parts()))
        for _ in range(self.random.randrange(4)):
            self.reply(turn)
        match self.random.randrange(8):
            case 0:
                what = self.random.choice(("images", "turn"))
                self.log.append(WithheldEntry(turn, what, "no"))
            case 1:
                self.log.append(RewoundEntry(turn, self.random.randrange(len(self.log))))
            case 2:
                self.log.append(PartialEntry(turn, "half"))
            case 3 if (stands := standing(self.log)) is self.log and (cuts := legal_cuts(stands)):
                self.log.append(SummaryEntry(turn, "in short", self.random.choice(cuts), 1))
            case _:
                pass

    def parts(self) -> tuple[Part, ...]:
        """What a user sends."""
        kinds: list[Part] = [
            Text(self.random.choice(TEXTS)),
            Image("image/png", "aGk="),
            Resource("file:///a", "a", self.random.choice((None, "text"))),
        ]
        return tuple(self.random.choices(kinds, k=self.random.randrange(1, 4)))

    def reply(self, turn: TurnId) -> None:
        """A reply with whatever calls; each gets its result, as settling sees to, or the log ends there."""
        self.replies += 1
        calls = tuple(
            ToolCall(CallKey(self.replies, at), *map(self.random.choice, (IDS, NAMES, ARGUMENTS)))
            for at in range(self.random.choice((0, 0, 1, 2, 3)))
        )
        reply = Reply(self.random.choice(TEXTS), calls, "stop", "openai/gpt-x", Usage())
        self.log.append(ReplyEntry(turn, self.replies, reply))
        for call in self.random.sample(calls, len(calls)):
            result = ToolResult(True, self.random.choice(TEXTS))
            self.log.append(ResultEntry(turn, call.key, result, "none"))


def refusals(seed: int) -> list[str]:
    """What strict providers say to the requests of a session, the model changing all the time."""
    session, projection, found = Session(seed), Projection(), list[str]()
    for number in range(session.random.randrange(2, 7)):
        session.turn(number)
        asked = [*session.log, UserEntry(TurnId("now"), (Text("go on"),))]
        model = session.random.choice(MODELS)
        for sent in (messages(asked), projection.of(standing(session.log), nudge="go on")):
            request = Request("be good", sent, (), 0)
            why = complaint({"model": model, "messages": wire.messages(request, model)})
            found += [] if why is None else [f"seed {seed}, turn {number}, {model}: {why}"]
    return found


@pytest.mark.parametrize("tenth", range(10))
def test_no_request_of_a_session_is_refused_for_its_form(tenth: int) -> None:
    found = [why for seed in range(tenth, SESSIONS, 10) for why in refusals(seed)]

    assert found == []
