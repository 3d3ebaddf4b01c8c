"""What the kernel is given and what it works with, as tuples that Numba understands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Rules(NamedTuple):
    """What a split must look like, and how it is judged."""

    min_branch: float  # at least two branches have this many rows
    side_share: float  # a side of a threshold has this share of the rows per class, up to LARGEST_SIDE
    ratio: bool  # judge by gain ratio among splits of at least average gain; else by gain
    mdl: bool  # charge a threshold log2(candidates) / rows
    branch: bool  # missing values get a branch; else they do not count as known


class Columns(NamedTuple):
    """The attributes as the kernel sees them."""

    width: npt.NDArray[np.int64]  # number of codes, the missing one included
    ordered: npt.NDArray[np.bool_]  # split by threshold; else one branch for each value
    averaged: npt.NDArray[np.bool_]  # counts in the average gain
    offset: npt.NDArray[np.int64]  # place in the histogram; -1 if too wide to have one
    classes: int
    stride: int


class Cells(NamedTuple):
    """Occurring pairs of code and class of one attribute at one node."""

    code: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    amount: Array


class Split(NamedTuple):
    """Score of the best split by one attribute; a gain of 0 means there is none."""

    gain: float
    ratio: float
    low: int  # a threshold lies between these two codes
    high: int


class Workspace(NamedTuple):
    """Buffers that one thread uses again for every node."""

    histogram: Array
    cells: Cells
    gain: npt.NDArray[np.float64]
    ratio: npt.NDArray[np.float64]
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
