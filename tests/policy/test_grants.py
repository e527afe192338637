"""Grants as they are kept and read back."""

import pytest

from agent_server.loop.action import Action
from agent_server.policy.grants import Grant, covers, grants_for, read_grant


@pytest.mark.parametrize("target", ["/w/a.py", "/w/odd (1)/a)b\n.py", "api.example.org"])
def test_a_kept_grant_is_read_back(target: str) -> None:
    grant = Grant("write", "edit", target)

    assert read_grant(str(grant)) == grant


@pytest.mark.parametrize("text", ["", "write edit", "write edit()", "fly edit(/w)", "edit(/w)"])
def test_what_is_no_grant_grants_nothing(text: str) -> None:
    assert read_grant(text) is None


def test_hosts_and_paths_must_all_be_granted() -> None:
    both = Action("net", "fetch", ("/w/a",), hosts=("a.example",))

    assert covers(grants_for(both), both)
    assert not covers({Grant("net", "fetch", "/w/a")}, both)
    assert not covers(grants_for(both), Action("net", "fetch", hosts=("b.example",)))


def test_what_touches_nothing_cannot_be_granted() -> None:
    assert grants_for(Action("agent", "delegate")) == frozenset()
    assert not covers({Grant("agent", "delegate", "/")}, Action("agent", "delegate"))


def test_a_grant_for_writing_is_none_for_deleting() -> None:
    assert not covers({Grant("write", "patch", "/w/a")}, Action("delete", "patch", ("/w/a",)))


def test_every_path_of_an_action_must_be_granted() -> None:
    one = Action("write", "patch", ("/w/a",))

    assert not covers(grants_for(one), Action("write", "patch", ("/w/a", "/w/b")))
