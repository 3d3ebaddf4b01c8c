"""What a release must keep: requirements on the groups of rows that look alike.

Here are those about sizes, k-anonymity of all quasi-identifiers or of several sets. What may be asked beside them is in
:mod:`incrowd.vocabulary.requirements`; ``Together`` is all of them at once, and what is read back from JSON.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from incrowd.errors import HeaderError, ParameterError, RequirementError, SchemaError
from incrowd.vocabulary.schema import NOT_RELEASED, Role, Schema, unknown_column

if TYPE_CHECKING:
    from incrowd.vocabulary.requirements.columns import Flags, Histograms, RequirementSubject


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
    def parts(self) -> tuple[RequirementPart, ...]:
        """What it is made of: one part about sizes, then the others."""

    @property
    def on_columns(self) -> tuple[Columnwise, ...]:
        """The parts about the values of a column."""

    @property
    def on_population(self) -> tuple[OfPopulation, ...]:
        """The parts that need a population table."""

    @property
    def smallest_group(self) -> int:
        """No group below this size can satisfy the requirement."""

    def holds(self, histogram: npt.NDArray[np.int64]) -> bool:
        """Whether a group with this class histogram may be released."""

    def check_possible(self, rows: int) -> None:
        """Raise if no release of a table of that many rows can keep the promise."""

    def sets(self, quasi_identifiers: Sequence[str]) -> tuple[KnownSet, ...]:
        """The sets of attributes an attacker knows together, each with its k; a promise about every one of them."""

    @property
    def promises(self) -> tuple[str, ...]:
        """Each promise in words, as the verification names it."""

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""


class OfGroups(ABC):
    """A promise about groups of rows that look alike: none is smaller than a size."""

    @property
    @abstractmethod
    def smallest_group(self) -> int:
        """The size; where there are several, the largest, for groups of it that share all attributes keep them all."""

    def holds(self, histogram: npt.NDArray[np.int64]) -> bool:
        """Whether a group has enough rows; what else is promised asks for more than its classes."""
        return int(histogram.sum()) >= self.smallest_group

    def check_possible(self, rows: int, unit: str = "rows") -> None:
        """Raise if the table has too few rows, or what else is counted."""
        if (k := self.smallest_group) > rows:
            raise RequirementError(
                f"k={k} is impossible: the table has {rows} {unit}. Choose k of at most {rows}, or add {unit}."
            )


class OnSizes(OfGroups):
    """A promise about the sizes of groups, and nothing else."""

    on_columns: ClassVar[tuple[()]] = ()
    on_population: ClassVar[tuple[()]] = ()

    @property
    def parts(self) -> tuple[Self]:
        """Itself."""
        return (self,)


@dataclass(frozen=True)
class KAnonymity(OnSizes):
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
class KnownTogether(OnSizes):
    """Several sets of attributes, each with its own k: an attacker knows one of the sets, never their union.

    Fung, Wang, Yu (2007). A set that another one covers, with at least its k, is left out: it is kept anyway.
    """

    known: tuple[KnownSet, ...]

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
        case {"is": "all of", "parts": [*parts]}:
            return Together(tuple(_size_from_json(part) or part_from_json(part) for part in parts))
    if (size := _size_from_json(data)) is None:
        raise ParameterError("This requirement is unknown to this incrowd. Update it.")
    return size


def _size_from_json(data: dict[str, Any]) -> KAnonymity | KnownTogether | None:
    match data:
        case {"is": "k-anonymity", "k": k}:
            return KAnonymity(k)
        case {"is": "k-anonymity of sets", "sets": sets}:
            return KnownTogether(tuple(KnownSet(tuple(names), k) for names, k in sets))
    return None


class FurtherRequirement(ABC):
    """A promise beyond k."""

    @property
    @abstractmethod
    def meaning(self) -> str:
        """What it promises, in a sentence for people who sign."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""


class OnColumn(FurtherRequirement):
    """A promise about the values of one column in every group of rows that look alike; None is the target.

    Where a person may have several rows, ``by_main`` says what is counted of its different values in a group: each
    person once, under the value that most persons of the group have (main values); or the person under each of them.
    """

    on: str | None
    by_main: ClassVar[bool] = True

    @abstractmethod
    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:
        """Whether each group keeps it: groups x codes of the column. An empty group does."""

    @abstractmethod
    def check_possible(self, subject: RequirementSubject) -> None:
        """Raise if no release of the table can keep it."""


class OnShares(OnColumn):
    """A promise about the share of a group that has a value: of its rows, or of its persons, who may have several."""

    by_main: ClassVar[bool] = False

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:
        """Whether each group of rows keeps it."""
        return self.holds_shares(histograms, histograms.sum(axis=1), subject)

    @abstractmethod
    def holds_shares(self, bearers: Histograms, sizes: Histograms, subject: RequirementSubject) -> Flags:
        """Whether each group keeps it, given how many have each value, and how many there are."""


class OnPopulation(FurtherRequirement):
    """A promise about the population that a table comes from."""

    @abstractmethod
    def holds_each(self, released: Histograms, fitting: Histograms) -> Flags:
        """Whether it is kept by each combination, given its released rows and the people that fit."""

    @abstractmethod
    def check_possible(self, rows: int, population: int) -> None:
        """Raise if no release of the table can keep it."""


if TYPE_CHECKING:  # each kind, so that whoever decides by kind is seen to decide for all; they are imported when used
    from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
    from incrowd.vocabulary.requirements.diversity import (
        DistinctDiversity,
        EntropyDiversity,
        PowerBound,
        RecursiveDiversity,
    )
    from incrowd.vocabulary.requirements.population import DeltaPresence, KMap

    Columnwise: TypeAlias = (
        DistinctDiversity
        | EntropyDiversity
        | RecursiveDiversity
        | TCloseness
        | ConfidenceCap
        | BetaLikeness
        | DeltaDisclosure
        | PowerBound
    )
    OfPopulation: TypeAlias = KMap | DeltaPresence
else:
    Columnwise, OfPopulation = OnColumn, OnPopulation
RequirementPart: TypeAlias = KAnonymity | KnownTogether | Columnwise | OfPopulation


@dataclass(frozen=True)
class Together(OfGroups):
    """All of its parts: one about sizes, the others about columns or a population.

    Every set of columns that is known together must keep every part: the groups of a set are unions of groups of all
    columns.
    """

    parts: tuple[RequirementPart, ...]

    def __post_init__(self) -> None:
        parts = tuple(dict.fromkeys(self.parts))
        sizes = [part for part in parts if isinstance(part, KAnonymity | KnownTogether)]
        if len(sizes) > 1:
            raise ParameterError("k is set twice. Set it once: k=10, or sets of columns known together.")
        others = [part for part in parts if not isinstance(part, KAnonymity | KnownTogether)]
        for part in others:
            own = type(part).__module__.startswith("incrowd.vocabulary.")  # the verification counts these, no others
            if not (own and isinstance(part, Columnwise | OfPopulation)):
                raise ParameterError("A requirement is made of incrowd's own requirements, or of its text form.")
        object.__setattr__(self, "parts", (*(sizes or [KAnonymity(1)]), *others))

    @property
    def size(self) -> KAnonymity | KnownTogether:
        """The part about sizes."""
        first = self.parts[0]
        assert isinstance(first, KAnonymity | KnownTogether)
        return first

    @property
    def on_columns(self) -> tuple[Columnwise, ...]:
        """The parts about the values of a column."""
        return tuple(part for part in self.parts if isinstance(part, Columnwise))

    @property
    def on_population(self) -> tuple[OfPopulation, ...]:
        """The parts that need a population table."""
        return tuple(part for part in self.parts if isinstance(part, OfPopulation))

    @property
    def smallest_group(self) -> int:
        """The largest k."""
        return self.size.smallest_group

    def sets(self, quasi_identifiers: Sequence[str]) -> tuple[KnownSet, ...]:
        """The sets of columns known together, each with its k."""
        return self.size.sets(quasi_identifiers)

    @property
    def promises(self) -> tuple[str, ...]:
        """Each promise in words, those about sizes first."""
        return (*self.size.promises, *map(str, self.parts[1:]))

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "all of", "parts": [part.to_json() for part in self.parts]}

    def __str__(self) -> str:
        return "; ".join(self.promises)


def part_from_json(data: dict[str, Any]) -> Columnwise | OfPopulation:
    """A single requirement beyond k from its plain data."""
    from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
    from incrowd.vocabulary.requirements.diversity import (
        DistinctDiversity,
        EntropyDiversity,
        PowerBound,
        RecursiveDiversity,
    )
    from incrowd.vocabulary.requirements.population import DeltaPresence, KMap

    match data:
        case {"is": "distinct l-diversity", "l": l, "on": on}:
            return DistinctDiversity(l, on)
        case {"is": "entropy l-diversity", "l": l, "on": on}:
            return EntropyDiversity(l, on)
        case {"is": "recursive (c,l)-diversity", "c": c, "l": l, "on": on}:
            return RecursiveDiversity(c, l, on)
        case {"is": "t-closeness", "t": t, "on": on, "distance": distance}:
            return TCloseness(t, on, distance)
        case {"is": "confidence cap", "alpha": alpha, "on": on}:
            return ConfidenceCap(alpha, on)
        case {"is": "beta-likeness", "beta": beta, "on": on, "enhanced": enhanced}:
            return BetaLikeness(beta, on, enhanced)
        case {"is": "delta-disclosure privacy", "delta": delta, "on": on}:
            return DeltaDisclosure(delta, on)
        case {"is": "bound on powers of shares", "powers": [*powers], "limit": limit, "on": on}:
            return PowerBound({power: weight for power, weight in powers}, limit, on)  # noqa: C416, of pairs alone
        case {"is": "k-map", "k": k}:
            return KMap(k)
        case {"is": "delta-presence", "low": low, "high": high}:
            return DeltaPresence(low, high)
        case _:
            raise ParameterError("This requirement is unknown to this incrowd. Update it.")


# Which columns a requirement is about, and whether a table can keep it.
def subject_names(requirement: Requirement, target: str | None) -> tuple[str, ...]:
    """The columns a requirement is about, each once; what names none is about the target."""
    if not isinstance(requirement, OfGroups):  # from elsewhere
        return () if target is None else (target,)
    if target is None and any(part.on is None for part in requirement.on_columns):
        raise SchemaError("A requirement without 'on COLUMN' is about the target, and there is none. Name a column.")
    return tuple(dict.fromkeys(part.on or str(target) for part in requirement.on_columns))


def with_subjects(requirement: Requirement, schema: Schema) -> Schema:
    """The schema with the columns of a requirement as sensitive ones; raises if they cannot be."""
    names = subject_names(requirement, schema.target)
    for name in names:
        if name not in schema:
            raise HeaderError(f"A requirement names {name!r}. {unknown_column(name, schema.names)}")
        role = schema[name].role
        if role in (Role.QUASI_IDENTIFIER, *NOT_RELEASED):
            known = "an attacker knows it" if role is Role.QUASI_IDENTIFIER else "it is not released"
            raise SchemaError(
                f"Column {name!r} is {role}: {known}, so nothing can be required of it. Give it the role sensitive, or "
                "leave it out of the requirements."
            )
    columns = (
        replace(column, role=Role.SENSITIVE) if column.name in names and column.role is Role.OTHER else column
        for column in schema.columns
    )
    return Schema(tuple(columns))


def check_persons(requirement: Requirement, persons: int) -> None:
    """Raise if the table, in which a person may have several rows, has fewer persons than a group must have.

    Examples
    --------
    >>> check_persons(KAnonymity(50), 3)
    Traceback (most recent call last):
    ...
    incrowd.errors.RequirementError: k=50 is impossible: the table has 3 persons. Choose k of at most 3, or add persons.
    """
    KAnonymity(requirement.smallest_group).check_possible(persons, "persons")
