"""How many examples are drawn: a share of what a test names, by the Hypothesis profile that is loaded."""

from __future__ import annotations

from hypothesis import settings

PROFILES = {"thorough": (1.0, 10_000), "ci": (0.2, 30), "dev": (0.1, 10)}
"""Each with its share, and how many examples are enough."""


def drawn(named: int) -> int:
    """The examples of a test that names so many: at least three, or all of them where they are fewer."""
    share, enough = PROFILES.get(settings.get_current_profile_name(), PROFILES["thorough"])
    return max(min(3, named), min(enough, round(named * share)))
