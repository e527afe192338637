"""Standard output is frames only, whatever prints; children never see the protocol.

Spec §3; field cases PR-05 and PR-09.
"""

import subprocess
import sys


def run(script: str, *, given: bytes = b"") -> tuple[bytes, bytes]:
    """What a fresh interpreter wrote to stdout and stderr."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os, sys, subprocess\nfrom agent_server.stdio import guard\n" + script,
        ],
        input=given,
        capture_output=True,
        timeout=15,
        check=True,
    )
    return done.stdout, done.stderr


def test_only_what_is_written_to_the_kept_descriptor_is_on_stdout() -> None:
    out, err = run("""
early = sys.stdout
pipes = guard()
assert sys.stdout is sys.stderr
print("print")
print("early", file=early, flush=True)
sys.__stdout__.write("dunder\\n"); sys.__stdout__.flush()
os.write(1, b"raw\\n")
subprocess.run([sys.executable, "-c", "print('child')"])
import warnings; warnings.warn("warned")
os.write(pipes.write_fd, b"frame")
raise SystemExit
""")

    assert out == b"frame"
    assert all(word in err for word in (b"print", b"early", b"dunder", b"raw", b"child", b"warned"))


def test_a_child_that_reads_gets_the_end_of_input_and_the_clients_bytes_stay() -> None:
    out, _ = run(
        """
pipes = guard()
read = "import sys; print('child read', repr(sys.stdin.read()))"
subprocess.run([sys.executable, "-c", read])
assert sys.stdin.read() == ""
os.write(pipes.write_fd, os.read(pipes.read_fd, 100))
""",
        given=b"request",
    )

    assert out == b"request"


def test_no_child_inherits_the_protocols_descriptors() -> None:
    out, _ = run('''
pipes = guard()
look = f"""
import os, sys
for fd in {(pipes.read_fd, pipes.write_fd)}:
    try:
        os.fstat(fd)
    except OSError:
        continue
    sys.exit(1)
"""
done = subprocess.run([sys.executable, "-c", look], close_fds=False)
os.write(pipes.write_fd, str(done.returncode).encode())
''')

    assert out == b"0"


def test_a_start_without_standard_descriptors_keeps_clear_of_them() -> None:
    """A supervisor may close them; a file opened later must not become `stdout`."""
    out, _ = run("""
child = '''
import os, sys
for fd in (0, 1, 2): os.close(fd)
from agent_server.stdio import guard
pipes = guard()
print("nobody hears", file=sys.stdout)
sys.exit(0 if min(pipes.read_fd, pipes.write_fd) > 2 and os.read(pipes.read_fd, 1) == b"" else 1)
'''
done = subprocess.run([sys.executable, "-c", child])
os.write(1, str(done.returncode).encode())
""")

    assert out == b"0"
