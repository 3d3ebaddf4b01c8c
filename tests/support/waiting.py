"""Waiting for what must come, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 1200
"""Seconds after which something will not come any more; far beyond what a busy machine needs."""


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for it; a limit keeps a fault from waiting forever."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.02)
