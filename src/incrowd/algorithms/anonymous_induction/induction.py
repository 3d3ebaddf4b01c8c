"""What an induction gives back: the model to publish, and what stays in the house."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.models.published_tree import PublishedTree


@dataclass(frozen=True, eq=False)
class Span:
    """People who look alike to the model: their rows, and the leaves they may be in."""

    rows: npt.NDArray[np.int64]
    leaves: frozenset[int]


@dataclass(frozen=True)
class Event:
    """What became of a candidate that was taken from the queue.

    ``node`` is its number in the order of growing, and ``path`` the tests that lead there. ``level`` counts the steps
    up the hierarchy. ``outcome`` is ``"split"``, ``"breach"``, or ``"requeue"``: the best threshold that is still
    allowed is another one than before.
    """

    node: int
    path: str
    attribute: str
    level: int
    outcome: str
    score: float


@dataclass(frozen=True, eq=False)
class Induction:
    """The outcome of an induction.

    Only ``model`` is made to be published; spans and trace tell about single rows. If no tree is possible, ``model`` is
    ``None`` and ``reason`` says why.
    """

    model: PublishedTree | None
    reason: str
    spans: tuple[Span, ...]
    trace: tuple[Event, ...]
