"""Unified diffs, as people and models read them."""

from agent_server.edits.text.hunks import hunks
from agent_server.edits.unified import unified
from agent_server.loop.proposal import FileChange

BASE = "".join(f"{n}\n" for n in range(1, 21))


def shown(base: str | None, new: str | None) -> str:
    kind = "create" if base is None else "delete" if new is None else "edit"
    return unified(
        FileChange("/w/a.py", kind, base, new, hunks(base or "", new or "")), name="a.py"
    )


def test_hunks_far_apart_have_sections_of_their_own() -> None:
    assert shown(BASE, BASE.replace("2\n", "two\nzwei\n", 1).replace("19\n", "")) == (
        "--- a/a.py\n+++ b/a.py\n"
        "@@ -1,5 +1,6 @@\n 1\n-2\n+two\n+zwei\n 3\n 4\n 5\n"
        "@@ -16,5 +17,4 @@\n 16\n 17\n 18\n-19\n 20\n"
    )


def test_hunks_whose_contexts_meet_share_a_section() -> None:
    assert (
        shown(BASE, BASE.replace("5\n", "five\n", 1).replace("13\n", "thirteen\n")).count("@@") == 4
    )
    assert (
        shown(BASE, BASE.replace("5\n", "five\n", 1).replace("12\n", "twelve\n")).count("@@") == 2
    )


def test_a_created_and_a_deleted_file_stand_against_nothing() -> None:
    assert shown(None, "a\nb\n") == "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    assert shown("a\n", None) == "--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"


def test_a_missing_final_line_end_is_said() -> None:
    assert shown("a", "b\n").endswith("-a\n\\ No newline at end of file\n+b\n")


def test_line_ends_are_shown_only_when_they_are_all_that_changes() -> None:
    assert shown("a\r\nb\r\n", "a\r\nc\r\n").endswith("@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
    assert shown("a\r\n", "a\n").endswith("-a␍␊\n+a␊\n")
