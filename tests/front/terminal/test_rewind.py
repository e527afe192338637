# ruff: noqa: RUF001 - what the screen is drawn with
"""Going back at the terminal: what is shown, what is asked, and that nothing happens without a yes."""

from collections.abc import Mapping

import pytest

from agent_server.edits.text.hunks import hunks
from agent_server.front.render.edits import file_diff
from agent_server.front.rpc.dispatch import Dispatch, Incoming
from agent_server.front.terminal.input import CTRL_C
from agent_server.front.terminal.link import linked
from agent_server.front.terminal.page import Page
from agent_server.front.terminal.person import Automatic, Person
from agent_server.front.terminal.rewind import Rewind
from agent_server.loop.errors import ClientMistake
from agent_server.loop.proposal import FileChange
from tests.front.terminal.fakes import END, FakeKeyboard, FakeServer, drawn, plain_screen

BACK = FileChange("/w/a.py", "edit", "new\n", "old\n", hunks("new\n", "old\n"))
LEFT = {"uri": "file:///w/b.py", "hunk": None, "why": "/w/b.py was changed by somebody else since"}


async def no_turn(server: FakeServer) -> Mapping[str, object]:
    del server
    return END


class Restoring(FakeServer):
    """Has three checkpoints, the newest of them a restore; `would` says what each would come to."""

    def dispatch(self) -> Dispatch:
        mine = {"checkpoint/list": self._checkpoints, "checkpoint/restore": self._restore}
        known = super().dispatch()
        ours = {f"_agent-server/{name}": handler for name, handler in mine.items()}
        return Dispatch({**known.requests, **ours}, known.notifications)

    would: Mapping[str, tuple[FileChange, ...]] = {}
    left: tuple[Mapping[str, object], ...] = ()
    moved: tuple[Mapping[str, object], ...] = ()
    """Those that would go; with any, the conversation can go back too."""
    note: str | None = None

    @property
    def done(self) -> list[object]:
        """The checkpoints that were restored, not only looked at."""
        return [params["id"] for method, params in self.seen if method and not params["dryRun"]]

    @property
    def went(self) -> list[tuple[object, object]]:
        """What was restored: files, conversation."""
        done = [params for _, params in self.seen if not params["dryRun"]]
        return [(params["files"], params["chat"]) for params in done]

    async def _checkpoints(self, incoming: Incoming) -> object:
        del incoming
        turns = (("c-1", "t1"), ("c-2", "t2"), ("c-3", None))
        at, files = "2026-11-30T00:00:00+00:00", [{"uri": "file:///w/a.py", "change": "edit"}]
        return {
            "checkpoints": [
                {
                    "id": c,
                    "turnId": t,
                    "at": at,
                    "title": f"edit for {c}",
                    "files": files,
                    "prompt": f"prompt of {c}" if self.moved else None,
                    "chat": bool(self.moved) and t is not None,
                }
                for c, t in turns
            ]
        }

    async def _restore(self, incoming: Incoming) -> object:
        self.seen.append((incoming.method, incoming.params))
        files, chat = incoming.params["files"], bool(incoming.params["chat"])
        changes = self.would.get(str(incoming.params["id"]), ()) if files else ()
        told = {"chat": chat, "prompts": list(self.moved) if chat else [], "note": self.note}
        if not incoming.params["dryRun"]:
            applied = {"txn": "x9", "state": "applied"} if changes else {}
            return {**applied, "undo": "c-x9", "left": list(self.left), **told}
        touched = [{"uri": "file:///w/a.py", "change": c.kind} for c in changes]
        diffs = [file_diff(change) for change in changes]
        return {"would": touched, "diffs": diffs, "left": list(self.left), **told}


def go(
    server: Restoring, keys: str = "", *, to: str | None = None, automatic: Automatic | None = None
) -> str:
    """`/undo`, or `/rewind to`; everything that is on the page then."""
    screen, out = plain_screen()
    with linked(server.connect) as link:
        page = Page(screen, clock=lambda: 0.0)
        person = Person(page, FakeKeyboard(list(keys)), automatic, link.inbox.withdrawn, "/w")
        rewind = Rewind(link, person, "s1")
        shown = rewind.undo() if to is None else rewind.to(to)
    return out.getvalue() + "\n".join(drawn(shown))


@pytest.mark.parametrize(("key", "done"), [("y", ["c-2"]), ("n", []), (CTRL_C, [])])
def test_undo_shows_the_diff_and_does_it_only_after_a_yes(key: str, done: list[str]) -> None:
    server = Restoring(no_turn)
    server.would = {"c-2": (BACK,), "c-1": (BACK,)}
    page = go(server, key)

    assert "a.py  +1 −1" in page
    assert "+  old" in page
    assert ("/rewind c-x9 files undoes it" in page, server.done) == (bool(done), done)


def test_undo_goes_on_to_the_turn_before_when_nothing_of_the_last_one_is_left() -> None:
    server = Restoring(no_turn)
    server.would = {"c-1": (BACK,)}
    go(server, "y")

    assert server.done == ["c-1"]


def test_undo_with_nothing_to_take_back_says_so() -> None:
    server = Restoring(no_turn)

    assert "no edit of this session to take back" in go(server)
    assert server.done == []


def test_what_somebody_else_changed_is_named_and_asks_nothing() -> None:
    server = Restoring(no_turn)
    server.left = (LEFT,)
    page = go(server)

    assert "no file would change" in page
    assert "left alone: b.py was changed by somebody else since" in page
    assert server.done == []


@pytest.mark.parametrize("name", ["2", "c-2"])
def test_a_checkpoint_is_named_by_its_place_or_its_id(name: str) -> None:
    server = Restoring(no_turn)
    server.would = {"c-2": (BACK,)}
    go(server, "y", to=name)

    assert server.done == ["c-2"]


def test_the_list_has_the_newest_first() -> None:
    page = go(Restoring(no_turn), to="")

    assert page.index("edit for c-3") < page.index("edit for c-1")


def test_an_unknown_checkpoint_is_a_mistake() -> None:
    with pytest.raises(ClientMistake, match="no checkpoint '9'"):
        go(Restoring(no_turn), to="9")


def test_where_nobody_can_be_asked_nothing_is_taken_back() -> None:
    server = Restoring(no_turn)
    server.would = {"c-2": (BACK,)}

    assert "nothing was changed" in go(server, automatic="no")
    assert server.done == []


GOES = {"text": "prompt of c-2", "change": "goes"}


def talked() -> Restoring:
    """A session whose second turn changed a file and said something."""
    server = Restoring(no_turn)
    server.would = {"c-2": (BACK,)}
    server.moved = (GOES, {"text": "and one more", "change": "goes"})
    return server


@pytest.mark.parametrize(
    ("key", "went", "words"),
    [
        ("f", [(True, False)], "files taken back; /rewind c-x9 files undoes it"),
        ("c", [(False, True)], "the conversation taken back; /rewind c-x9 chat undoes it"),
        ("b", [(True, True)], "files and the conversation taken back; /rewind c-x9 both undoes it"),
        ("n", [], "nothing was changed"),
        (CTRL_C, [], "nothing was changed"),
    ],
)
def test_files_and_conversation_go_back_apart_or_together(
    key: str, went: list[tuple[bool, bool]], words: str
) -> None:
    server = talked()
    page = go(server, key, to="2")

    assert "would go: prompt of c-2" in page
    assert "would go: and one more" in page
    assert (server.went, words in page) == (went, True)


def test_what_is_to_go_back_may_be_said_with_the_command() -> None:
    server = talked()
    page = go(server, "y", to="2 chat")

    assert server.went == [(False, True)]
    assert "+  old" not in page
    assert "it goes on from before “prompt of c-2”" in page


def test_a_turn_that_changed_no_file_takes_back_the_conversation_alone() -> None:
    server = talked()
    server.would = {}
    go(server, "y", to="2")

    assert server.went == [(False, True)]


def test_what_commands_did_is_noted_before_the_question() -> None:
    server = talked()
    server.note = "not covered: what commands did since then stays as it is (`make`)"

    assert "note: not covered: what commands did" in go(server, "n", to="2")


@pytest.mark.parametrize(
    ("to", "words"),
    [("2 all", "'all' cannot go back; say files, chat or both"), ("1 chat", "of files alone")],
)
def test_what_cannot_go_back_is_a_mistake(to: str, words: str) -> None:
    with pytest.raises(ClientMistake, match=words):
        go(talked(), to=to)


def test_the_list_names_prompts_where_there_are_some() -> None:
    page = go(talked(), to="")

    assert "before “prompt of c-2”" in page
    assert "/rewind N goes back to before it" in page
