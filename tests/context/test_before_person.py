"""What the person has before them, told as a difference (loop.md F13)."""

from hypothesis import given
from hypothesis import strategies as st

from agent_server.context.before_person import (
    FILES,
    NOTHING,
    SELECTION_CHARS,
    BeforePerson,
    OpenFile,
    Selection,
    news,
)

A, B = OpenFile("/w/a.py"), OpenFile("/w/b.py")


def told(before: BeforePerson, now: BeforePerson) -> list[str]:
    part = news(before, now)
    return [] if part is None else (part.text or "").splitlines()[1:]


def test_the_first_time_everything_is_told() -> None:
    now = BeforePerson(Selection("/w/a.py", 3, 4, "x\ny"), (A, B))

    assert told(NOTHING, now) == [
        "- open: /w/a.py, /w/b.py",
        "- selected: /w/a.py, lines 3-4:",
        "x",
        "y",
    ]


def test_afterwards_only_what_changed() -> None:
    before = BeforePerson(Selection("/w/a.py", 3, 3), (A,))
    now = BeforePerson(Selection("/w/a.py", 3, 3), (B,))

    assert told(before, now) == ["- also open: /w/b.py", "- no longer open: /w/a.py"]


def test_a_file_that_became_unsaved_is_told_again() -> None:
    changed = OpenFile("/w/a.py", unsaved=True)

    assert told(BeforePerson(files=(A,)), BeforePerson(files=(changed,))) == [
        "- also open: /w/a.py (unsaved)"
    ]


def test_a_cursor_without_a_selection_is_a_place() -> None:
    assert told(NOTHING, BeforePerson(Selection("/w/a.py", 7, 7))) == [
        "- the cursor is in /w/a.py, line 7"
    ]


def test_what_is_not_told_is_not_said_to_be_gone() -> None:
    assert told(BeforePerson(files=(A,)), BeforePerson()) == []


def test_long_selections_and_many_files_are_cut_and_say_so() -> None:
    files = tuple(OpenFile(f"/w/{n}.py") for n in range(FILES + 3))
    text = "x" * (SELECTION_CHARS + 5)
    lines = told(NOTHING, BeforePerson(Selection("/w/0.py", 1, 1, text), files))

    assert lines[0].endswith("and 3 more")
    assert lines[-1] == "[5 more characters are selected]"


PLACES = st.builds(
    Selection, st.sampled_from(["/a", "/b"]), st.just(1), st.just(2), st.sampled_from(["x", None])
)
VIEWS = st.builds(
    BeforePerson,
    st.none() | PLACES,
    st.none() | st.lists(st.sampled_from([A, B]), unique=True).map(tuple),
)


@given(VIEWS)
def test_what_did_not_change_is_not_told_again(view: BeforePerson) -> None:
    assert news(view, view) is None
