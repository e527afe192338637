"""Where a Markdown text that is still being written can be cut: finished blocks are final, the last one may grow."""

import re

from agent_server.edits.text.lines import split_lines

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LIST = re.compile(r" {0,3}([-*+]|\d{1,9}[.)])(\s|$)")


def split_finished(text: str) -> tuple[list[str], str]:
    """The finished top-level blocks, and the open rest; joined they are `text`.

    A block is finished when a blank line and the beginning of another block follow it. A fenced block stays whole,
    and so does a list, for as long as its next paragraph may still belong to it.
    """
    blocks: list[str] = []
    lines = split_lines(text)
    start = 0
    fence = ""
    blank = False
    for at, line in enumerate(lines):
        if blank and not fence and line.strip() and _begins_block(lines[start], line):
            blocks.append("".join(lines[start:at]))
            start = at
        fence = _fence_after(line, fence)
        blank = not line.strip() and any(before.strip() for before in lines[start:at])
    return blocks, "".join(lines[start:])


def _begins_block(first: str, line: str) -> bool:
    """Whether `line`, after a blank one, belongs no more to the block that began with `first`."""
    if not line.endswith("\n") and _may_become_list(line):
        return False
    if _LIST.match(first):
        return not (line.startswith(("  ", "\t")) or _LIST.match(line))
    return not (first.startswith(("    ", "\t")) and line.startswith(("    ", "\t")))


def _may_become_list(line: str) -> bool:
    """Whether the unfinished line is too short to tell what it is."""
    return re.fullmatch(r" *([-*+]|\d{0,9}[.)]?)?", line) is not None


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after this line; empty when none is."""
    found = _FENCE.match(line)
    if not found:
        return fence
    mark = found[1]
    if not fence:
        return mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and line.strip() == mark
    return "" if closes else fence
