"""Use the extension in a real VS Code and keep what it looks like: docs/images/vscode-*, which its README shows.

VS Code is that of `tests/e2e/vscode`, and is installed when it is not there. The model is scripted; the editor, the
extension, the server and the edits are real.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.e2e.support import shell  # noqa: E402 - the tests are no package of the program
from tests.e2e.test_vscode_workbench import CHANGE, FILES, LOOK  # noqa: E402
from tests.e2e.vscode_support import EXTENSION, HERE, Lab, installed, started  # noqa: E402

IMAGES = ROOT / "docs" / "images"
THEMES = {
    "light": "Default Light Modern",
    "dark": "Default Dark Modern",
    "high-contrast": "Default High Contrast",
    "high-contrast-light": "Default High Contrast Light",
}
PLAIN = {
    "breadcrumbs.enabled": False,
    "diffEditor.useInlineViewWhenSpaceIsLimited": False,
    "editor.minimap.enabled": False,
    "editor.stickyScroll.enabled": False,
    "window.autoDetectColorScheme": False,
    "window.commandCenter": False,
    "workbench.layoutControl.enabled": False,
}
"""Less of VS Code around what is to be seen."""
SHARP = {"deviceScaleFactor": 1.5, "width": 1280, "height": 760}
SMALL = {"width": 1200, "height": 680}
SLOWLY = {"delay_ms": 60}
SCRIPT = [
    LOOK | SLOWLY,
    CHANGE | SLOWLY,
    shell('python3 -c "import dates; print(dates.FORMAT)"', "Now the check."),
    {"text": "Done."},
]
TOUR = [
    LOOK | SLOWLY,
    CHANGE | SLOWLY,
    {"text": "`parse_date` takes ISO weeks now; `format_date` stays as it was."} | SLOWLY,
]


def main() -> None:
    """Make all of them, or those whose names are given."""
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder)
        subprocess.run([HERE / "build.sh", run / "extensions" / EXTENSION], check=True)
        with started(run, installed(run)) as lab:
            for theme in THEMES:
                if not wanted or f"review-{theme}" in wanted:
                    _keep(lab, f"review-{theme}", "pictures.review", theme)
            if not wanted or "permission-dark" in wanted:
                _keep(lab, "permission-dark", "pictures.permission", "dark")
            if not wanted or "tour" in wanted:
                _dress(lab, "dark")
                place = lab.play("pictures.tour", TOUR, files=FILES, screen=SMALL).parent
                shutil.copy(place / "tour.gif", IMAGES / "vscode-tour.gif")


def _keep(lab: Lab, name: str, story: str, theme: str) -> None:
    _dress(lab, theme)
    place = lab.play(story, SCRIPT, files=FILES, screen=SHARP).parent
    shutil.copy(place / "picture.png", IMAGES / f"vscode-{name}.png")
    shutil.rmtree(place)


def _dress(lab: Lab, theme: str) -> None:
    """The person's own settings, which a new window reads."""
    settings = json.loads((HERE / "settings.json").read_text(encoding="utf-8"))
    chosen = settings | PLAIN | {"workbench.colorTheme": THEMES[theme]}
    (lab.run / "data/User/settings.json").write_text(json.dumps(chosen), encoding="utf-8")


if __name__ == "__main__":
    main()
