"""What every method is, and what it may ask about the table: engines answer, it never sees where rows live."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, PlanError
from incrowd.methods.counting import some_of_each
from incrowd.plan.steps import (
    AsCounts,
    Bin,
    Drop,
    Hide,
    Link,
    Place,
    Rarest,
    Reasons,
    Recode,
    Seat,
    Show,
    Spread,
    Step,
)
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import Codes, EncodedTable
from incrowd.vocabulary.forms import COUNTS, RELEASE_FORMS
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.schema import Schema


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of values that occur, in lexical order of their codes, with the classes of their rows.

    ``codes`` is combinations x attributes, ``counts`` combinations x classes (the missing class last).
    """

    codes: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows of each combination."""
        return np.asarray(self.counts.sum(axis=1), np.int64)


@dataclass(frozen=True, eq=False)
class Presence:
    """Who is where: the cell, the person and codes of some columns, entry by entry; entries may repeat.

    A person has the same number in all entries. Whether cells are nodes of a tree or combinations of values says who
    asked for them.
    """

    cells: npt.NDArray[np.integer]
    persons: npt.NDArray[np.integer]
    codes: tuple[npt.NDArray[np.integer], ...] = ()

    def distinct(self, most: int | None = None) -> Presence:
        """The same with every entry once, by cell; of each cell at most so many, if no codes are asked for.

        Examples
        --------
        >>> presence = Presence(np.array([1, 0, 1, 1]), np.array([5, 3, 5, 4]))
        >>> presence.distinct().cells.tolist(), presence.distinct(1).persons.tolist()
        ([0, 1, 1], [3, 5])
        """
        columns = (self.cells, self.persons, *self.codes)
        bounds = [int(codes.max(initial=0)) + 1 for codes in columns]
        if not self.codes and max(bounds) < 1 << 31:
            many = len(self.cells) if most is None else most
            cells, persons = some_of_each(self.cells, self.persons, bounds[0], bounds[1], many).T
            return Presence(np.ascontiguousarray(cells), np.ascontiguousarray(persons))
        if math.prod(bounds) < 1 << 63:
            keys = np.unique(np.ravel_multi_index([codes.astype(np.int64) for codes in columns], bounds))
            cells, persons, *codes = np.unravel_index(keys, bounds)
        else:
            cells, persons, *codes = np.unique(np.stack(columns), axis=1)
        return Presence(cells, persons, tuple(codes))


@dataclass(frozen=True, eq=False)
class PopulationPart:
    """Some rows of a table, drawn at random, held together: the ``place`` of each in the table, and the rows."""

    place: npt.NDArray[np.intp]
    rows: Population


class Population(Protocol):
    """The rows of a table, as an algorithm knows them.

    ``sample`` may leave rows out and serves heuristics only (which split, which merge). Counts are exact, over
    all rows, and are what promises are made of.
    """

    @property
    def schema(self) -> Schema:
        """The columns and their roles."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def owners(self) -> Codes | None:
        """The person of each row of :meth:`sample`, numbered from 0 on; None if every row is a person.

        With persons, k and all that is required beyond it count persons. No method takes them for an attribute.
        """

    def sample(self) -> EncodedTable:
        """Encoded quasi-identifiers, target and columns of the requirement, of all rows or of a random part of them.

        Once rows are placed the table has one more column, ``GROUP``: the group of each row.
        """

    def count(self, tree: Tree) -> npt.NDArray[np.int64]:
        """Rows that come to rest at each node, class by class: an array of nodes x classes."""

    def histograms(self, tree: Tree, name: str) -> npt.NDArray[np.int64]:
        """Rows that come to rest at each node, by their value of a column: nodes x codes (the missing one last)."""

    def contingency(self, name: str) -> npt.NDArray[np.int64]:
        """Rows per code of an attribute and class: codes (the missing one last) x classes (the missing one last)."""

    def combinations(self, names: Sequence[str]) -> Combinations:
        """The combinations of these attributes that occur, counted over all rows that are not left out."""

    def presence(self, of: Tree | Sequence[str], names: Sequence[str] = (), most: int | None = None) -> Presence:
        """Who is where, with the codes of some columns; only where rows are not persons.

        Cells are the nodes of a tree at which rows come to rest; or the combinations of some attributes, numbered as
        :meth:`combinations` lists them. Whoever asks only whether cells have so many persons together says ``most``:
        then so many of each cell are enough, any of them, and the answer is small however many rows there are.
        """

    def recode(self, step: Recode) -> Population:
        """The same rows, the step's attributes seen as the parts their values belong to.

        The code of an attribute is then the position of the part, and the missing code says that nothing is shown.
        """

    def hide(self, step: Hide) -> Population:
        """The same rows, nothing shown of the step's attributes where their combination is rare."""

    def bin(self, step: Bin) -> Population:
        """The same rows, the step's attributes seen as the bins they lie in: categories named by their interval."""

    def place(self, step: Place) -> Population:
        """The same rows, dealt to groups as the step says.

        Which rows go where is decided by chance, once: placing by the same step again gives the same groups.
        """

    def parts(self, rows: int) -> Iterator[PopulationPart]:
        """All rows, dealt at random to parts of about so many, one after the other; a person has all rows in one.

        For algorithms that look at rows and not at counts. Of rows that are held together anyway there is one part;
        raises where rows are not to be held by who asks.
        """

    def seat(self, step: Seat) -> Population:
        """The same rows, each in the group the step gives it; rows are in the order of :meth:`parts`' places."""


INTERVALS = ("interval", "bounds", "midpoint", "mean")
"""How methods that generalize may write numbers, see :mod:`incrowd.methods.numeric`."""
BINNED = ("bins", "levels", "mean", "interval")
"""How methods that cut numbers at public places may write them, see :mod:`incrowd.methods.numeric`."""


def applied(steps: Sequence[Step], population: Population) -> Population:
    """The rows after the steps of a method, or of a plan."""
    for step in steps:
        match step:
            case Bin():
                population = population.bin(step)
            case Place():
                population = population.place(step)
            case Seat():
                population = population.seat(step)
            case Recode():
                population = population.recode(step)
            case Hide():
                population = population.hide(step)
            case Drop() | Link() | Show() | Spread() | AsCounts() | Rarest() | Reasons():
                pass
            case _:
                raise PlanError(f"No engine knows the step {type(step).__name__}.")
    return population


@dataclass(frozen=True, kw_only=True)
class MethodTraits:
    """What others must know of a method. A method from another package has them as ``traits``, a class attribute.

    The verification takes one of them at its word: that up to k - 1 rows may be left out, which the certificate states.

    Examples
    --------
    >>> MethodTraits(summary="shows one category", needs_target=False).by_value
    False
    """

    # summary, paper: What it does, in half a sentence, and where it was published
    summary: str = ""
    paper: str = ""
    needs_target: bool = True  # whether it looks at a class
    # The forms its groups can be released in (see :mod:`incrowd.vocabulary.forms`), its own first. A method that
    # shows value by value has no groups, and only the strict form.
    forms: tuple[str, ...] = RELEASE_FORMS
    # The values of its parameter ``numeric``: how numbers are released. Empty if it has no such parameter.
    numeric: tuple[str, ...] = ()
    # Whether it shows values as groups of values, by hierarchies where there are some; a model made from such a
    # release sees new rows through the plan
    generalizes: bool = False
    loses_rows: bool = False  # whether it may leave out up to k - 1 rows
    # Whether it looks at all rows at once; then a table that fits into memory is not worked on in blocks
    together: bool = False
    draws_groups: bool = False  # whether chance has a part in which groups there are, not only in which rows they get
    weighs: bool = False  # whether weights of attributes change what it splits next
    limits_levels: bool = False  # whether a most allowed level of a hierarchy can be set, and values kept apart
    loses_on_request: bool = True  # whether small groups can be left out, up to a limit that the user sets

    @property
    def counts(self) -> bool:
        """Whether groups are released as counts of their values in its own form."""
        return self.forms[0] == COUNTS

    @property
    def by_value(self) -> bool:
        """Whether it decides what each value shows, the same in every row, and not on groups of rows."""
        return COUNTS not in self.forms


class Method(Protocol):
    """Decides what happens to which rows so that the requirement holds.

    A method is a frozen dataclass whose fields are its parameters. ``name`` is its name in the catalog. One from
    another package states its :class:`MethodTraits` as ``traits``.
    """

    @property
    def name(self) -> str:
        """The name in the catalog."""

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data, for the plan and the certificate."""

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,
        preferences: Preferences = INDIFFERENT,
    ) -> tuple[Step, ...]:
        """The steps of the release; preferences that the catalog does not say it has do not come to it."""


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise unless the parameter has one of its values."""
    if value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(choices)}.")


def check_not_negative(name: str, value: object) -> None:
    """Raise unless the parameter is a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ParameterError(f"{name} must be a number of at least 0.")


def check_flag(name: str, value: object) -> None:
    """Raise unless the parameter is True or False."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False.")
