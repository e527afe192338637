"""The names and numbers of the four systems this program grew from, in words of our own settings (loop.md §2)."""

from collections.abc import Mapping

Key = tuple[str, ...]
"""A setting's name, part by part: `("limits", "max_turns")`."""

# Of two that are set at once, the first here counts.
ENVIRONMENT: Mapping[str, Key] = {
    "AGENT_MAX_TURNS_PER_REQUEST": ("limits", "max_turns"),
    "VANTA_MAX_ITER": ("limits", "max_turns"),
    "VANTA_TOOL_RETRIES": ("tools", "read_retries"),
    "CONTEXT_AUTO_UPGRADE": ("context", "auto_upgrade"),
}
"""Environment variables."""

ALIASES: Mapping[Key, Key] = {
    ("agent", "max_turns"): ("limits", "max_turns"),
    ("maxTurns",): ("limits", "max_turns"),
    ("maxSessionTokens",): ("limits", "max_session_tokens"),
    ("prompt_while_busy",): ("workspace", "prompt_while_busy"),
    ("guard", "repeat", "warn"): ("guard", "repeat_warn"),
    ("guard", "repeat", "stop"): ("guard", "repeat_stop"),
    ("roles", "main"): ("model",),
    ("roles", "summary"): ("models", "summary"),
    ("roles", "small"): ("models", "small"),
    ("roles", "subagent"): ("models", "subagent"),
    ("auxiliary", "compression", "model"): ("models", "summary"),
}
"""Keys of files and of client options. Where theirs is called as ours is, it is not here."""

PRESETS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "mana": {
        "limits": {"max_turns": 15},
        "context": {"reserve_output": 0, "prune_at": 1.0, "upgrade_at": 0.75, "compact_at": 0.90},
        "retry": {"transient": 0},
    },
    "mibyan": {
        "limits": {"max_turns": 500},
        "context": {"compact_at": 0.50, "between_turns_at": 0.85},
    },
    "vanta": {"limits": {"max_turns": 50}, "context": {"compact_at": 0.75}},
}
"""`preset`: their numbers, below everything that is said otherwise."""
