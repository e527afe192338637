"""Write VS Code's default keys for the three systems into the tests, from the VS Code that they install.

    .venv/bin/python scripts/vscode_keys.py

The browser says which system it is on, and VS Code tells its defaults for that ("Default Keyboard Shortcuts (JSON)").
Kept are the keys and the conditions in which they mean something; the agent's own are left out.
"""

import json
import re
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from tests.e2e.vscode_support import EXTENSION, HERE, installed, started

TARGET = Path(__file__).parents[1] / "editors/vscode/test/keys"
AGENTS = {
    "linux": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
    "mac": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
    "windows": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
}


def main() -> None:
    """Ask VS Code once for each system."""
    with tempfile.TemporaryDirectory() as name:
        run = Path(name)
        subprocess.run([HERE / "build.sh", run / "extensions" / EXTENSION], check=True)
        folder = installed(run)
        version = json.loads(
            (folder / "node_modules/code-server/lib/vscode/package.json").read_text()
        )["version"]
        with started(run, folder) as lab:
            for system, agent in AGENTS.items():
                story = "defaults.keys"
                workspace = lab.play(story, [], screen={"userAgent": agent})
                text = (workspace.parent / "keys.json").read_text()
                workspace.parent.rename(run / system)
                write(TARGET / f"{system}.txt", version, text)


def write(target: Path, version: str, text: str) -> None:
    """One line for each key that is pressed first: where it means something; nothing behind it: everywhere."""
    told = json.loads(re.sub(r"(?m)^\s*//.*$", "", text))
    places: dict[str, set[str]] = defaultdict(set)
    for one in told:
        if not one["command"].startswith("agent."):
            when = re.sub(r"vscode-remote:\S*?/data", "vscode-userdata:", one.get("when", ""))
            places[one["key"].split(" ")[0]] |= set(when.split(" || "))
    source = (
        f"# VS Code {version}, Default Keyboard Shortcuts (JSON); written by scripts/vscode_keys.py"
    )
    lines = [
        "\t".join([key, *([] if "" in places[key] else sorted(places[key]))])
        for key in sorted(places)
    ]
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join([source, *lines]) + "\n")


if __name__ == "__main__":
    main()
