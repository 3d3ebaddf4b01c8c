"""What the user would rather keep, and how much a method may give up for it: weights and limits of a release."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any

from incrowd.errors import ParameterError, option_name
from incrowd.vocabulary.option import Kind, Option
from incrowd.vocabulary.schema import Column, Role, Schema

WEIGHTS, AT_MOST, LOSE = ("weights", "--weight"), ("at_most", "--at-most"), ("lose", "--lose")
APART = ("apart", "--apart")
EACH, EACH_VALUE = "*", "each value"
"""What they are called in Python and on the command line; each value of a column by itself, as asked and as stated."""
Apart = Annotated[
    Mapping[str, Any] | None,
    Option(
        "Values that share no cell with others: sets between bars; a value alone, or * for each, is always shown.",
        Kind.RENAMED,
        "area=north,west|south",
        more="The cell of a row with such a value stands for no value outside its set. In Python also lists: "
        '``{"region": [["north", "west"], ["south"]]}``. If k cannot be kept with it, an error says so.',
    ),
]
AtMost = Annotated[
    Mapping[str, int] | None,
    Option(
        "No cell of a column is coarser than this level of its hierarchy: 0 its leaves, 1 the groups above them.",
        Kind.SETTINGS,
        "postcode=2",
        more="A hidden cell is coarser than any level but the last, where all is hidden. Where a branch ends "
        "early, its leaf is repeated. If k cannot be kept with it, an error says so.",
    ),
]
Lose = Annotated[
    str | float | None,
    Option(
        "How many rows may be left out if that keeps more of the others: a share, or a number of rows.",
        example="2%",
        more="They are those whose groups would be smaller than k. With k alone, without further requirements.",
    ),
]
Weights = Annotated[
    Mapping[str, float] | None,
    Option(
        "Keep an attribute finer: a factor of the score by which it is chosen to be split.",
        Kind.SETTINGS,
        "age=3",
        more="From 0.001 to 1000; attributes that are not named have 1.",
        flags=("--weight",),
    ),
]
LIGHTEST, HEAVIEST = 0.001, 1000.0


@dataclass(frozen=True)
class Preferences:
    """Weights and limits, checked at birth; without any of them a method decides as it does by itself.

    Parameters
    ----------
    weights
        For some attributes a factor, from 0.001 to 1000, of the score by which a method chooses what it splits next.
    at_most
        For some attributes the coarsest level of their hierarchy that a cell may show: 0 is what the leaves say, 1 the
        groups right above them, and so on; where a branch ends early, its leaf is repeated. A hidden cell is coarser.
    apart
        For some attributes sets of values, or ``*`` for each value by itself: the cell of a row with such a value
        stands for no value outside its set.
    lose
        How many rows may be left out if that keeps more of the others: a number of them, or a share, as ``"2%"`` or
        0.02. None: a method does as it does by itself.
    promised
        The k that holds in the end, where a method is asked for smaller groups at first and those below k are left out;
        what is published of the whole table, as where numbers are cut, keeps it. Nobody asks for it.

    Examples
    --------
    >>> Preferences(weights={"age": 3}).factors(["sex", "age"])
    (1.0, 3.0)
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)
    lose: str | float | None = None
    promised: int = 0
    apart: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        option = option_name(*WEIGHTS)
        check_numbers(self.weights, option, "age", 3)
        for name, factor in self.weights.items():
            if not LIGHTEST <= factor <= HEAVIEST:
                raise ParameterError(f"{option}: the factor of {name!r} must be a number from 0.001 to 1000.")
        option = option_name(*AT_MOST)
        check_numbers(self.at_most, option, "postcode", 2)
        for name, level in self.at_most.items():
            if not isinstance(level, int) or level < 0:
                raise ParameterError(f"{option}: the level of {name!r} must be a whole number, 0 or more.")
        rows_to_lose(self.lose, 0)
        if not isinstance(self.apart, Mapping) or not all(isinstance(name, str) for name in self.apart):
            raise ParameterError(f"{option_name(*APART)} takes columns and sets of their values.")
        object.__setattr__(self, "apart", {name: sets_apart(sets, name) for name, sets in self.apart.items()})

    def check_columns(self, schema: Schema) -> None:
        """Refuse columns that a method does not transform."""
        for named, option in ((self.weights, WEIGHTS), (self.at_most, AT_MOST), (self.apart, APART)):
            if others := [name for name in named if schema[name].role is not Role.QUASI_IDENTIFIER]:
                raise ParameterError(
                    f"{option_name(*option)} is about quasi-identifiers, and {_listed(others)} no such. Leave out what "
                    "is said of others, or make them quasi-identifiers."
                )
        if without := [name for name in self.at_most if schema[name].hierarchy is None]:
            raise ParameterError(
                f"{option_name(*AT_MOST)} counts the levels of a hierarchy, and {_listed(without)} without one. Name "
                f"one with {option_name('hierarchies=', '--hierarchy')}, or leave that out."
            )
        if numbers := [name for name in self.apart if schema[name].type.is_numeric]:
            raise ParameterError(
                f"{option_name(*APART)} is about categories, and {_listed(numbers)} none. For numbers and dates set a "
                f"level of a hierarchy: {option_name(*AT_MOST)}."
            )
        for name in self.at_most:
            self.lowest_level(schema[name])

    def of(self, name: str) -> tuple[tuple[str, Any], ...]:
        """What is said of a column, as plain data."""
        options: tuple[tuple[str, Mapping[str, Any]], ...]
        options = (("weight", self.weights), ("at_most", self.at_most), ("apart", self.apart))
        return tuple((option, named[name]) for option, named in options if name in named)

    def lowest_level(self, column: Column) -> int | None:
        """The coarsest level that the column may show, as its hierarchy counts: 1 is the root; None if that may be."""
        if column.name not in self.at_most or column.hierarchy is None:
            return None
        levels, most = column.hierarchy.height - 1, self.at_most[column.name]
        if most > levels:
            raise ParameterError(
                f"{option_name(*AT_MOST)}: the hierarchy of {column.name!r} has the levels 0 to {levels}; at "
                f"{levels} everything is hidden."
            )
        if most == levels:
            return None
        if len(set(column.hierarchy.at_level(levels + 1 - most).tolist())) == 1:
            raise ParameterError(
                f"{option_name(*AT_MOST)}: at level {most} the hierarchy of {column.name!r} has one group only, which "
                "tells as little as a hidden cell. Name a lower level."
            )
        return levels + 1 - most

    def stated(self) -> dict[str, Any]:
        """What was asked for, as plain data without values of the table: of sets that stay apart, how many."""
        number = {name: EACH_VALUE if isinstance(sets, str) else len(sets) for name, sets in self.apart.items()}
        wishes = {"weights": dict(self.weights), "at_most": dict(self.at_most), "apart": number, "lose": self.lose}
        return {name: wish for name, wish in wishes.items() if wish not in ({}, None)}

    def coarsest(self, column: Column) -> tuple[int, ...] | None:
        """The coarsest groups of its hierarchy that a column may show, one above each leaf; None: the root may be."""
        level, tree = self.lowest_level(column), column.hierarchy
        if tree is None or (level is None and column.name not in self.apart):
            return None
        marks = [set_of(self.apart.get(column.name, ()), tree.labels[leaf]) for leaf in tree.leaves.tolist()]
        allowed, waiting = list[int](), [0]
        while waiting:
            node = waiting.pop()
            below, children = tree.leaves_below(node), tree.children(node)
            coarse = level is not None and tree.depths[node] < level
            if children and (coarse or len({marks[place] for place in below}) > 1):
                waiting += children
            else:
                allowed.append(node)
        return None if allowed == [0] else tuple(sorted(allowed))

    def factors(self, names: Sequence[str]) -> tuple[float, ...]:
        """The factor of each attribute; only how they compare matters, so the smallest is 1."""
        factors = [float(self.weights.get(name, 1.0)) for name in names]
        return tuple(factor / min(factors, default=1.0) for factor in factors)


def sets_apart(sets: object, name: str) -> tuple[tuple[str, ...], ...] | str:
    """Sets of values from lists or from text, each value in one set; ``*`` stays.

    Examples
    --------
    >>> sets_apart('north,"far, west"|south', "region"), sets_apart([["a"]], "region"), sets_apart("*", "region")
    ((('north', 'far, west'), ('south',)), (('a',),), '*')
    """
    if isinstance(sets, str):
        if sets.strip() == EACH:
            return EACH
        sets = [next(csv.reader([part], skipinitialspace=True), []) for part in sets.split("|")]
    listed = [one if isinstance(one, list | tuple) else [one] for one in sets] if isinstance(sets, list | tuple) else []
    values = [str(value).strip() for one in listed for value in one]
    if not listed or not all(listed) or not all(values) or len(set(values)) < len(values):
        raise ParameterError(
            f"{option_name(*APART)}: what is said of {name!r} must be sets of values, each value in one of them: "
            "north,west|south. For each value by itself: *."
        )
    return tuple(tuple(str(value).strip() for value in one) for one in listed)


def set_of(sets: Sequence[Sequence[str]] | str, value: str) -> str | int:
    """Which of the sets a value is in, -1 if in none; with ``*`` each is its own.

    Examples
    --------
    >>> set_of((("a", "b"), ("c",)), "c"), set_of((("a",),), "x"), set_of("*", "x")
    (1, -1, 'x')
    """
    if isinstance(sets, str):
        return value
    return next((number for number, members in enumerate(sets) if value in members), -1)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(map(repr, names))} {'is' if len(names) == 1 else 'are'}"


def rows_to_lose(limit: str | float | None, rows: int) -> int:
    """How many of so many rows may be left out at most; a share is rounded down.

    Examples
    --------
    >>> rows_to_lose("2%", 150), rows_to_lose(0.02, 149), rows_to_lose(7, 150), rows_to_lose(None, 150)
    (3, 2, 7, 0)
    """
    text = "0" if limit is None else str(limit).strip()
    if not isinstance(limit, bool):
        if re.fullmatch(r"[0-9]+", text):
            return min(int(text), rows)
        percent = re.fullmatch(r"([0-9]+([.][0-9]+)?) ?%", text)
        share = Fraction(percent[1]) / 100 if percent else None
        if re.fullmatch(r"[0-9]*[.]?[0-9]+(e-[0-9]+)?", text):
            share = Fraction(text)
        if share is not None and share < 1:
            return int(share * rows)
    raise ParameterError(
        f"{option_name(*LOSE)} is a share of the rows below all of them, such as 2% or 0.02, or a number of rows."
    )


def check_numbers(numbers: object, option: str, name: str, number: int) -> None:
    """Raise unless these are columns with a number each; name and number are an example."""
    if not isinstance(numbers, Mapping) or not all(isinstance(column, str) for column in numbers):
        raise ParameterError(f"{option} takes columns and a number for each, for instance {name!r} and {number}.")
    for column, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ParameterError(f"{option}: what is said of {column!r} must be a number.")


INDIFFERENT = Preferences()
