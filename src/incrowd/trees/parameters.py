"""Checks that the growers' parameters share."""

from __future__ import annotations

from incrowd.errors import ParameterError


def at_least(name: str, value: int | None, smallest: int) -> None:
    """Refuse anything but a whole number of at least ``smallest`` (or ``None``, where the type allows it)."""
    if value is None and name in ("bins", "max_depth"):
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < smallest:
        raise ParameterError(f"{name} must be a whole number of at least {smallest}.")


def fraction(name: str, value: float | None) -> None:
    """Refuse anything but a number above 0 and up to 0.5 (or ``None``)."""
    if value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 0.5:
        raise ParameterError(f"{name} must be above 0 and at most 0.5, or None. Give for instance 0.25.")


def check_missing(policy: str) -> None:
    """Refuse an unknown policy for missing values."""
    if policy not in ("stop", "branch", "weight"):
        raise ParameterError("missing must be 'stop', 'branch' or 'weight'.")
