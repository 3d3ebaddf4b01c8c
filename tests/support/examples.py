"""How many examples are drawn: what a test names, times the share of the Hypothesis profile that is loaded."""

from __future__ import annotations

from hypothesis import settings

SHARES = {"thorough": 1.0, "ci": 0.4, "dev": 0.1}


def drawn(named: int) -> int:
    """The examples of a test that names so many: at least three, or all of them where they are fewer."""
    return max(min(3, named), round(named * SHARES.get(settings.get_current_profile_name(), 1.0)))
