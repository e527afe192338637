"""What every test shares: the event loop that anyio's plugin runs async tests on, no clock in properties, and the order
in which the workers of pytest-xdist run them.
"""

import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

# A machine that is busy is slow, and that is no failure: what never ends is ended by pytest's own limit.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# For `make mutants`: it is enough to know that something failed, the smallest example of it does not matter.
settings.register_profile(
    "curt", settings.get_profile("patient"), phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("patient")

LONG = ("tests/e2e/test_vscode_", "tests/e2e/")

# A shell that runs us in the background has SIGINT ignored, and every process of a test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Asyncio, the one the product runs on."""
    return "asyncio"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the long ones first where several workers share them; a single process keeps the order of the files."""
    if hasattr(config, "workerinput"):
        items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    """Order a test by how long its kind takes: with VS Code, with processes, in memory."""
    return next((at for at, kind in enumerate(LONG) if item.nodeid.startswith(kind)), len(LONG))
