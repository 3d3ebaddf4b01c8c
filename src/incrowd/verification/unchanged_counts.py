"""What columns that are released unchanged undo, counted: names and numbers, never a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class SetCounts:
    """A set of quasi-identifiers that are known together: the k asked for, and what is left of it."""

    columns: tuple[str, ...]
    k: int
    effective_k: int
    people_below_k: int


@dataclass(frozen=True)
class GiveBack:
    """How many hidden cells of a quasi-identifier an unchanged column, or a pair of columns, gives back alone."""

    columns: tuple[str, ...]
    quasi_identifier: str
    cells: int


@dataclass(frozen=True)
class SinglingSet:
    """A set of unchanged columns, and how many people are alone by it; whether all sets of its size were compared."""

    columns: tuple[str, ...]
    people: int
    exact: bool = True


@dataclass(frozen=True)
class Alone:
    """People whose combination of unchanged columns nobody else has.

    Parameters
    ----------
    without_class, with_class, not_private, not_called_private
        By all unchanged columns but the class; with it; without the class by those that others may know, as the user
        did not call them private; by those called neither private nor sensitive.
    best
        For one, two and three columns the set by which most are alone.
    telling
        The smallest set that reaches half of the first count; None if nobody is alone.
    roles
        What the user called each column.
    """

    without_class: int
    with_class: int
    not_private: int
    not_called_private: int
    best: tuple[SinglingSet, ...]
    telling: SinglingSet | None
    roles: Mapping[str, str]


@dataclass(frozen=True)
class NotCounted:
    """Something that could not be counted, and why; it is never reported as none."""

    what: str
    why: str


@dataclass(frozen=True)
class Remedy:
    """Columns to be named as quasi-identifiers or dropped, and the effective k without them."""

    columns: tuple[str, ...]
    effective_k: int


@dataclass(frozen=True)
class UnchangedCounts:
    """Effective k, and who is alone by unchanged columns.

    Parameters
    ----------
    rows
        Rows of the release: people, unless a person may have several; of people it is then persons that are counted.
    sets
        The sets of quasi-identifiers that are known together; one if there is plain k-anonymity.
    people_below_k
        People in groups smaller than k, once what is given back is known; in any of the sets.
    hidden_cells, given_back
        Quasi-identifier cells that leave several values open, and how many of them unchanged columns give back.
    by
        What gives back how many of them.
    alone
        Who is alone by unchanged columns.
    not_counted
        What could not be counted.
    advice
        What to name or drop, if fewer than k are left.

    Examples
    --------
    >>> nobody = Alone(0, 0, 0, 0, (), None, {})
    >>> counts = UnchangedCounts(40, (SetCounts(("sex",), 10, 4, 4),), 4, 40, 36, (), nobody)
    >>> counts.effective_k, counts.sound, UnchangedCounts.from_json(counts.to_json()) == counts
    (4, False, True)
    """

    rows: int
    sets: tuple[SetCounts, ...]
    people_below_k: int
    hidden_cells: int
    given_back: int
    by: tuple[GiveBack, ...]
    alone: Alone
    not_counted: tuple[NotCounted, ...] = ()
    advice: Remedy | None = None

    @property
    def effective_k(self) -> int:
        """The fewest people who are equal in all that is released and given back of quasi-identifiers."""
        return min(one.effective_k for one in self.sets)

    @property
    def sound(self) -> bool:
        """Whether k people are left in every group."""
        return all(one.effective_k >= one.k for one in self.sets)

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {"effective_k": self.effective_k, **_plain(asdict(self))}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UnchangedCounts:
        """The counts that :meth:`to_json` wrote."""
        alone = data["alone"]
        return cls(
            rows=data["rows"],
            sets=tuple(SetCounts(tuple(one.pop("columns")), **one) for one in map(dict, data["sets"])),
            people_below_k=data["people_below_k"],
            hidden_cells=data["hidden_cells"],
            given_back=data["given_back"],
            by=tuple(GiveBack(tuple(one["columns"]), one["quasi_identifier"], one["cells"]) for one in data["by"]),
            alone=Alone(
                without_class=alone["without_class"],
                with_class=alone["with_class"],
                not_private=alone["not_private"],
                not_called_private=alone["not_called_private"],
                best=tuple(_singling(one) for one in alone["best"]),
                telling=None if alone["telling"] is None else _singling(alone["telling"]),
                roles=dict(alone["roles"]),
            ),
            not_counted=tuple(NotCounted(one["what"], one["why"]) for one in data["not_counted"]),
            advice=data["advice"] and Remedy(tuple(data["advice"]["columns"]), data["advice"]["effective_k"]),
        )


def _singling(data: Mapping[str, Any]) -> SinglingSet:
    return SinglingSet(tuple(data["columns"]), data["people"], data["exact"])


def _plain(data: Any) -> Any:
    """Tuples as lists, as JSON reads them back."""
    if isinstance(data, dict):
        return {name: _plain(value) for name, value in data.items()}
    return [_plain(value) for value in data] if isinstance(data, tuple | list) else data
