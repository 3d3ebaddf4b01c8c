"""The rows as Blend's kernel takes them, and its scratch space."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from incrowd.trees.compiled import compiled

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
