"""Rows that count more or less than one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from incrowd.errors import ParameterError
from incrowd.lab.examples import Examples


def weighing(examples: Examples) -> Examples:
    """The rows that weigh anything; without weights if all of them are one.

    Examples
    --------
    >>> rows = Examples((), np.array([0, 1]), ("no", "yes"), np.array([1.0, 0.0]))
    >>> weighing(rows).classes.tolist(), weighing(rows).weights
    ([0], None)
    """
    if examples.weights is None:
        return examples
    heavy = examples.take(np.flatnonzero(examples.weights > 0))
    return replace(heavy, weights=None) if (examples.weights[examples.weights > 0] == 1).all() else heavy


def repeated(examples: Examples, learner: str) -> Examples:
    """Each row as often as it weighs, for learners that know no weights; rows without weights stay as they are.

    Examples
    --------
    >>> rows = Examples((), np.array([0, 1]), ("no", "yes"), np.array([1.0, 3.0]))
    >>> repeated(rows, "c45").classes.tolist()
    [0, 1, 1, 1]
    """
    if examples.weights is None:
        return examples
    times = np.rint(examples.weights)
    if not np.array_equal(times, examples.weights):
        raise ParameterError(f"{learner} takes whole weights only. Use learners such as nb or logistic for others.")
    return replace(examples.take(np.repeat(np.arange(examples.height), times.astype(np.int64))), weights=None)
