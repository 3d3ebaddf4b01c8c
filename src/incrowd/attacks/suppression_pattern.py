"""Suppression pattern: which other cells were withheld tells what stands in the confidential one.

What: the attacker knows the program and every cell but the confidential one, withholds again for each value it may
have, and compares what would have been withheld with what was. Paper: Wong and others: Minimality Attack, VLDB 2007;
for cells, Rokach's group on hiding cells from classifiers. Measured: the probability of the true value once the pattern
is seen, over that before, averaged over the confidential cells; all draws are gone through, so each is exact. Control:
1, a pattern that tells nothing. Leak: the lower end of the interval (cells drawn anew) is above 1.2.
"""

from __future__ import annotations

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.measuring import mean_interval
from incrowd.attacks.scene import Scene
from incrowd.errors import CannotRunError

GOAL = 1.2


def suppression_pattern(scene: Scene) -> Finding:
    """Withholds again for each value a cell may have."""
    from incrowd.hiding.adversaries import adversary_named
    from incrowd.hiding.bayes_hiders import GroupHider
    from incrowd.hiding.evaluation import pattern_attack
    from incrowd.hiding.methods import Options, method_named
    from incrowd.hiding.published import PublishedTable

    if scene.hidden is None or not scene.hidden.cells:
        raise CannotRunError("No single cells were withheld. Name the confidential ones and the method that hid them.")
    adversaries = [adversary_named(name) for name in scene.hidden.adversaries]
    hider = method_named(scene.hidden.method, adversaries).make(Options())
    if isinstance(hider, GroupHider):
        raise CannotRunError(f"{scene.hidden.method} withholds cells together; its patterns are not gone through.")
    published = PublishedTable(scene.table, scene.schema)
    guesses = [pattern_attack(published, row, column, hider) for row, column in scene.hidden.cells]
    lifts = np.array([float(one.lift) for one in guesses])
    interval = mean_interval(lifts, scene.generator("suppression pattern"))
    return Finding(
        LEAK if interval[0] > GOAL else NO_LEAK,
        f"The patterns of {len(guesses):,} confidential cells, hidden by {scene.hidden.method}, were gone through.",
        measured=float(lifts.mean()),
        control=1.0,
        interval=interval,
        goal=GOAL,
        unit="posterior over prior",
        details={
            "worst pattern": max(float(one.worst_lift) for one in guesses),
            "share of cells that some pattern leaves no doubt of": float(np.mean([one.worst == 1 for one in guesses])),
        },
    )
