"""Composition: two releases of overlapping people, each fine by itself, leave one value that both allow.

What: the attacker knows that somebody is in both tables, finds the person's class in each release, and keeps the
sensitive values that occur in both. Paper: Ganta, Kasiviswanathan, Smith: Composition Attacks and Auxiliary Information
in Data Privacy, KDD 2008. Measured: the share of shared people left with one value, of the worst sensitive column. The
lab releases the first and the last two thirds of the original, in random order, under the same recipe; the third
between them is shared. Control: the share left with one value by one of the two releases alone. Leak: somebody is left
with one value by both releases and by neither alone, for what is read there is certain.

Sequential releases: the same people are released again, and two crowds cross in fewer than k. What: the attacker
knows a person's quasi-identifiers, finds the class in the earlier and in the later release, and looks for people who
are in both classes. Paper: Wang, Fung: Anonymizing Sequential Releases, KDD 2006; Xiao, Tao: m-Invariance, SIGMOD
2007. Measured: the share of people in crossings of fewer than k people. Earlier releases that are given are crossed
with this one; else the lab releases nine tenths of the original and then all of it, under the same recipe. Control:
the share in classes of fewer than k by one release alone. Leak: anybody in a crossing below k that is not below k by
one release alone.
"""

from __future__ import annotations

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.measuring import share_interval
from incrowd.attacks.scene import SMALLEST, Scene
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Released, read_released
from incrowd.vocabulary.released_cell import Bools, Ints


def composition(scene: Scene) -> Finding:
    """Keeps the values that two releases both allow."""
    order = scene.dealt("composition")
    third = len(order) // 3
    if third < SMALLEST:
        raise CannotRunError(f"A third of the original is fewer than {SMALLEST} rows: too few to share.")
    first, second = scene.cut(order, third), scene.cut(order, 2 * third)
    shared = order[first:second]
    parts = (order[:second], order[first:])
    both = []
    for number, rows in enumerate(parts):
        made = scene.made(rows, f"part {number}")
        released = scene.read(made)
        both.append((released, classes_of(shared, rows[made.draft.origin], released.classes)))
    kept = np.logical_and.reduce([classes >= 0 for _, classes in both])
    if kept.sum() < SMALLEST:
        raise CannotRunError("Too few people are in both releases.")
    pinned = {column: _pinned(both, column, kept) for column in scene.secrets}
    worst = max(pinned, key=lambda column: int((pinned[column][0] & ~pinned[column][1]).sum()))
    after, before = pinned[worst]
    fresh, rows_shared = int((after & ~before).sum()), len(after)
    return Finding(
        LEAK if fresh else NO_LEAK,
        f"Of {rows_shared:,} {scene.units} in two releases made for this attack, {fresh:,} are left with one value of "
        f"{worst!r} by both together and by neither alone.",
        measured=float(after.mean()),
        control=float(before.mean()),
        interval=share_interval(int(after.sum()), rows_shared),
        goal=float(before.mean()),
        unit="share of shared people",
        details={"by both and by neither alone": fresh / rows_shared, "shared people": float(rows_shared)},
    )


def classes_of(rows: Ints, released: Ints, classes: Ints) -> Ints:
    """The class of each of the given rows, from the rows that were released and their classes; -1 if left out."""
    homes = np.full(int(max(rows.max(), released.max())) + 1, -1, np.int64)
    homes[released] = classes
    return homes[rows]


def _pinned(both: list[tuple[Released, Ints]], column: str, kept: Bools) -> tuple[Bools, Bools]:
    """Who is left with one value by both releases together, and by one of them alone."""
    allowed = [(released.histogram(column) > 0)[classes[kept]] for released, classes in both]
    alone = np.logical_or.reduce([one.sum(axis=1) == 1 for one in allowed])
    return np.logical_and.reduce(allowed).sum(axis=1) == 1, alone


EARLIER = 0.9  # of the rows: most people are in both releases, as when a table grows


def sequential_releases(scene: Scene) -> Finding:
    """Crosses a person's classes in two releases."""
    k = scene.promised.k
    if k is None:
        raise CannotRunError("No k is known to hold crossings to. State how many rows must look alike.")
    published = bool(scene.earlier)
    releases = _published(scene) if published else _made(scene)
    kept = np.logical_and.reduce([classes >= 0 for classes, _ in releases])
    if kept.sum() < SMALLEST:
        raise CannotRunError("Too few people are in all the releases.")
    persons = None if scene.owners is None else scene.owners[kept]
    crossing = _company(np.stack([classes[kept] for classes, _ in releases], axis=1), persons)
    few = crossing < k
    sizes = [
        released.sizes[classes[kept]] if persons is None else _company(classes[kept][:, None], persons)
        for classes, released in releases
    ]
    alone = np.logical_or.reduce([one < k for one in sizes])
    if persons is not None:  # a person is found by any of its rows
        few, alone = (np.bincount(persons, one)[np.unique(persons)] > 0 for one in (few, alone))
    count, rows = int(few.sum()), len(few)
    how = "The supplied releases" if published else "Two releases made for this attack, of 9/10 and of all rows,"
    return Finding(
        LEAK if (few & ~alone).any() else NO_LEAK,
        f"{how} cross in fewer than {k} people for {count:,} of {rows:,}.",
        measured=count / rows,
        control=float(alone.mean()),
        interval=share_interval(count, rows),
        goal=0.0,
        unit="share of people",
        details={"smallest crossing": float(crossing.min())},
    )


def _company(classes: Ints, persons: Ints | None = None) -> Ints:
    """For each row, how many people share its classes; ``persons`` has the person of each row, if rows are not."""
    _, numbers, counts = np.unique(classes, axis=0, return_inverse=True, return_counts=True)
    if persons is not None:
        width = int(persons.max(initial=-1)) + 1
        counts = np.bincount(np.unique(numbers.ravel() * width + persons) // width)
    return np.asarray(counts[numbers.ravel()], np.int64)


def _published(scene: Scene) -> list[tuple[Ints, Released]]:
    """The class of each original row in this release and in the earlier ones: the smallest box it lies in."""
    earlier = [read_released(frame, scene.table, scene.schema) for frame in scene.earlier]
    return [(scene.homes, scene.released), *((one.boxes.home(scene.table), one) for one in earlier)]


def _made(scene: Scene) -> list[tuple[Ints, Released]]:
    """The class of each original row in a release of most rows and in one of all."""
    height = scene.table.height
    order = scene.dealt("sequential releases")
    releases = []
    for what, rows in (("earlier", order[: scene.cut(order, int(EARLIER * height))]), ("later", np.arange(height))):
        made = scene.made(rows, what)
        released = scene.read(made)
        releases.append((classes_of(np.arange(height), rows[made.draft.origin], released.classes), released))
    return releases
