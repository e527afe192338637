"""Other systems' names and numbers for settings, and settings that do nothing yet (loop.md §2, spec §4 and §13)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import cast, get_type_hints

import pytest

from agent_server.config import Problem, Settings
from agent_server.config_check import inner_shape
from agent_server.config_layers import IDLE, OWN_ENVIRONMENT, nested, problems_of
from agent_server.config_load import find_home, load
from agent_server.config_reference import ALIASES, ENVIRONMENT, PRESETS, Key

Load = Callable[..., tuple[Settings, tuple[Problem, ...]]]

VALUES: Mapping[Key, str | int] = {
    ("limits", "max_turns"): 7,
    ("limits", "max_session_tokens"): 9000,
    ("tools", "read_retries"): 2,
    ("context", "auto_upgrade"): False,
    ("workspace", "prompt_while_busy"): "reject",
    ("guard", "repeat_warn"): 2,
    ("guard", "repeat_stop"): 9,
    ("model",): "openai/a",
    ("models", "summary"): "openai/b",
    ("models", "small"): "openai/c",
    ("models", "subagent"): "openai/d",
}
"""For each setting that has another name: a value that is not its default."""
OWN: Mapping[Key, object] = {
    key: {"reject": "steer"}.get(value, "openai/own") if isinstance(value, str) else value + 1
    for key, value in VALUES.items()
}
"""Another one for each."""


@pytest.fixture
def given(tmp_path: Path) -> Load:
    def given(
        user: str = "",
        *,
        workspace: str | None = None,
        environ: Mapping[str, str] | None = None,
        options: Mapping[str, object] | None = None,
    ) -> tuple[Settings, tuple[Problem, ...]]:
        home = find_home({"AGENT_SERVER_HOME": str(tmp_path)})
        home.config_toml.write_text(user, encoding="utf-8")
        folder = None if workspace is None else tmp_path / "project"
        if folder is not None and workspace is not None:
            (folder / ".agent").mkdir(parents=True)
            (folder / ".agent" / "settings.toml").write_text(workspace, encoding="utf-8")
        return load(home, folder, environ or {}, options or {})

    return given


def value_of(settings: Settings, key: Key) -> object:
    value: object = settings
    for name in key:
        value = getattr(value, name)
    return value


def toml_of(key: Key, value: object) -> str:
    shown = (
        str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int) else f'"{value}"'
    )  # fmt: skip
    return f"{'.'.join(key)} = {shown}\n"


@pytest.mark.row("R20")
@pytest.mark.parametrize(("theirs", "ours"), ALIASES.items(), ids=lambda key: ".".join(key))
def test_a_key_of_another_system_is_one_of_ours_in_a_file_and_in_options(
    given: Load, theirs: Key, ours: Key
):
    value = VALUES[ours]

    in_file, problems = given(toml_of(theirs, value))
    in_options, said = given(options=nested(theirs, value))

    assert (problems, said) == ((), ())
    assert value_of(in_file, ours) == value_of(in_options, ours) == value
    assert value != value_of(Settings(), ours)


@pytest.mark.parametrize(("theirs", "ours"), ALIASES.items(), ids=lambda key: ".".join(key))
def test_of_two_names_in_one_place_ours_wins(given: Load, theirs: Key, ours: Key):
    settings, problems = given(toml_of(theirs, VALUES[ours]) + toml_of(ours, OWN[ours]))

    assert problems == ()
    assert value_of(settings, ours) == OWN[ours] != VALUES[ours]


@pytest.mark.parametrize(("theirs", "ours"), ALIASES.items(), ids=lambda key: ".".join(key))
def test_a_wrong_value_is_complained_of_under_the_name_that_was_written(
    given: Load, theirs: Key, ours: Key
):
    settings, problems = given(f"# a comment\n{'.'.join(theirs)} = [1]\n")

    assert settings == Settings()
    assert [(problem.key, problem.line) for problem in problems] == [(".".join(theirs), 2)]


@pytest.mark.row("R20", "R81")
@pytest.mark.parametrize(("name", "ours"), ENVIRONMENT.items(), ids=str)
def test_an_environment_variable_of_another_system_is_one_of_our_settings(
    given: Load, name: str, ours: Key
):
    settings, problems = given(environ={name: str(VALUES[ours])})

    assert problems == ()
    assert value_of(settings, ours) == VALUES[ours]


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_a_wrong_environment_variable_is_named_as_it_is_called(given: Load, name: str):
    settings, problems = given(environ={name: "many"})

    assert settings == Settings()
    assert [problem.source for problem in problems] == [f"environment variable {name}"]


def test_of_two_variables_for_one_setting_the_first_of_the_table_wins(given: Load):
    settings, _ = given(environ={"VANTA_MAX_ITER": "3", "AGENT_MAX_TURNS_PER_REQUEST": "4"})

    assert settings.limits.max_turns == 4


@pytest.mark.parametrize(
    ("text", "meant"),
    [("on", True), ("TRUE", True), ("1", True), ("0", False), ("off", False)],
)
def test_a_switch_in_the_environment_may_be_written_as_people_do(
    given: Load, text: str, meant: bool
):
    settings, _ = given(environ={"CONTEXT_AUTO_UPGRADE": text})

    assert settings.context.auto_upgrade is meant


def test_what_stands_beside_another_systems_key_is_named_by_itself(given: Load):
    _, problems = given("[agent]\nmax_turns = 9\nverbose = 1\n")

    assert [(p.key, p.line, p.message) for p in problems] == [("agent.verbose", 3, "is no setting")]


def test_a_workspace_may_tighten_in_another_systems_words_and_not_loosen(given: Load):
    tight, none = given(workspace="[agent]\nmax_turns = 5\n")

    assert (tight.limits.max_turns, none) == (5, ())


def test_what_a_workspace_would_loosen_is_named_as_it_was_written(given: Load):
    settings, problems = given(workspace="[agent]\nmax_turns = 5000\n")

    assert settings == Settings()
    assert [(p.key, p.line) for p in problems] == [("agent.max_turns", 2)]
    assert "not trusted" in problems[0].message


# ---- presets -------------------------------------------------------------------------------------------


@pytest.mark.row("R20")
@pytest.mark.parametrize(
    ("preset", "turns", "compact", "between", "retries", "upgrade"),
    [
        ("mana", 15, 0.90, None, 0, 0.75),
        ("mibyan", 500, 0.50, 0.85, 3, 0.75),
        ("vanta", 50, 0.75, None, 3, 0.75),
    ],
)
def test_a_preset_has_the_numbers_of_its_system(
    given: Load,
    preset: str,
    turns: int,
    compact: float,
    between: float | None,
    retries: int,
    upgrade: float,
):
    settings, problems = given(f'preset = "{preset}"')

    assert problems == ()
    assert settings.limits.max_turns == turns
    assert (settings.context.compact_at, settings.context.between_turns_at) == (compact, between)
    assert settings.retry.transient == retries
    assert settings.context.upgrade_at == upgrade
    assert settings.context.prune_at == (1.0 if preset == "mana" else 0.60)
    assert settings.context.reserve_output == (0 if preset == "mana" else None)


@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_the_same_in_every_system_is_so_under_each_preset(given: Load, preset: str):
    """Retries of one error (R26), empty results (R27), steps of a sub-agent (R23), what a summary keeps (R67)."""
    settings, _ = given(f'preset = "{preset}"')

    assert (settings.limits.same_error, settings.limits.empty_results) == (3, 3)
    assert settings.delegation.max_iterations == 50
    assert settings.compression.protect_last_n == 20


def test_what_a_person_says_goes_over_the_preset(given: Load):
    settings, _ = given('preset = "mana"\n[agent]\nmax_turns = 20')

    assert (settings.limits.max_turns, settings.context.compact_at) == (20, 0.90)


# ---- settings without effect ----------------------------------------------------------------------------


@pytest.mark.parametrize("key", IDLE, ids=lambda key: ".".join(key))
def test_a_setting_that_does_nothing_is_accepted_and_said_to_do_nothing(given: Load, key: Key):
    known: dict[Key, object] = {
        ("models", "upgrade"): "openai/a",
        ("context", "auto_upgrade"): True,
        ("compression", "in_place"): False,
        ("log_level",): "info",
        ("trace",): "t",
    }
    value = known.get(key, 0.5 if len(key) > 1 else {"x": 1})

    _, problems = given(options=nested(key, value))

    assert [(p.key, p.idle) for p in problems] == [(".".join(key), True)]
    assert problems[0].message.startswith("accepted, not in effect in this version: ")
    assert problems[0].sentence.startswith("setting without effect: options: ")


def test_a_value_that_says_what_is_done_anyway_is_not_talked_about():
    assert (
        problems_of({"compression": {"in_place": True}, "context": {"auto_upgrade": False}}) == ()
    )


def test_a_variable_of_ours_is_in_effect(given: Load):
    _, problems = given(environ={"AGENT_SERVER_LOG_LEVEL": "info", "AGENT_SERVER_TRACE": "t"})

    assert problems == ()


# ---- the page about all of them ---------------------------------------------------------------------------


def every_key(shape: type = Settings, path: Key = ()) -> Iterator[Key]:
    hints = get_type_hints(shape)
    for spec in fields(cast("type[Settings]", shape)):
        hint = hints[spec.name]
        inner = hint if isinstance(hint, type) and is_dataclass(hint) else None
        if inner is None and inner_shape(hint) is None:
            yield (*path, spec.name)
        elif inner is not None:
            yield from every_key(inner, (*path, spec.name))
        else:
            yield (*path, spec.name)


def test_the_page_about_settings_has_every_setting_name_and_number():
    page = (Path(__file__).parents[1] / "docs" / "settings.md").read_text(encoding="utf-8")
    names = {
        *(".".join(key) for key in every_key()),
        *(".".join(key) for key in ALIASES),
        *(".".join(key) for key in IDLE),
        *ENVIRONMENT,
        *OWN_ENVIRONMENT,
        *PRESETS,
    }

    assert sorted(name for name in names if f"`{name}`" not in page) == []
    for theirs, ours in ALIASES.items():
        assert f"| `{'.'.join(theirs)}` | `{'.'.join(ours)}` |" in page
    for name, ours in ENVIRONMENT.items():
        assert f"| `{name}` | `{'.'.join(ours)}` |" in page
    for key, instead in IDLE.items():
        assert f"| `{'.'.join(key)}` | {instead} |" in page


def test_defaults_on_the_page_are_those_of_the_code():
    page = (Path(__file__).parents[1] / "docs" / "settings.md").read_text(encoding="utf-8")

    for key in every_key():
        value = value_of(Settings(), key)
        if isinstance(value, bool | int | float | str):
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            assert f"| `{'.'.join(key)}` | {shown} |" in page, key
