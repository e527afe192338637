"""Which worker of pytest-xdist runs which test, and in what order: long ones first, so that no worker ends with them.

Tests are handed out one by one. Those in `tests/e2e/test_vscode_*` need a VS Code, which takes long to start: the first
worker begins with them, the others with everything else, and who is done helps. `conftest.py` puts the tests in
order on every worker; which are VS Code's is told by their names here.
"""

from collections.abc import Iterable, Sequence

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScheduling
from xdist.workermanage import WorkerController

VSCODE = "tests/e2e/test_vscode_"
PROCESSES = "tests/e2e/"
LONG_S = 0.1
"""A worker whose tests are shorter gets more of them at once, so that it never waits for us."""
AHEAD, AHEAD_OF_SHORT = 2, 8
"""Tests that a worker is given ahead of time; with fewer than two it cannot tear down what the next one shares."""
WORTH_A_START = 4
"""VS Code's tests that must be left before another worker starts one for them."""


def rank(name: str, fixtures: Iterable[str]) -> int:
    """Order a test by how long its kind takes: in VS Code, beside it, with processes, in memory."""
    if "lab" in fixtures:
        return 0
    return 1 if name.startswith(VSCODE) else 2 if name.startswith(PROCESSES) else 3


class LongestFirst(LoadScheduling):
    """The order of the collection, in which VS Code's tests are first, from two ends."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        self.maxschedchunk = AHEAD

    def schedule(self) -> None:
        """Hand out the first ones: each worker waits for two, or to hear that there is no more."""
        super().schedule()
        for node in self.nodes if self.collection else ():
            self.check_schedule(node, LONG_S)

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:
        """Fill up what a worker has ahead; send it home when there is nothing more for it."""
        if node.shutting_down:
            return
        ahead = AHEAD if duration >= LONG_S else AHEAD_OF_SHORT
        self._send_tests(node, ahead - len(self.node2pending[node]))
        if not self._choose(node, 1):
            node.shutdown()

    def _send_tests(self, node: WorkerController, num: int) -> None:
        chosen = self._choose(node, num)
        if chosen:
            self.pending = [index for index in self.pending if index not in chosen]
            self.node2pending[node].extend(chosen)
            node.send_runtest_some(chosen)

    def _choose(self, node: WorkerController, num: int) -> Sequence[int]:
        """Pick the next tests for a worker from those that nobody has."""
        assert self.collection is not None
        theirs = [at for at in self.pending if self.collection[at].startswith(VSCODE)]
        others = [at for at in self.pending if not self.collection[at].startswith(VSCODE)]
        working = [other for other in self.nodes if not other.shutting_down]
        if working and node is working[0]:
            return [*theirs, *others][: max(0, num)]
        if others or (len(working) > 1 and len(theirs) < WORTH_A_START):
            return others[: max(0, num)]
        return theirs[::-1][: max(0, min(num, AHEAD))]  # what needs no workbench is at the end
