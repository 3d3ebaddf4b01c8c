"""The suppression-pattern attack: what do the hidden cells themselves give away?

The attacker knows the program and every cell of the source but the confidential one, re-runs the hider for each value
the cell may have, and compares what it would have hidden with what was hidden. That is the strongest attacker of this
kind: a real one does not know the other cells that were hidden. All draws are gone through, so the figures are exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from incrowd.adversaries.published import PublishedTable
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.hybrid import Hider
from incrowd.algorithms.cell_hiding.secret import Secret, secret_at

Pattern = tuple[tuple[int, str, int], ...]


@dataclass
class Script:
    """Chance that follows a script of choices; where the script ends, it takes the first choice."""

    script: list[int]
    sizes: list[int] = field(default_factory=list)

    def one_of(self, values: Sequence[int]) -> int:
        """The scripted one of the values."""
        place = len(self.sizes)
        self.sizes.append(len(values))
        if place == len(self.script):
            self.script.append(0)
        return values[self.script[place]]

    def coin(self) -> bool:
        """A scripted side."""
        return self.one_of((0, 1)) == 1

    @property
    def probability(self) -> Fraction:
        """Of this script, all draws being fair."""
        result = Fraction(1)
        for size in self.sizes:
            result /= size
        return result

    def following(self) -> list[int] | None:
        """The next script, counting up from the last draw; None after the last one."""
        script = self.script[: len(self.sizes)]
        while script:
            script[-1] += 1
            if script[-1] < self.sizes[len(script) - 1]:
                return script
            script.pop()
        return None


@dataclass(frozen=True)
class PatternAttack:
    """What the pattern tells about one confidential cell.

    Parameters
    ----------
    prior
        The share of the true value among the other rows, one row added to each value.
    expected, worst
        The probability the attacker gives the true value after seeing the pattern: on average over the draws, and for
        the most telling pattern.
    patterns
        How many different patterns the true value can leave.
    """

    prior: Fraction
    expected: Fraction
    worst: Fraction
    patterns: int

    @property
    def lift(self) -> Fraction:
        """Expected posterior over prior; 1 if the pattern tells nothing."""
        return self.expected / self.prior

    @property
    def worst_lift(self) -> Fraction:
        """Worst posterior over prior."""
        return self.worst / self.prior


def pattern_attack(published: PublishedTable, row: int, attribute: str, hider: Hider) -> PatternAttack:
    """Attack one cell of a table by the pattern its hiding leaves. The table is left as it was."""
    mark = published.mark()
    actual = secret_at(published, row, attribute, Script([])).actual
    values = published.taxonomy(attribute).leaves
    counts = published.counts(attribute)
    total = sum(int(counts[value]) for value in values) + len(values)
    priors = {value: Fraction(int(counts[value]) + 1, total) for value in values}
    odds = {value: patterns(published, row, attribute, value, hider) for value in values}
    expected = worst = Fraction(0)
    for pattern, chance in odds[actual].items():
        seen = sum((priors[value] * odds[value].get(pattern, Fraction(0)) for value in values), Fraction(0))
        posterior = priors[actual] * chance / seen
        expected += chance * posterior
        worst = max(worst, posterior)
    published.back(mark)
    return PatternAttack(priors[actual], expected, worst, len(odds[actual]))


def patterns(published: PublishedTable, row: int, attribute: str, value: int, hider: Hider) -> dict[Pattern, Fraction]:
    """The patterns the hider leaves if the blanked cell had this value, with their probabilities."""
    found: dict[Pattern, Fraction] = defaultdict(Fraction)
    for script in _scripts():
        mark = published.mark()
        published.show([row], attribute, HIDDEN)
        hider.hide(Secret(published, row, attribute, value, script))
        changed = published.touched(mark)
        found[tuple((place, name, published.node(place, name)) for place, name in changed)] += script.probability
        published.back(mark)
    return dict(found)


def _scripts() -> Iterator[Script]:
    """All scripts of draws, each made from the one before once that was played."""
    following: list[int] | None = []
    while following is not None:
        script = Script(following)
        yield script
        following = script.following()
