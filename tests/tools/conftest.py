"""What the tests of tools share."""

from pathlib import Path

import pytest

from tests.tools.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Tools in an empty workspace."""
    root = tmp_path / "work"
    root.mkdir()
    return Desk(root)
