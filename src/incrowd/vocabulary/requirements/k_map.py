"""k-map: k people of a population could be the row, not k rows of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirements.exact import Flags, Histograms


@dataclass(frozen=True)
class KMap:
    """Every released combination of quasi-identifiers fits at least k people of a population table.

    Sweeney, "Computational Disclosure Control: A Primer on Data Privacy Protection" (MIT 2001). A person fits if each
    released cell shows nothing, or something that is true of that person. Weaker than k-anonymity where the attacker
    does not know who is in the table, and only as good as the population table.

    Examples
    --------
    >>> str(KMap(5))
    '5-map'
    """

    k: int

    monotone: ClassVar[bool] = True

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

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "k-map", "k": self.k}

    def __str__(self) -> str:
        return f"{self.k}-map"
