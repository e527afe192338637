"""Run the end-to-end tests many times, and name each that ever failed: `python scripts/flakes.py [PYTEST ARGUMENTS]`.

Rounds take turns: shuffled in one process or each test alone in its own; with a machine that is busy otherwise, or not.
The seed of a shuffle and the number of its round say how to have the same again: `SEED=7 ROUND=3 make flakes`.
"""

import os
import random
import re
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager

ROUNDS = int(os.environ.get("ROUNDS", "20"))
ONLY = int(os.environ.get("ROUND", "0"))
SEED = int(os.environ.get("SEED", "1"))
BURNERS = int(os.environ.get("BURNERS", str(2 * (os.cpu_count() or 1))))
WHAT = ("tests/e2e",)
PYTEST = (
    sys.executable,
    "-m",
    "pytest",
    "-q",
    "--inline-snapshot=disable",
    "-p",
    "no:cacheprovider",
)
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+(?: ?\[[^\]]*\])?)", re.MULTILINE)


def main() -> int:
    """Do all rounds; 1 when a test failed in any of them."""
    chosen = sys.argv[1:] or WHAT
    names = collect(chosen)
    print(f"{len(names)} tests, {ROUNDS} rounds, seed {SEED}")
    found: dict[str, list[int]] = {}
    for number in [ONLY] if ONLY else range(1, ROUNDS + 1):
        for name in one_round(number, names):
            found.setdefault(name, []).append(number)
    for name, rounds in sorted(found.items()):
        print(f"{name} failed in round {', '.join(map(str, rounds))} of seed {SEED}")
    return 1 if found else 0


def one_round(number: int, names: Sequence[str]) -> list[str]:
    """Run them all once; what failed. Odd rounds are shuffled, every second pair of rounds is under load."""
    is_shuffled, is_busy = number % 2 == 1, number % 4 in (0, 3)
    order = random.Random(f"{SEED}/{number}").sample(names, len(names)) if is_shuffled else names
    print(
        f"round {number}: {'shuffled' if is_shuffled else 'alone'}{', under load' if is_busy else ''}"
    )
    with load(BURNERS if is_busy else 0):
        if is_shuffled:
            return failures(order)
        return [failed for name in order for failed in failures([name])]


def failures(names: Sequence[str]) -> list[str]:
    """Run these in that order in one process; what failed is told as it is found."""
    told = subprocess.run([*PYTEST, *names], capture_output=True, text=True, check=False)
    if told.returncode == 0:
        return []
    sys.stdout.write(told.stdout)
    return FAILED.findall(told.stdout) or [
        f"{names[0]} (and {len(names) - 1} others; pytest ended)"
    ]


def collect(chosen: Sequence[str]) -> list[str]:
    """List the tests by their names."""
    told = subprocess.run(
        [*PYTEST, "--collect-only", *chosen], capture_output=True, text=True, check=True
    )
    return [line for line in told.stdout.splitlines() if "::" in line]


@contextmanager
def load(count: int) -> Generator[None]:
    """Keep so many processors busy meanwhile."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


if __name__ == "__main__":
    raise SystemExit(main())
