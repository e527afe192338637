"""Inline thinking is taken apart the same way however the stream is cut, field case ST-15."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.providers.thinking import ThinkSplitter

CASES = [
    ("<think>plan</think>Answer", "plan", "Answer"),
    ("<THINK>plan</Think>Answer", "plan", "Answer"),
    ("<thinking>plan</thinking>Answer", "plan", "Answer"),
    ("\n <think>\nplan\n</think>\n\nAnswer", "plan\n", "Answer"),
    ("<think>plan", "plan", ""),
    ("<think>a < b and </thin", "a < b and </thin", ""),
    ("plan</think>Answer", "plan", "Answer"),
    ("Use `<think>` and `</think>` here", "", "Use `<think>` and `</think>` here"),
    ("<think>plan</think>It writes `<think>`.", "plan", "It writes `<think>`."),
    ("```\n<think>\n```\nok", "", "```\n<think>\n```\nok"),
    ("````\n```\n<think>\n````\nok", "", "````\n```\n<think>\n````\nok"),
    ("an odd ` tick\n<think>plan</think>Answer", "plan", "an odd ` tick\nAnswer"),
    ("a <think> in a line", "", "a <think> in a line"),
    ("<think>one</think>two\n<think>three</think>four", "onethree", "two\nfour"),
    ("<think>plan</think>Answer</think>!", "plan", "Answer!"),
    ("a < b, <thin, <b>", "", "a < b, <thin, <b>"),
    ("  plain", "", "  plain"),
    ("ends with ``", "", "ends with ``"),
    ("ends with <th", "", "ends with <th"),
    ("<think></think>Answer", "", "Answer"),
]


def split(pieces: list[str]) -> tuple[str, str]:
    """(thought, said) as an owner would keep them."""
    splitter = ThinkSplitter()
    thought, said = "", ""
    for piece in pieces:
        if splitter.plain and "<" not in piece and "`" not in piece:
            said += piece
            continue
        for kind, text in splitter.feed(piece, before=said):
            if kind == "was_thought":
                thought, said = thought + said, ""
            elif kind == "thought":
                thought += text
            else:
                said += text
    for kind, text in splitter.end():
        if kind == "thought":
            thought += text
        else:
            said += text
    return thought, said


@pytest.mark.parametrize(("text", "thought", "said"), CASES)
def test_every_cut_into_three_gives_the_same(text: str, thought: str, said: str) -> None:
    cuts = itertools.combinations_with_replacement(range(len(text) + 1), 2)

    assert {split([text[:a], text[a:b], text[b:]]) for a, b in cuts} == {(thought, said)}
    assert split(list(text)) == (thought, said)


@given(st.text(alphabet="a`\n <>/think", max_size=60), st.lists(st.integers(1, 5), max_size=40))
def test_any_text_in_any_cut_gives_what_it_gives_in_one_piece(text: str, sizes: list[int]) -> None:
    pieces, rest = list[str](), text
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]

    assert split([*pieces, rest]) == split([text])


@given(st.text(alphabet="ab`\n <>/", max_size=60).filter(lambda t: not t or not t.isspace()))
def test_text_without_a_tag_is_kept_to_the_letter(text: str) -> None:
    assert split(list(text)) == ("", text)
