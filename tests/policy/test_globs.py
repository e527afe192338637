"""What a glob pattern matches. Our choice: .gitignore's meaning, with braces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.policy.globs import compiled


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "x/y/a.py", True),
        ("*.py", "a.pyc", False),
        ("x/*.py", "x/a.py", True),
        ("x/*.py", "y/x/a.py", False),
        ("x/**", "x/y/z", True),
        ("x/**", "x", False),
        ("**/x/*", "x/a", True),
        ("**/x/*", "a/b/x/c", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("{a,b}{1,2}.c", "b2.c", True),
        ("{a,b}{1,2}.c", "c2.c", False),
        ("[a-c]?.t", "bx.t", True),
        ("[!a-c]?.t", "bx.t", False),
        ("a[/]b", "a/b", False),
        ("a**b.c", "axyb.c", True),
        ("a**b.c", "a/b.c", False),
        ("**/**/**/x.py", "a/x.py", True),
        ("a*b*c", "abXbc", True),
        ("a*bc*bd", "abbcbcbd", True),
        ("*a/**/*b", "xa/y/z/qb", True),
        ("[[&~|]x", "~x", True),
        ("[+--]x", "-x", True),
        ("[]a]x", "]x", True),
        (r"\*.py", "*.py", True),
        (r"\*.py", "a.py", False),
        ("a+b(c).py", "a+b(c).py", True),
        ("**", "any/thing", True),
    ],
)
def test_a_glob_means_what_people_expect(pattern: str, path: str, expected: bool) -> None:
    assert (compiled(pattern).fullmatch(path) is not None) is expected


def test_a_hostile_glob_does_not_take_hours() -> None:
    """The pattern is the model's, and is matched on the event loop. Bounded by the suite's time limit."""
    assert compiled("*a" * 30 + "b").fullmatch("a" * 200) is None
    assert compiled("**/" * 30 + "b").fullmatch("a/" * 100 + "c") is None


@given(st.text(alphabet="ab*?/", max_size=8), st.text(alphabet="ab/", max_size=7))
def test_a_glob_agrees_with_a_plain_matcher(pattern: str, path: str) -> None:
    if not path or path.startswith("/") or path.endswith("/") or "//" in path:
        return
    assert (compiled(pattern).fullmatch(path) is not None) == plainly_matches(pattern, path)


def plainly_matches(pattern: str, path: str) -> bool:
    """By trying everything."""
    pattern = pattern.removeprefix("./")
    wanted = pattern.split("/") if "/" in pattern or pattern == "**" else ["**", pattern]
    return segments_match(wanted, path.split("/"))


def segments_match(wanted: list[str], given: list[str]) -> bool:
    if not wanted:
        return not given
    if wanted == ["**"]:
        return bool(given)
    if wanted[0] == "**":
        return segments_match(wanted[1:], given) or (
            bool(given) and segments_match(wanted, given[1:])
        )
    return (
        bool(given) and name_matches(wanted[0], given[0]) and segments_match(wanted[1:], given[1:])
    )


def name_matches(wanted: str, given: str) -> bool:
    if not wanted:
        return not given
    if wanted[0] == "*":
        return name_matches(wanted[1:], given) or (bool(given) and name_matches(wanted, given[1:]))
    return bool(given) and wanted[0] in (given[0], "?") and name_matches(wanted[1:], given[1:])


@given(st.text(alphabet="ab*?[]{},!^-\\/.", max_size=12), st.text(alphabet="ab/.", max_size=8))
def test_any_text_is_a_glob_or_is_refused(pattern: str, path: str) -> None:
    try:
        compiled(pattern).fullmatch(path)
    except ValueError:
        return
