"""Modes and config options: two views of the same choices, always shown in step (rules 31 and 32)."""

from collections.abc import Mapping, Sequence

from agent_server.front.blocks import Json
from agent_server.loop.model import MODES, Mode

MODE_NAMES: Mapping[Mode, tuple[str, str]] = {
    "ask": ("Ask", "Asks before every edit and command"),
    "accept_edits": ("Accept edits", "Edits inside the workspace are applied and shown afterwards"),
    "plan": ("Plan", "Only reads, and proposes a plan"),
    "auto": ("Auto", "Asks only where safety demands it"),
}


def modes(current: Mode) -> Json:
    """`SessionModeState`."""
    return {
        "currentModeId": current,
        "availableModes": [
            {"id": mode, "name": MODE_NAMES[mode][0], "description": MODE_NAMES[mode][1]}
            for mode in MODES
        ],
    }


def config_options(mode: Mode, model: str, models: Sequence[str]) -> list[Json]:
    """Every option there is, the more important first. The current model is always among the choices."""
    return [
        _select("mode", "Mode", mode, [(m, *MODE_NAMES[m]) for m in MODES]),
        _select("model", "Model", model, [(m, m, None) for m in dict.fromkeys((model, *models))]),
    ]


def twin_updates(mode: Mode, options: list[Json]) -> list[Json]:
    """What tells a client of either API about a change."""
    return [
        {"sessionUpdate": "current_mode_update", "currentModeId": mode},
        {"sessionUpdate": "config_option_update", "configOptions": options},
    ]


def _select(
    name: str, label: str, current: str, choices: Sequence[tuple[str, str, str | None]]
) -> Json:
    """A select whose category is its id: both are ACP's own categories."""
    return {
        "id": name,
        "name": label,
        "category": name,
        "type": "select",
        "currentValue": current,
        "options": [_choice(*choice) for choice in choices],
    }


def _choice(value: str, name: str, description: str | None) -> Json:
    shown: Json = {"value": value, "name": name}
    return shown | {"description": description} if description else shown
