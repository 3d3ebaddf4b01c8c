"""Homogeneity: everybody of a class has the same sensitive value, so nobody needs to be picked out of it.

What: the attacker finds somebody's class and reads the one value it has. Paper: Machanavajjhala, Gehrke, Kifer,
Venkitasubramaniam: l-Diversity: Privacy Beyond k-Anonymity, ICDE 2006, section 2.1. Measured: the share of released
rows in classes with one value, of the worst sensitive column; a missing value is a value. Control: the same share if
the values were dealt to the classes at random, reckoned exactly. Leak: any such row, for what is read there is certain.
"""

from __future__ import annotations

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.measuring import share_interval
from incrowd.attacks.scene import Scene
from incrowd.vocabulary.released_cell import Ints


class Homogeneity:
    """Reads the one value of a class that has only one."""

    name = "homogeneity"
    asks = "Finds a person's class and reads the only sensitive value it has."
    needs = "a sensitive column"

    def run(self, scene: Scene) -> Finding:
        """Count the rows in classes of one value."""
        shares, chances = {}, {}
        for column in scene.secrets:
            counts = scene.released.histogram(column)
            shares[column] = share_alone(counts)
            chances[column] = chance_alone(counts)
        worst = max(shares, key=lambda column: shares[column])
        rows = len(scene.released.classes)
        count = round(shares[worst] * rows)
        return Finding(
            self.name,
            LEAK if count else NO_LEAK,
            f"{count:,} of {rows:,} rows lie in classes with one value of {worst!r}.",
            measured=shares[worst],
            control=chances[worst],
            interval=share_interval(count, rows),
            goal=0.0,
            unit="share of rows",
            details={f"share for {column}": share for column, share in shares.items()},
        )


def share_alone(counts: Ints) -> float:
    """Share of the rows in classes with one value."""
    sizes = counts.sum(axis=1)
    return float(sizes[(counts > 0).sum(axis=1) == 1].sum() / sizes.sum())


def chance_alone(counts: Ints) -> float:
    """The share to be expected if the values were dealt at random: all rows of a class drawn from one value."""
    from scipy.special import gammaln

    sizes, values = counts.sum(axis=1), counts.sum(axis=0)
    total = values.sum()
    kinds, often = np.unique(sizes, return_counts=True)
    share = 0.0
    for size, times in zip(kinds.tolist(), often.tolist(), strict=True):
        enough = values[values >= size]
        ways = gammaln(enough + 1) - gammaln(enough - size + 1) - gammaln(total + 1) + gammaln(total - size + 1)
        share += size * times * float(np.exp(ways).sum())
    return share / float(total)
