"""The model that knows only how frequent the classes are; what is left when nothing can be learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.errors import InputError
from incrowd.lab.examples import Examples, Numbers


@dataclass(frozen=True, eq=False)
class Constant:
    """Gives every row the same scores."""

    shares: Numbers

    def scores(self, examples: Examples) -> Numbers:
        """The same scores for every row."""
        return np.tile(self.shares, (examples.height, 1))


@dataclass(frozen=True)
class Majority:
    """Learns the shares of the classes and nothing else: every row gets the most frequent class.

    Examples
    --------
    >>> rows = Examples((), np.array([0, 1, 1, 1]), ("no", "yes"))
    >>> Majority().fit(rows, 0).scores(rows)[0].tolist()
    [0.25, 0.75]
    """

    @property
    def name(self) -> str:
        """What the lab calls it."""
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
