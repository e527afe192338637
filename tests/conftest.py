"""What every test shares: the event loop that anyio's plugin runs async tests on, and no clock in properties."""

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

# A shell that runs us in the background has SIGINT ignored, and every process of a test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Asyncio, the one the product runs on."""
    return "asyncio"
