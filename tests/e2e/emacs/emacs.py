"""An Emacs with eglot: the one that is installed when it is new enough, else Debian's backport, unpacked beside us.

Unpacking needs no rights and changes nothing of the system: package lists and archives are our own, and what apt-get
chooses is taken apart, not installed.
"""

import fcntl
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

OLDEST: Final = 29
"""The first that has eglot."""
HERE: Final = Path(__file__).parents[3] / ".emacs"
"""Made once, by whoever comes first. Beside the sources, not among them: checkers would look at it."""
SOURCES: Final = Path("/etc/apt/sources.list.d/debian.sources")
FETCH_S: Final = 150
"""For 32 MB from a mirror that is in no hurry."""


class NoEmacs(Exception):
    """There is none, and none can be had; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Emacs:
    """How it is started."""

    command: tuple[str, ...]
    environment: dict[str, str]


def find() -> Emacs:
    """An Emacs that has eglot.

    Raises:
        NoEmacs: neither installed nor to be had.
    """
    installed = shutil.which("emacs")
    if installed is not None and _version(installed) >= OLDEST:
        return Emacs((installed,), {})
    HERE.mkdir(exist_ok=True)
    (HERE / ".gitignore").write_text("*\n", encoding="utf-8")
    with (HERE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        root = HERE / "root"
        if not root.exists():
            _unpack(HERE)
    return _unpacked(root)


def _version(program: str) -> int:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"GNU Emacs (\d+)", said.stdout)
    return int(found[1]) if found else 0


def _unpack(home: Path) -> None:
    """apt-get with lists of its own finds and fetches what is missing here; the archives are unpacked into `root`."""
    if not SOURCES.exists() or shutil.which("dpkg-deb") is None:
        raise NoEmacs(f"no Emacs >= {OLDEST} is installed, and this is no Debian")
    suite, apt = _own_apt(home)
    _run([*apt, "-qq", "update"])
    _run([*apt, "-qq", "-y", "-t", suite, "--download-only", "install", "emacs-nox"])
    fresh = home / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    for archive in (home / "archives").glob("*.deb"):
        if not archive.name.startswith("emacs-el_"):  # sources of what is compiled
            _run(["dpkg-deb", "-x", str(archive), str(fresh)])
    for name in ("archives", "lists", "parts"):
        shutil.rmtree(home / name)
    fresh.rename(home / "root")


def _own_apt(home: Path) -> tuple[str, list[str]]:
    """The backports' name, and apt-get on the system's own mirror with that suite beside the others."""
    for name in ("archives/partial", "lists/partial", "parts"):
        (home / name).mkdir(parents=True, exist_ok=True)
    stanza = SOURCES.read_text("utf-8").split("\n\n")[0]
    suites = re.search(r"^Suites: (\S+)", stanza, re.MULTILINE)
    if suites is None:
        raise NoEmacs(f"{SOURCES} names no suite")
    backports = f"{suites[1]}-backports"
    own = stanza.replace(suites[0], f"{suites[0]} {backports}")
    (home / "parts" / "own.sources").write_text(f"{own}\n", encoding="utf-8")
    options = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": home / "parts",
        "Dir::State::lists": home / "lists",
        "Dir::Cache": home,
        "Dir::Cache::archives": home / "archives",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "true",
    }
    return backports, ["apt-get", *(f"-o{name}={value}" for name, value in options.items())]


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=FETCH_S,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )  # fmt: skip
    if done.returncode != 0:
        raise NoEmacs(f"{' '.join(command[:1] + command[-3:])} failed: {done.stderr.strip()}")


def _unpacked(root: Path) -> Emacs:
    """It was built for `/usr`: everything that it looks for there is named."""
    [share] = (root / "usr/share/emacs").glob("[0-9]*")
    [dump] = (root / "usr/libexec/emacs").rglob("*.pdmp")
    [libraries] = (root / "usr/lib").glob("*-linux-gnu")
    lisp = [
        share / "lisp",
        *(path for path in sorted((share / "lisp").rglob("*")) if path.is_dir()),
    ]
    environment = {
        "LD_LIBRARY_PATH": str(libraries),
        "EMACSDATA": str(share / "etc"),
        "EMACSDOC": str(share / "etc"),
        "EMACSPATH": str(dump.parent),
        "EMACSLOADPATH": ":".join(map(str, lisp)),
    }
    return Emacs((str(root / "usr/bin/emacs-nox"), f"--dump-file={dump}"), environment)
