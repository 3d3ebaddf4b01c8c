"""deFinetti: people of one class are told apart by what the release teaches about all of them.

What: the attacker knows the quasi-identifiers of everybody in a class and the sensitive values that occur in it, not
who has which. He learns from all classes how values go with quasi-identifiers (naive Bayes, refined by
expectation-maximization within the classes) and deals the values accordingly. Paper: Kifer: Attacks on Privacy and
deFinetti's Theorem, SIGMOD 2009. Measured: people guessed right, over those guessed right by the most frequent value of
their class, of the worst sensitive column (the lift). Control: class frequencies, so a lift of 1. Leak: the lower end
of the interval is above 1.1.
"""

from __future__ import annotations

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.measuring import Floats, ratio_interval
from incrowd.attacks.scene import Scene
from incrowd.vocabulary.released_cell import Ints

GOAL, ROUNDS = 1.1, 5


class DeFinetti:
    """Deals the values of a class to its people by what all classes teach."""

    name = "deFinetti"
    asks = "Learns from all classes who tends to have which value, and deals the values of a class accordingly."
    needs = "a sensitive column"

    def run(self, scene: Scene) -> Finding:
        """Guess by naive Bayes and by class frequencies."""
        guesses = {column: self._both(scene, column) for column in scene.secrets}
        worst = max(guesses, key=lambda column: _lift(guesses[column]))
        both = guesses[worst]
        people = sum(both)
        learned, counted = both[1] + both[3], both[2] + both[3]
        interval = ratio_interval(both, scene.generator(self.name))
        return Finding(
            self.name,
            LEAK if interval[0] > GOAL else NO_LEAK,
            f"{worst!r} is guessed right for {100 * learned / people:.1f} % of {people:,} people, by the frequencies "
            f"of their class for {100 * counted / people:.1f} %.",
            measured=_lift(both),
            control=1.0,
            interval=interval,
            goal=GOAL,
            unit="lift",
            details={f"lift for {column}": _lift(one) for column, one in guesses.items()},
        )

    def _both(self, scene: Scene, column: str) -> tuple[int, int, int, int]:
        """People guessed right by neither, by naive Bayes only, by frequencies only, by both."""
        counts = scene.released.histogram(column)
        shares = (counts / counts.sum(axis=1, keepdims=True))[scene.homes]
        codes = [scene.table[name].codes.astype(np.int64) for name in scene.schema.quasi_identifiers]
        widths = [scene.table[name].width for name in scene.schema.quasi_identifiers]
        truth = scene.table[column].codes
        first = learned_chances(counts, scene.homes, codes, widths).argmax(axis=1) == truth
        second = shares.argmax(axis=1) == truth
        kinds = np.bincount(first + 2 * second, minlength=4)
        return int(kinds[0]), int(kinds[1]), int(kinds[2]), int(kinds[3])


def learned_chances(counts: Ints, classes: Ints, codes: list[Ints], widths: list[int]) -> Floats:
    """The chances of each person's values, from the counts of the person's class and what all classes teach."""
    shares = (counts / counts.sum(axis=1, keepdims=True))[classes]
    chances = shares
    with np.errstate(divide="ignore"):
        start = np.log(shares)
    for _ in range(ROUNDS):
        logs = start.copy()
        for own, width in zip(codes, widths, strict=True):
            table = np.stack([np.bincount(own, chances[:, value], width) for value in range(shares.shape[1])], axis=1)
            table = (table + 1) / (table + 1).sum(axis=0)
            logs += np.log(table)[own]
        logs -= logs.max(axis=1, keepdims=True)
        chances = _dealt(np.exp(logs), counts, classes)
    return np.asarray(chances)


def _dealt(chances: Floats, counts: Ints, classes: Ints) -> Floats:
    """Chances brought to what a class has to deal: one value for a person, those counted for a class (Sinkhorn)."""
    chances = chances / chances.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        dealt = np.stack([np.bincount(classes, one, len(counts)) for one in chances.T], axis=1)
        chances = chances * (counts / np.maximum(dealt, 1e-12))[classes]
        chances = chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-300)
    return chances


def _lift(both: tuple[int, int, int, int]) -> float:
    return (both[1] + both[3]) / max(1, both[2] + both[3])
