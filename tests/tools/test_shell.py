"""`shell`: CP-04, CP-07, PR-09, SC-08, ST-21, F2, F49, F50."""

import os
import resource
import stat
import sys
import time
from pathlib import Path

import anyio
import pytest
from anyio import CancelScope, create_task_group, fail_after

from agent_server.loop.errors import BadArguments
from agent_server.loop.events import CallProgress, Event
from agent_server.tools import foreground, processes
from agent_server.tools.descendants import Family
from agent_server.tools.services import Limits
from tests.tools.desk import KEY, BufferEditor, Desk

pytestmark = pytest.mark.anyio

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only /proc tells who descends from whom"
)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    path = Path(f"/proc/{pid}/stat")
    return not path.exists() or path.read_text().rpartition(") ")[2][0] != "Z"


async def cancelled_once(desk: Desk, command: str, said: str) -> None:
    """Run, wait until the command has said something, cancel."""
    heard = anyio.Event()

    def hear(event: Event) -> None:
        desk.events.append(event)
        if said in desk.shown:
            heard.set()

    desk.heard = hear
    prepared = await desk.prepared("shell", command=command)
    with fail_after(10):
        async with create_task_group() as group:

            async def run() -> None:
                await desk.run(prepared)

            group.start_soon(run)
            await heard.wait()
            group.cancel_scope.cancel()


async def test_output_of_both_streams_comes_in_order(desk: Desk) -> None:
    result = await desk.call("shell", command="echo one; echo two >&2; echo three")

    assert (result.ok, result.output, result.summary) == (True, "one\ntwo\nthree", "exit 0")
    assert desk.shown == "one\ntwo\nthree\n"


@pytest.mark.row("R27")
async def test_silence_is_said(desk: Desk) -> None:
    """F50: success without output is no empty result."""
    assert (await desk.call("shell", command="true")).output == "(no output, exit 0)"
    assert (await desk.call("shell", command="exit 3")).output == "(no output, exit 3)"


async def test_an_exit_code_is_an_answer_and_not_a_failure_of_the_tool(desk: Desk) -> None:
    """Our choice: a test that fails four times must not end the turn (R90)."""
    result = await desk.call("shell", command="echo no; exit 3")

    assert (result.ok, result.output, result.summary) == (True, "no\n(exit 3)", "exit 3")


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("nosuchprogram_x", "not_run", "(exit 127)"),
        ("kill -SEGV $$", "killed", "(no output, killed by SIGSEGV)"),
    ],
)
async def test_a_command_that_was_not_run_or_was_killed_has_failed(
    desk: Desk, command: str, code: str, says: str
) -> None:
    result = await desk.call("shell", command=command)

    assert (result.ok, result.code, says in result.output) == (False, code, True)


async def test_preparing_runs_nothing_and_names_the_command_and_the_folder(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    prepared = await desk.prepared("shell", command="touch x\ntouch y", cwd="sub")

    assert prepared.title == "shell touch x …"
    assert (prepared.action.kind, prepared.action.command) == ("exec", "touch x\ntouch y")
    assert prepared.action.paths == (str(desk.root / "sub"),)
    assert list((desk.root / "sub").iterdir()) == []


async def test_it_runs_in_the_folder_it_was_given(desk: Desk) -> None:
    (desk.root / "sub").mkdir()

    assert (await desk.call("shell", command="pwd")).output == str(desk.root)
    assert (await desk.call("shell", command="pwd", cwd="sub")).output == str(desk.root / "sub")


@pytest.mark.parametrize("cwd", ["nope", "file"])
async def test_a_folder_that_is_none_is_a_result(desk: Desk, cwd: str) -> None:
    desk.file("file")

    assert not (await desk.call("shell", command="pwd", cwd=cwd)).ok


@pytest.mark.parametrize(
    "arguments", [{"command": " "}, {"command": "a\0"}, {"command": "a", "timeout_s": -1}]
)
async def test_arguments_without_sense_are_refused(
    desk: Desk, arguments: dict[str, object]
) -> None:
    with pytest.raises(BadArguments):
        await desk.tools["shell"].prepare(arguments, KEY)


@pytest.mark.parametrize(
    "command",
    ["cat", "read x; echo $?", f"{sys.executable} -c 'input()'", "(cat <&0; cat /dev/tty) 2>&1"],
)
async def test_whoever_reads_input_gets_its_end_at_once(desk: Desk, command: str) -> None:
    """PR-09."""
    with fail_after(5):
        await desk.call("shell", command=command)


async def test_the_environment_has_no_secret_and_what_programs_need(tmp_path: Path) -> None:
    """SC-08."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/home/ann",
        "LC_ALL": "C.UTF-8",
        "TMPDIR": "/var/tmp",
        "FOO": "1",
        "OPENAI_API_KEY": "sk-canary-1",
        "GITHUB_TOKEN": "canary-2",
        "CLIENT_SECRET": "canary-3",
        "AWS_SECRET_ACCESS_KEY": "canary-4",
        "AGENT_SERVER_MODEL": "canary-5",
        "SOME_COPY": "Bearer sk-canary-1",
        "DB_PASSWORD": "canary-6",
    }
    output = (await Desk(tmp_path, env=env).call("shell", command="env")).output

    assert "canary" not in output
    for kept in (
        "HOME=/home/ann",
        "LC_ALL=C.UTF-8",
        "TMPDIR=/var/tmp",
        "FOO=1",
        "PATH=",
        "TERM=dumb",
    ):
        assert kept in output


async def test_escape_sequences_and_redrawn_lines_are_not_for_the_model(desk: Desk) -> None:
    result = await desk.call(
        "shell", command=r"printf '\033[31mred\033[0m\n10%%\r50%%\r100%%\nend\n'"
    )

    assert result.output == "red\n100%\nend"


async def test_long_output_is_cut_in_the_middle_and_kept_whole_in_a_file(tmp_path: Path) -> None:
    """F2, F49, spec §14."""
    desk = Desk(tmp_path, limits=Limits(output_chars=400))
    result = await desk.call("shell", command="seq 1 1000")
    kept = tmp_path / ".agent/out/t1-1-0.txt"

    assert result.output.startswith("1\n2\n3\n")
    assert "characters left out …]\n" in result.output
    assert result.output.endswith("999\n1000\n[the whole output is in .agent/out/t1-1-0.txt]")
    assert len(result.output) < 600
    assert kept.read_text() == "".join(f"{n}\n" for n in range(1, 1001))
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert (tmp_path / ".agent/.gitignore").read_text() == ".gitignore\nout/\ntool-effects.jsonl\n"
    paged = await desk.call("read", path=".agent/out/t1-1-0.txt", start_line=999)
    assert paged.output == "999\t999\n1000\t1000"


async def test_the_file_of_an_output_is_not_written_through_a_link(tmp_path: Path) -> None:
    root, outside = tmp_path / "work", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / ".agent").symlink_to(outside)
    desk = Desk(root, limits=Limits(output_chars=400))
    result = await desk.call("shell", command="seq 1 1000")

    assert result.ok
    assert "could not be kept" in result.output
    assert list(outside.iterdir()) == []


async def test_a_flood_leaves_memory_flat_and_is_shown_in_few_pieces(desk: Desk) -> None:
    """ST-21: 50 MB."""
    await desk.call("shell", command="true")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    result = await desk.call(
        "shell", command="yes 0123456789012345678901234567890123456789012345678 | head -c 50000000"
    )
    seconds = time.monotonic() - began
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    updates = [e for e in desk.events if isinstance(e, CallProgress)]

    assert "characters left out" in result.output
    assert (desk.root / ".agent/out/t1-1-0.txt").stat().st_size == 50_000_000
    assert len(updates) <= 30 * seconds + 3
    if sys.platform == "linux":
        assert grown_kb < 30_000


async def test_output_without_end_stops_filling_the_disk(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=Limits(output_chars=400, spill_bytes=10_000))
    result = await desk.call("shell", command="yes | head -c 1000000")

    assert (tmp_path / ".agent/out/t1-1-0.txt").stat().st_size == 10_000
    assert "[the whole output is in .agent/out/t1-1-0.txt; more is not kept]" in result.output


async def test_a_time_limit_ends_the_command_and_keeps_what_it_said(desk: Desk) -> None:
    with fail_after(8):
        result = await desk.call("shell", command="echo begun; sleep 600", timeout_s=0.3)

    assert (result.ok, result.code) == (False, "timeout")
    assert result.output == "begun\n(ended after 0.3 s, its time limit)"


async def test_a_cancelled_command_that_ignores_signals_is_killed(desk: Desk) -> None:
    """CP-04."""
    await cancelled_once(desk, "trap '' TERM INT; echo $$; sleep 600 & wait; sleep 600", "\n")

    assert not is_alive(int(desk.shown))


async def test_a_second_cancel_while_the_first_ends_the_command_changes_nothing(desk: Desk) -> None:
    """CP-04."""
    prepared = await desk.prepared(
        "shell", command="trap '' TERM; echo $$; while :; do sleep 0.05; done"
    )
    heard = anyio.Event()
    desk.heard = lambda event: (desk.events.append(event), heard.set())[0]
    with fail_after(10):
        with CancelScope() as outer:
            async with create_task_group() as group:

                async def run() -> None:
                    await desk.run(prepared)

                group.start_soon(run)
                await heard.wait()
                group.cancel_scope.cancel()
                outer.cancel()

    assert not is_alive(int(desk.shown))


@linux
async def test_grandchildren_and_daemons_are_gone_after_cancel(desk: Desk) -> None:
    """CP-07: also one in a session of its own, one that forked twice, and one without our environment."""
    command = """
        (while :; do touch m; sleep .1; done) & echo $!
        setsid sh -c 'echo $$; exec sleep 300' &
        (setsid sh -c 'echo $$; exec sleep 301' &)
        env -i sh -c 'echo $$; exec sleep 302' &
        sleep 0.3; echo ready; wait
    """
    await cancelled_once(desk, command, "ready")
    pids = [int(line) for line in desk.shown.split() if line.isdigit()]

    assert len(pids) == 4
    assert [pid for pid in pids if is_alive(pid)] == []


@linux
async def test_what_a_command_leaves_running_is_ended_and_said(desk: Desk) -> None:
    with fail_after(10):
        result = await desk.call(
            "shell", command="sleep 300 & setsid sleep 301 >/dev/null 2>&1 & echo $!"
        )
    pid, note = result.output.splitlines()

    assert (result.ok, is_alive(int(pid))) == (True, False)
    assert note == "[2 process(es) that the command left running were ended]"


async def test_what_the_shell_does_not_wait_for_may_still_finish(desk: Desk) -> None:
    result = await desk.call("shell", command="echo hi > >(sleep 0.05; cat)")

    assert result.output == "hi"


@linux
async def test_what_still_works_when_the_shell_is_done_may_finish(desk: Desk) -> None:
    """As a slow machine makes of the test above."""
    late = "for i in {1..500000}; do :; done; cat"
    result = await desk.call("shell", command=f"echo hi > >({late})")

    assert result.output == "hi"


async def test_what_works_without_end_is_ended(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreground, "LINGER_AT_MOST_S", 0.4)
    with fail_after(10):
        result = await desk.call("shell", command="while :; do :; done & echo $!")

    assert not is_alive(int(result.output.split()[0]))


async def test_a_folder_swapped_for_a_link_is_not_entered(desk: Desk, tmp_path: Path) -> None:
    """SC-04."""
    sub = desk.root / "sub"
    sub.mkdir()
    prepared = await desk.prepared("shell", command="touch x", cwd="sub")
    sub.rmdir()
    sub.symlink_to(tmp_path)
    result = await desk.run(prepared)

    assert (result.ok, (tmp_path / "x").exists()) == (False, False)


async def test_a_process_that_kill_does_not_end_is_named(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CP-07: `or the survivor is named in the result`. A stand-in, because nothing survives KILL at will."""

    def alive(family: Family) -> set[int]:
        del family
        return {4_194_303}

    monkeypatch.setattr(processes, "alive", alive)
    monkeypatch.setattr(processes, "GRACE_S", 0.0)
    monkeypatch.setattr(processes, "KILLED_WITHIN_S", 0.0)
    result = await desk.call("shell", command="echo hi")

    assert "not even KILL ended them: process 4194303" in result.output


async def test_a_command_that_is_too_long_for_the_system_says_so(desk: Desk) -> None:
    result = await desk.call("shell", command="true " + "x" * 3_000_000)

    assert (result.ok, result.code) == (False, "too_long")


# ---- what is only in the editor ----------------------------------------------------------------------


class SavingEditor(BufferEditor):
    """Saves what it is asked to, unless it `refuses`."""

    refuses = False

    async def save(self, path: str) -> bool:
        if not self.refuses:
            await anyio.Path(path).write_text(self.buffers[path])
        return not self.refuses

    async def unsaved(self) -> tuple[str, ...]:
        return tuple(p for p in self.buffers if on_disk(p) != self.buffers[p])


def on_disk(path: str) -> str:
    return Path(path).read_text()


async def edited_in(editor: SavingEditor, root: Path) -> Desk:
    desk = Desk(root, editor=editor)
    for path, text in editor.buffers.items():
        desk.file(Path(path).name, text)
    await desk.call("edit", path="a.py", edits=[{"old_text": "old", "new_text": "new"}])
    return desk


async def test_nothing_is_saved_silently_before_a_command_and_the_question_says_what_is_not(
    tmp_path: Path,
) -> None:
    """Spec §14, "accepted edits"."""
    ours, theirs = str(tmp_path / "a.py"), str(tmp_path / "b.py")
    editor = SavingEditor({ours: "old\n", theirs: "old\n"})
    desk = await edited_in(editor, tmp_path)
    editor.buffers[theirs] = "typing\n"
    prepared = await desk.prepared("shell", command="cat a.py b.py")
    result = await desk.call("shell", command="cat a.py b.py")

    said = "open in the editor with another text; {} the disk's: a.py, b.py"
    assert prepared.note == said.format("it sees")
    assert result.output == f"old\nold\n[{said.format('the command saw')}]"


async def test_accepted_edits_of_open_documents_are_saved_where_the_settings_say_so(
    tmp_path: Path,
) -> None:
    ours, theirs = str(tmp_path / "a.py"), str(tmp_path / "b.py")
    editor = SavingEditor({ours: "old\n", theirs: "typing\n"})
    (tmp_path / "b.py").write_text("old\n")
    desk = Desk(tmp_path, editor=editor, save_accepted=True)
    desk.file("a.py", "old\n")
    await desk.call("edit", path="a.py", edits=[{"old_text": "old", "new_text": "new"}])

    assert ((tmp_path / "a.py").read_text(), (tmp_path / "b.py").read_text()) == ("new\n", "old\n")


async def test_a_file_that_our_patch_deleted_is_not_said_to_be_unsaved(desk: Desk) -> None:
    desk.file("a.py", "old\n")
    await desk.call("patch", patch="*** Begin Patch\n*** Delete File: a.py\n*** End Patch")
    result = await desk.call("shell", command="echo on")

    assert result.output == "on"


async def test_a_command_that_sees_an_older_text_is_told_so(tmp_path: Path) -> None:
    editor = SavingEditor({str(tmp_path / "a.py"): "old\n"})
    editor.refuses = True
    desk = await edited_in(editor, tmp_path)
    result = await desk.call("shell", command="cat a.py")

    assert (
        result.output
        == "old\n[open in the editor with another text; the command saw the disk's: a.py]"
    )
