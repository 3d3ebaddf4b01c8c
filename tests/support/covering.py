"""Pairs of parameters where not every pair has to be tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def in_turn(many: Iterable[A], few: Iterable[B], each: int = 1) -> list[tuple[A, B]]:
    """Each of the many beside so many of the few, which take turns: all of both occur, if the many are enough."""
    turns: Sequence[B] = list(few)
    return [
        (one, turns[(place * each + more) % len(turns)])
        for place, one in enumerate(many)
        for more in range(min(each, len(turns)))
    ]
