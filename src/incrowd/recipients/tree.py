"""A decision tree on published counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from incrowd.recipients.learning import Codes, CountedAttribute, CountsClassifier, Floats

Mask = npt.NDArray[np.bool_]
_NOTHING = 1e-6  # rows


@dataclass(frozen=True, eq=False)
class CountNode:
    """A node: the share of each class, and, unless it is a leaf, which values of an attribute go to the first child."""

    shares: Floats
    attribute: int = -1
    first: Mask | None = None
    part: float = 0.0
    children: tuple[CountNode, ...] = ()


class CountsTree(CountsClassifier):
    """A binary decision tree that learns from a release of counts, without dealing values out.

    A group goes to both sides of a split, in the share of its values. A split is made where it saves more bits of the
    classes than it takes to describe (minimum description length), so that there is nothing to tune.

    Parameters
    ----------
    min_rows
        Rows, in fractions, that each side of a split has at least.
    max_depth
        Most splits above a leaf.

    Examples
    --------
    >>> import polars as pl
    >>> release = pl.DataFrame({"age": ["(-inf, 30]:30"] * 30 + ["(30, inf):30"] * 30})
    >>> model = CountsTree().fit(release, ["n"] * 30 + ["y"] * 30)
    >>> model.predict(pl.DataFrame({"age": [25, 44]})).tolist(), model.depth_
    (['n', 'y'], 1)
    """

    def __init__(self, min_rows: float = 5.0, max_depth: int = 30) -> None:
        self.min_rows = min_rows
        self.max_depth = max_depth

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from columns of counts and the class of each row."""
        rows = self._learned(X, y)
        shares = [_filled(attribute, rows) for attribute in self.attributes_]
        self.depth_ = 0
        self.tree_ = self._grown(_Part.of(rows, shares, [_ordered(one) for one in self.attributes_]), 0)
        return self

    def _grown(self, part: _Part, depth: int) -> CountNode:
        self.depth_ = max(self.depth_, depth)
        totals = part.rows.sum(axis=0)
        shares = (totals + 1 / len(totals)) / (totals.sum() + 1)
        best = part.best_split(self.min_rows) if depth < self.max_depth else None
        if best is None:
            return CountNode(shares)
        attribute, first = best
        sides = [part.narrowed(attribute, side) for side in (first, ~first)]
        sizes = [float(side.rows.sum()) for side in sides]
        children = tuple(self._grown(side, depth + 1) for side in sides)
        return CountNode(shares, attribute, first, sizes[0] / sum(sizes), children)

    def _scores(self, codes: Sequence[Codes], rows: int) -> Floats:
        scores = np.zeros((rows, len(self.classes_)))
        _score(self.tree_, codes, np.arange(rows), np.ones(rows), scores)
        return scores


def _score(
    node: CountNode, codes: Sequence[Codes], rows: npt.NDArray[np.intp], weights: Floats, scores: Floats
) -> None:
    """Add what the leaves below a node say of rows; a value that nobody had goes both ways."""
    if not len(rows):
        return
    if not node.children or node.first is None:
        scores[rows] += weights[:, None] * node.shares
        return
    places = codes[node.attribute][rows]
    unknown = places < 0
    first = ~unknown & node.first[places]
    for child, way, part in zip(node.children, (first, ~first & ~unknown), (node.part, 1 - node.part), strict=True):
        taken = way | unknown
        _score(child, codes, rows[taken], np.where(unknown, weights * part, weights)[taken], scores)


def _filled(attribute: CountedAttribute, rows: Floats) -> Floats:
    """The shares of each group; where the attribute is hidden, those of all groups that show it."""
    hidden = attribute.shares.sum(axis=1) == 0
    size = rows.sum(axis=1)
    overall = size @ attribute.shares
    return np.asarray(np.where(hidden[:, None], overall / max(overall.sum(), 1e-300), attribute.shares))


def _ordered(attribute: CountedAttribute) -> bool:
    """Whether the values of an attribute come in an order that splits should keep."""
    return attribute.cuts is not None


@dataclass(frozen=True, eq=False)
class _Part:
    """What comes to a node: rows of each group and class, and the share of each value among them.

    ``shares`` is groups x values of all attributes side by side; ``places`` says where the values of an attribute are.
    """

    rows: Floats
    shares: Floats
    places: Sequence[slice]
    ordered: Sequence[bool]

    @classmethod
    def of(cls, rows: Floats, shares: Sequence[Floats], ordered: Sequence[bool]) -> _Part:
        ends = np.cumsum([0, *(share.shape[1] for share in shares)]).tolist()
        places = [slice(start, end) for start, end in pairwise(ends)]
        return cls(rows, np.hstack([*shares, np.empty((len(rows), 0))]), places, ordered)

    def narrowed(self, attribute: int, side: Mask) -> _Part:
        """The rows whose value is on a side; groups of which next to nothing is left are left out."""
        mine = self.shares[:, self.places[attribute]] * side
        share = mine.sum(axis=1)
        rows = self.rows * share[:, None]
        kept = rows.sum(axis=1) > _NOTHING
        shares = self.shares[kept]
        shares[:, self.places[attribute]] = mine[kept] / share[kept, None]
        return _Part(rows[kept], shares, self.places, self.ordered)

    def best_split(self, min_rows: float) -> tuple[int, Mask] | None:
        """The attribute and the values of the first side that save most, if they save more than they cost."""
        totals = self.rows.sum(axis=0)
        counts = self.rows.T @ self.shares
        whole = float(_bits(totals[:, None])[0])
        cost = (len(totals) - 1) / 2 * np.log2(max(totals.sum(), 2)) + np.log2(max(len(self.places), 1))
        best, saved = None, 0.0
        if whole <= cost:
            return None
        for attribute, place in enumerate(self.places):
            mine = counts[:, place]
            values = np.flatnonzero(mine.sum(axis=0) > _NOTHING)
            if len(values) < 2:
                continue
            for order in _orders(mine[:, values], self.ordered[attribute]):
                below = np.cumsum(mine[:, values[order]], axis=1)[:, :-1]
                above = np.maximum(totals[:, None] - below, 0)
                bits = whole - _bits(below) - _bits(above) - np.log2(max(len(values) - 1, 1))
                bits[(below.sum(axis=0) < min_rows) | (above.sum(axis=0) < min_rows)] = -np.inf
                at = int(bits.argmax())
                if bits[at] - cost > saved:
                    first = np.zeros(mine.shape[1], np.bool_)
                    first[values[order[: at + 1]]] = True
                    best, saved = (attribute, first), float(bits[at] - cost)
        return best


def _orders(counts: Floats, ordered: bool) -> Iterator[npt.NDArray[np.intp]]:
    """Orders of values to cut: their own, or by the share of each class in turn."""
    if ordered:
        yield np.arange(counts.shape[1])
        return
    shares = counts / counts.sum(axis=0)
    for of_class in shares[1:] if len(counts) == 2 else shares:
        yield np.argsort(of_class, kind="stable")


def _bits(counts: Floats) -> Floats:
    """n times the entropy of each column."""
    sums = counts.sum(axis=0)
    return np.asarray(_xlogx(sums) - _xlogx(counts).sum(axis=0))


def _xlogx(numbers: Floats) -> Floats:
    return numbers * np.log2(np.where(numbers > 0, numbers, 1.0))
