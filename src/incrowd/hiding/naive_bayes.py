"""Naive Bayes in exact fractions.

The likelihood of a value under a class divides by all rows of the class, hidden cells included (``"counted"``, the
adversary of DECP, INCP and DROPP), by those with a known cell (``"ignored"``), or shares hidden and generalized cells
out along the taxonomy (``"shared"``, the adversary of the generalizing forms; Zhang and Honavar 2003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt

from incrowd.hiding.published import PublishedTable
from incrowd.hiding.taxonomy import HIDDEN, CellTaxonomy

Unknown = Literal["counted", "ignored", "shared"]
Scores = dict[int, Fraction]


@dataclass(frozen=True)
class Belief:
    """The model for one row: for each candidate value its prior and the likelihoods of the row's known cells."""

    prior: dict[int, Fraction]
    likelihood: dict[int, dict[str, Fraction]]

    @property
    def scores(self) -> Scores:
        """Prior times likelihoods, not normalized."""
        return {value: prior * prod(self.likelihood[value].values()) for value, prior in self.prior.items()}


def best(scores: Scores) -> int | None:
    """The value with the highest score; None if two share it: a tie is no prediction."""
    top = max(scores.values(), default=Fraction(0))
    first = [value for value, score in scores.items() if score == top]
    return first[0] if len(first) == 1 else None


@dataclass(frozen=True)
class BayesAdversary:
    """A naive Bayes classifier over what is published."""

    unknown: Unknown = "counted"  # what a hidden cell of a training row does to likelihoods (see the module)
    costly = False  # the counts are the model

    @property
    def name(self) -> str:
        """``nb``, with what is unusual about it."""
        return "nb" if self.unknown == "counted" else f"nb-{self.unknown}"

    def study(self, published: PublishedTable, attribute: str, shown: int) -> BayesStudent:  # noqa: ARG002
        """Nothing to learn beforehand: the counts of the table are the model."""
        return BayesStudent(self, published, attribute)

    def belief(
        self, published: PublishedTable, row: int, attribute: str, values: Sequence[int] | None = None
    ) -> Belief:
        """Priors and likelihoods for a row, learnt from all others; of some of the candidate values, if named."""
        shown, taxonomy = published.node(row, attribute), published.taxonomy(attribute)
        known = [name for name in published.others(attribute) if published.node(row, name) != HIDDEN]
        counts = without(published.counts(attribute), shown)
        candidates = taxonomy.leaves_below(shown)
        everybody = counts[shown : taxonomy.ends[shown]] if self.unknown == "shared" else counts[1:]
        total = int(everybody.sum())
        prior, likelihood = {}, {}
        for value in candidates if values is None else values:
            rows = self.support(taxonomy, counts, value, shown)
            prior[value] = rows / total if total else Fraction(0)
            likelihood[value] = {
                name: self._likelihood(published, row, name, attribute=attribute, value=value, rows=rows)
                for name in known
            }
        return Belief(prior, likelihood)

    def scores(
        self, published: PublishedTable, row: int, attribute: str, values: Sequence[int] | None = None
    ) -> Scores:
        """The score of each candidate value, or of some: those of :meth:`belief`, by the shortest way."""
        if self.unknown != "counted":
            return self.belief(published, row, attribute, values).scores
        shown = published.node(row, attribute)
        sizes = without(published.counts(attribute), shown).tolist()
        known = [(name, published.node(row, name)) for name in published.others(attribute)]
        agree = [published.joint(attribute, name)[:, node].tolist() for name, node in known if node != HIDDEN]
        total, own = sum(sizes[1:]), 1 if published.taxonomy(attribute).is_leaf(shown) else 0
        scores = {}
        for value in published.taxonomy(attribute).leaves_below(shown) if values is None else values:
            support = prod(counts[value] - own for counts in agree) * sizes[value]
            scores[value] = Fraction(support, total * sizes[value] ** len(agree)) if support else Fraction(0)
        return scores

    def _likelihood(
        self, published: PublishedTable, row: int, name: str, *, attribute: str, value: int, rows: Fraction
    ) -> Fraction:
        """The share of a class that shows what the row shows of a column; the class has so many rows."""
        taxonomy, shown = published.taxonomy(name), published.node(row, name)
        cells = published.joint(attribute, name)[value]
        if published.node(row, attribute) == value:
            cells = without(cells, shown)
        known = rows - (int(cells[HIDDEN]) if self.unknown == "ignored" else 0)
        return self.support(taxonomy, cells, shown) / known if known else Fraction(0)

    def support(self, taxonomy: CellTaxonomy, cells: npt.NDArray[np.int64], node: int, top: int = HIDDEN) -> Fraction:
        """How many of the counted cells speak for a node: those that show it; or its share of all below ``top``."""
        return taxonomy.estimate(cells, node, top) if self.unknown == "shared" else Fraction(int(cells[node]))


@dataclass(frozen=True)
class BayesStudent:
    """Naive Bayes for one attribute."""

    adversary: BayesAdversary
    published: PublishedTable
    attribute: str

    def guess(self, row: int) -> int | None:
        """The value with the highest score, if it is the only one."""
        return best(self.adversary.scores(self.published, row, self.attribute))


def without(counts: npt.NDArray[np.int64], node: int) -> npt.NDArray[np.int64]:
    """Counts with one cell less."""
    fewer = counts.copy()
    fewer[node] -= 1
    return fewer
