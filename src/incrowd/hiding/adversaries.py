"""Who tries to guess a hidden cell: what every adversary is, naive Bayes, scikit-learn's, and all of them by name.

An adversary learns from the published table and guesses what a hidden cell was. ID3 has a file with its hider:
:mod:`incrowd.hiding.id3`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.hiding.id3 import ID3Adversary
from incrowd.hiding.published import PublishedTable, Rows
from incrowd.hiding.taxonomy import HIDDEN, CellTaxonomy
from incrowd.trees.compiled import one_thread


class Student(Protocol):
    """What an adversary has learnt about one attribute."""

    def guess(self, row: int) -> int | None:
        """The value (a leaf of the attribute's taxonomy) the adversary takes a cell for; None if it cannot tell."""


class Adversary(Protocol):
    """Takes an attribute as the class and learns it from the rows that show a value of it.

    A row whose cell is hidden or generalized is never learnt from, so the row in question is left out by itself.
    """

    @property
    def name(self) -> str:
        """Its name in reports."""

    @property
    def costly(self) -> bool:
        """Whether studying costs so much more than guessing that what was learnt is worth keeping."""

    def study(self, published: PublishedTable, attribute: str, shown: int) -> Student:
        """Learn to tell the values below the node that is shown, from the table as it is now.

        Cells of the row in question may change afterwards; after a change of other rows, study again.
        """


class School:
    """Adversaries, and what those learnt for whom learning is costly.

    What they learnt stands for the table as it was then; for a check of the final table, open a new school.
    """

    def __init__(self, adversaries: Sequence[Adversary], published: PublishedTable) -> None:
        self.adversaries = tuple(adversaries)
        self._published = published
        self._kept: dict[tuple[int, str, int], Student] = {}

    def students(self, attribute: str, shown: int) -> list[Student]:
        """All adversaries, ready to guess cells of an attribute that show a node."""
        return [self._student(place, attribute, shown) for place in range(len(self.adversaries))]

    def _student(self, place: int, attribute: str, shown: int) -> Student:
        adversary = self.adversaries[place]
        if not adversary.costly:
            return adversary.study(self._published, attribute, shown)
        if (place, attribute, shown) not in self._kept:
            self._kept[place, attribute, shown] = adversary.study(self._published, attribute, shown)
        return self._kept[place, attribute, shown]

    def guesses(self, row: int, attribute: str) -> list[int | None]:
        """What each adversary takes a cell for."""
        students = self.students(attribute, self._published.node(row, attribute))
        return [student.guess(row) for student in students]


# Naive Bayes in exact fractions. The likelihood of a value under a class divides by all rows of the class, hidden cells
# included ("counted", the adversary of DECP, INCP and DROPP), by those with a known cell ("ignored"), or shares hidden
# and generalized cells out along the taxonomy ("shared", of the generalizing forms; Zhang and Honavar 2003).
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

    unknown: Unknown = "counted"  # what a hidden cell of a training row does to likelihoods (see above)
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


ESTIMATORS: Mapping[str, tuple[str, str, Mapping[str, int]]] = MappingProxyType(
    {
        "svm": ("svm", "LinearSVC", {"random_state": 0}),
        "logistic": ("linear_model", "LogisticRegression", {"max_iter": 1000}),
        "forest": ("ensemble", "RandomForestClassifier", {"n_estimators": 100, "random_state": 0}),
        "boosting": ("ensemble", "HistGradientBoostingClassifier", {"random_state": 0}),
        "knn": ("neighbors", "KNeighborsClassifier", {}),
    }
)


def estimator_named(name: str) -> Any:
    """A fresh classifier of scikit-learn, which is imported only now."""
    module, kind, parameters = ESTIMATORS[name]
    return getattr(importlib.import_module(f"sklearn.{module}"), kind)(**parameters)


@dataclass(frozen=True)
class SklearnAdversary:
    """A classifier that is trained on the rows that show a value of the attribute."""

    # its name in reports; one of ``svm``, ``logistic``, ``forest``, ``boosting``, ``knn`` if no estimator is given
    name: str
    estimator: Any = None  # a classifier; a copy of it is trained
    # it is trained on at most so many rows, taken evenly from all; on all of them if not given
    most_rows: int | None = None
    costly = True  # training takes long

    def __post_init__(self) -> None:
        if self.estimator is None and self.name not in ESTIMATORS:
            known = ", ".join([*_OWN, *ESTIMATORS])
            raise ParameterError(f"There is no adversary {self.name!r}. Known: {known}.")

    def study(self, published: PublishedTable, attribute: str, shown: int) -> SklearnStudent:
        """Train on the rows that show a value below the given node."""
        rows = published.rows_showing(attribute, published.taxonomy(attribute).leaves_below(shown))
        published.work.scans += 1
        if self.most_rows is not None and len(rows) > self.most_rows:
            rows = rows[np.linspace(0, len(rows) - 1, self.most_rows).astype(np.intp)]
        labels = published.nodes(attribute)[rows]
        features = CellFeatures(published, published.others(attribute))
        classes = np.unique(labels)
        if len(classes) < 2:
            return SklearnStudent(None, features, int(classes[0]) if len(classes) else HIDDEN)
        model = self._fresh()
        dense = "HistGradientBoosting" in type(model).__name__
        if hasattr(model, "n_neighbors"):
            model.n_neighbors = min(model.n_neighbors, len(rows))
        matrix, alone = features.of(rows), one_thread()
        with alone():
            model.fit(matrix.toarray() if dense else matrix, labels)
        return SklearnStudent(model, features, HIDDEN, dense, alone)

    def _fresh(self) -> Any:
        if self.estimator is None:
            return estimator_named(self.name)
        from sklearn.base import clone

        return clone(self.estimator)


@dataclass(frozen=True)
class SklearnStudent:
    """A trained classifier; without two classes to tell apart, the only one there is."""

    model: Any
    features: CellFeatures
    only: int
    dense: bool = False
    alone: Callable[[], AbstractContextManager[object]] = nullcontext

    def guess(self, row: int) -> int | None:
        """The class the model predicts."""
        if self.model is None:
            return self.only or None
        matrix = self.features.of(np.array([row], np.intp))
        with self.alone():
            return int(self.model.predict(matrix.toarray() if self.dense else matrix)[0])


class CellFeatures:
    """What the cells of some columns show at the moment, as numbers a learner can read.

    A value of a category is a one in a column of its own; a group is spread evenly over its values; a hidden cell is
    all zeros. A number is itself, centred and scaled; a group of numbers is their mean; a hidden cell the mean of all.
    """

    def __init__(self, published: PublishedTable, names: tuple[str, ...]) -> None:
        self._published = published
        self._tables = {name: _table(published, name) for name in names}

    def of(self, rows: Rows) -> Any:
        """Features of the rows, as a sparse matrix."""
        from scipy import sparse

        parts = [table[self._published.nodes(name)[rows]] for name, table in self._tables.items()]
        if not parts:
            return sparse.csr_matrix((len(rows), 1))
        return sparse.hstack(parts, format="csr")


def _table(published: PublishedTable, name: str) -> Any:
    """The features of each node of a column's taxonomy."""
    from scipy import sparse

    taxonomy = published.taxonomy(name)
    column = published.table[name]
    spread = _spread(taxonomy)
    if not column.type.is_numeric or not len(column.dictionary):
        return spread
    numbers = np.zeros(len(taxonomy))
    numbers[taxonomy.of_code[:-1]] = column.numbers
    weights = column.counts[:-1]
    mean = float(np.average(column.numbers, weights=weights)) if weights.any() else 0.0
    scale = float(np.sqrt(np.average((column.numbers - mean) ** 2, weights=weights))) if weights.any() else 1.0
    leaves = (numbers[list(taxonomy.leaves)] - mean) / (scale or 1.0)
    return sparse.csr_matrix((spread @ leaves).reshape(-1, 1))


def _spread(taxonomy: CellTaxonomy) -> Any:
    """Nodes x leaves: each node spread evenly over the leaves below it; nothing for the root."""
    from scipy import sparse

    rows: list[int] = []
    columns: list[int] = []
    weights: list[float] = []
    starts: npt.NDArray[np.int64] = np.searchsorted(np.array(taxonomy.leaves, np.int64), np.arange(len(taxonomy) + 1))
    for node in range(1, len(taxonomy)):
        first, last = int(starts[node]), int(starts[taxonomy.ends[node]])
        rows += [node] * (last - first)
        columns += range(first, last)
        weights += [1 / (last - first)] * (last - first)
    shape = (len(taxonomy), max(1, len(taxonomy.leaves)))
    return sparse.csr_matrix((weights, (rows, columns)), shape=shape)


_OWN: Mapping[str, Adversary] = MappingProxyType(
    {
        "nb": BayesAdversary(),
        "nb-ignored": BayesAdversary("ignored"),
        "nb-shared": BayesAdversary("shared"),
        "id3": ID3Adversary(),
    }
)


def adversary_named(name: str) -> Adversary:
    """An adversary by its name: nb, nb-ignored, nb-shared, id3, or a scikit-learn one."""
    return _OWN[name] if name in _OWN else SklearnAdversary(name)
