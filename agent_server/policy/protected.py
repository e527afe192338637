"""Places that no automatic yes may reach: outside the workspace, secrets, this program's own files, what governs."""

import posixpath
from typing import Literal

from agent_server.policy.places import Places, is_within
from agent_server.policy.secrets import is_secret

Access = Literal["read", "write"]

# A write here changes what runs (hooks) or what is asked, so an edit that needs no question must not reach it.
_GOVERNING = (".agent/settings.toml", ".agent/hooks", ".husky")
_PROFILES = (
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".kshrc", ".inputrc", ".gitconfig", ".vimrc", ".emacs", ".xprofile",
    ".config/fish", ".config/git", ".config/autostart", ".config/systemd", ".config/nvim",
    ".local/bin", ".pam_environment", "Library/LaunchAgents",
)  # fmt: skip


def protected(access: Access, path: str, places: Places) -> str | None:
    """Say why the real path needs the user's own yes, in words for the question; None where it does not."""
    if is_secret(path, places):
        return f"{path} may hold secrets"
    if places.is_own(path):
        return f"{path} belongs to agent-server itself"
    if access == "read":
        return None
    if not places.contains(path):
        return f"outside the workspace: {path}"
    if governs(path, places):
        return f"{path} decides what is run or allowed here"
    return None


def governs(path: str, places: Places) -> bool:
    """Whether the file decides what runs or what is asked: git's own folder, hooks, settings, shell profiles."""
    path = path.casefold()
    if any(is_within(path, posixpath.join(places.home, name).casefold()) for name in _PROFILES):
        return True
    for root in (r.casefold() for r in places.roots):
        if not is_within(path, root):
            continue
        if ".git" in path[len(root) :].split("/"):
            return True
        if any(is_within(path, f"{root}/{name}") for name in _GOVERNING):
            return True
    return False
