"""How the numbers of a column lie, as far as a release shows it: the mass between all published ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.recipients.cells import Numbers, Piece

_ROUNDS = 20  # of expectation and maximisation; the shape of Adult's columns moves by less than 0.001 after ten
_INFLATED = 5.0  # times denser than the next: a first piece from 0 on is mostly the number 0 itself, as of amounts that
# few people have; a first piece that falls off smoothly is two or three times denser


@dataclass(frozen=True, eq=False)
class Shape:
    """The share of rows up to each published end, ascending; between two ends it rises evenly.

    The first end may be 0 twice: as many rows as lie between the two are 0 themselves.
    """

    ends: Numbers
    share: Numbers
    whole: bool  # numbers are whole, or days

    @classmethod
    def of(cls, pieces: Sequence[Piece], rows: Numbers, *, whole: bool) -> Shape:
        """The likeliest shape: rows of a wide interval lie where narrower ones show others to lie."""
        finite = sorted({end for piece in pieces for end in piece if math.isfinite(end)})
        listed, low, high = _with_tails(finite, pieces)
        ends = np.array(listed)
        if len(ends) < 2:
            return cls(np.repeat(ends, 2), np.array([0.0, 1.0]), whole)
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
        share = np.concatenate([[0.0], np.cumsum(mass)])
        settled = _settled(ends, mass, low, high)
        if low and settled[0] == 0.0 and len(mass) > 1:
            beside = mass[1] / (ends[2] - ends[1]) * settled[1]  # rows of the first piece, were it as dense as the next
            if mass[0] > _INFLATED * beside:
                settled, share = np.insert(settled, 0, 0.0), np.insert(share, 1, mass[0] - beside)
        return cls(settled, share, whole)

    def mass(self, piece: Piece) -> float:
        """The share of rows in a piece."""
        low, high = np.interp(piece, self.ends, self.share)
        return float(high - low)

    def drawn(self, piece: Piece, chance: Numbers) -> Numbers:
        """A number of the piece for each chance from 0 to 1, rising with it."""
        low, high = piece
        if not low < high:  # a number, or nothing
            return np.full(len(chance), low)
        start, stop = np.interp([low, high], self.ends, self.share)
        drawn = np.interp(start + (stop - start) * chance, self.share, self.ends)
        if self.whole:
            drawn = np.ceil(drawn)
        lowest = np.floor(low) + 1 if self.whole else np.nextafter(low, np.inf)
        return np.clip(drawn, lowest, high)


def _with_tails(finite: list[float], pieces: Sequence[Piece]) -> tuple[list[float], bool, bool]:
    """The published ends, and one more where a piece is open; how far that is, is settled later."""
    if not finite:
        return [0.0, 1.0], False, False
    width = (finite[-1] - finite[0]) / max(len(finite) - 1, 1) or abs(finite[0]) or 1.0
    low = any(low < finite[0] for low, _ in pieces) or all(low == high for low, high in pieces)
    high = any(high > finite[-1] for _, high in pieces)
    ends = [*([finite[0] - width] if low else []), *finite, *([finite[-1] + width] if high else [])]
    return ends, low, high


def _settled(ends: Numbers, mass: Numbers, low: bool, high: bool) -> Numbers:
    """The ends, with those of open pieces as far away as the rows take that are as dense as their neighbours.

    At most as far as the published ends reach, and not across 0 if none of those does.
    """
    settled, inner = ends.copy(), ends[int(low) : len(ends) - int(high)]
    most = max(inner[-1] - inner[0], abs(inner[0] if len(inner) == 1 else 0.0)) or 1.0
    if low:
        width = min(_width(mass[0], mass[1:2], np.diff(ends)[1:2], most), most)
        settled[0] = max(inner[0] - width, 0.0) if inner[0] >= 0 else inner[0] - width
    if high:
        width = min(_width(mass[-1], mass[-2:-1], np.diff(ends)[-2:-1], most), most)
        settled[-1] = min(inner[-1] + width, 0.0) if inner[-1] <= 0 else inner[-1] + width
    return settled


def _width(rows: float, beside: Numbers, width: Numbers, most: float) -> float:
    """How wide a piece is that is as dense as the one beside it; the most, if there is none."""
    return float(rows * width[0] / beside[0]) if len(beside) and beside[0] > 0 else most
