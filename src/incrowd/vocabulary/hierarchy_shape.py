"""Is it a tree? The checks of a hierarchy's shape, and its depth-first order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from incrowd.errors import InputError


def depth_first(
    name: str, labels: Sequence[str], parents: Sequence[int], keys: Sequence[float] | None
) -> tuple[list[int], tuple[int, ...]]:
    """The nodes in depth-first order, and their parents in the new numbers; an error if they are no tree.

    Children follow in the order of their keys, or as given.

    Examples
    --------
    >>> depth_first("job", ["cook", "*", "service"], [2, -1, 1], None)
    ([1, 2, 0], (-1, 0, 1))
    """
    _check_nodes(name, labels, parents)
    below: list[list[int]] = [[] for _ in labels]
    for node, parent in enumerate(parents):
        if parent >= 0:
            below[parent].append(node)
    if keys is not None:
        for nodes in below:
            nodes.sort(key=keys.__getitem__)
    order: list[int] = []
    waiting = [parents.index(-1)] if -1 in parents else []
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += reversed(below[node])
    if len(order) < len(labels):
        lost = len(labels) - len(order)
        raise InputError(f"Hierarchy {name!r} has a cycle: {lost} nodes lead back to themselves, not to the root.")
    place = {node: number for number, node in enumerate(order)}
    return order, tuple(place.get(parents[node], -1) for node in order)


def _check_nodes(name: str, labels: Sequence[str], parents: Sequence[int]) -> None:
    """Lengths, labels, roots."""
    if len(labels) != len(parents) or any(not -1 <= parent < len(labels) for parent in parents):
        raise InputError(f"Hierarchy {name!r}: every node needs a parent that is a node, or -1 for the root.")
    empty = sum(not label.strip() for label in labels)
    if empty:
        raise InputError(f"Hierarchy {name!r}: {empty} nodes have an empty label. Name them; missing needs no leaf.")
    twice = sum(count > 1 for count in Counter(labels).values())
    if twice:
        raise InputError(f"Hierarchy {name!r}: {twice} labels have two parents or occur twice. Use each label once.")
    roots = sum(parent == -1 for parent in parents)
    if roots > 1:
        raise InputError(f"Hierarchy {name!r} has no single root: {roots} nodes have no parent. Put them below '*'.")
    if len(labels) < 2:
        raise InputError(f"Hierarchy {name!r} has no leaves: list at least one value below the root.")


def joined(name: str, paths: Iterable[Sequence[str]]) -> tuple[list[str], list[int]]:
    """Labels and parents of the tree that joins ways from leaf to root; the root comes first.

    A way that is nothing but the root is passed over. A label on a way twice, with others between, is a cycle; a
    label with two different next labels has two parents; a leaf that is also a group is refused.
    """
    ways = [_collapsed(path) for path in paths]
    roots = list(dict.fromkeys(way[-1] for way in ways if way))
    if len(roots) != 1:
        raise InputError(
            f"Hierarchy {name!r} has no single root: its ways end in {len(roots)} different labels. "
            "End each of them in '*'."
        )
    cycles = sum(len(set(way)) < len(way) for way in ways)
    if cycles:
        raise InputError(f"Hierarchy {name!r} has a cycle: on {cycles} ways a label leads back to itself.")
    above = _parents(name, [way for way in ways if len(way) > 1])
    labels = [roots[0], *above]
    place = {label: node for node, label in enumerate(labels)}
    return labels, [-1, *(place[parent] for parent in above.values())]


def _collapsed(path: Sequence[str]) -> list[str]:
    return [label for place, label in enumerate(path) if place == 0 or label != path[place - 1]]


def _parents(name: str, ways: list[list[str]]) -> dict[str, str]:
    """The next label of each label, top labels first."""
    above: dict[str, str] = {}
    torn: set[str] = set()
    for way in ways:
        for label, parent in reversed(list(pairwise(way))):
            if above.setdefault(label, parent) != parent:
                torn.add(label)
    if torn:
        raise InputError(f"Hierarchy {name!r}: {len(torn)} labels have two parents. Give each value and group one.")
    both = {way[0] for way in ways} & set(above.values())
    if both:
        raise InputError(f"Hierarchy {name!r}: {len(both)} labels are both a value and a group. Rename the groups.")
    return above
