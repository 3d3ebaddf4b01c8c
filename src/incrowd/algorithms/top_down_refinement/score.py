"""How a refinement is judged: by what it tells about the class, and by what it costs in group size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Figures = npt.NDArray[np.float64]
Score = Callable[[Figures, Figures], Figures]
AVERAGES = ("related", "all")


def tdr_score(gain: Figures, loss: Figures) -> Figures:
    """Gain per loss, one added to the loss (Fung, Wang, Yu 2007, Score).

    Examples
    --------
    >>> tdr_score(np.array([0.6100, 0.4934]), np.array([36.0, 26.0])).round(4).tolist()
    [0.0165, 0.0183]
    """
    return gain / (loss + 1)


def tds_score(gain: Figures, loss: Figures) -> Figures:
    """Gain per loss; where nothing is lost, the gain (Fung, Wang, Yu 2005, Score).

    Examples
    --------
    >>> tds_score(np.array([0.5, 0.5]), np.array([10.0, 0.0])).tolist()
    [0.05, 0.5]
    """
    return gain / np.where(loss > 0, loss, 1.0)


def gain_alone(gain: Figures, loss: Figures) -> Figures:  # noqa: ARG001, that is the point
    """The gain, whatever is lost: what the papers compare their score with."""
    return gain


def anonymity_loss(
    anonymity: npt.NDArray[np.int64], smallest: npt.NDArray[np.int64], shared: npt.NDArray[np.int64]
) -> Figures:
    """By how much the smallest groups would shrink, on average over sets of attributes (AnonyLoss).

    Parameters
    ----------
    anonymity
        The smallest group of each set, now.
    smallest
        For each set and candidate the smallest part it would leave.
    shared
        The number of sets each candidate's loss is averaged over.

    Examples
    --------
    >>> anonymity_loss(np.array([34, 34]), np.array([[16], [99]]), np.array([1])).tolist()
    [18.0]
    """
    fallen = anonymity[:, None] - np.minimum(anonymity[:, None], smallest)
    return np.asarray(fallen.sum(axis=0) / shared, np.float64)
