"""Which files hold secrets, by name and place alone."""

import posixpath
from fnmatch import fnmatchcase

from agent_server.policy.places import Places, is_within

_NAMES = (
    ".env", ".env.*", "*.env", ".envrc",
    "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk",
    ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd",
    "credentials.json", "secrets.json", "secrets.y*ml", "secrets.toml",
)  # fmt: skip
_HARMLESS = ("*.example", "*.sample", "*.template", "*.dist", "*.pub")
_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube"})
_IN_HOME = (
    ".docker",
    ".config/gcloud",
    ".config/gh",
    ".config/op",
    ".password-store",
    ".local/share/keyrings",
)
_SYSTEM = (
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/proc",
    "/Library/Keychains",
)
# In /proc only environ, mem and fd of a process are secret, but nothing in it is a source file either.


def is_secret(path: str, places: Places) -> bool:
    """Whether a file at this real path is likely to hold a secret. Case never matters: some disks ignore it."""
    folder, name = posixpath.split(path.casefold())
    if _FOLDERS & frozenset((*folder.split("/"), name)):
        return True
    personal = (posixpath.join(places.home.casefold(), place) for place in _IN_HOME)
    if any(is_within(path, place) for place in (*personal, *_SYSTEM)):
        return True
    if any(fnmatchcase(name, pattern) for pattern in _HARMLESS):
        return False
    return any(fnmatchcase(name, pattern) for pattern in _NAMES)
