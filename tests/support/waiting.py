"""Waiting for what must come, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 1200
"""Seconds after which something will not come any more; far beyond what a busy machine needs."""


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for it; a limit keeps a fault from waiting forever. Who has waited long asks seldom: to ask costs, too."""
    begun = time.monotonic()
    while not holds():
        waited = time.monotonic() - begun
        assert waited < PATIENCE, "what was waited for did not come"
        time.sleep(max(0.02, waited / 10))
