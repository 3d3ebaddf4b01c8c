"""The population, where its table is known: people are counted, not estimated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from incrowd.errors import Notice
from incrowd.risk.classes import Classes, Whole, matched
from incrowd.risk.wording import counted as words


@dataclass(frozen=True, eq=False)
class Counted:
    """A table's classes, as the population sees them.

    Parameters
    ----------
    classes
        Those of the table.
    people
        For each of them the people of the population; at least its rows.
    short
        Rows of classes with fewer people than rows, where the rows were taken instead.
    unmatched
        Rows of classes that the population does not have at all; they are among those of ``short``.
    uniques
        People who are alone in the population.
    uniques_in_sample
        Rows that are alone in the table and stand for such a person.
    """

    classes: Classes
    people: Whole
    short: int
    unmatched: int
    uniques: int
    uniques_in_sample: int


def count_people(frame: pl.DataFrame, population: pl.DataFrame, names: Sequence[str]) -> Counted:
    """Count the population in the classes of the table.

    Examples
    --------
    >>> few, many = pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [1, 1, 2, 3]})
    >>> found = count_people(few, many, ["a"])
    >>> found.people.tolist(), found.uniques, found.uniques_in_sample
    ([2, 1], 2, 1)
    """
    classes, people, sizes = matched(frame, population, names)
    short = people < classes.sizes
    return Counted(
        classes,
        np.maximum(people, classes.sizes),
        int(classes.sizes[short].sum()),
        int(classes.sizes[people == 0].sum()),
        int((sizes == 1).sum()),
        int(((people == 1) & (classes.sizes == 1)).sum()),
    )


def missing_in_population(counted: Counted | None) -> Iterator[Notice]:
    """A notice where the population table does not cover the table."""
    if counted is not None and counted.short:
        message = (
            f"{words(counted.short, 'row')} in classes with fewer people in the population table than rows here "
            f"({counted.unmatched:,} of them with none): counted with their rows. Is the table a sample of it?"
        )
        yield Notice("population-too-small", "", message)
