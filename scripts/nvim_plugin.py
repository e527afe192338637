"""Make the Neovim plugin a git repository of its own, which every plugin manager can install.

`scripts/nvim_plugin.py OUT`, or `make nvim-plugin`. Here the plugin is a folder, and git ignores the server that it may
carry; OUT gets its files, the server if there is one, and the help's tags. Made again, OUT gets another commit, so that
an update is a `git pull` as for any plugin. `OUT.tar.gz` has the same files.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

PLUGIN = Path(__file__).parents[1] / "editors" / "nvim"
LEFT_OUT = ("tests", ".gitignore", ".luarc.json", ".stylua.toml", "tags")
"""Of no use to who only runs it; and `.gitignore` names the server."""
TAG = re.compile(r"(?<![^\s])\*([^\s*|]+)\*(?![^\s])")


def copy_plugin(out: Path) -> None:
    """The plugin's files, in place of whatever was there, but for the history."""
    for old in out.iterdir() if out.exists() else ():
        if old.name != ".git":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(PLUGIN, out, ignore=shutil.ignore_patterns(*LEFT_OUT), dirs_exist_ok=True)
    shutil.copy(PLUGIN.parents[1] / "LICENSE", out)
    readme = out / "README.md"
    readme.write_text(
        re.sub(r"(?m)^!\[.*\n\n?", "", readme.read_text())
    )  # the pictures stay behind
    # Managers make these too, plain packages do not: so `:help agent` works everywhere.
    tags = help_tags(out / "doc" / "agent.txt")
    (out / "doc" / "tags").write_text("".join(f"{line}\n" for line in tags))


def help_tags(page: Path) -> list[str]:
    """As `:helptags` writes them: tag, file, how to find it; sorted by bytes."""
    names = set(TAG.findall(page.read_text()))
    return [f"{name}\t{page.name}\t/*{name}*" for name in sorted(names)]


def commit(out: Path, words: str) -> None:
    """Everything, if something is different; the repository is made when there is none."""
    if not (out / ".git").exists():
        git(out, "init", "--quiet", "--initial-branch=main")
    git(out, "add", "--all")
    if git(out, "status", "--porcelain"):
        who = ("-c", "user.name=agent-server", "-c", "user.email=agent-server@localhost")
        git(out, *who, "commit", "--quiet", "--no-verify", "-m", words)


def git(folder: Path, *arguments: str) -> str:
    """What it printed."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def main() -> int:
    """Make it, and say where it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out.absolute()
    copy_plugin(out)
    wheels = sorted(wheel.name for wheel in (out / "server").glob("*.whl"))
    carried = f"with {wheels[0]}" if wheels else "without a server"
    commit(out, f"The plugin, {carried}")
    tarball = out.with_name(f"{out.name}.tar.gz")
    git(out, "archive", f"--prefix={out.name}/", f"--output={tarball}", "HEAD")
    sys.stdout.write(f"{out} ({carried}), {tarball}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
