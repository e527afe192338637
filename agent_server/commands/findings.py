"""What a check found, and how `doctor` prints it."""

from collections.abc import Iterable, Iterator
from typing import Literal

from agent_server.front.hidden_characters import printable
from agent_server.frozen import frozen


@frozen
class Finding:
    """One line. A `note` is something missing that nothing here needs; only a `problem` makes `doctor` fail."""

    state: Literal["OK", "note", "problem"]
    what: str
    """The thing and its state."""
    fix: str | None = None
    """What to do about it."""


def lines(findings: Iterable[Finding]) -> Iterator[str]:
    """State, sentence, and below it what to do."""
    for finding in findings:
        yield f"{finding.state:<9}{printable(finding.what)}"
        if finding.fix is not None:
            yield f"{'':<9}fix: {printable(finding.fix)}"
