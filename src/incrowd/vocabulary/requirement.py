"""What a release must keep: requirements on the groups of rows that look alike.

Here are those about sizes, k-anonymity of all quasi-identifiers or of several sets. What may be asked beside them is in
:mod:`incrowd.vocabulary.requirements`, one file each; ``Together`` is all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError


@dataclass(frozen=True)
class KnownSet:
    """Attributes an attacker knows together: every combination of their released values is shared by k rows."""

    names: tuple[str, ...]
    k: int

    def __post_init__(self) -> None:
        KAnonymity(self.k)
        if not self.names or len(set(self.names)) < len(self.names):
            raise ParameterError("A set of columns that are known together names at least one, and each once.")

    def covers(self, other: KnownSet) -> bool:
        """Whether this promise includes the other: more attributes, or the same, and no smaller k."""
        return set(other.names) <= set(self.names) and other.k <= self.k

    def __str__(self) -> str:
        return f"{self.k}-anonymity of {', '.join(self.names)}"


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

    def sets(self, quasi_identifiers: Sequence[str]) -> tuple[KnownSet, ...]:
        """The sets of attributes an attacker knows together, each with its k; a promise about every one of them."""
        ...

    @property
    def promises(self) -> tuple[str, ...]:
        """Each promise in words, as the verification names it."""
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

    monotone: ClassVar[bool] = True

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

    def sets(self, quasi_identifiers: Sequence[str]) -> tuple[KnownSet, ...]:
        """All quasi-identifiers, with k."""
        return (KnownSet(tuple(quasi_identifiers), self.k),)

    @property
    def promises(self) -> tuple[str, ...]:
        """The one promise."""
        return (str(self),)

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "k-anonymity", "k": self.k}

    def __str__(self) -> str:
        return f"{self.k}-anonymity"


@dataclass(frozen=True)
class KnownTogether:
    """Several sets of attributes, each with its own k: an attacker knows one of the sets, never their union.

    Fung, Wang, Yu (2007). A set that another one covers, with at least its k, is left out: it is kept anyway.
    """

    known: tuple[KnownSet, ...]

    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.known:
            raise ParameterError("Name at least one set of columns that are known together.")
        kept: list[KnownSet] = []
        for i, one in enumerate(self.known):
            others = [*kept, *self.known[i + 1 :]]
            if not any(other.covers(one) for other in others):
                kept.append(one)
        object.__setattr__(self, "known", tuple(kept))

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes of all sets, by first appearance."""
        return tuple(dict.fromkeys(name for one in self.known for name in one.names))

    @property
    def smallest_group(self) -> int:
        """The largest k: groups that share all attributes and have this size keep every promise."""
        return max(one.k for one in self.known)

    def holds(self, histogram: npt.NDArray[np.int64]) -> bool:
        """Whether rows that share all attributes are enough for every set."""
        return int(histogram.sum()) >= self.smallest_group

    def check_possible(self, rows: int) -> None:
        """Raise if the table has fewer rows than the largest k."""
        KAnonymity(self.smallest_group).check_possible(rows)

    def sets(self, quasi_identifiers: Sequence[str]) -> tuple[KnownSet, ...]:
        """The sets; together they name all quasi-identifiers and nothing else."""
        if set(self.names) != set(quasi_identifiers):
            raise RequirementError(
                "The sets that are known together must name every quasi-identifier, and nothing else. "
                f"Quasi-identifiers: {', '.join(quasi_identifiers)}."
            )
        return self.known

    @property
    def promises(self) -> tuple[str, ...]:
        """One for each set."""
        return tuple(map(str, self.known))

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "k-anonymity of sets", "sets": [[list(one.names), one.k] for one in self.known]}

    def __str__(self) -> str:
        return "; ".join(map(str, self.known))


def requirement_from_json(data: dict[str, Any]) -> Requirement:
    """The requirement that its ``to_json`` wrote."""
    match data:
        case {"is": "k-anonymity", "k": k}:
            return KAnonymity(k)
        case {"is": "k-anonymity of sets", "sets": sets}:
            return KnownTogether(tuple(KnownSet(tuple(names), k) for names, k in sets))
        case {"is": "all of", "parts": [*_]}:
            from incrowd.vocabulary.requirements.together import together_from_json

            return together_from_json(data)
        case _:
            raise ParameterError("This requirement is unknown to this incrowd. Update it.")
