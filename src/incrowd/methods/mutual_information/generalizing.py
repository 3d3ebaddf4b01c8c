"""The first half of both methods: every attribute at the level that tells most of the class, for its entropy.

What rows then show of a set of attributes are combinations; equal ones are an equivalence class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import Counts, normalized_information, value_entropy
from incrowd.methods.catalog import target_of
from incrowd.methods.judging import Judge, Records
from incrowd.methods.method import Population
from incrowd.methods.mutual_information.levels import AttributeLevel, levels_of, tally
from incrowd.methods.numeric_forms import ends_of, interval_form, spread_steps
from incrowd.plan.steps import Part, Recode, Recoding, Spread
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import Interval, Level, Suppressed
from incrowd.vocabulary.requirement import Requirement

TOLERANCE = 1e-12  # a smaller difference of scores is rounding
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LevelChoice:
    """The level of an attribute and how every level scored.

    ``number`` is that of the level, 1 is the root. ``counts`` are rows per part and class, what shows nothing last.
    """

    name: str
    number: int
    scores: tuple[float, ...]
    level: AttributeLevel
    counts: Counts

    @property
    def margin(self) -> float:
        """By how much the level scores better than the next best one."""
        others = [score for number, score in enumerate(self.scores, start=1) if number != self.number]
        return max(0.0, self.scores[self.number - 1] - max(others))

    @property
    def shows_intervals(self) -> bool:
        """Whether the parts are intervals of numbers, not single values."""
        return any(isinstance(part.members, Interval) for part in self.level.parts)


def best_level(scores: Sequence[float]) -> int:
    """The level with the largest score, 1 for the first; of those that differ by rounding only, the most specific."""
    best = max(scores)
    return max(number for number, score in enumerate(scores, start=1) if score >= best - TOLERANCE)


def level_score(counts: Counts, min_entropy: float = 0.0) -> float:
    """I_N of a level; 0 where the entropy of its values is so small that I_N is a matter of few rows."""
    return normalized_information(counts) if value_entropy(counts) >= min_entropy else 0.0


def choose(
    population: Population, column: EncodedColumn, numeric: str, smallest_group: int, min_entropy: float
) -> LevelChoice:
    """The best level of one attribute, over all rows (section 3.1; attributes are looked at one by one)."""
    contingency = population.contingency(column.name)
    ends = ends_of(column, smallest_group) if column.type.is_numeric else (0, 0)
    levels = levels_of(
        column,
        contingency.sum(axis=1),
        population.schema[column.name].hierarchy,
        lambda interval: interval_form(interval, numeric, ends),
    )
    counts = [level.counts(contingency) for level in levels]
    scores = tuple(level_score(one, min_entropy) for one in counts)
    number = best_level(scores)
    return LevelChoice(column.name, number, scores, levels[number - 1], counts[number - 1])


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The classes of combinations, in lexical order."""

    codes: Whole  # classes x attributes
    sizes: Whole  # rows of each class
    of: Whole  # the class of each combination
    blank: npt.NDArray[np.bool_]  # whether a class shows nothing


def classes_of(codes: Whole, nothing: Whole, rows: Whole) -> EquivalenceClasses:
    """Put combinations that are equal into one class.

    Parameters
    ----------
    codes
        Combinations x attributes.
    nothing
        For each attribute the code that shows nothing; it is the largest.
    rows
        Rows of each combination.
    """
    _, first, of = np.unique(_keys(codes, nothing + 1), return_index=True, return_inverse=True)
    sizes = np.bincount(of, weights=rows, minlength=len(first)).astype(np.int64)
    return EquivalenceClasses(codes[first], sizes, of, (codes[first] == nothing).all(axis=1))


def _keys(codes: Whole, widths: Whole) -> Whole:
    """One number per combination, in lexical order; numbered anew before they could grow too large."""
    keys = np.zeros(len(codes), np.int64)
    room = 1
    for place, width in enumerate(widths.tolist()):
        if room * width >= 2**62:
            _, keys = np.unique(keys, return_inverse=True)
            room = len(keys)
        keys = keys * width + codes[:, place]
        room *= width
    return keys


@dataclass(frozen=True, eq=False)
class Generalized:
    """Attributes at their levels, and the combinations of what rows show."""

    choices: tuple[LevelChoice, ...]  # the level of each attribute
    codes: npt.NDArray[np.int64]  # combinations x attributes: the position of a part, or one past the last for nothing
    counts: Counts  # combinations x classes
    spread: tuple[Spread, ...] = ()  # the step that writes intervals as two columns, if any
    # What else must be known of the combinations' rows to judge a group; None if sizes decide
    evidence: Records | None = None
    _classes: dict[tuple[str, ...], EquivalenceClasses] = field(default_factory=dict, repr=False)

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

    def classes(self, names: Sequence[str]) -> EquivalenceClasses:
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


def _counted(choice: LevelChoice, shown: Counts) -> Recoding:
    rows = shown.sum(axis=1).tolist()
    return Recoding(choice.name, tuple(map(_with_rows, choice.level.parts, rows[:-1])))


def _with_rows(part: Part, rows: int) -> Part:
    """The part with its rows; a mean of no rows is nothing."""
    form = Suppressed() if isinstance(part.form, Level) and not rows else part.form
    return Part(part.members, form, rows)


def generalize(population: Population, requirement: Requirement, numeric: str, min_entropy: float) -> Generalized:
    """Take every quasi-identifier to its best level and count the combinations that rows then show."""
    schema = population.schema
    target_of(schema, "An IAC method")
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
