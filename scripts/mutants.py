"""Breaks the program on purpose, once per mutant, and sees whether a test notices: `python scripts/mutants.py [word…]`.

A mutant is a textual change of one place, made in a temporary copy of the package. Words choose mutants by their names.
Exit code 1 when one survives, or no longer applies.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("agent_server", "tests", "scripts", "docs", "pyproject.toml")
LEFT_OUT = shutil.ignore_patterns("node_modules", "__pycache__", "e2e")
TEST_S = 60
"""For one test. A mutant that runs for ever is a mutant that was noticed."""
ALL_S = 900
"""For all of them, on a machine that is busy with other things. More than that proves nothing."""
LOOP = ("tests/context", "tests/loop")
IGNORED = ("--ignore=tests/loop/test_rows.py",)
"""It looks at all tests, of which not all are copied."""
REWINDING = ("tests/session/test_rewinding.py",)
PACE = ("tests/front/test_pace.py",)
FAILED = 1
"""pytest's exit code for a test that failed; any other than that and 0 means that nothing was tested."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong program."""

    name: str
    """What it does wrong."""
    file: str
    """Below `agent_server/`."""
    old: str
    """Stands exactly once in the file."""
    new: str
    tests: tuple[str, ...] = LOOP


MUTANTS: Sequence[Mutant] = (
    # ---- the loop
    Mutant(
        "open calls are left open at the end",
        "loop/loop.py",
        "await settle_rest(t, done)",
        "pass",
    ),
    Mutant(
        "the end is told before it is kept",
        "loop/loop.py",
        "        try:\n            await settle_rest(t, done)",
        "        t.emit(TurnDone(t.id, done.reason, done.detail, t.usage, message))\n"
        "        try:\n            await settle_rest(t, done)",
    ),
    Mutant(
        "a cancel tears the end",
        "loop/loop.py",
        "with anyio.CancelScope(shield=True):",
        "with anyio.CancelScope(shield=False):",
    ),
    Mutant(
        "tokens may go one step beyond their limit",
        "loop/guard.py",
        "and used.input + used.output >= limits.max_session_tokens",
        "and used.input + used.output > limits.max_session_tokens",
    ),
    # ---- a batch of calls
    Mutant(
        "a call starts before that is durable",
        "loop/batch.py",
        "await t.log.append(StartedEntry(t.id, call.key))",
        "pass",
    ),
    Mutant(
        "a result is told before it is kept",
        "loop/batch.py",
        "    await t.log.append(ResultEntry(t.id, call.key, result, effect))\n    t.emit(",
        "    t.emit(CallFinished(t.id, call.key, call.name, result, effect, seconds))\n"
        "    await t.log.append(ResultEntry(t.id, call.key, result, effect))\n    (",
    ),
    Mutant(
        "a broken-off call is said to have done nothing",
        "loop/batch.py",
        "_unknown(call, cause) if call.key in started",
        "_unknown(call, cause) if call.key not in started",
    ),
    Mutant(
        "anything may run beside a read",
        "loop/executing.py",
        "return t.limits.mixed or tool.read_only",
        "return True",
    ),
    Mutant(
        "there is no end to what runs at once",
        "loop/executing.py",
        "if tool is None or len(segment) >= t.limits.parallel:",
        "if tool is None:",
    ),
    Mutant(
        "others run beside a question of the model",
        "loop/executing.py",
        "        if segment and _needs_person(judged):",
        "        if segment and judged.question is not None:",
    ),
    Mutant(
        "reads behind a write start early",
        "loop/early.py",
        "self.barrier = True",
        "self.barrier = False",
    ),
    Mutant(
        "a no ends the batch",
        "loop/confirming.py",
        "    return Executing(gate.number)\n\n\nasync def _asked",
        "    return Thinking()\n\n\nasync def _asked",
    ),
    Mutant(
        "a question taken back is a no",
        "loop/confirming.py",
        'if answer.kind == "cancelled" or',
        "if",
    ),
    Mutant(
        "a no with words ends the turn",
        "loop/confirming.py",
        "(t.limits.stop_on_deny and not answer.feedback)",
        "t.limits.stop_on_deny",
    ),
    # ---- detectors and recovery
    Mutant(
        "an error is given one try too few",
        "loop/guard.py",
        "if t.counts[key] > t.limits.same_error:",
        "if t.counts[key] >= t.limits.same_error:",
    ),
    Mutant(
        "errors of other lines are other errors",
        "loop/guard.py",
        "_VOLATILE.sub('#', first[0])",
        "first[0]",
    ),
    Mutant(
        "polling is a loop",
        "loop/guard.py",
        "t.counts[key] = t.counts[key] + 1 if same else 1",
        "t.counts[key] = t.counts[key] + 1",
    ),
    Mutant(
        "empty replies are asked for again for ever",
        "loop/recover.py",
        "if tries <= EMPTY_RETRIES:",
        "if tries:",
    ),
    Mutant(
        "every overflow is answered by a summary",
        "loop/recover.py",
        "once = can_compact and tries == 1 and",
        "once = can_compact and",
    ),
    Mutant(
        "a turn is nudged again and again",
        "loop/recover.py",
        " and not t.counts[NUDGED]:",
        ":",
    ),
    Mutant(
        "a cut call is asked for again with less room",
        "loop/recover.py",
        "next((cap for cap in OUTPUT_CAPS if cap > failure.output), None)",
        "next((cap for cap in OUTPUT_CAPS if t.tries[Fault.TRUNCATED] < 2), None)",
    ),
    Mutant(
        "a summary that is longer than the past replaces it",
        "loop/compacting.py",
        "if len(one) < plan.below_chars",
        "if one",
    ),
    # ---- the wire to the model, and the past
    Mutant(
        "results are sent in the wrong order",
        "context/wire.py",
        "    for call in calls:\n        yield ToolMessage",
        "    for call in reversed(calls):\n        yield ToolMessage",
    ),
    Mutant(
        "a result belongs to the first call with its place",
        "context/wire.py",
        "outputs.get(call.key, NO_RESULT)",
        "next((o for k, o in outputs.items() if k.index == call.key.index), NO_RESULT)",
    ),
    Mutant(
        "two words of the person stand side by side",
        "context/wire.py",
        "out[-1] = UserMessage(old + new)",
        "out.append(message)",
    ),
    Mutant(
        "malformed arguments are sent back",
        "context/call_forms.py",
        "        good = isinstance(json.loads(text, parse_constant=_refuse), dict)",
        "        good = True",
    ),
    Mutant(
        "a cut may part a call from its result",
        "context/compact.py",
        "and unsettled == 0 and index",
        "and index",
    ),
    Mutant(
        "the task is lost with the past",
        "context/compact.py",
        'lines += ["The person asked:", *(f"- {text}" for text in asked)]',
        "pass",
    ),
    # ---- sessions
    Mutant(
        "a turn that was cut off is not ended",
        "session/recovery.py",
        "    if turn is None:\n        return 0",
        "    return 0",
    ),
    Mutant(
        "what a sub-agent uses is nobody's",
        "loop/turn.py",
        "self.parent.charge(usage)",
        "pass",
        ("tests/session/test_delegation.py",),
    ),
    Mutant(
        "a cancel loses the words that are being heard",
        "loop/thinking.py",
        "with anyio.CancelScope(shield=True):",
        "with anyio.CancelScope():",
        ("tests/loop/test_steered_words.py",),
    ),
    Mutant(
        "a reply that is dropped costs nothing",
        "loop/streaming.py",
        "t.charge(got.usage)  #",
        "pass  #",
        ("tests/loop/test_usage.py",),
    ),
    Mutant(
        "asking the person needs a permission",
        "policy/kernel.py",
        'if action.kind != "ask" and (rule',
        "if (rule",
        ("tests/tools/test_ask_user.py",),
    ),
    Mutant(
        "a model the person picked is replaced",
        "session/answering.py",
        "pinned = self._profile.chosen_model is not None",
        "pinned = False",
        ("tests/session/test_models_and_prompt.py",),
    ),
    Mutant(
        "what a title uses is nobody's",
        "session/naming.py",
        "await self._charge(usage, running())",
        "pass",
        ("tests/session/test_titles.py",),
    ),
    Mutant(
        "a command outlives the server that is killed",
        "tools/watchdog.py",
        "end_all(still_running(sys.stdin))",
        "still_running(sys.stdin)",
        ("tests/tools/test_lifeline.py",),
    ),
    Mutant(
        "another system's name for a setting wins over ours",
        "config_layers.py",
        "    merge(layer, checked_table(source, (), Settings, own, problems))\n    kept",
        "    own = merge(own, layer) or own\n"
        "    merge(layer, checked_table(source, (), Settings, own, problems))\n    kept",
        ("tests/test_config_names.py",),
    ),
    # ---- edits
    Mutant(
        "a text that moved on is overwritten",
        "edits/fit.py",
        "if document.hash == change.base_hash:",
        "if True:",
        ("tests/edits/test_apply.py",),
    ),
    Mutant(
        "one file of several is changed although another cannot be",
        "edits/apply.py",
        "return _none_of([c.path for c in changes], change.path, fits)",
        "continue",
        ("tests/edits/test_apply.py",),
    ),
    Mutant(
        "a file that another process has locked is written",
        "edits/locked.py",
        "                raise locked(path) from error",
        "                pass",
        ("tests/edits/test_locked.py",),
    ),
    Mutant(
        "sections of a patch about one file overwrite each other",
        "tools/patch.py",
        "chunks=(*first.chunks, *second.chunks)",
        "chunks=second.chunks",
        ("tests/tools/test_patch.py",),
    ),
    Mutant(
        "a staged file is searched as it is on disk",
        "tools/search.py",
        "path in self.hidden or ",
        "",
        ("tests/tools/test_staged_reads.py",),
    ),
    # ---- going back
    Mutant(
        "a context keeps what it folded of another past",
        "context/session_context.py",
        "if self._stands.rewound != self._rewound:",
        "if False:",
        ("tests/context/test_rewound.py",),
    ),
    Mutant(
        "what was taken back still stands",
        "loop/standing.py",
        "upto = min(entry.upto, rewound) if isinstance(entry, RewoundEntry) else rewound",
        "upto = rewound",
        ("tests/context/test_rewound.py",),
    ),
    Mutant(
        "the conversation goes back under a running turn",
        "session/session.py",
        "        async with self._resting:\n            yield",
        "        yield",
        REWINDING,
    ),
    Mutant(
        "a model that forgot a file may write over it",
        "session/session.py",
        "transactions.documents.forget()",
        "pass",
        REWINDING,
    ),
    Mutant(
        "what was said aside is lost with the process",
        "session/hearing.py",
        "        self._asides = unheard(entries)\n        self._noticing",
        "        self._asides = []\n        self._noticing",
        REWINDING,
    ),
    # ---- the pace of updates
    Mutant(
        "a flood of pieces is not told from a stream",
        "front/pace.py",
        "self._flood = self._pieces > limit and not lull",
        "self._flood = False",
        PACE,
    ),
    Mutant(
        "a fact overtakes what was said before it",
        "front/paced.py",
        "        if self._held:\n            self._let_go()",
        "        pass",
        PACE,
    ),
    Mutant(
        "a client gets more updates than it wants",
        "front/pace.py",
        "limit = self._rate.calm if self._flood else self._rate.free",
        "limit = self._rate.free",
        PACE,
    ),
)


def main(words: Sequence[str]) -> int:
    """Run those whose names hold one of the words, or all."""
    chosen = [m for m in MUTANTS if not words or any(word in m.name for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        copy = _copied(Path(folder))
        everything = sorted({test for mutant in chosen for test in mutant.tests})
        if (seconds := _noticed(copy, everything)) is not None:
            print(f"the tests fail without any mutant ({seconds:.0f} s); nothing can be said")
            return 1
        outcomes = [_judged(copy, mutant) for mutant in chosen]
    alive = outcomes.count(False)
    print(f"\n{len(outcomes) - alive} of {len(outcomes)} killed")
    return 1 if alive else 0


def problem_of(mutant: Mutant, package: Path) -> str | None:
    """Why the mutant cannot be made of the package as it is now."""
    file = package / mutant.file
    if not file.is_file():
        return f"there is no {mutant.file}"
    count = file.read_text(encoding="utf-8").count(mutant.old)
    return None if count == 1 else f"its place is {count} times in {mutant.file}"


def _copied(folder: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        else:
            shutil.copy(source, folder / name)
    return folder


def _judged(copy: Path, mutant: Mutant) -> bool:
    """Whether the mutant was noticed; prints it."""
    package = copy / "agent_server"
    if (problem := problem_of(mutant, package)) is not None:
        print(f"OUTDATED  {mutant.name}: {problem}")
        return False
    file = package / mutant.file
    good = file.read_text(encoding="utf-8")
    file.write_text(good.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        seconds = _noticed(copy, mutant.tests)
    finally:
        file.write_text(good, encoding="utf-8")
    print(
        f"SURVIVED  {mutant.name}"
        if seconds is None
        else f"killed    {mutant.name} ({seconds:.1f} s)",
        flush=True,
    )
    return seconds is not None


def _noticed(copy: Path, tests: Sequence[str]) -> float | None:
    """The seconds after which a test failed; None when all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider"]
    command += ["--hypothesis-seed=0", "--hypothesis-profile=curt", f"--timeout={TEST_S}"]
    command += [*IGNORED, *tests]
    began = time.monotonic()
    # The copy stands before the package that is installed here, and no old byte code can hide a change.
    done = subprocess.run(
        command,
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        timeout=ALL_S,
        check=False,
    )
    if done.returncode not in (0, FAILED):
        raise RuntimeError(f"the tests could not be run:\n{done.stdout[-2000:].decode()}")
    return time.monotonic() - began if done.returncode == FAILED else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
