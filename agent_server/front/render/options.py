"""Modes and config options: two views of the same choices, always shown in step (rules 31 and 32)."""

from collections.abc import Mapping, Sequence

from agent_server.front.blocks import Json
from agent_server.loop.model import MODES, REVIEWS, Mode, Review

MODE_NAMES: Mapping[Mode, tuple[str, str]] = {
    "ask": ("Ask", "Asks before every edit and command"),
    "accept_edits": ("Accept edits", "Edits inside the workspace are applied and shown afterwards"),
    "plan": ("Plan", "Only reads, and proposes a plan"),
    "auto": ("Auto", "Asks only where safety demands it"),
}


REVIEW_NAMES: Mapping[Review, tuple[str, str]] = {
    "each": ("Each edit", "Asks about every edit when it comes"),
    "turn": (
        "Whole turn",
        "Asks about all edits together, before a command or at the end of the turn",
    ),
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


def config_options(
    mode: Mode, model: str, models: Sequence[str], review: Review = "each"
) -> list[Json]:
    """Every option there is, the more important first. The current model is always among the choices."""
    reviews = [(each, *REVIEW_NAMES[each]) for each in REVIEWS]
    return [
        _select("mode", "Mode", mode, [(m, *MODE_NAMES[m]) for m in MODES]),
        _select("model", "Model", model, [(m, m, None) for m in dict.fromkeys((model, *models))]),
        _select("review", "Review", review, reviews, category=False),
    ]


def twin_updates(mode: Mode, options: list[Json]) -> list[Json]:
    """What tells a client of either API about a change."""
    return [
        {"sessionUpdate": "current_mode_update", "currentModeId": mode},
        {"sessionUpdate": "config_option_update", "configOptions": options},
    ]


def _select(
    name: str,
    label: str,
    current: str,
    choices: Sequence[tuple[str, str, str | None]],
    *,
    category: bool = True,
) -> Json:
    """A select. Its category is its id, where that is one of ACP's."""
    return {
        "id": name,
        "name": label,
        **({"category": name} if category else {}),
        "type": "select",
        "currentValue": current,
        "options": [_choice(*choice) for choice in choices],
    }


def _choice(value: str, name: str, description: str | None) -> Json:
    shown: Json = {"value": value, "name": name}
    return shown | {"description": description} if description else shown
