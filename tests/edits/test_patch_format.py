"""The patch format, parsed."""

import pytest

from agent_server.edits.patch_format import AddFile, DeleteFile, FilePatch, UpdateFile, parse_patch
from agent_server.edits.text.chunks import Chunk
from agent_server.loop.errors import EditRefused

WHOLE = """*** Begin Patch
*** Add File: new/a.txt
+one
+
+three
*** Delete File: old.txt
*** Update File: src/b.py
*** Move to: src/c.py
@@ class A:
@@     def f(self):
 context
-gone
+come

 after
@@
-last
+LAST
*** End of File
*** End Patch
"""


def parsed(*lines: str) -> tuple[FilePatch, ...]:
    return parse_patch("\n".join(["*** Begin Patch", *lines, "*** End Patch"]))


def test_every_part_of_the_format_is_understood() -> None:
    assert parse_patch(WHOLE) == (
        AddFile("new/a.txt", "one\n\nthree\n"),
        DeleteFile("old.txt"),
        UpdateFile(
            "src/b.py",
            (
                Chunk(
                    ("class A:", "    def f(self):"),
                    ("context", "gone", "", "after"),
                    ("context", "come", "", "after"),
                ),
                Chunk((), ("last",), ("LAST",), at_end=True),
            ),
            "src/c.py",
        ),
    )


def test_the_first_hunk_needs_no_marker_and_a_move_needs_no_hunk() -> None:
    assert parsed("*** Update File: a", "-x", "+y", "*** Update File: b", "*** Move to: c") == (
        UpdateFile("a", (Chunk((), ("x",), ("y",)),)),
        UpdateFile("b", (), "c"),
    )


@pytest.mark.parametrize(
    ("before", "after"), [("```\n", "\n```"), ("apply_patch <<'EOF'\n", "\nEOF"), ("\n\n", "\n\n")]
)
def test_what_models_wrap_around_a_patch_is_left_out(before: str, after: str) -> None:
    patch = f"{before}*** Begin Patch\n*** Delete File: a\n*** End Patch{after}"
    assert parse_patch(patch) == (DeleteFile("a"),)


def test_line_ends_of_the_patch_do_not_matter() -> None:
    assert parse_patch(WHOLE.replace("\n", "\r\n")) == parse_patch(WHOLE)


def test_only_line_feeds_end_lines() -> None:
    assert parsed("*** Add File: a", "+x\f\u2028y") == (AddFile("a", "x\f\u2028y\n"),)


def test_line_numbers_of_a_unified_diff_are_no_anchor() -> None:
    assert parsed("*** Update File: a", "@@ -1,3 +1,4 @@ def f():", "-x", "+y") == (
        UpdateFile("a", (Chunk((), ("x",), ("y",)),)),
    )


def test_blank_lines_before_the_next_file_are_no_context() -> None:
    assert parsed("*** Update File: a", "-x", "+y", "", "*** Delete File: b") == (
        UpdateFile("a", (Chunk((), ("x",), ("y",)),)),
        DeleteFile("b"),
    )


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        ("nothing", "line 1 of the patch: it must begin with"),
        ("*** Begin Patch\n*** Delete File: a", "line 3 of the patch: `*** End Patch` is missing"),
        ("*** Begin Patch\n*** End Patch", "the patch is empty"),
        ("*** Begin Patch\nhello\n*** End Patch", "line 2 of the patch: one of"),
        ("*** Begin Patch\n*** Add File: a\noops\n*** End Patch", "line 3 of the patch: every"),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch", "the update of a has no hunks"),
        ("*** Begin Patch\n*** Update File: a\n-x\noops\n*** End Patch", "line 4 of the patch: a"),
        ("*** Begin Patch\n*** Update File: a\n@@ b\n*** End Patch", "a hunk of a has no lines"),
        ("*** Begin Patch\n*** Delete File:\n*** End Patch", "names no file"),
    ],
)
def test_what_is_no_patch_says_where_and_why(patch: str, says: str) -> None:
    with pytest.raises(EditRefused, match=r".*") as refused:
        parse_patch(patch)

    assert (says in str(refused.value), refused.value.reason) == (True, "bad_patch")
