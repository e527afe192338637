from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from agent_server.edits.text.hunks import hunks
from agent_server.front.terminal.rows import Row, changed_words, count, file_rows
from agent_server.loop.proposal import FileChange


def change(base: str, new: str) -> FileChange:
    return FileChange("/w/a.py", "edit", base, new, hunks(base, new))


def drawn(rows: tuple[Row, ...]) -> list[str]:
    sign = {"same": " ", "removed": "-", "added": "+", "gap": "…"}
    return [f"{row.number or ''}{sign[row.kind]}{row.text}" for row in rows]


def test_a_changed_line_is_shown_with_three_lines_around_it() -> None:
    base = "".join(f"line {n}\n" for n in range(1, 10))
    assert drawn(file_rows(change(base, base.replace("line 5\n", "line five\n")))) == snapshot(
        [
            "2 line 2",
            "3 line 3",
            "4 line 4",
            "5-line 5",
            "5+line five",
            "6 line 6",
            "7 line 7",
            "8 line 8",
        ]
    )


def test_lines_after_an_insertion_are_numbered_as_in_the_new_text() -> None:
    base = "".join(f"line {n}\n" for n in range(1, 15))
    new = base.replace("line 2\n", "line 2\ninserted\n").replace("line 13\n", "")
    assert drawn(file_rows(change(base, new))) == snapshot(
        [
            "1 line 1",
            "2 line 2",
            "3+inserted",
            "4 line 3",
            "5 line 4",
            "6 line 5",
            "…",
            "11 line 10",
            "12 line 11",
            "13 line 12",
            "13-line 13",
            "14 line 14",
        ]
    )


def test_one_hunk_alone_is_shown_as_if_the_others_were_not_there() -> None:
    base = "a\nb\nc\n"
    both = change(base, "x\na\nb\nC\n")
    assert drawn(file_rows(both, both.hunks[1:])) == ["1 a", "2 b", "3-c", "3+C"]


def test_a_new_file_is_all_additions() -> None:
    created = FileChange("/w/new.py", "create", None, "a\nb", hunks("", "a\nb"))
    assert drawn(file_rows(created)) == ["1+a", "2+b"]
    assert count(created.hunks) == (2, 0)


def test_only_the_words_that_differ_are_marked() -> None:
    assert changed_words("return total - discount", "return discounted(total)") == snapshot(
        (((12, 23),), ((7, 18), (23, 24)))
    )
    assert changed_words("import price_of", "import discounted, price_of") == snapshot(
        ((), ((7, 19),))
    )


def test_lines_that_have_nothing_in_common_are_not_compared_by_words() -> None:
    rows = file_rows(change("alpha\n", "zzz 123 qqq\n"))
    assert [row.marks for row in rows] == [(), ()]


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "ab ac\n", "\n"]), max_size=12).map("".join)


@given(TEXTS, TEXTS)
def test_rows_show_every_change_once_and_number_both_texts_right(base: str, new: str) -> None:
    rows = file_rows(change(base, new))
    old_lines, new_lines = base.split("\n"), new.split("\n")
    for row in rows:
        if row.number is not None:
            lines = old_lines if row.kind == "removed" else new_lines
            assert lines[row.number - 1] == row.text
    shown = (sum(r.kind == "added" for r in rows), sum(r.kind == "removed" for r in rows))
    assert shown == count(hunks(base, new))


@given(st.text(max_size=30), st.text(max_size=30))
def test_outside_the_marks_two_lines_are_equal(old: str, new: str) -> None:
    def rest(text: str, marks: tuple[tuple[int, int], ...]) -> str:
        for start, end in reversed(marks):
            text = text[:start] + text[end:]
        return text

    old_marks, new_marks = changed_words(old, new)
    assert rest(old, old_marks) == rest(new, new_marks)
