"""Sequential releases: the same people are released again, and two crowds cross in fewer than k.

What: the attacker knows a person's quasi-identifiers, finds the class in the earlier and in the later release, and
looks for people who are in both classes. Paper: Wang, Fung: Anonymizing Sequential Releases, KDD 2006; Xiao, Tao:
m-Invariance, SIGMOD 2007. Measured: the share of people in crossings of fewer than k people. Earlier releases that are
given are crossed with this one; else the lab releases nine tenths of the original and then all of it, under the same
recipe. Control: the share in classes of fewer than k by one release alone. Leak: anybody in a crossing below k that is
not below k by one release alone.
"""

from __future__ import annotations

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, CannotRunError, Finding
from incrowd.attacks.boxes import Released, read_released
from incrowd.attacks.composition import classes_of
from incrowd.attacks.measuring import share_interval
from incrowd.attacks.scene import SMALLEST, Scene
from incrowd.vocabulary.released_cell import Ints

EARLIER = 0.9


class Sequential:
    """Crosses a person's classes in two releases."""

    name = "sequential releases"
    asks = "Crosses a person's classes in an earlier and a later release, and looks how few people are in both."
    needs = "earlier releases, or how the release was made"

    def run(self, scene: Scene) -> Finding:
        """Cross the classes."""
        k = scene.promised.k
        if k is None:
            raise CannotRunError("No k is known to hold crossings to. Say how many rows must look alike.")
        given = bool(scene.earlier)
        releases = _given(scene) if given else _made(scene)
        kept = np.logical_and.reduce([classes >= 0 for classes, _ in releases])
        if kept.sum() < SMALLEST:
            raise CannotRunError("Too few people are in all the releases.")
        crossing = _company(np.stack([classes[kept] for classes, _ in releases], axis=1))
        few = crossing < k
        alone = np.logical_or.reduce([released.sizes[classes[kept]] < k for classes, released in releases])
        count, rows = int(few.sum()), len(few)
        how = "The releases that were given" if given else "Two releases made for this attack, of 9/10 and of all rows,"
        return Finding(
            self.name,
            LEAK if (few & ~alone).any() else NO_LEAK,
            f"{how} cross in fewer than {k} people for {count:,} of {rows:,}.",
            count / rows,
            float(alone.mean()),
            share_interval(count, rows),
            0.0,
            "share of people",
            {"smallest crossing": float(crossing.min())},
        )


def _company(classes: Ints) -> Ints:
    """How many people share each person's classes."""
    _, numbers, counts = np.unique(classes, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[numbers.ravel()], np.int64)


def _given(scene: Scene) -> list[tuple[Ints, Released]]:
    """The class of each original row in this release and in the earlier ones: the smallest box it lies in."""
    earlier = [read_released(frame, scene.table, scene.schema) for frame in scene.earlier]
    return [(scene.homes, scene.released), *((one.boxes.home(scene.table), one) for one in earlier)]


def _made(scene: Scene) -> list[tuple[Ints, Released]]:
    """The class of each original row in a release of most rows and in one of all."""
    height = scene.table.height
    order = scene.generator("sequential releases").permutation(height)
    found = []
    for what, rows in (("earlier", order[: int(EARLIER * height)]), ("later", np.arange(height))):
        made = scene.made(rows, what)
        released = scene.read(made)
        found.append((classes_of(np.arange(height), rows[made.draft.origin], released.classes), released))
    return found
