"""The programs whose command lines are understood, as a table: their options, and what their operands are.

What is not in it is not understood, however harmless it may be. Options that write elsewhere, run something, or walk
through a whole folder's contents are left out on purpose.
"""

from typing import Literal

from agent_server.frozen import frozen

Role = Literal["text", "read", "name", "write", "target", "node"]
"""What an operand is: words; a file whose content is shown; a place; a place that is changed; a plain name of a target;
a test's address (`tests/test_a.py::test_b`)."""


@frozen
class Program:
    """How one program, or one subcommand of it, may be called."""

    flags: str = ""
    """Short options without a value."""
    valued: str = ""
    """Short options with a value, which is text."""
    long: tuple[str, ...] = ()
    """Long options; a value must follow a `=`."""
    operands: Role | None = None
    """None: it takes none."""
    first: Role | None = None
    """Of the first operand, where it differs."""
    numeric: bool = False
    """`-20` is an option."""


_TEXT = Program(operands="text")
_READS = Program(operands="read")
_CHECKER = Program(
    "qv", long=("--check", "--diff", "--fix", "--quiet", "--strict", "--no-color"), operands="name"
)

PROGRAMS: dict[str, Program] = {
    "echo": Program("neE", operands="text"),
    "printf": _TEXT, "true": _TEXT, "false": _TEXT, ":": _TEXT, "sleep": _TEXT, "seq": _TEXT,
    "basename": _TEXT, "dirname": _TEXT, "which": _TEXT, "expr": _TEXT, "pwd": Program("LP"),
    "whoami": Program(), "id": Program("ugn"), "nproc": Program(), "uname": Program("amrsnpo"),
    "date": Program("uR", operands="text"), "arch": Program(), "tr": Program("dsc", operands="text"),
    "ls": Program("1aAlhtrRSFdgopis", long=("--color",), operands="name"),
    "tree": Program("adfC", "LIP", operands="name"), "stat": Program("L", "c", operands="name"),
    "du": Program("shac", "d", operands="name"), "file": Program("b", operands="name"),
    "realpath": Program(operands="name"), "cat": Program("nAbsETv", operands="read"),
    "head": Program("qv", "nc", operands="read", numeric=True),
    "tail": Program("qv", "nc", operands="read", numeric=True),
    "wc": Program("lwcm", operands="read"), "nl": _READS, "tac": _READS, "rev": _READS,
    "sort": Program("nrufbhV", "kt", operands="read"), "cut": Program("s", "dfcb", operands="read"),
    "uniq": Program("cdui", operands="write"), "fold": Program("s", "w", operands="read"),
    "diff": Program("uqwbB", "U", operands="read"), "cmp": Program("s", operands="read"),
    "md5sum": _READS, "sha1sum": _READS, "sha256sum": _READS, "strings": _READS, "od": Program("c", operands="read"),
    "grep": Program("nivclwEFoqhHxP", "ABCme", operands="read", first="text"),
    "egrep": Program("nivclwoqhHx", "ABCme", operands="read", first="text"),
    "fgrep": Program("nivclwoqhHx", "ABCme", operands="read", first="text"),
    "mkdir": Program("pv", operands="write"), "rmdir": Program("pv", operands="write"),
    "touch": Program("c", operands="write"), "tee": Program("a", operands="write"),
    "rm": Program("rRfv", operands="write"), "cp": Program("rRfvnpau", operands="write"),
    "mv": Program("fvnu", operands="write"), "chmod": Program("v", operands="write", first="text"),
    "pytest": Program(
        "qvxsl", "kmnr",
        ("--tb", "--maxfail", "--lf", "--ff", "--last-failed", "--failed-first", "--co", "--collect-only", "--cov",
         "--no-header", "--no-summary", "--durations", "--exitfirst", "--verbose", "--quiet", "--color", "--no-cov"),
        "node",
    ),
    "unittest": Program("qvfbc", "kstp", ("--quiet", "--verbose", "--failfast"), "target"),
    "compileall": Program("q", operands="name"), "make": Program("skBniw", operands="target"),
    "tox": Program("qv", "e"), "ruff check": _CHECKER, "ruff format": _CHECKER, "mypy": _CHECKER, "black": _CHECKER,
    "isort": _CHECKER, "flake8": _CHECKER, "pyright": _CHECKER, "basedpyright": _CHECKER,
    "eslint": _CHECKER, "prettier": Program(long=("--check",), operands="name"),
    "tsc": Program("b", long=("--noEmit",)), "vitest run": Program(operands="name"), "jest": Program(operands="name"),
    "npm test": Program("s", long=("--silent",)), "npm t": Program("s"),
    "npm run": Program("s", long=("--silent",), operands="target"),
    "yarn test": Program(), "yarn run": Program(operands="target"),
    "pnpm test": Program(), "pnpm run": Program(operands="target"),
    **{
        f"cargo {name}": Program(
            "qv", "pj",
            ("--release", "--all", "--workspace", "--all-targets", "--all-features", "--lib", "--bins", "--tests",
             "--no-run", "--check", "--quiet", "--verbose", "--locked", "--offline"),
            "target",
        )
        for name in ("build", "test", "check", "clippy", "fmt")
    },
    **{f"go {name}": Program("v", operands="name") for name in ("build", "test", "vet", "fmt")},
    "go version": Program(),
    "git status": Program("sbuv", long=("--short", "--branch", "--porcelain"), operands="name"),
    "git diff": Program(
        "w", "", ("--stat", "--cached", "--staged", "--name-only", "--name-status", "--word-diff", "--check",
                 "--shortstat"), "node"
    ),
    "git log": Program(
        "", "n", ("--oneline", "--stat", "--graph", "--all", "--decorate", "--name-only", "--name-status", "--since",
                  "--until", "--author", "--reverse", "--no-merges"), "node", numeric=True,
    ),
    "git show": Program("", "", ("--stat", "--name-only", "--oneline"), "node"),
    "git add": Program("Auv", long=("--all", "--update"), operands="read"),
    "git commit": Program("aqv", "m", ("--all", "--quiet", "--message", "--amend", "--no-edit", "--allow-empty")),
    "git branch": Program("avr", long=("--list", "--show-current"), operands="target"),
    "git switch": Program("", "c"),
    "git rev-parse": Program("", "", ("--abbrev-ref", "--short", "--show-toplevel"), "target"),
    "git ls-files": Program("", operands="name"), "git blame": Program("w", "L", operands="read"),
    "git init": Program("q"), "git --version": Program(),
}  # fmt: skip
"""By name, or by name and subcommand."""

SUBCOMMANDS = frozenset(name.split()[0] for name in PROGRAMS if " " in name)
INTERPRETERS = frozenset({"python", "python3", "node", "bash", "sh", "ruby", "perl", "lua", "php"})
"""They run the file that their first word names, and nothing else that is understood here."""
TEXT_VALUES = frozenset({"grep", "egrep", "fgrep", "git commit", "pytest", "cut", "sort"})
"""The values of their short options are words, never places."""
MODULES = frozenset(
    {"pytest", "unittest", "compileall", "mypy", "ruff", "black", "isort", "flake8", "pyright"}
)
"""What `python -m` may run."""
VARIABLES = frozenset(
    {
        "CI", "NO_COLOR", "FORCE_COLOR", "DEBUG", "NODE_ENV", "RUST_BACKTRACE", "TERM", "LANG", "LC_ALL", "TZ",
        "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONWARNINGS", "COLUMNS",
    }
)  # fmt: skip
"""Variables that may be set for a command: none of them loads or runs anything."""

WHY: dict[str, str] = {
    **dict.fromkeys(
        ("sudo", "doas", "su", "pkexec", "run0", "runuser", "setpriv", "chroot", "unshare"),
        "it takes other rights",
    ),
    **dict.fromkeys(
        ("env", "printenv", "set", "export", "declare", "compgen"),
        "it shows or sets the environment, which may hold keys",
    ),
    **dict.fromkeys(
        (
            "xargs",
            "parallel",
            "eval",
            "source",
            ".",
            "exec",
            "command",
            "nohup",
            "trap",
            "alias",
            "awk",
            "gawk",
            "watch",
            "script",
            "setsid",
        ),
        "it runs what is not written in the line",
    ),
    **dict.fromkeys(
        (
            "curl",
            "wget",
            "ssh",
            "scp",
            "rsync",
            "nc",
            "ncat",
            "ftp",
            "sftp",
            "telnet",
            "http",
            "aria2c",
            "gh",
        ),
        "it reaches another machine",
    ),
    **dict.fromkeys(
        (
            "pip",
            "pip3",
            "npx",
            "uv",
            "uvx",
            "pipx",
            "apt",
            "apt-get",
            "dnf",
            "yum",
            "brew",
            "gem",
            "poetry",
            "conda",
            "snap",
        ),
        "it may install or download programs",
    ),
    **dict.fromkeys(
        (
            "ln",
            "dd",
            "install",
            "truncate",
            "shred",
            "mkfifo",
            "mknod",
            "mount",
            "tar",
            "unzip",
            "patch",
            "chown",
        ),
        "where it writes is not understood",
    ),
    **dict.fromkeys(
        ("rg", "ag", "ack"),
        "it reads every file of a folder, secrets included; the search tool leaves those out",
    ),
    **dict.fromkeys(
        (
            "kill",
            "pkill",
            "killall",
            "systemctl",
            "launchctl",
            "crontab",
            "at",
            "docker",
            "podman",
            "kubectl",
        ),
        "it reaches beyond the workspace",
    ),
}
"""Why some well-known programs are never understood, in words for the user."""
