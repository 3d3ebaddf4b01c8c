"""Equivalence classes: rows that show the same of a set of attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of combinations, in lexical order.

    Parameters
    ----------
    codes
        Classes x attributes.
    sizes
        Rows of each class.
    of
        The class of each combination.
    blank
        Whether a class shows nothing.
    """

    codes: Whole
    sizes: Whole
    of: Whole
    blank: npt.NDArray[np.bool_]


def classes_of(codes: Whole, nothing: Whole, rows: Whole) -> Classes:
    """Put combinations that are equal into one class.

    Parameters
    ----------
    codes
        Combinations x attributes.
    nothing
        For each attribute the code that shows nothing; it is the largest.
    rows
        Rows of each combination.

    Examples
    --------
    >>> found = classes_of(np.array([[1, 0], [0, 1], [1, 0]]), np.array([1, 1]), np.array([3, 4, 5]))
    >>> found.codes.tolist(), found.sizes.tolist(), found.of.tolist()
    ([[0, 1], [1, 0]], [4, 8], [1, 0, 1])
    """
    _, first, of = np.unique(_keys(codes, nothing + 1), return_index=True, return_inverse=True)
    sizes = np.bincount(of, weights=rows, minlength=len(first)).astype(np.int64)
    return Classes(codes[first], sizes, of, (codes[first] == nothing).all(axis=1))


def _keys(codes: Whole, widths: Whole) -> Whole:
    """One number per combination, in lexical order; numbered anew before they could grow too large."""
    keys = np.zeros(len(codes), np.int64)
    room = 1
    for place, width in enumerate(widths.tolist()):
        if room * width >= 2**62:
            _, keys = np.unique(keys, return_inverse=True)
            room = len(keys)
        keys = keys * width + codes[:, place]
        room *= width
    return keys
