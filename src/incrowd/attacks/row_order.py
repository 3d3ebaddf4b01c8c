"""Row order: the place of a row in the release tells its place in the original.

What: the attacker knows where in the original somebody stands (first come, by name, by date) and looks at that place
of the release. Paper: a leak of tools rather than of models; Sweeney: k-Anonymity, 2002, section 4.1 names it (the
unsorted matching attack). Measured: Spearman's rank correlation of a released row's place with its place in the
original: the mean place of all original rows that it can be, where its origin is not known. Control: rows in random
order, of which the correlation is 0. Leak: 3 / sqrt(n) or more in size, which chance reaches once in 370 runs.
"""

from __future__ import annotations

import math

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, CannotRunError, Finding
from incrowd.attacks.measuring import Floats, correlation_interval, rank_correlation
from incrowd.attacks.scene import SMALLEST, Scene


class RowOrder:
    """Looks for a person's place of the original in the release."""

    name = "row order"
    asks = "Looks at the place of the release where a person stands in the original."
    needs = "nothing more than the release and the original"

    def run(self, scene: Scene) -> Finding:
        """Correlate places."""
        places = source_places(scene)
        known = np.flatnonzero(~np.isnan(places))
        if len(known) < SMALLEST or len(np.unique(places[known])) < 2:
            raise CannotRunError("The released rows cannot be told apart well enough to ask where they stood.")
        rho = rank_correlation(known, places[known])
        limit = 3 / math.sqrt(len(known))
        return Finding(
            self.name,
            LEAK if abs(rho) >= limit else NO_LEAK,
            f"{len(known):,} of {len(places):,} released rows could be looked for in the original.",
            rho,
            0.0,
            correlation_interval(rho, len(known)),
            limit,
            "Spearman's rho",
            {"rows": float(len(known)), "different places": float(len(np.unique(places[known])))},
        )


def source_places(scene: Scene) -> Floats:
    """The mean place, in the original, of the rows each released row can be; NaN where no row fits."""
    if scene.origin is not None:
        return scene.origin.astype(np.float64)
    released = scene.released
    names = list(released.values)
    theirs = np.stack([scene.homes, *(scene.table[name].codes.astype(np.int64) for name in names)], axis=1)
    ours = np.stack([released.classes, *(released.values[name] for name in names)], axis=1)
    _, numbers = np.unique(np.concatenate([theirs, ours]), axis=0, return_inverse=True)
    groups = numbers.ravel()
    original, rest = groups[: len(theirs)], groups[len(theirs) :]
    count = np.bincount(original, minlength=int(groups.max()) + 1)
    total = np.bincount(original, np.arange(len(original), dtype=np.float64), len(count))
    with np.errstate(invalid="ignore"):
        return np.asarray((total / count)[rest])
