"""What a release must keep: requirements on the groups of rows that look alike.

An algorithm receives a requirement and asks it whether a group may be released. A group is given by its
class histogram, so that requirements on the class distribution need no other interface than k-anonymity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError


@runtime_checkable
class Requirement(Protocol):
    """A promise about every group of rows with the same released quasi-identifiers."""

    @property
    def smallest_group(self) -> int:
        """No group below this size can satisfy the requirement."""
        ...

    def holds(self, histogram: npt.NDArray[np.int64]) -> bool:
        """Whether a group with this class histogram may be released."""
        ...

    def check_possible(self, rows: int) -> None:
        """Raise if no release of a table of that many rows can keep the promise."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        ...


@dataclass(frozen=True)
class KAnonymity:
    """Every combination of released quasi-identifier values is shared by at least k rows.

    Samarati and Sweeney (1998). A missing or suppressed value counts as a value.

    Examples
    --------
    >>> KAnonymity(5).holds(np.array([3, 1])), KAnonymity(5).holds(np.array([3, 2]))
    (False, True)
    >>> KAnonymity(0)
    Traceback (most recent call last):
    ...
    incrowd.errors.ParameterError: k must be a whole number of at least 1. Give for instance k=10.
    """

    k: int

    def __post_init__(self) -> None:
        whole = isinstance(self.k, int | np.integer) and not isinstance(self.k, bool)
        if not whole or self.k < 1:
            raise ParameterError("k must be a whole number of at least 1. Give for instance k=10.")
        object.__setattr__(self, "k", int(self.k))

    @property
    def smallest_group(self) -> int:
        """k."""
        return self.k

    def holds(self, histogram: npt.NDArray[np.int64]) -> bool:
        """Whether the group has at least k rows."""
        return int(histogram.sum()) >= self.k

    def check_possible(self, rows: int) -> None:
        """Raise if the table has fewer than k rows."""
        if self.k > rows:
            raise RequirementError(
                f"k={self.k} is impossible: the table has {rows} rows. Choose k of at most {rows}, or add rows."
            )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "k-anonymity", "k": self.k}

    def __str__(self) -> str:
        return f"{self.k}-anonymity"


def requirement_from_json(data: dict[str, Any]) -> Requirement:
    """The requirement that its ``to_json`` wrote.

    Examples
    --------
    >>> requirement_from_json({"is": "k-anonymity", "k": 5})
    KAnonymity(k=5)
    """
    match data:
        case {"is": "k-anonymity", "k": k}:
            return KAnonymity(k)
        case _:
            raise ParameterError("This requirement is unknown to this incrowd. Update it.")
