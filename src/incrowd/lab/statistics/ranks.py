"""Ranks of several methods in each of several cases."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError

Numbers = npt.NDArray[np.float64]


def ranks(values: npt.ArrayLike, larger_is_better: bool = True) -> Numbers:
    """The rank of each method (column) in each case (row): 1 is best, equals share the mean of their ranks.

    Examples
    --------
    >>> ranks([[85.0, 83.0, 85.0], [70.0, 72.0, 71.0]]).tolist()
    [[1.5, 3.0, 1.5], [3.0, 1.0, 2.0]]
    """
    found = np.asarray(values, np.float64)
    if found.ndim != 2 or 0 in found.shape:
        raise ParameterError("Ranks need a table of values: a row for each case, a column for each method.")
    if np.isnan(found).any():
        raise ParameterError("Ranks need a value for each case and method; some are missing. Leave those cases out.")
    from scipy.stats import rankdata

    return np.asarray(rankdata(-found if larger_is_better else found, axis=1), np.float64)


def mean_ranks(values: npt.ArrayLike, larger_is_better: bool = True) -> Numbers:
    """The mean rank of each method over the cases.

    Examples
    --------
    >>> mean_ranks([[85.0, 83.0, 85.0], [70.0, 72.0, 71.0]]).tolist()
    [2.25, 2.0, 1.75]
    """
    return np.asarray(ranks(values, larger_is_better).mean(axis=0), np.float64)
