"""What every method is, and the ranges of its parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from incrowd.methods.population import Population
    from incrowd.plan.steps import Step
    from incrowd.vocabulary.randomness import Randomness
    from incrowd.vocabulary.requirement import Requirement

INTERVALS = ("interval", "bounds", "midpoint", "mean")
"""How methods that generalize may write numbers, see :mod:`incrowd.methods.numeric_forms`."""
BINNED = ("bins", "levels", "mean", "interval")
"""How methods that cut numbers at public places may write them, see :mod:`incrowd.methods.public_bins`."""


class Method(Protocol):
    """Decides what happens to which rows so that the requirement holds.

    A method is a frozen dataclass whose fields are its parameters. ``name`` is its name in the catalog.
    """

    @property
    def name(self) -> str:
        """The name in the catalog."""
        ...

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data, for the plan and the certificate."""
        ...

    def decide(self, population: Population, requirement: Requirement, randomness: Randomness) -> tuple[Step, ...]:
        """The steps of the release."""
        ...


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
