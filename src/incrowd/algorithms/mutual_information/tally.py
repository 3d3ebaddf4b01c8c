"""Counts added up by place."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]


def tally(places: Whole, counts: Whole, size: int) -> Whole:
    """The sum of the rows of ``counts`` that have the same place, for each of ``size`` places.

    Examples
    --------
    >>> tally(np.array([1, 0, 1]), np.array([[2, 0], [1, 1], [0, 5]]), 3).tolist()
    [[1, 1], [2, 5], [0, 0]]
    """
    classes = counts.shape[1]
    cells = places[:, None] * classes + np.arange(classes)
    summed = np.bincount(cells.ravel(), weights=counts.ravel(), minlength=size * classes)
    return summed.astype(np.int64).reshape(size, classes)
