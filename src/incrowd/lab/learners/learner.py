"""What a learner is: it fits examples and gives a model, which scores the classes of other examples."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from incrowd.lab.examples import Codes, Examples, Numbers


class Model(Protocol):
    """A classifier that was learned."""

    def scores(self, examples: Examples) -> Numbers:
        """A score for each row and class (rows x labels); the larger the likelier. Classes of the test rows unused."""
        ...


class Learner(Protocol):
    """A way to learn a classifier. Frozen: fitting changes nothing but what it returns."""

    @property
    def name(self) -> str:
        """What the lab calls it."""
        ...

    def fit(self, examples: Examples, seed: int) -> Model:
        """Learn. ``seed`` fixes the learner's own chance, where it has any."""
        ...


def predicted(scores: Numbers) -> Codes:
    """The best scored class of each row; the first of equals.

    Examples
    --------
    >>> predicted(np.array([[0.2, 0.8], [0.5, 0.5]])).tolist()
    [1, 0]
    """
    return np.asarray(np.argmax(scores, axis=1), np.int64)
