"""Background knowledge: how many values somebody must be able to exclude before he is certain.

What: the attacker finds a person's class and excludes sensitive values he knows the person cannot have. Paper:
Machanavajjhala and others: l-Diversity, ICDE 2006, section 2.1; Martin, Kifer, Machanavajjhala, Gehrke, Halpern:
Worst-Case Background Knowledge, ICDE 2007. Measured: values to exclude in the weakest class, that is its distinct
values less one, of the worst sensitive column. Control: the same, if the values were dealt to the classes at random.
Leak: fewer than l - 1 for the l that was promised; fewer than one if none was.
"""

from __future__ import annotations

import math

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.scene import Scene
from incrowd.drawing.wording import counted
from incrowd.vocabulary.released_cell import Ints

DRAWS = 50


class BackgroundKnowledge:
    """Excludes values of a class until one is left."""

    name = "background knowledge"
    asks = "Excludes sensitive values a person cannot have until one of the person's class is left."
    needs = "a sensitive column"

    def run(self, scene: Scene) -> Finding:
        """Look for the class in which the fewest values need to be excluded."""
        least = {column: _to_exclude(scene.released.histogram(column)) for column in scene.secrets}
        goals = {column: max(1.0, math.ceil(scene.promised.diversity.get(column, 2.0)) - 1.0) for column in least}
        worst = min(least, key=lambda column: int(least[column].min()) - goals[column])
        exclusions, sizes = least[worst], scene.released.sizes
        goal, fewest = goals[worst], int(exclusions.min())
        generator = scene.generator(self.name)
        values, width = scene.released.values[worst], scene.released.widths[worst]
        dealt = [_fewest_at_random(scene.released.classes, values, width, generator) for _ in range(DRAWS)]
        drawn = exclusions[generator.integers(0, len(exclusions), (500, len(exclusions)))].min(axis=1)
        return Finding(
            self.name,
            LEAK if fewest < goal else NO_LEAK,
            f"In the weakest class {counted(fewest, 'value')} of {worst!r} must be excluded.",
            measured=float(fewest),
            control=float(np.mean(dealt)),
            interval=(float(fewest), float(np.quantile(drawn, 0.995))),
            goal=goal,
            unit="values to exclude",
            details={
                "mean over rows": float((exclusions * sizes).sum() / sizes.sum()),
                "share of rows with one exclusion or none": float(sizes[exclusions <= 1].sum() / sizes.sum()),
                **{f"fewest for {column}": float(one.min()) for column, one in least.items()},
            },
        )


def _to_exclude(counts: Ints) -> Ints:
    return np.asarray((counts > 0).sum(axis=1) - 1, np.int64)


def _fewest_at_random(classes: Ints, values: Ints, width: int, generator: np.random.Generator) -> int:
    from incrowd.attacks.boxes import histogram

    return int(_to_exclude(histogram(classes, generator.permutation(values), int(classes.max()) + 1, width)).min())
