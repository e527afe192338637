"""What every test shares: the event loop that anyio's plugin runs async tests on."""

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Asyncio, the one the product runs on."""
    return "asyncio"
