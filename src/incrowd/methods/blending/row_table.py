"""What Blend's groups are made alike in: rows with their features, as the kernel takes them, and its scratch space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.trees.compiled import compiled
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn

Numbers = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MOST_PAIRS = 1024  # values that are counted in pairs: 4 MB
NOBODY = np.empty(0, np.int32)


class RowTable(NamedTuple):
    """The features of all rows.

    ``places`` is rows x attributes: each value has a place of its own among those of all attributes; ``start`` says
    where an attribute's places begin. ``ordered`` attributes are cut between neighbours. ``square`` is the squared
    scale of each attribute. ``score`` has the scaled scores, rows x numbers; the first ``cut_scores`` of them may be
    cut, and what such a cut takes off counts ``score_worth`` times. ``owners`` has the person of each row; it is empty
    where rows are persons.
    """

    places: Any
    start: Any
    ordered: Any
    square: Any
    score: Any
    cut_scores: int
    score_worth: float
    owners: Any = NOBODY


class Room(NamedTuple):
    """Scratch space.

    Rows of each place, in all and on the left; ranks of places; sums of scores, in all, on the left, and of the rows of
    each place; rows sorted by value, and where those of a place begin; how often two places come together.

    Where rows are not persons: the person of each row of a node, the rank of its value; by rank the persons who begin,
    who end, who are there, and who are nowhere else; and by person the rows of the node, in all and not yet moved.
    """

    whole: Any
    left: Any
    rank: Any
    whole_score: Any
    left_score: Any
    scores: Any
    sorted: Any
    begin: Any
    pairs: Any
    owners: Any
    ranks: Any
    first: Any
    last: Any
    bearers: Any
    alone: Any
    own: Any
    own_left: Any


@compiled
def make_room(rows: RowTable, most: int) -> Room:
    """Scratch space for nodes of at most so many rows."""
    places, classes = rows.start[-1], rows.score.shape[1]
    paired = places if places <= min(MOST_PAIRS, most) else 0
    owned = most if rows.owners.size > 0 else 0
    persons = rows.owners.max() + 1 if rows.owners.size > 0 else 0
    return Room(
        whole=np.zeros(places, np.int64),
        left=np.zeros(places, np.int64),
        rank=np.zeros(places, np.int64),
        whole_score=np.zeros(classes),
        left_score=np.zeros(classes),
        scores=np.zeros((places, classes)),
        sorted=np.zeros(most, np.int64),
        begin=np.zeros(places + 1, np.int64),
        pairs=np.zeros((paired, paired), np.int32),
        owners=np.zeros(owned, np.int64),
        ranks=np.zeros(owned, np.int64),
        first=np.zeros(places, np.int64),
        last=np.zeros(places, np.int64),
        bearers=np.zeros(places, np.int64),
        alone=np.zeros(places, np.int64),
        own=np.zeros(persons, np.int64),
        own_left=np.zeros(persons, np.int64),
    )


# The groups: rows are split in two while both parts may be released, where the features become most alike.
@dataclass(frozen=True, eq=False)
class RowFeatures:
    """What groups are made alike in."""

    columns: Sequence[EncodedColumn]  # the attributes, numbers as the bins they lie in
    ordered: Sequence[bool]  # which of them are cut between neighbours; a missing value comes last
    weights: Numbers  # how much each counts, in all 1
    score: Numbers  # class probabilities, rows x classes
    labels: Codes  # the class of each row

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.score)


@dataclass(frozen=True)
class Worth:
    """What counts how much, beside 1 for the variance of the score.

    ``attributes`` and ``labels`` are the variances of all attributes together and of the class itself; what a split by
    score takes off counts ``scores`` times, 0: rows are not split by score.
    """

    attributes: float = 1.0
    labels: float = 1.0
    scores: float = 1.0


def kernel_rows(features: RowFeatures, worth: Worth) -> RowTable:
    """The features as the kernel takes them; of two classes the score of one says all."""
    widths = [column.width for column in features.columns]
    start = np.cumsum([0, *widths]).astype(np.int64)
    places = np.empty((features.height, len(widths)), np.int32)
    for a, column in enumerate(features.columns):
        places[:, a] = column.codes + start[a]
    square = [
        worth.attributes * weight / spread if (spread := _spread(column.counts)) > 0 else 0.0
        for column, weight in zip(features.columns, features.weights, strict=True)
    ]
    classes = features.score.shape[1]
    scores = [_scaled(features.score, 1.0), _scaled(np.eye(classes)[features.labels], worth.labels)]
    cut = 0 if worth.scores == 0 else 1 if classes == 2 else classes
    ordered, squares = np.array(features.ordered, np.bool_), np.array(square, np.float64)
    return RowTable(
        places=places,
        start=start,
        ordered=ordered,
        square=squares,
        score=np.hstack(scores),
        cut_scores=cut,
        score_worth=float(worth.scores),
    )


def _scaled(numbers: Numbers, variance: float) -> Numbers:
    """The columns with mean 0 and, all together, this variance."""
    numbers = numbers - numbers.mean(axis=0)
    total = float(numbers.var(axis=0).sum())
    return numbers * np.sqrt(variance / total) if total > 0 else np.zeros_like(numbers)


def _spread(counts: Ints) -> float:
    """The variance of the 0/1 columns of an attribute, in all: one minus the chance that two rows agree."""
    shares = counts / max(1, counts.sum())
    return float(1.0 - (shares**2).sum())
