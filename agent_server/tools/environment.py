"""The environment of a command: everything but secrets, and set so that nothing waits for a person."""

import re
from collections.abc import Mapping

_SECRET = re.compile(
    r"API_?KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|(?:PRIVATE|ACCESS|ENCRYPTION|SIGNING)_KEY|_KEY$|_PAT$|^AGENT_SERVER_",
    re.IGNORECASE,
)
_KEPT = frozenset(
    {"PATH", "HOME", "LANG", "LANGUAGE", "TMP", "TEMP", "TMPDIR", "USER", "LOGNAME", "SHELL", "PWD"}
)
_QUIET = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS_REQUIRE": "never",
}
SHORTEST_SECRET = 8
"""Shorter values occur by chance."""


def scrubbed(env: Mapping[str, str]) -> dict[str, str]:
    """What a child may see of `env`: no keys and tokens, by name, nor a copy of one under another name (SC-08)."""
    secrets = {v for k, v in env.items() if _is_secret(k) and len(v) >= SHORTEST_SECRET}
    kept = {
        name: value
        for name, value in env.items()
        if name in _KEPT or not (_is_secret(name) or any(secret in value for secret in secrets))
    }
    return kept | _QUIET


def _is_secret(name: str) -> bool:
    return name not in _KEPT and _SECRET.search(name) is not None
