"""The ranges of the methods' parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence

from incrowd.errors import ParameterError


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise unless the parameter has one of its values."""
    if value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(choices)}.")


def check_not_negative(name: str, value: object) -> None:
    """Raise unless the parameter is a finite number of at least 0.

    Examples
    --------
    >>> check_not_negative("delta_d", -1)
    Traceback (most recent call last):
    ...
    incrowd.errors.ParameterError: delta_d must be a number of at least 0.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ParameterError(f"{name} must be a number of at least 0.")


def check_flag(name: str, value: object) -> None:
    """Raise unless the parameter is True or False."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False.")
