"""Blend: groups of rows with about the same class probability, shown as value counts.

The class does not depend on the attributes any more once its probability given them is known. So rows of about the same
probability may exchange their values, and the relation of every attribute to the class survives: see docs/blend.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.measures.information import mutual_information
from incrowd.methods.blending.guide import (
    AUTO,
    LARGEST,
    Guided,
    check_guide,
    chosen_guide,
    given_up,
    guided,
    hidden_names,
)
from incrowd.methods.blending.splitting import Grouping, RowFeatures, Worth, split_rows
from incrowd.methods.catalog import target_of
from incrowd.methods.judging import Judge
from incrowd.methods.method import Population, check_choice, check_flag, check_not_negative
from incrowd.methods.public_bins import BINS, public_bins
from incrowd.plan.steps import AsCounts, Bin, Group, Reasons, Seat, Show, Step
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness, permutation
from incrowd.vocabulary.released_value import Counts, Suppressed
from incrowd.vocabulary.requirement import Requirement, Together


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """The rows before they are split: numbers as bins, what is hidden, what groups are made alike in."""

    table: EncodedTable
    names: tuple[str, ...]
    target: str
    bins: Bin
    hidden: tuple[str, ...]
    features: RowFeatures
    guidance: Guided


@dataclass(frozen=True)
class Blend:
    """Blend.

    Parameters
    ----------
    guide
        The model whose class probabilities, told of rows it did not learn from, say which rows are alike:
        ``"boosting"``, ``"forest"``, ``"logistic"``, ``"bayes"``, or in Python any classifier of scikit-learn with
        ``predict_proba``. ``"auto"`` (default): naive Bayes below 100 rows, a forest below 3,000, else boosting.
    bins
        Where numbers are cut: ``"mdl"`` (default) where the class changes, ``"fine"`` more often, for learners that
        can use it.
    hide
        Hide quasi-identifiers that the guide can do without and naive Bayes does better without.
    attributes
        How much groups are to be alike in their attributes, beside 1 for the score.
    labels
        How much they are to be alike in the class itself, beside 1 for the score.
    scores
        What parting rows by their score alone counts, beside 1 for parting them by an attribute, which keeps more of
        what attributes tell together. 0: rows are not parted by their score.

    Examples
    --------
    >>> Blend(guide="forest").parameters()["guide"]
    'forest'
    """

    guide: Any = AUTO
    bins: str = "mdl"
    hide: bool = True
    attributes: float = 1.0
    labels: float = 1.0
    scores: float = 1.0

    name: ClassVar[str] = "blend"

    def __post_init__(self) -> None:
        check_guide(self.guide)
        check_choice("bins", self.bins, BINS)
        check_flag("hide", self.hide)
        for name in ("attributes", "labels", "scores"):
            check_not_negative(name, getattr(self, name))

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return {**vars(self), "guide": _called(self.guide)}

    def in_plain_values(self) -> Blend:
        """The same for groups that show what their rows have in common, which rows parted by their score have not.

        Examples
        --------
        >>> Blend().in_plain_values().scores
        0.0
        """
        return replace(self, scores=0.0)

    def decide(self, population: Population, requirement: Requirement, randomness: Randomness) -> tuple[Step, ...]:
        """Cut numbers, ask the guide, hide, split; groups are numbered by chance."""
        requirement.check_possible(population.rows)
        if isinstance(requirement, Together) and requirement.on_population:
            raise ParameterError(
                "k-map and delta-presence ask how many people fit a combination of values, and Blend shows counts of "
                "values instead. Choose another method, such as infogain-mondrian."
            )
        judge = Judge.of(requirement, population)
        return self.split(self.prepare(population, judge.k, randomness), judge, randomness)

    def prepare(self, population: Population, k: int, randomness: Randomness) -> PreparedRows:
        """All that comes before splitting; of k only whether it is below five matters."""
        target, names = _target(population), population.schema.quasi_identifiers
        bins = public_bins(population.sample(), names, population.sample()[target], self.bins, k)
        table = population.bin(bins).sample()
        hidden, guidance = self._hidden(table, names, target, randomness)
        features = features_of(table, [name for name in names if name not in hidden], target, bins, guidance)
        return PreparedRows(
            table=table,
            names=names,
            target=target,
            bins=bins,
            hidden=tuple(hidden),
            features=features,
            guidance=guidance,
        )

    def split(self, prepared: PreparedRows, judge: Judge, randomness: Randomness) -> tuple[Step, ...]:
        """The groups, and what they show."""
        names, marks = prepared.names, judge.of_rows(prepared.table)
        made = split_rows(prepared.features, judge, marks, Worth(self.attributes, self.labels, self.scores))
        seats = permutation(made.count, randomness).astype(np.int32)[made.groups]
        sizes = tuple(np.bincount(seats, minlength=made.count).tolist())
        forms = tuple(Suppressed() if name in prepared.hidden else Counts() for name in names)
        return (
            prepared.bins,
            Seat(sizes, seats),
            Show(names, tuple(Group(rows, forms) for rows in sizes)),
            AsCounts(names, prepared.bins.cuts),
            self._reasons(prepared, made, judge.k),
        )

    def _hidden(
        self, table: EncodedTable, names: Sequence[str], target: str, randomness: Randomness
    ) -> tuple[list[str], Guided]:
        """The attributes that are hidden, those that tell nothing at all among them, and what the guide says."""
        empty = [name for name in names if not len(table[name].dictionary)]
        telling = [name for name in names if name not in empty]
        if not self.hide or len(telling) < 2:
            return empty, guided(table, telling, target, self.guide, randomness)
        order = permutation(table.height, randomness)
        some = table if table.height <= LARGEST else table.take(order[:LARGEST])
        useless = given_up([some[name] for name in telling], some[target], order[order < some.height])

        def guide(names: Sequence[str]) -> Guided:
            return guided(some, names, target, self.guide, randomness)

        gone, guidance = hidden_names(telling, useless, guide, guide(telling))
        if some is not table:
            guidance = guided(table, [name for name in telling if name not in gone], target, self.guide, randomness)
        return [*empty, *gone], guidance

    def _reasons(self, prepared: PreparedRows, made: Grouping, k: int) -> Reasons:
        """How often each attribute and the score were split, and what is hidden."""
        columns, target = prepared.features.columns, prepared.table[prepared.target]
        uses = zip([*(column.name for column in columns), "the score"], made.uses.tolist(), strict=True)
        rows = (*sorted(uses, key=lambda use: -use[1]), *((name, "hidden") for name in prepared.hidden))
        facts: list[tuple[str, Any]] = [
            ("guide", _called(chosen_guide(self.guide, prepared.table.height))),
            ("share of rows whose class the guide tells", round(prepared.guidance.accuracy, 3)),
            ("groups", made.count),
        ]
        rarest = int(target.counts[target.counts > 0].min(initial=k))
        if rarest < k:
            facts.append(("warning", f"k={k} is more than the {rarest} rows of the rarest class: it cannot stand out"))
        return Reasons("Splits", ("attribute", "splits"), rows, tuple(facts))


def features_of(table: EncodedTable, names: Sequence[str], target: str, bins: Bin, guidance: Guided) -> RowFeatures:
    """What groups are made alike in: an attribute counts by what it tells about the class on its own."""
    numbers = dict(bins.cuts)
    bits = np.array([_information(table[name], table[target]) for name in names], np.float64)
    weights = bits / bits.sum() if bits.sum() > 0 else np.full(len(bits), 1 / max(1, len(bits)))
    ordered = [name in numbers or table[name].type.has_order for name in names]
    return RowFeatures([table[name] for name in names], ordered, weights, guidance.scores, table[target].codes)


def _information(column: EncodedColumn, target: EncodedColumn) -> float:
    cells = column.codes.astype(np.int64) * target.width + target.codes
    counts: npt.NDArray[np.int64] = np.bincount(cells, minlength=column.width * target.width)
    return mutual_information(counts.reshape(column.width, target.width))


def _target(population: Population) -> str:
    target = target_of(population.schema, "Blend")
    if population.sample().height < population.rows:
        raise ParameterError(
            f"Blend looks at every row at once, and {population.rows:,} rows are more than are held together here. "
            "Allow more memory, or choose a method that works block by block, such as infogain-mondrian."
        )
    return target


def _called(guide: Any) -> str:
    """The guide in words; of a classifier its class and its parameters."""
    return guide if isinstance(guide, str) else " ".join(repr(guide).split())
