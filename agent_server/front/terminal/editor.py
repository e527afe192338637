"""A text in the person's own editor."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path


def editor_command() -> list[str]:
    """`$VISUAL`, `$EDITOR`, or what the platform has."""
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if chosen:
        return shlex.split(chosen, posix=os.name != "nt")
    return ["notepad"] if os.name == "nt" else ["vi"]


def edit_text(text: str, path: str) -> str | None:
    """The text as the person left it, in a file named as `path` is; None when the editor failed or left no text."""
    with tempfile.TemporaryDirectory(prefix="agent-server-") as folder:
        file = Path(folder) / Path(path).name
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            subprocess.run([*editor_command(), str(file)], check=True)
            return file.read_bytes().decode("utf-8", "surrogatepass")
        except (OSError, subprocess.CalledProcessError, UnicodeDecodeError):
            return None
