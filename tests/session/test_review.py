"""`review = "turn"`: edits wait where only the agent sees them, and are asked about together (protocol.md)."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_server.loop.action import Answer, Question
from agent_server.loop.events import CallFinished, EditChanged, Event, StateChanged, TurnDone
from agent_server.loop.model import (
    DoneReason,
    JsonObject,
    ResultEntry,
    Text,
    ToolResult,
    UserEntry,
)
from agent_server.loop.ports import CallContext, ToolMessage, UserMessage
from agent_server.loop.proposal import FileDecision, Resolution
from agent_server.loop.reviewing import UNRECORDED
from agent_server.session.edits import SessionEdits
from agent_server.session.recovery import recover
from agent_server.session.session import Session
from agent_server.session.sessions import Sessions
from tests.fakes.edits import asking
from tests.fakes.loop import FakeTool, MemoryLog, Say
from tests.fakes.session import RecordingClient
from tests.fakes.workbench import JournaledWorkbench

pytestmark = pytest.mark.anyio

DONE = Say("Done.")


def calls(*named: tuple[str, dict[str, object]]) -> Say:
    return Say("", tuple((name, json.dumps(arguments)) for name, arguments in named))


def edit(old: str, new: str, path: str = "a.py") -> tuple[str, dict[str, object]]:
    return "edit", {"path": path, "edits": [{"old_text": old, "new_text": new}]}


def write(path: str, content: str) -> tuple[str, dict[str, object]]:
    return "write", {"path": path, "content": content}


class Person:
    """Answers questions in order, and looks at the disk when asked."""

    def __init__(self, work: Path, *answers: Answer | Callable[[Question], Answer]) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []
        self.seen: list[str] = []
        self._work = work

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        self.seen.append((self._work / "a.py").read_text())
        answer = self.answers.pop(0)
        return answer if isinstance(answer, Answer) else answer(question)


@dataclass
class Room:
    """A session that reviews by turn, and who is in it."""

    session: Session
    sessions: Sessions
    client: RecordingClient
    person: Person
    bench: JournaledWorkbench
    work: Path

    async def prompt(self) -> DoneReason:
        return (await self.session.prompt((Text("go"),))).reason

    @property
    def text(self) -> str:
        return (self.work / "a.py").read_text()

    def results(self) -> list[ToolResult]:
        return [e.result for e in self.events(CallFinished)]

    def events(self, kind: type[Event]) -> list:  # pyright: ignore[reportMissingTypeArgument]
        return [e for _, e in self.client.events if isinstance(e, kind)]

    def told(self, request: int = -1) -> str:
        """What the model was told by us at the end of a request."""
        message = self.bench.script.requests[request].messages[-1]
        assert isinstance(message, UserMessage)
        return "\n".join(part.text for part in message.parts if isinstance(part, Text))

    async def states(self) -> list[tuple[str, str]]:
        await SessionEdits(self.session).tidy()
        kit, _ = await self.session.ready()
        assert kit.transactions is not None
        return [(t.cause.title, t.state) for t in await kit.transactions.all()]


@asynccontextmanager
async def room(
    home: Path,
    *steps: Say,
    answers: tuple[object, ...] = (),
    tools: tuple[FakeTool, ...] = (),
    tasks: dict[str, tuple[Say, ...]] | None = None,
) -> AsyncGenerator[Room]:
    work = home / "w"
    work.mkdir()
    (work / "a.py").write_text("one\ntwo\nthree\n")
    person = Person(work, *answers)  # pyright: ignore[reportArgumentType]
    policy = asking("edit", "write", "patch")
    bench = JournaledWorkbench(home, *steps, policy=policy, tools=tools, tasks=tasks)
    bench.review = "turn"
    async with bench.sessions() as sessions:
        client = RecordingClient(person=person)  # pyright: ignore[reportArgumentType]
        session = await sessions.new(cwd=str(work), client=client)
        yield Room(session, sessions, client, person, bench, work)


YES = Answer("allow_once")


async def test_all_edits_of_a_turn_are_one_question_at_its_end(tmp_path: Path) -> None:
    steps = calls(edit("one", "1")), calls(edit("three", "3"), write("b.py", "new\n")), DONE
    async with room(tmp_path, *steps, answers=(YES,)) as r:
        assert await r.prompt() is DoneReason.MODEL_STOP
        [question] = r.person.asked
        assert question.proposal is not None
        assert [(f.kind, Path(f.path).name) for f in question.proposal.files] == [
            ("edit", "a.py"),
            ("create", "b.py"),
        ]
        assert (question.title, question.scopes) == ("Review changes", ("once",))
        assert r.person.seen == ["one\ntwo\nthree\n"]  # nothing was on disk before the yes
        assert (r.text, (r.work / "b.py").read_text()) == ("1\ntwo\n3\n", "new\n")
        assert await r.states() == [
            ("edit a.py", "abandoned"),
            ("edit a.py", "abandoned"),
            ("create b.py", "abandoned"),
            ("Review changes", "committed"),
        ]


async def test_the_model_hears_that_an_edit_is_staged_and_reads_it_back(tmp_path: Path) -> None:
    """ED-15's second edit in a row: the overlay is what it edits."""
    read = calls(("read", {"path": "a.py"}))
    steps = calls(edit("one", "1")), read, calls(edit("1", "uno")), DONE
    async with room(tmp_path, *steps, answers=(YES,)) as r:
        await r.prompt()
        staged, seen, *_ = r.results()

        assert staged.output.startswith("staged, not yet on disk")
        assert staged.summary == "staged, +1 \u22121"
        assert seen.output.startswith("1\t1\n")
        assert r.text == "uno\ntwo\nthree\n"


async def test_a_staged_proposal_is_shown_as_such_and_ends_as_abandoned(tmp_path: Path) -> None:
    async with room(tmp_path, calls(edit("one", "1")), DONE, answers=(YES,)) as r:
        await r.prompt()

    shown = [(e.state, e.proposal.txn) for e in r.events(EditChanged)]
    first, review = shown[0][1], shown[1][1]
    assert shown == [
        ("proposed", first),
        ("approved", review),
        ("applying", review),
        ("applied", review),
        ("abandoned", first),
    ]


async def test_hunks_are_taken_one_by_one_and_the_model_hears_which(tmp_path: Path) -> None:
    def half(question: Question) -> Answer:
        assert question.proposal is not None
        [file] = question.proposal.files
        decision = FileDecision(file.path, frozenset({file.hunks[1].id}))
        return Answer("allow_once", Resolution((decision,)))

    steps = calls(edit("one", "1")), calls(edit("three", "3")), DONE, Say("Hm.")
    async with room(tmp_path, *steps, answers=(half,)) as r:
        await r.prompt()
        assert r.text == "one\ntwo\n3\n"
        await r.prompt()

        assert "(The person reviewed the changes that were staged.\n" in r.told()
        assert "the person accepted 1 of 2 hunks in a.py" in r.told()


async def test_a_no_leaves_every_byte_and_the_model_hears_of_it_with_the_next_prompt(
    tmp_path: Path,
) -> None:
    steps = calls(edit("one", "1"), write("b.py", "new\n")), DONE, Say("Hm.")
    async with room(tmp_path, *steps, answers=(Answer("reject"),)) as r:
        before = (r.work / "a.py").stat()
        assert await r.prompt() is DoneReason.MODEL_STOP
        after = (r.work / "a.py").stat()
        assert (r.text, after.st_mtime_ns) == ("one\ntwo\nthree\n", before.st_mtime_ns)
        assert not (r.work / "b.py").exists()
        assert len(r.bench.script.requests) == 2
        await r.prompt()

        assert "the person rejected the staged changes; nothing was written" in r.told()
        assert {state for _, state in await r.states()} == {"abandoned", "rejected"}


async def test_a_no_with_words_lets_the_model_go_on_but_once_per_turn(tmp_path: Path) -> None:
    no = Answer("reject", feedback="use tabs")
    steps = calls(edit("one", "1")), DONE, calls(edit("one", "uno")), Say("Done again.")
    async with room(tmp_path, *steps, answers=(no, no)) as r:
        assert await r.prompt() is DoneReason.MODEL_STOP
        assert "The person says: use tabs" in r.told(2)
        assert (len(r.person.asked), len(r.bench.script.requests)) == (2, 4)
        assert r.text == "one\ntwo\nthree\n"


async def test_a_command_is_preceded_by_the_review(tmp_path: Path) -> None:
    shell = calls(("shell", {"command": "cat a.py"}))
    steps = calls(edit("one", "1")), shell, DONE
    async with room(tmp_path, *steps, answers=(YES,)) as r:
        await r.prompt()
        output = [e.result.output for e in r.events(CallFinished) if e.tool == "shell"]

        assert output == ["1\ntwo\nthree"]
        assert len(r.person.asked) == 1
        names = [e.state for e in r.events(StateChanged)]
        assert names[names.index("confirming") - 1] == "executing"


async def test_a_sub_agent_is_preceded_by_the_review_and_its_own_edits_are_asked_about(
    tmp_path: Path,
) -> None:
    """What it stages nobody could review before it is done (docs/decisions/0004)."""
    tasks = {"more": (calls(edit("two", "2")), Say("Did more."))}
    steps = calls(edit("one", "1")), calls(("delegate", {"task": "more"})), DONE
    async with room(tmp_path, *steps, answers=(YES, YES), tasks=tasks) as r:
        assert await r.prompt() is DoneReason.MODEL_STOP

        asked = [question.title for question in r.person.asked]
        assert asked == ["Review changes", "sub-agent “more”: edit a.py"]
        assert r.person.seen == ["one\ntwo\nthree\n", "1\ntwo\nthree\n"]
        assert r.text == "1\n2\nthree\n"


async def test_after_a_no_the_command_that_waited_is_not_run(tmp_path: Path) -> None:
    shell = calls(("shell", {"command": "touch ran"}))
    steps = calls(edit("one", "1")), shell, DONE
    async with room(tmp_path, *steps, answers=(Answer("reject"),)) as r:
        await r.prompt()

        assert not (r.work / "ran").exists()
        messages = r.bench.script.requests[-1].messages
        outputs = [m.text for m in messages if isinstance(m, ToolMessage)]
        assert outputs[-1].startswith("not run: the person rejected the staged changes")


async def test_a_cancelled_review_gives_all_of_it_up(tmp_path: Path) -> None:
    steps = calls(edit("one", "1")), DONE, Say("Hm.")
    async with room(tmp_path, *steps, answers=(Answer("cancelled"),)) as r:
        assert await r.prompt() is DoneReason.USER_ABORT
        assert r.text == "one\ntwo\nthree\n"
        assert isinstance(r.client.events[-1][1], TurnDone)
        assert {state for _, state in await r.states()} == {"abandoned", "rejected"}
        await r.prompt()

        assert "were given up" in r.told()
        read = await r.session.ready()
        assert not read[0].staging.holds


async def test_a_turn_that_ends_by_a_limit_applies_nothing(tmp_path: Path) -> None:
    async with room(tmp_path, calls(edit("one", "1")), Say("Summary.")) as r:
        r.bench.limits = type(r.bench.limits)(max_turns=1)
        assert await r.prompt() is DoneReason.MAX_TURNS
        assert (r.text, r.person.asked) == ("one\ntwo\nthree\n", [])
        assert await r.states() == [("edit a.py", "abandoned")]


async def test_a_person_who_types_meanwhile_keeps_what_they_typed(tmp_path: Path) -> None:
    def while_asked(question: Question) -> Answer:
        del question
        path = tmp_path / "w/a.py"
        path.write_text("zero\n" + path.read_text())
        return YES

    async with room(tmp_path, calls(edit("three", "3")), DONE, answers=(while_asked,)) as r:
        await r.prompt()
        assert r.text == "zero\none\ntwo\n3\n"


async def test_edits_that_come_to_nothing_are_not_asked_about(tmp_path: Path) -> None:
    steps = calls(edit("one", "1")), calls(edit("1", "one")), DONE
    async with room(tmp_path, *steps) as r:
        assert await r.prompt() is DoneReason.MODEL_STOP
        assert (r.person.asked, r.text) == ([], "one\ntwo\nthree\n")
        assert {state for _, state in await r.states()} == {"abandoned"}


async def test_a_renaming_is_asked_about_by_itself_after_what_is_staged(tmp_path: Path) -> None:
    text = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n*** End Patch"
    steps = calls(edit("one", "1")), calls(("patch", {"patch": text})), DONE
    async with room(tmp_path, *steps, answers=(YES, YES)) as r:
        await r.prompt()
        assert [q.title for q in r.person.asked] == ["Review changes", "patch a.py → b.py"]
        assert (r.work / "b.py").read_text() == "1\ntwo\nthree\n"


async def test_an_edit_that_a_mode_lets_through_is_not_staged(tmp_path: Path) -> None:
    async with room(tmp_path, calls(edit("one", "1")), DONE) as r:
        r.bench.policy.verdicts.clear()
        await r.prompt()
        assert (r.text, r.person.asked) == ("1\ntwo\nthree\n", [])


async def test_what_was_staged_when_the_process_died_is_given_up_and_the_model_told(
    tmp_path: Path,
) -> None:
    """Protocol.md, "After a restart": nothing is applied, nothing is asked again. The log cut after the result."""
    async with room(tmp_path, calls(edit("one", "1")), DONE, answers=(YES,)) as r:
        await r.prompt()
        whole = list(r.session.entries)
    result = next(i for i, e in enumerate(whole) if isinstance(e, ResultEntry))
    logs = [MemoryLog(whole[: result + 1]), MemoryLog(whole[:result]), MemoryLog(whole)]
    for log in logs:
        await recover(log, {}, cause="the server stopped")

    told = [[e for e in log.entries if isinstance(e, UserEntry)][-1].parts for log in logs]
    assert [UNRECORDED in str(parts) for parts in told] == [True, False, False]


async def test_a_turn_that_breaks_while_it_asks_applies_nothing(tmp_path: Path) -> None:
    def breaks(question: Question) -> Answer:
        del question
        raise RuntimeError("no screen")

    steps = calls(edit("one", "1")), DONE, Say("Hm.")
    async with room(tmp_path, *steps, answers=(breaks,)) as r:
        assert await r.prompt() is DoneReason.ERROR
        assert r.text == "one\ntwo\nthree\n"
        await r.prompt()
        assert "were given up" in r.told()


async def test_taking_back_an_earlier_edit_meanwhile_writes_nothing_that_is_staged(
    tmp_path: Path,
) -> None:
    """A client may revert while a turn runs: the engine knows nothing of what is staged."""

    async def body(context: CallContext, arguments: JsonObject) -> ToolResult:
        del context, arguments
        await SessionEdits(r.session).undo()
        return ToolResult(True, r.text)

    undo = FakeTool("todo", body, read_only=True)
    first = calls(edit("one", "1"))
    then = calls(edit("three", "3"), ("todo", {}))
    steps = first, DONE, then, DONE
    async with room(tmp_path, *steps, answers=(YES, Answer("reject")), tools=(undo,)) as r:
        await r.prompt()
        assert r.text == "1\ntwo\nthree\n"
        await r.prompt()

        assert r.person.seen[1] == r.text == "one\ntwo\nthree\n"
