"""Skewness: the values of a class are spread otherwise than in the whole table.

What: the attacker finds a person's class and takes its shares for the person's chances. Paper: Li, Li,
Venkatasubramanian: t-Closeness: Privacy Beyond k-Anonymity and l-Diversity, ICDE 2007. Measured: the largest distance
of a class from the whole table, of the worst sensitive column: total variation, which is the earth mover's distance
where all values are equally far apart; for numbers and ordered categories the earth mover's distance along the order.
Control: the largest distance if the values were dealt to the classes at random. Leak: a class breaks the t that was
promised, which is reckoned exactly; if none was, a class is farther away, for its size (distance times the root of its
rows), than any in 199 random deals, so one false alarm in 200.
"""

from __future__ import annotations

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.boxes import Released, histogram
from incrowd.attacks.measuring import Floats
from incrowd.attacks.scene import Scene
from incrowd.vocabulary.released_cell import Ints
from incrowd.vocabulary.requirements.columns import RequirementSubject

DEALS = 199  # beaten by chance once in 200 times
TOLERANCE = 1e-9  # rounding errors of sums of shares are smaller


class Skewness:
    """Takes the shares of a class for the chances of its people."""

    name = "skewness"
    asks = "Takes the shares of sensitive values in a person's class for the person's chances."
    needs = "a sensitive column"

    def run(self, scene: Scene) -> Finding:
        """Measure how far classes are from the whole table."""
        generator = scene.generator(self.name)
        findings = [self._of_column(scene, column, generator) for column in scene.secrets]
        return max(findings, key=lambda one: (one.verdict == LEAK, one.measured))

    def _of_column(self, scene: Scene, column: str, generator: np.random.Generator) -> Finding:
        released, promise = scene.released, scene.promised.closeness.get(column)
        measure = ordered_distance if scene.table[column].type.has_order else variation
        counts, sizes = released.histogram(column), released.sizes
        distances = measure(counts)
        dealt = [measure(_dealt(released, column, generator)) for _ in range(DEALS)]
        by_chance = [float(one.max()) for one in dealt]
        if promise is None:  # small classes are far from the whole by chance, so each is held to its own size
            strangest = float((distances * np.sqrt(sizes)).max())
            leaks = strangest > max(float((one * np.sqrt(sizes)).max()) for one in dealt) + TOLERANCE
        else:
            own = scene.table[column]
            subject = RequirementSubject.of(own, own.counts, scene.schema[column].hierarchy)
            leaks = not promise.holds_each(counts, subject).all()
        promised = "no t was promised, so chance is the measure" if promise is None else f"{promise} was promised"
        return Finding(
            self.name,
            LEAK if leaks else NO_LEAK,
            f"The class farthest from the whole table is {distances.max():.3f} from it in {column!r}; {promised}.",
            measured=float(distances.max()),
            control=float(np.mean(by_chance)),
            interval=_drawn_anew(distances, generator),
            goal=None if promise is None else float(promise.t),
            unit="distance",
            details={
                "total variation": float(variation(counts).max()),
                "earth mover's distance along the order": float(ordered_distance(counts).max()),
                "largest posterior over prior": float(_lifts(counts).max()),
                "mean distance over rows": float((distances * sizes).sum() / sizes.sum()),
                "largest by chance": max(by_chance),
            },
        )


def _dealt(released: Released, column: str, generator: np.random.Generator) -> Ints:
    """The counts of the classes, the values being dealt to the rows at random."""
    values = generator.permutation(released.values[column])
    return histogram(released.classes, values, len(released.boxes), released.widths[column])


def _shares(counts: Ints) -> tuple[Floats, Floats]:
    return counts / counts.sum(axis=1, keepdims=True), counts.sum(axis=0) / counts.sum()


def variation(counts: Ints) -> Floats:
    """Total variation of each class from all: half the sum of the differences of shares."""
    shares, whole = _shares(counts)
    return np.asarray(np.abs(shares - whole).sum(axis=1) / 2)


def ordered_distance(counts: Ints) -> Floats:
    """Earth mover's distance of each class from all, values standing in their order, neighbours 1/(m-1) apart."""
    used = counts[:, counts.sum(axis=0) > 0]
    shares, whole = _shares(used)
    if used.shape[1] < 2:
        return np.zeros(len(counts))
    return np.asarray(np.abs(np.cumsum(shares - whole, axis=1)).sum(axis=1) / (used.shape[1] - 1))


def _lifts(counts: Ints) -> Floats:
    """The largest posterior over prior of each class."""
    shares, whole = _shares(counts)
    return np.asarray((shares[:, whole > 0] / whole[whole > 0]).max(axis=1))


def _drawn_anew(distances: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """The largest distance, if the classes had been drawn anew."""
    drawn = distances[generator.integers(0, len(distances), (500, len(distances)))].max(axis=1)
    return float(np.quantile(drawn, 0.005)), float(distances.max())
