"""Play the demo in tmux and keep what it looks like: docs/images/demo-*.txt and .png, which the README shows.

Needs tmux and chromium (`apt-get install tmux chromium fonts-jetbrains-mono`). A scene ends when its words are on the
screen; the keys then lead to the next one.
"""

import io
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
PROGRAM = ROOT / ".venv" / "bin" / "agent-server"
COLUMNS = 92
SCENE_S = 30.0
"""How long a scene may take to appear."""

THEME = TerminalTheme(
    (24, 26, 33),
    (205, 211, 222),
    [
        (60, 64, 76), (233, 110, 113), (140, 200, 120), (229, 192, 110),
        (100, 160, 240), (198, 132, 220), (92, 196, 204), (205, 211, 222),
    ],
    [
        (110, 116, 130), (240, 130, 132), (160, 215, 140), (240, 208, 130),
        (125, 180, 250), (214, 150, 234), (116, 214, 220), (240, 243, 248),
    ],
)  # fmt: skip
SVG = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "font-family: Fira Code",
    "font-variant-ligatures: none; font-family: JetBrains Mono, DejaVu Sans Mono",
)
"""Rich's picture of a terminal, without fonts from the network."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Something worth a picture."""

    name: str
    words: str
    """On the screen when it is complete."""
    keys: str
    """Typed afterwards."""
    rows: int
    """Lines of the picture: the last ones that are not empty."""


SCENES = (
    Scene("demo-start", r"1 of 2[\s\S]*apply\?", "y", 40),
    Scene("demo-review", r"2 of 2[\s\S]*apply\?", "y", 31),
    Scene("demo-command", r"\[y\] once", "y", 8),
    Scene("demo-end", r"Go on[\s\S]*editor", "", 46),
)


@contextmanager
def terminal(command: list[str], rows: int) -> Generator[str]:
    """A tmux server of its own that runs the command; gives its socket's name."""
    socket = "agent-server-capture"
    found = f"PATH={shlex.quote(str(PROGRAM.parent))}:$PATH"  # so that it calls itself by its name
    shell = f"{found} {shlex.join(command)}; sleep 60"
    size = ["-x", str(COLUMNS), "-y", str(rows)]
    tmux(socket, "-f", "/dev/null", "new-session", "-d", *size, shell)
    try:
        yield socket
    finally:
        tmux(socket, "kill-server")


def tmux(socket: str, *arguments: str) -> str:
    """The output of one tmux command."""
    command = ["tmux", "-L", socket, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def wait_for(socket: str, words: str) -> None:
    """Return when the words are on the screen."""
    give_up = time.monotonic() + SCENE_S
    while not re.search(words, screen := tmux(socket, "capture-pane", "-p").rstrip()):
        if time.monotonic() > give_up:
            raise SystemExit(f"{words!r} did not appear on:\n{screen}")
        time.sleep(0.1)


def keep(scene: Scene, ansi: str) -> None:
    """Write the scene as text and as a picture."""
    lines = ansi.rstrip().splitlines()[-scene.rows :]
    text = Text.from_ansi("\n".join(lines))
    IMAGES.joinpath(f"{scene.name}.txt").write_text(f"{text.plain}\n", encoding="utf-8")
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    console.print(text, no_wrap=True)
    svg = console.export_svg(title="agent-server demo", theme=THEME, code_format=SVG)
    picture(svg, IMAGES / f"{scene.name}.png")


def picture(svg: str, path: Path) -> None:
    """Draw an SVG with chromium, at twice its size."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert found, "the picture has no size"
    width, height = (round(float(side)) for side in found.groups())
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(
            f"<style>body{{margin:0}}svg{{width:{width}px}}</style>{svg}", encoding="utf-8"
        )
        command = [
            "chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu",
            "--default-background-color=00000000", "--force-device-scale-factor=1.5",
            f"--window-size={width},{height}", f"--screenshot={path}", f"--user-data-dir={folder}/profile",
            page.as_uri(),
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)


def main() -> int:
    """Capture every scene."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with terminal([PROGRAM.name, "demo"], rows=60) as socket:
        for scene in SCENES:
            wait_for(socket, scene.words)
            keep(scene, tmux(socket, "capture-pane", "-e", "-p"))
            print(f"{scene.name}: {IMAGES / scene.name}.png")
            if scene.keys:
                tmux(socket, "send-keys", scene.keys)
    return 0


if __name__ == "__main__":
    sys.exit(main())
