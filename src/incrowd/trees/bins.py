"""Bins: ranges of dictionary codes that the kernel counts together.

A bin never cuts through a value, so every threshold between two bins lies between two real values.
Codes without rows belong to no bin of their own; they follow the bin below them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of one column.

    Parameters
    ----------
    of_code
        The bin of each code; the missing code has the last bin for itself.
    first, last
        Lowest and highest code with rows in each bin (the bin of missing values left out).
    """

    of_code: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]

    @property
    def width(self) -> int:
        """Number of bins, the one of missing values included."""
        return len(self.first) + 1

    @property
    def is_identity(self) -> bool:
        """True if every code is its own bin."""
        return len(self.of_code) == self.width


def exact_bins(counts: npt.NDArray[np.int64]) -> Bins:
    """One bin for each code that has rows.

    Parameters
    ----------
    counts
        Rows per code; the last entry counts the missing.

    Examples
    --------
    >>> exact_bins(np.array([3, 0, 2, 1])).of_code.tolist()
    [0, 0, 1, 2]
    """
    return _bins(counts, np.arange(len(counts) - 1))


def quantile_bins(counts: npt.NDArray[np.int64], bins: int) -> Bins:
    """At most ``bins`` bins of about equal size; exact if there are no more codes with rows than that.

    A value with the rows of four bins gets a bin for itself; the other values share the remaining bins.

    Examples
    --------
    >>> quantile_bins(np.array([1, 1, 1, 1, 0]), 2).of_code.tolist()
    [0, 0, 1, 1, 2]
    """
    if bins < 2:
        raise ParameterError("bins must be at least 2, or None for exact thresholds.")
    known = counts[:-1]
    if np.count_nonzero(known) <= bins:
        return exact_bins(counts)
    heavy = known * bins >= 4 * known.sum()
    light = np.where(heavy, 0, known)
    shares = max(1, bins - 2 * int(heavy.sum()))
    middles = np.cumsum(light) - light / 2
    quantile = np.minimum((middles * shares / light.sum()).astype(np.int64), shares - 1)
    past_heavy = np.cumsum(heavy) + np.concatenate([[0], np.cumsum(heavy)[:-1]])
    return _bins(counts, quantile + past_heavy * shares)


def _bins(counts: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]) -> Bins:
    """Bins from labels that ascend with the code: codes with rows and the same label belong together."""
    present = np.flatnonzero(counts[:-1])
    starts = np.ones(len(present), dtype=bool)
    starts[1:] = labels[present][1:] != labels[present][:-1]
    first = present[starts]
    ends = np.ones(len(present), dtype=bool)
    ends[:-1] = starts[1:]
    last = present[ends]
    of_code = np.searchsorted(first, np.arange(len(counts)), side="right") - 1
    of_code = np.maximum(of_code, 0)
    of_code[-1] = len(first)
    return Bins(of_code.astype(np.int32), first, last)
