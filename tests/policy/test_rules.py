"""Which actions a permission rule speaks of. Our choice, spec §7."""

import pytest

from agent_server.loop.action import Action
from agent_server.loop.errors import BadSetting
from agent_server.policy.places import Places
from agent_server.policy.rules import matching, parse_rule

PLACES = Places(roots=("/w", "/more [x]*"), home="/home/ann")


def denied(rule: str, action: Action) -> bool:
    return matching((parse_rule("deny", rule),), "deny", action, PLACES) is not None


def edit(path: str) -> Action:
    return Action("write", "edit", (path,))


def shell(command: str) -> Action:
    return Action("exec", "shell", ("/w",), command)


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    [
        ("edit", "/w/a.py", True),
        ("edit(src/**)", "/w/src/a/b.py", True),
        ("edit(src/**)", "/w/src", True),
        ("edit(src/**)", "/w/srcs/a.py", False),
        ("edit(src/*)", "/w/src/a/b.py", False),
        ("edit(./src/*)", "/w/src/b.py", True),
        ("edit(**/test_*.py)", "/w/a/b/test_x.py", True),
        ("edit(**/test_*.py)", "/w/test_x.py", True),
        ("edit(*.md)", "/w/docs/x.md", True),
        ("edit(*.md)", "/w/docs/x.mdx", False),
        ("edit(src/**)", "/more [x]*/src/a", True),
        ("edit(/etc/**)", "/etc/hosts", True),
        ("edit(~/notes/**)", "/home/ann/notes/a", True),
        ("edit(a?.py)", "/w/ab.py", True),
        ("*(*.py)", "/w/x.py", True),
        ("edit(*.pem)", "/etc/ssl/x.pem", True),
        ("edit(src/{a,b}/*)", "/w/src/b/x", True),
        ("edit(/**)", "/anything/at/all", True),
    ],
)
def test_a_path_pattern_matches_like_gitignore(rule: str, path: str, expected: bool) -> None:
    assert denied(rule, edit(path)) is expected


def test_a_rule_on_edit_also_holds_for_write_and_for_deleting() -> None:
    """Else `deny edit(x)` would deny nothing that `write` could not do."""
    assert denied("edit(src/**)", Action("write", "write", ("/w/src/a",)))
    assert denied("edit(src/**)", Action("delete", "patch", ("/w/src/a",)))
    assert not denied("edit(src/**)", Action("read", "read", ("/w/src/a",)))


def test_a_rule_on_read_holds_for_every_tool_that_reads() -> None:
    assert denied("read(private/**)", Action("read", "search", ("/w/private",)))


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push origin main",
        "ls; git push",
        "ls && /usr/bin/git push -f",
        "sudo git push",
        "X=1 git push",
        "echo $(git push)",
        "bash -c 'git push'",
        "true\ngit push",
        "git push 'unbalanced",
    ],
)
def test_a_denied_command_is_found_anywhere_in_a_line(command: str) -> None:
    assert denied("shell(git push:*)", shell(command))


@pytest.mark.parametrize("command", ["git status", "git pushy", "echo 'git push'", "agit push"])
def test_a_command_that_only_looks_like_the_denied_one_is_not_meant(command: str) -> None:
    assert not denied("shell(git push:*)", shell(command))


def test_a_pattern_without_a_star_means_that_very_command() -> None:
    assert denied("shell(npm publish)", shell("npm publish"))
    assert not denied("shell(npm publish)", shell("npm publish --dry-run"))
    assert denied("shell(npm run *)", shell("npm run build -- --all"))


def test_hosts_match_without_case() -> None:
    action = Action("net", "fetch", hosts=("API.Example.org",))

    assert denied("net(*.example.org)", action)
    assert denied("fetch(api.example.org)", action)
    assert not denied("net(example.com)", action)


def test_a_rule_with_a_broken_pattern_is_refused_when_it_is_read() -> None:
    """Later it would make the kernel block everything."""
    with pytest.raises(BadSetting, match="no glob pattern"):
        parse_rule("deny", "edit([z-a])")


@pytest.mark.parametrize("text", ["", "edit(", "Edit(x)", "edit x", "edit()"])
def test_a_text_that_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(BadSetting, match="neither"):
        parse_rule("allow", text)


def test_a_rule_reads_as_it_was_written() -> None:
    assert str(parse_rule("allow", " shell(git status:*) ")) == "shell(git status:*)"


def test_a_denied_path_among_several_is_enough() -> None:
    action = Action("write", "patch", ("/w/docs/a", "/w/src/a"))

    assert denied("edit(src/**)", action)
