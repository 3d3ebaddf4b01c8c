"""What is asked of the population a table comes from: k-map and delta-presence."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirement import OnPopulation
from incrowd.vocabulary.requirements.columns import Flags, Histograms, rounded, text, written


# k-map: k people of a population could be the row, not k rows of the table.
@dataclass(frozen=True)
class KMap(OnPopulation):
    """Every released combination of quasi-identifiers fits at least k people of a population table.

    Sweeney, "Computational Disclosure Control: A Primer on Data Privacy Protection" (MIT 2001). A person fits if each
    released cell shows nothing, or something that is true of that person. Weaker than k-anonymity where the attacker
    does not know who is in the table, and only as good as the population table.
    """

    k: int

    def __post_init__(self) -> None:
        whole = isinstance(self.k, int | np.integer) and not isinstance(self.k, bool)
        if not whole or self.k < 1:
            raise ParameterError("k-map must be a whole number of at least 1. Give for instance k-map=5.")
        object.__setattr__(self, "k", int(self.k))

    def holds_each(self, released: Histograms, fitting: Histograms) -> Flags:
        """Whether enough people fit each combination, given its released rows and the people that fit."""
        return np.asarray((fitting >= self.k) | (released == 0))

    def check_possible(self, rows: int, population: int) -> None:
        """Raise if the population is smaller."""
        if population < self.k:
            raise RequirementError(
                f"k-map={self.k} is impossible: the population table has {population} rows, the release {rows}. "
                f"Choose at most {population}, or a larger population."
            )

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        return f"Every released combination of quasi-identifiers fits at least {self.k:,} people of the population."

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "k-map", "k": self.k}

    def __str__(self) -> str:
        return f"{self.k}-map"


# delta-presence: how sure one can be that a person of a population is in the table.
@dataclass(frozen=True)
class DeltaPresence(OnPopulation):
    """Of the people of a population table that fit a released combination, a share between two bounds is in the table.

    Nergiz, Atzori, Clifton, "Hiding the Presence of Individuals from Shared Databases" (SIGMOD 2007): for every person
    of the population, ``low <= rows of the combination / people that fit it <= high``. A low bound above 0 also
    asks that every person fits some combination. The table must be part of the population.
    """

    low: Fraction
    high: Fraction

    def __init__(self, low: float | str | Fraction, high: float | str | Fraction) -> None:
        bounds = [written(bound, "delta-presence", "delta-presence=0.1..0.5") for bound in (low, high)]
        if not 0 <= bounds[0] <= bounds[1] <= 1:
            raise ParameterError("delta-presence needs two bounds between 0 and 1, as in delta-presence=0.1..0.5.")
        vars(self).update(low=bounds[0], high=bounds[1])

    def holds_each(self, released: Histograms, fitting: Histograms) -> Flags:
        """Whether the share of each combination lies between the bounds, in whole numbers."""
        rows, people = released.astype(object), fitting.astype(object)
        enough = rows * self.low.denominator >= people * self.low.numerator
        return np.asarray(enough & (rows * self.high.denominator <= people * self.high.numerator), np.bool_)

    def check_possible(self, rows: int, population: int) -> None:
        """Raise if the share of the whole table lies outside: then some person's does, whatever is released."""
        if not self.holds_each(np.array([rows]), np.array([population])).item():
            share = Fraction(rows, population) if population else Fraction(1)
            up = rounded(share, up=True)
            raise RequirementError(
                f"delta-presence={text(self.low)}..{text(self.high)} is impossible: the table has {rows} of the "
                f"{population} rows of the population, a share of about {up}. The bounds must enclose it."
            )

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        return (
            "Of the people of the population who fit a combination in the release, the share that is in the table lies "
            f"between {text(self.low)} and {text(self.high)}."
        )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "delta-presence", "low": text(self.low), "high": text(self.high)}

    def __str__(self) -> str:
        return f"({text(self.low)}, {text(self.high)})-presence"
