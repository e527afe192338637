"""What the commands and code actions say to the model in a person's place."""

from collections.abc import Sequence
from pathlib import PurePath

from agent_server.front.protocol.base import Range
from agent_server.front.protocol.commands import ProblemToFix
from agent_server.front.uris import display_name, path_of


def fix(uri: str, part: Range | None, problems: Sequence[ProblemToFix], *, cwd: str) -> str:
    """A prompt to repair what is wrong."""
    if not problems:
        return f"Find what is wrong in {_place(uri, part, cwd)}, and fix it."
    what = "this problem" if len(problems) == 1 else "these problems"
    listed = "\n".join(f"- {_problem(problem)}" for problem in problems)
    return f"Fix {what} in {_file(uri, cwd)}:\n\n{listed}"


def explain(uri: str, part: Range | None, *, cwd: str) -> str:
    """A prompt that changes nothing."""
    return (
        f"Explain {_place(uri, part, cwd)}: what it does, how, and what to know before changing it."
    )


def rewrite(uri: str, part: Range | None, *, cwd: str) -> str:
    """A prompt to make code better that works."""
    return f"Rewrite {_place(uri, part, cwd)} so that it is simpler and clearer and does the same."


def write_test(uri: str, part: Range | None, *, cwd: str) -> str:
    """A prompt for tests."""
    return f"Write a test for {_place(uri, part, cwd)}, where and as this project has its tests."


def _problem(problem: ProblemToFix) -> str:
    line = "" if problem.range is None else f"line {problem.range.start.line + 1}: "
    label = " ".join(str(word) for word in (problem.source, problem.code) if word is not None)
    return f"{line}{problem.message}{f' ({label})' if label else ''}"


def _place(uri: str, part: Range | None, cwd: str) -> str:
    if part is None:
        return _file(uri, cwd)
    first = part.start.line + 1
    ends_before = part.end.character == 0 and part.end.line > part.start.line
    last = part.end.line if ends_before else part.end.line + 1
    lines = f"line {first}" if last == first else f"lines {first}-{last}"
    return f"{lines} of {_file(uri, cwd)}"


def _file(uri: str, cwd: str) -> str:
    """Relative to where the session works, when it is in there."""
    path = path_of(uri)
    if path is None:
        return f"`{display_name(uri)}`"
    inside = PurePath(path).is_relative_to(cwd)
    return f"`{PurePath(path).relative_to(cwd) if inside else path}`"
