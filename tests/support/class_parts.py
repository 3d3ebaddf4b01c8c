"""Groups that were parted by class: what the plan says of them, and what rows show."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import polars as pl

from incrowd.plan.release_plan import ReleasePlan


def classes_of_parts(plan: ReleasePlan) -> list[set[object]]:
    """The classes of each part, by the plan."""
    place = plan.places[-1]
    found: list[set[object]] = [set() for _ in plan.groups]
    for share in place.shares:
        if share.group >= 0:
            found[share.group].add(place.tree.classes[share.label or 0])
    return found


def planned(plan: ReleasePlan) -> Counter[frozenset[tuple[object, int]]]:
    """How many looks have which rows of which classes, by the plan; parts that show the same are one."""
    place, looks = plan.places[-1], defaultdict(Counter)
    for share in place.shares:
        if share.group >= 0:
            looks[plan.groups[share.group].forms][place.tree.classes[share.label or 0]] += share.rows
    return Counter(frozenset(each.items()) for each in looks.values())


def written(table: pl.DataFrame, names: Sequence[str], target: str) -> Counter[frozenset[tuple[object, int]]]:
    """The same, by the rows of the release."""
    looks = defaultdict(Counter)
    for *look, label in table.select(*names, target).rows():
        looks[tuple(look)][label] += 1
    return Counter(frozenset(each.items()) for each in looks.values())
