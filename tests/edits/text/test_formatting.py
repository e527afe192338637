"""Whether a change of ours still stands after an editor formatted (loop.md F41)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.edits.text.formatting import Further, further

BASE = "import os\n\ndef f(a,b):\n    return a\n\nx = 1\n"
NEW = BASE.replace("    return a\n", "    return {'k':a,'l':b}\n")

CASES: list[tuple[str, str, Further | None]] = [
    ("nothing", NEW, "formatted"),
    ("our lines", NEW.replace("{'k':a,'l':b}", '{"k": a, "l": b}'), "formatted"),
    ("our line broken", NEW.replace("{'k':a,'l':b}", '{\n        "k": a,\n        "l": b,\n    }'), "formatted"),
    ("other lines", NEW.replace("f(a,b)", "f(a, b)"), "formatted"),
    ("blank lines beside ours", NEW.replace("\n\nx", "\n\n\nx"), "formatted"),
    ("an import sorted away", NEW.replace("import os\n", ""), "changed"),
    ("typed elsewhere", NEW.replace("x = 1", "x = 2"), "changed"),
    ("nothing was done", BASE, None),
    ("ours undone, the rest laid out", BASE.replace("f(a,b)", "f(a, b)"), None),
    ("other words in ours", NEW.replace("'l'", "'m'"), None),
    ("the old line kept beside ours", NEW.replace("    return {", "    return a\n    return {"), None),
    ("everything gone", "", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("live", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_what_an_editor_did_after_us_is_told_by_content(live: str, expected: Further | None):
    assert further(BASE, NEW, live) == expected


def test_where_layout_is_all_that_we_changed_another_layout_is_not_ours():
    base, new = "if x:\n  a()\n", "if x:\n    a()\n"

    assert further(base, new, base) is None
    assert further(base, new, "if x:\n\ta()\n") is None
    assert further(base, new, new) == "formatted"


def test_lines_that_we_removed_and_that_are_back_are_not_our_change():
    base, new = "a\nb\nc\n", "a\nc\n"

    assert further(base, new, base) is None
    assert further(base, new, "a\nb \nc\n") is None


text = st.text("ab \n,", max_size=12)


@given(text, text)
def test_our_own_text_has_all_of_our_change(base: str, new: str):
    assert further(base, new, new) == "formatted"


@given(text, text)
def test_the_old_text_never_has_our_change(base: str, new: str):
    if base != new:
        assert further(base, new, base) is None
