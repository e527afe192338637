r"""Line ends of a whole new text: a model writes `\n`, the file keeps what it has."""

from agent_server.edits.text.diff import diff
from agent_server.edits.text.lines import content, ending, split_lines, usual_ending


def keep_endings(base: str, new: str) -> str:
    r"""`new` with the line ends of `base`: kept lines keep theirs, new ones take their neighbour's.

    A text that brings any `\r` of its own is taken as given, so that a file can be converted on purpose.
    """
    if "\r" in new or "\r" not in base:
        return new
    lines, new_lines = split_lines(base), split_lines(new)
    ends = [ending(line) for line in lines]
    result: list[str] = []
    usual = usual_ending(lines)
    at = new_at = 0
    contents, new_contents = (
        [content(line) for line in lines],
        [content(line) for line in new_lines],
    )
    for start, end, new_start, new_end in [
        *diff(contents, new_contents), (len(lines), len(lines), len(new_lines), len(new_lines))
    ]:  # fmt: skip
        kept = zip(new_contents[new_at:new_start], ends[at:start], strict=True)
        result += [text + (end_of_line or usual) for text, end_of_line in kept]
        near = (
            (ends[start] if start < len(ends) else "")
            or (ends[start - 1] if start else "")
            or usual
        )
        result += [text + near for text in new_contents[new_start:new_end]]
        at, new_at = end, new_end
    if new_lines and not ending(new_lines[-1]):
        result[-1] = new_contents[-1]
    return "".join(result)
