"""Whether sets of values tell an order: that of rows would tell which row has which value."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter


def is_one_order(neighbours: Iterable[tuple[str, str]]) -> bool:
    """Whether one order of all values fits: in no set does a value come first that comes later in another, or again.

    ``neighbours`` are values that stand beside each other in some set, the first one first.

    Examples
    --------
    >>> is_one_order([("baker", "cook"), ("cook", "nurse")]), is_one_order([("baker", "cook"), ("cook", "baker")])
    (True, False)
    """
    earlier: dict[str, set[str]] = {}
    for before, after in neighbours:
        earlier.setdefault(after, set()).add(before)
    try:
        TopologicalSorter(earlier).prepare()
    except CycleError:
        return False
    return True
