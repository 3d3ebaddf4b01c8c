"""How the numbers of a column lie, as far as a release shows it: the mass between all published ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.recipients.cells import Numbers, Piece

_ROUNDS = 20  # of expectation and maximisation; the shape of Adult's columns moves by less than 0.001 after ten


@dataclass(frozen=True, eq=False)
class Shape:
    """The share of rows up to each published end, ascending; between two ends it rises evenly."""

    ends: Numbers
    share: Numbers
    whole: bool  # numbers are whole, or days

    @classmethod
    def of(cls, pieces: Sequence[Piece], rows: Numbers, *, whole: bool) -> Shape:
        """The likeliest shape: rows of a wide interval lie where narrower ones show others to lie."""
        finite = sorted({end for piece in pieces for end in piece if math.isfinite(end)})
        ends = np.array(_with_tails(finite, pieces, whole))
        if len(ends) < 2:
            return cls(np.array([*ends, *ends][:2]), np.array([0.0, 1.0])[: max(2, 0)], whole)
        first = np.searchsorted(ends, [max(low, ends[0]) for low, _ in pieces])
        last = np.searchsorted(ends, [min(high, ends[-1]) for _, high in pieces])
        exact = first == last  # a number itself: the mass is in the step that ends there
        first = np.where(exact, np.maximum(first - 1, 0), first)
        last = np.maximum(last, first + 1)
        mass = np.diff(ends) / (ends[-1] - ends[0])
        for _ in range(_ROUNDS):
            sums = np.concatenate([[0.0], np.cumsum(mass)])
            pull = np.zeros(len(ends))
            weights = rows / np.maximum(sums[last] - sums[first], 1e-300)
            np.add.at(pull, first, weights)
            np.add.at(pull, last, -weights)
            mass = np.maximum(mass * np.cumsum(pull)[:-1], 1e-12)
            mass /= mass.sum()
        return cls(ends, np.concatenate([[0.0], np.cumsum(mass)]), whole)

    def mass(self, piece: Piece) -> float:
        """The share of rows in a piece."""
        low, high = np.interp(piece, self.ends, self.share)
        return float(high - low)

    def drawn(self, piece: Piece, chance: Numbers) -> Numbers:
        """A number of the piece for each chance from 0 to 1, rising with it."""
        low, high = piece
        if low == high:
            return np.full(len(chance), low)
        start, stop = np.interp([low, high], self.ends, self.share)
        drawn = np.interp(start + (stop - start) * chance, self.share, self.ends)
        if self.whole:
            drawn = np.ceil(drawn)
        lowest = np.floor(low) + 1 if self.whole else np.nextafter(low, np.inf)
        return np.clip(drawn, lowest, high)


def _with_tails(finite: list[float], pieces: Sequence[Piece], whole: bool) -> list[float]:
    """The published ends, with one step beyond the last where a piece is open: nothing is known of how far it goes."""
    if not finite:
        return [0.0, 1.0]
    step = 1.0 if whole else max((finite[-1] - finite[0]) / 1000, abs(finite[-1]) * 1e-6, 1e-9)
    low = [finite[0] - step] if any(math.isinf(low) or low == finite[0] == high for low, high in pieces) else []
    high = [finite[-1] + step] if any(math.isinf(high) for _, high in pieces) else []
    return [*low, *finite, *high]
