"""Tests with real processes get more time than the others: on a busy machine a program alone takes seconds to start."""

import pytest

from tests.e2e.vscode_support import lab as lab  # a fixture: one VS Code for all files

LIMIT_S = 90
"""For a test that names no limit; above every wait inside one."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give it the limit."""
    if item.get_closest_marker("timeout") is None:
        item.add_marker(pytest.mark.timeout(LIMIT_S))
