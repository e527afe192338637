"""Texts that have what trips editors: every line end, repeated lines, astral characters, no final line end."""

from hypothesis import strategies as st

from agent_server.edits.text.lines import split_lines

_PIECES = ["a", "b", "}", "  x = 1", "\t", "", "é", "😋", "𐐀", "\u2028", "\x0c"]
_ENDS = ["\n", "\n", "\r\n", "\r"]

lines = st.builds(lambda piece, end: piece + end, st.sampled_from(_PIECES), st.sampled_from(_ENDS))
texts = st.builds(
    lambda whole, last: "".join([*whole, last]),
    st.lists(lines, max_size=12),
    st.sampled_from(["", "a", "}", "😋"]),
)
any_text = st.text(alphabet="ab \t\n\r😋𐐀é", max_size=30)


@st.composite
def edited(draw: st.DrawFn, base: str) -> str:
    """`base` with a few lines taken out, put in or changed."""
    result: list[str] = []
    for line in split_lines(base):
        match draw(st.integers(0, 7)):
            case 0:
                pass
            case 1:
                result += [line, draw(lines)]
            case 2:
                result.append(draw(lines))
            case _:
                result.append(line)
    return "".join(result)
