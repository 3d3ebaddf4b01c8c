"""Which level of an attribute tells most of the class, for its entropy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incrowd.algorithms.mutual_information.levels import Level, levels_of
from incrowd.algorithms.numeric_forms import ends_of, interval_form
from incrowd.algorithms.population import Population
from incrowd.measures.mutual_information import Counts, normalized_information, value_entropy
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import Interval

TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Choice:
    """The level of an attribute and how every level scored.

    ``number`` is that of the level, 1 is the root. ``counts`` are rows per part and class, what shows nothing last.
    """

    name: str
    number: int
    scores: tuple[float, ...]
    level: Level
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
    """The level with the largest score, 1 for the first; of those that differ by rounding only, the most specific.

    Examples
    --------
    >>> best_level([0.0, 0.3, 0.2, 0.3]), best_level([0.0, 0.4, 0.2]), best_level([0.0, 0.0])
    (4, 2, 2)
    """
    best = max(scores)
    return max(number for number, score in enumerate(scores, start=1) if score >= best - TOLERANCE)


def level_score(counts: Counts, min_entropy: float = 0.0) -> float:
    """I_N of a level; 0 where the entropy of its values is so small that I_N is a matter of few rows.

    Examples
    --------
    >>> import numpy as np
    >>> few = np.array([[1, 0], [50, 49]])
    >>> round(level_score(few), 4), level_score(few, min_entropy=0.1)
    (0.1211, 0.0)
    """
    return normalized_information(counts) if value_entropy(counts) >= min_entropy else 0.0


def choose(
    population: Population, column: EncodedColumn, numeric: str, smallest_group: int, min_entropy: float
) -> Choice:
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
    return Choice(column.name, number, scores, levels[number - 1], counts[number - 1])
