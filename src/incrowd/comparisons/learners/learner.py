"""What every learner has: how it is asked, named and weighted, and what it falls back to, the most frequent class.

Rows as learners take them: numbers with NaN for missing, categories as codes with -1 for missing.

Numbers may become categories, cut where the class changes (Fayyad and Irani 1993).
"""

from __future__ import annotations

from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from incrowd.errors import InputError, ParameterError
from incrowd.measures.information import mdl_cuts
from incrowd.recipients.matrix import MISSING, Attribute, Codes, Numbers


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows with their classes; ``classes`` are codes into ``labels``, ``weights`` are None where all rows count one."""

    attributes: tuple[Attribute, ...]
    classes: Codes
    labels: tuple[str, ...]
    weights: Numbers | None = None

    @property
    def height(self) -> int:
        """How many rows."""
        return len(self.classes)

    def take(self, rows: Codes) -> Examples:
        """Some of the rows."""
        return Examples(
            tuple(replace(attribute, values=attribute.values[rows]) for attribute in self.attributes),
            self.classes[rows],
            self.labels,
            None if self.weights is None else self.weights[rows],
        )


@dataclass(frozen=True, eq=False)
class Discretization:
    """The cuts of each attribute, ascending; None for categories, which stay as they are."""

    cuts: tuple[Numbers | None, ...]

    @classmethod
    def of(cls, examples: Examples) -> Discretization:
        """Learn the cuts from rows and their classes; every row counts one, whatever its weight."""
        labels = len(examples.labels)
        return cls(
            tuple(
                _cuts(attribute, examples.classes, labels) if attribute.is_numeric else None
                for attribute in examples.attributes
            )
        )

    def applied(self, examples: Examples) -> Examples:
        """The rows with intervals in place of numbers; missing stays missing."""
        pairs = zip(examples.attributes, self.cuts, strict=True)
        return replace(
            examples,
            attributes=tuple(attribute if cuts is None else _binned(attribute, cuts) for attribute, cuts in pairs),
        )


def discretize(train: Examples, test: Examples) -> tuple[Examples, Examples]:
    """Both parts with intervals in place of numbers, cut as the training rows say."""
    learned = Discretization.of(train)
    return learned.applied(train), learned.applied(test)


def _cuts(attribute: Attribute, classes: Codes, labels: int) -> Numbers:
    known = ~attribute.is_missing
    values, places = np.unique(attribute.values[known], return_inverse=True)
    counts = np.zeros((len(values), labels), np.int64)
    np.add.at(counts, (places, classes[known]), 1)
    return np.array([_between(values[cut - 1], values[cut]) for cut in mdl_cuts(counts)], np.float64)


def _between(below: float, above: float) -> float:
    """The middle of two numbers; the lower one if there is nothing in between."""
    middle = below / 2 + above / 2
    return middle if below <= middle < above else below


def _binned(attribute: Attribute, cuts: Numbers) -> Attribute:
    codes = np.where(attribute.is_missing, MISSING, np.searchsorted(cuts, attribute.values, side="left"))
    ends = [repr(cut).removesuffix(".0") for cut in cuts.tolist()]
    lows, highs = ["-inf", *ends], [*(f"{end}]" for end in ends), "inf)"]
    return Attribute(
        attribute.name, codes.astype(np.int64), tuple(f"({low}, {high}" for low, high in zip(lows, highs, strict=True))
    )


class Model(Protocol):
    """A classifier that was learned."""

    def scores(self, examples: Examples) -> Numbers:
        """A score for each row and class (rows x labels); the larger the likelier. Classes of the test rows unused."""
        ...


class Learner(Protocol):
    """A way to learn a classifier. Frozen: fitting changes nothing but what it returns."""

    @property
    def name(self) -> str:
        """What the catalog calls it."""
        ...

    def fit(self, examples: Examples, seed: int) -> Model:
        """Learn. ``seed`` fixes the learner's own chance, where it has any."""
        ...


def predicted(scores: Numbers) -> Codes:
    """The best scored class of each row; the first of equals."""
    return np.asarray(np.argmax(scores, axis=1), np.int64)


def called(word: str, learner: Any) -> str:
    """The word of a learner, followed by its unusual parameters."""
    unusual = {field.name: getattr(learner, field.name) for field in fields(learner) if field.default is not NO_DEFAULT}
    usual = {field.name: field.default for field in fields(learner)}
    return with_parameters(word, {name: value for name, value in unusual.items() if value != usual[name]})


def with_parameters(word: str, parameters: dict[str, Any]) -> str:
    """A word with parameters in brackets, as :func:`incrowd.comparisons.learners.catalog.find_learner` reads it."""
    inside = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return f"{word}({inside})" if inside else word


def weighing(examples: Examples) -> Examples:
    """The rows that weigh anything; without weights if all of them are one."""
    if examples.weights is None:
        return examples
    heavy = examples.take(np.flatnonzero(examples.weights > 0))
    return replace(heavy, weights=None) if (examples.weights[examples.weights > 0] == 1).all() else heavy


def repeated(examples: Examples, learner: str) -> Examples:
    """Each row as often as it weighs, for learners that know no weights; deals of a release stay as they are."""
    if examples.weights is None:
        return examples
    times = np.rint(examples.weights)
    if not np.array_equal(times, examples.weights):
        if (examples.weights == examples.weights[:1]).all():  # deals of a release, each of the same part of a row
            return examples
        raise ParameterError(f"{learner} takes whole weights only. Use learners such as nb or logistic for others.")
    return replace(examples.take(np.repeat(np.arange(examples.height), times.astype(np.int64))), weights=None)


@dataclass(frozen=True, eq=False)
class Constant:
    """Gives every row the same scores."""

    shares: Numbers

    def scores(self, examples: Examples) -> Numbers:
        """The same scores for every row."""
        return np.tile(self.shares, (examples.height, 1))


@dataclass(frozen=True)
class Majority:
    """Learns the shares of the classes and nothing else: every row gets the most frequent class."""

    @property
    def name(self) -> str:
        """What the catalog calls it."""
        return "majority"

    def fit(self, examples: Examples, seed: int) -> Constant:  # noqa: ARG002
        """Count the classes."""
        return Constant(class_shares(examples))


def class_weights(examples: Examples) -> Numbers:
    """How much the rows of each label weigh together; an error if nothing weighs anything."""
    counts = np.bincount(examples.classes, examples.weights, len(examples.labels)).astype(np.float64)
    if not counts.sum() > 0:
        raise InputError("There are no rows to learn from. Give at least one row with a weight above 0.")
    return counts


def class_shares(examples: Examples) -> Numbers:
    """The share of each label among the rows."""
    counts = class_weights(examples)
    return np.asarray(counts / counts.sum())


def is_hopeless(examples: Examples) -> bool:
    """Whether there is nothing to tell apart, or nothing to tell it by."""
    known = any(not attribute.is_missing.all() for attribute in examples.attributes)
    return not known or int(np.count_nonzero(class_weights(examples))) < 2
