"""The first half of both methods: every attribute at its best level, and the combinations that rows then show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.judging import Judge, Records
from incrowd.algorithms.mutual_information.choosing import Choice, choose
from incrowd.algorithms.mutual_information.classes import Classes, classes_of
from incrowd.algorithms.mutual_information.tally import tally
from incrowd.algorithms.numeric_forms import spread_steps
from incrowd.algorithms.population import Population
from incrowd.errors import SchemaError
from incrowd.measures.mutual_information import Counts
from incrowd.plan.steps import Part, Recode, Recoding, Spread
from incrowd.vocabulary.released_value import Level, Suppressed
from incrowd.vocabulary.requirement import Requirement


@dataclass(frozen=True, eq=False)
class Generalized:
    """Attributes at their levels, and the combinations of what rows show.

    Parameters
    ----------
    choices
        The level of each attribute.
    codes
        Combinations x attributes: the position of a part, or one past the last for nothing.
    counts
        Combinations x classes.
    spread
        The step that writes intervals as two columns, if any.
    evidence
        What else must be known of the combinations' rows to judge a group; None if sizes decide.
    """

    choices: tuple[Choice, ...]
    codes: npt.NDArray[np.int64]
    counts: Counts
    spread: tuple[Spread, ...] = ()
    evidence: Records | None = None
    _classes: dict[tuple[str, ...], Classes] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes."""
        return tuple(choice.name for choice in self.choices)

    @property
    def nothing(self) -> npt.NDArray[np.int64]:
        """For each attribute the code that shows nothing."""
        return np.array([len(choice.level.parts) for choice in self.choices], np.int64)

    def columns(self, names: Sequence[str]) -> npt.NDArray[np.intp]:
        """The places of some attributes."""
        return np.array([self.names.index(name) for name in names], np.intp)

    def classes(self, names: Sequence[str]) -> Classes:
        """What rows show of some attributes, in classes; they are put together once."""
        key = tuple(names)
        if key not in self._classes:
            columns = self.columns(names)
            rows = self.counts.sum(axis=1)
            self._classes[key] = classes_of(self.codes[:, columns], self.nothing[columns], rows)
        return self._classes[key]

    def still_shown(self, hidden: npt.NDArray[np.bool_]) -> tuple[Counts, ...]:
        """For each attribute, rows per part and class without the combinations that are hidden in it."""
        shown = []
        for place, choice in enumerate(self.choices):
            marked = hidden[:, place]
            gone = tally(self.codes[marked, place], self.counts[marked], len(choice.counts))
            shown.append(choice.counts - gone)
        return tuple(shown)

    def recode(self, shown: Sequence[Counts]) -> Recode:
        """The step that generalizes, with the rows that show each part in the end."""
        return Recode(tuple(map(_counted, self.choices, shown)))


def _counted(choice: Choice, shown: Counts) -> Recoding:
    rows = shown.sum(axis=1).tolist()
    return Recoding(choice.name, tuple(map(_with_rows, choice.level.parts, rows[:-1])))


def _with_rows(part: Part, rows: int) -> Part:
    """The part with its rows; a mean of no rows is nothing."""
    form = Suppressed() if isinstance(part.form, Level) and not rows else part.form
    return Part(part.members, form, rows)


def generalize(population: Population, requirement: Requirement, numeric: str, min_entropy: float) -> Generalized:
    """Take every quasi-identifier to its best level and count the combinations that rows then show."""
    schema = population.schema
    if schema.target is None:
        raise SchemaError("IAC methods need a target: the class recipients will learn. Name one with target=.")
    judge = Judge.of(requirement, population)
    table = population.sample()
    columns = [table[name] for name in schema.quasi_identifiers]
    choices = tuple(choose(population, column, numeric, judge.k, min_entropy) for column in columns)
    recode = Recode(tuple(Recoding(choice.name, choice.level.parts) for choice in choices))
    recoded = population.recode(recode)
    seen = recoded.combinations(schema.quasi_identifiers)
    evidence = None if judge.by_size else judge.records(recoded, schema.quasi_identifiers)
    in_intervals = [column for column, choice in zip(columns, choices, strict=True) if choice.shows_intervals]
    spread = spread_steps(numeric, in_intervals)
    return Generalized(choices, seen.codes.astype(np.int64), seen.counts, spread, evidence)
