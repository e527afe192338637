"""What the kernel decides. loop.md §4.6, invariant I11."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.loop.action import Action, ActionKind, Decision
from agent_server.loop.model import MODES, Mode
from agent_server.policy.floor import floor
from agent_server.policy.grants import Grant, Grants, grants_for
from agent_server.policy.kernel import decide
from agent_server.policy.places import Places
from agent_server.policy.rules import Rule, RuleVerdict, parse_rule

PLACES = Places(
    roots=("/home/ann/shop", "/srv/shared"),
    home="/home/ann",
    own=("/home/ann/.config/agent-server", "/home/ann/.local/state/agent-server"),
)
STRICTNESS = {"allow": 0, "ask": 1, "block": 2}


def verdict(
    action: Action,
    *,
    mode: Mode = "ask",
    rules: tuple[Rule, ...] = (),
    grants: Grants = frozenset(),
) -> Decision:
    return decide(action, mode=mode, rules=rules, grants=grants, places=PLACES)


def read(path: str) -> Action:
    return Action("read", "read", (path,))


def edit(path: str) -> Action:
    return Action("write", "edit", (path,))


def shell(command: str) -> Action:
    return Action("exec", "shell", ("/home/ann/shop",), command)


@pytest.mark.parametrize("mode", MODES)
def test_reading_in_the_workspace_is_allowed_in_every_mode(mode: Mode) -> None:
    assert verdict(read("/home/ann/shop/a.py"), mode=mode).verdict == "allow"
    assert verdict(read("/srv/shared/a.py"), mode=mode).verdict == "allow"


@pytest.mark.parametrize("mode", MODES)
def test_reading_outside_the_workspace_asks(mode: Mode) -> None:
    decision = verdict(read("/etc/hosts"), mode=mode)

    assert (decision.verdict, decision.floor) == ("ask", False)
    assert decision.reason == "outside the workspace: /etc/hosts"


def test_a_folder_that_only_begins_like_a_root_is_outside() -> None:
    assert verdict(read("/home/ann/shop2/a.py")).verdict == "ask"
    assert verdict(read("/home/ann/shop/../b.py")).verdict == "ask"


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("ask", "ask"), ("accept_edits", "allow"), ("auto", "allow"), ("plan", "block")],
)
def test_edits_follow_the_mode(mode: Mode, expected: str) -> None:
    assert verdict(edit("/home/ann/shop/a.py"), mode=mode).verdict == expected


def test_a_blocked_edit_tells_the_model_that_it_is_plan_mode() -> None:
    assert "plan mode" in verdict(edit("/home/ann/shop/a.py"), mode="plan").reason


@pytest.mark.parametrize("mode", MODES)
def test_the_sessions_own_state_is_never_asked_about(mode: Mode) -> None:
    assert verdict(Action("note", "todo"), mode=mode).verdict == "allow"


@pytest.mark.parametrize("mode", MODES)
def test_every_command_asks_in_every_mode_and_only_for_once(mode: Mode) -> None:
    """SC-01 for now: no command is allowed by its beginning, so no chain hides behind one."""
    rules = (parse_rule("allow", "shell"), parse_rule("allow", "shell(ls:*)"))
    grants = frozenset({Grant("exec", "shell", "/home/ann/shop")})
    for command in ("ls", "ls; touch x", "ls | sh", "ls $(touch x)", "lsof"):
        decision = verdict(shell(command), mode=mode, rules=rules, grants=grants)
        assert (decision.verdict, decision.scopes) == ("ask", ("once",))


@pytest.mark.parametrize(
    "path",
    [
        "/home/ann/shop/.env",
        "/home/ann/shop/deploy/.ENV.production",
        "/home/ann/shop/tls/server.key",
        "/home/ann/.ssh/config",
        "/home/ann/.aws/credentials",
        "/proc/self/environ",
        "/home/ann/.config/agent-server/config.toml",
        "/home/ann/.local/state/agent-server/sessions.db",
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_reading_a_secret_or_our_own_files_is_asked_on_the_floor(mode: Mode, path: str) -> None:
    decision = verdict(
        read(path), mode=mode, rules=(Rule("allow", "*"),), grants=grants_for(read(path))
    )

    assert (decision.verdict, decision.floor, decision.scopes) == ("ask", True, ("once",))


@pytest.mark.parametrize("path", ["/home/ann/shop/.env.example", "/home/ann/shop/id_rsa.pub"])
def test_an_example_of_a_secret_is_no_secret(path: str) -> None:
    assert verdict(read(path)).verdict == "allow"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/hosts",
        "/home/ann/.bashrc",
        "/home/ann/shop/.env",
        "/home/ann/shop/.git/hooks/pre-commit",
        "/home/ann/shop/.agent/settings.toml",
    ],
)
@pytest.mark.parametrize("kind", ["write", "delete"])
def test_changes_that_reach_too_far_are_asked_on_the_floor(kind: ActionKind, path: str) -> None:
    for mode in ("ask", "accept_edits", "auto"):
        decision = verdict(Action(kind, "edit", (path,)), mode=mode, rules=(Rule("allow", "*"),))
        assert (decision.verdict, decision.floor) == ("ask", True)


def test_content_and_names_that_only_sound_dangerous_are_allowed() -> None:
    """R98, R104: a typed action, never a sentence with keywords."""
    assert verdict(read("/home/ann/shop/src/delete_user.py")).verdict == "allow"
    assert verdict(edit("/home/ann/shop/rm -rf.md"), mode="auto").verdict == "allow"


def test_a_denied_path_is_blocked_even_where_the_floor_only_asks() -> None:
    decision = verdict(edit("/etc/hosts"), rules=(parse_rule("deny", "edit(/etc/**)"),))

    assert (decision.verdict, decision.reason) == ("block", "your rule denies edit(/etc/**)")


def test_a_grant_holds_for_its_path_and_tool_alone() -> None:
    """R95: the same call again is not asked about, another path is."""
    grants = grants_for(edit("/home/ann/shop/a.py"))

    assert verdict(edit("/home/ann/shop/a.py"), grants=grants).verdict == "allow"
    assert verdict(edit("/home/ann/shop/b.py"), grants=grants).verdict == "ask"
    assert (
        verdict(Action("write", "write", ("/home/ann/shop/a.py",)), grants=grants).verdict == "ask"
    )


def test_a_grant_for_a_folder_outside_covers_what_is_in_it_but_no_secret() -> None:
    grants = grants_for(read("/opt/lib"))

    assert verdict(read("/opt/lib/a.py"), grants=grants).verdict == "allow"
    assert verdict(read("/opt/lib/.env"), grants=grants).floor


def test_an_ask_rule_beats_a_grant_and_an_allow_rule() -> None:
    action = edit("/home/ann/shop/a.py")
    rules = (parse_rule("allow", "edit"), parse_rule("ask", "edit(*.py)"))
    decision = verdict(action, mode="auto", rules=rules, grants=grants_for(action))

    assert (decision.verdict, decision.scopes) == ("ask", ("once",))


def test_an_allow_rule_must_cover_every_path_of_the_action() -> None:
    action = Action("write", "edit", ("/home/ann/shop/src/a.py", "/home/ann/shop/b.py"))

    assert verdict(action, rules=(parse_rule("allow", "edit(src/**)"),)).verdict == "ask"


def test_a_policy_that_breaks_blocks() -> None:
    """R92: fail closed."""
    broken = Rule("deny", "edit", "[")
    object.__setattr__(broken, "pattern", 5)
    decision = verdict(edit("/home/ann/shop/a.py"), rules=(broken,))

    assert (decision.verdict, decision.floor) == ("block", True)


PATHS = st.sampled_from(
    ["/home/ann/shop/a.py", "/home/ann/shop/src/b.py", "/home/ann/shop/.env", "/etc/hosts", "/srv/shared/x",
     "/home/ann/.ssh/id_rsa", "/home/ann/shop/.git/config"]
)  # fmt: skip
COMMANDS = st.sampled_from(["ls", "git push", "rm -rf /", "curl x | sh", "rm -rf build", "echo 'a"])
TOOLS = st.sampled_from(["read", "edit", "write", "shell", "todo", "fetch"])


@st.composite
def actions(draw: st.DrawFn) -> Action:
    kind = draw(st.sampled_from(get_args(ActionKind)))
    command = draw(COMMANDS) if kind == "exec" else None
    paths = tuple(draw(st.lists(PATHS, max_size=3)))
    return Action(
        kind, draw(TOOLS), paths, command, tuple(draw(st.lists(st.just("a.example"), max_size=1)))
    )


PATTERNS = st.sampled_from(
    [None, "src/**", "*.py", "/etc/**", "git push:*", "**", "a.example", "~/.ssh/**"]
)


def rules_of(*verdicts: RuleVerdict) -> st.SearchStrategy[tuple[Rule, ...]]:
    rule = st.builds(Rule, st.sampled_from(verdicts), st.one_of(TOOLS, st.just("*")), PATTERNS)
    return st.lists(rule, max_size=4).map(tuple)


GRANTS = st.lists(actions(), max_size=3).map(
    lambda given: frozenset[Grant]().union(*map(grants_for, given))
)


@given(
    actions(),
    st.sampled_from(MODES),
    rules_of("allow", "ask", "deny"),
    rules_of("deny", "ask"),
    GRANTS,
)
def test_another_rule_that_denies_or_asks_never_makes_anything_more_allowed(
    action: Action, mode: Mode, rules: tuple[Rule, ...], more: tuple[Rule, ...], grants: Grants
) -> None:
    before = verdict(action, mode=mode, rules=rules, grants=grants)
    after = verdict(action, mode=mode, rules=(*more, *rules), grants=grants)

    assert STRICTNESS[after.verdict] >= STRICTNESS[before.verdict]


@given(actions(), st.sampled_from(MODES), rules_of("allow", "ask", "deny"), GRANTS)
def test_the_floor_is_never_loosened(
    action: Action, mode: Mode, rules: tuple[Rule, ...], grants: Grants
) -> None:
    standing = floor(action, PLACES)
    decision = verdict(action, mode=mode, rules=rules, grants=grants)

    if standing is not None:
        assert STRICTNESS[decision.verdict] >= STRICTNESS[standing.verdict]
        assert decision.verdict == "block" or (decision.floor and decision.scopes == ("once",))


@given(actions(), st.sampled_from(MODES), rules_of("allow", "ask", "deny"), GRANTS)
def test_plan_mode_is_never_looser_than_asking_and_auto_never_stricter(
    action: Action, mode: Mode, rules: tuple[Rule, ...], grants: Grants
) -> None:
    of = {m: STRICTNESS[verdict(action, mode=m, rules=rules, grants=grants).verdict] for m in MODES}

    assert of["plan"] >= of["ask"] >= of["accept_edits"] >= of["auto"]
    assert "could not judge" not in verdict(action, mode=mode, rules=rules, grants=grants).reason
