"""Params of ACP's own methods: what is read, forgiven and refused."""

from typing import Any

import pytest

from agent_server.front.params import config_choice, listing, session_id, workspace
from agent_server.loop.errors import ClientMistake


def test_a_workspace_is_read_and_normalised() -> None:
    place = workspace({"cwd": "/w/x/../y/", "additionalDirectories": ["/b", "/w/y", "/b", "/c/"]})

    assert (place.cwd, place.roots) == ("/w/y", ("/b", "/c"))


def test_the_uri_of_a_folder_serves_as_cwd_over_lsp() -> None:
    assert workspace({"uri": "file:///w/a%20b"}).cwd == "/w/a b"


def test_cwd_wins_over_uri() -> None:
    assert workspace({"cwd": "/a", "uri": "file:///b"}).cwd == "/a"


@pytest.mark.parametrize("cwd", [None, 5, "", "rel", "./x", "/nul\0byte", ["/a"]])
def test_anything_but_an_absolute_path_is_refused(cwd: Any) -> None:
    with pytest.raises(ClientMistake, match=r"^cwd must be an absolute path(, not '.*')?$"):
        workspace({"cwd": cwd})


@pytest.mark.parametrize("value", [None, {}, "x", 3])
def test_lists_that_are_no_lists_are_empty(value: Any) -> None:
    place = workspace({"cwd": "/w", "mcpServers": value, "additionalDirectories": value})

    assert (place.roots, place.skipped, place.mcp_servers) == ((), (), 0)


def test_roots_that_are_no_absolute_paths_are_kept_aside() -> None:
    place = workspace({"cwd": "/w", "additionalDirectories": ["rel", 7, "/ok"]})

    assert (place.roots, place.skipped) == (("/ok",), ("rel", "7"))


def test_mcp_servers_are_counted() -> None:
    assert workspace({"cwd": "/w", "mcpServers": [{"name": "x"}, 1]}).mcp_servers == 2


@pytest.mark.parametrize("value", [None, 5, ""])
def test_a_session_id_is_a_non_empty_string(value: Any) -> None:
    with pytest.raises(ClientMistake, match=r"^sessionId must be a non-empty string$"):
        session_id({"sessionId": value, "_meta": {"sessionId": "s"}})


def test_a_listing_is_filtered_by_an_absolute_folder_or_not_at_all() -> None:
    assert listing({"cwd": "/w/", "cursor": "c"}) == ("/w", "c")
    assert listing({"cwd": None}) == (None, None)
    with pytest.raises(ClientMistake, match="cwd must be an absolute path"):
        listing({"cwd": "rel"})


def test_an_option_is_chosen_by_a_string() -> None:
    choice = config_choice({"configId": "mode", "value": "plan"})

    assert (choice.option, choice.value) == ("mode", "plan")
    with pytest.raises(ClientMistake, match=r"^value must be a string"):
        config_choice({"configId": "mode", "value": True})
