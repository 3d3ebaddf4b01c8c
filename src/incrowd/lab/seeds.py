"""Seeds of single draws, from the seed of a whole run: the same parts always give the same seed."""

from __future__ import annotations

import hashlib
import json


def seed_of(*parts: str | int) -> int:
    """A seed below 2**63 for the named draw.

    Examples
    --------
    >>> seed_of(1, "split", 0) == seed_of(1, "split", 0), seed_of(1, "split", 0) == seed_of(1, "split", 1)
    (True, False)
    """
    digest = hashlib.sha256(json.dumps(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
