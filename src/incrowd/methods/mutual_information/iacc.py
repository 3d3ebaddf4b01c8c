"""IACc: hide as many rare combinations as the distributions of the attributes can bear.

Li, Liu, Baig, Wong, "Information based data anonymization for classification utility" (Data & Knowledge Engineering
2011), Algorithm 2. Levels are chosen as in IACk. Then combinations are hidden size by size, the rarest first, while no
attribute's distribution (delta_d) and no attribute's information on the class (delta_c) changes too much. The k asked
for is a floor that is kept whatever the thresholds say; with k=1 this is the paper's algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from incrowd.methods.method import INTERVALS, check_choice, check_flag, check_not_negative
from incrowd.methods.mutual_information.generalizing import TOLERANCE, Generalized, generalize
from incrowd.methods.mutual_information.hiding import (
    ON_SMALL,
    AttributeChange,
    CombinationHiding,
    changes_of,
    reasons,
)
from incrowd.methods.mutual_information.iack import TITLE
from incrowd.methods.population import Population
from incrowd.plan.steps import Step
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import KnownSet, Requirement

SCALES = ("relative", "absolute")


@dataclass(frozen=True)
class IACc:
    """IACc.

    Parameters
    ----------
    delta_d
        How much the distribution of an attribute may change: a bound on D_N(A'||A'').
    delta_c
        How much the information of an attribute on the class may change: a bound on abs(I_N(A''; C) - I_N(A'; C)).
    scale
        ``"relative"`` (default): both are shares of the scale the paper suggests for each attribute, (log n - H(A')) /
        H(A') and H(C) / H(A'). ``"absolute"``: they are the paper's plain thresholds.
    numeric, min_entropy, strict, on_small
        As in :class:`~incrowd.methods.mutual_information.iack.IACk`.

    Examples
    --------
    >>> IACc().name
    'iacc'
    """

    delta_d: float = 0.05
    delta_c: float = 0.05
    scale: str = "relative"
    numeric: str = "interval"
    min_entropy: float = 0.0
    strict: bool = True
    on_small: str = "suppress"

    name: ClassVar[str] = "iacc"

    def __post_init__(self) -> None:
        check_not_negative("delta_d", self.delta_d)
        check_not_negative("delta_c", self.delta_c)
        check_choice("scale", self.scale, SCALES)
        check_choice("numeric", self.numeric, INTERVALS)
        check_not_negative("min_entropy", self.min_entropy)
        check_flag("strict", self.strict)
        check_choice("on_small", self.on_small, ON_SMALL)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return dict(vars(self))

    def decide(self, population: Population, requirement: Requirement, randomness: Randomness) -> tuple[Step, ...]:  # noqa: ARG002, nothing is left to chance
        """Choose the levels, keep the floor, then hide size by size while the thresholds hold."""
        generalized = generalize(population, requirement, self.numeric, self.min_entropy)
        floor = requirement.sets(generalized.names)
        kept, changes = self._furthest(generalized, floor)
        recode = generalized.recode(generalized.still_shown(kept.hidden))
        reached = [known.k + kept.raised for known in floor]
        facts = (
            ("k", tuple(reached) if len(reached) > 1 else reached[0]),
            ("e_min", kept.e_min),
            ("thresholds exceeded at the k asked for", self.exceeds(changes)),
        )
        return recode, *kept.steps, *generalized.spread, reasons(TITLE, generalized, kept, changes, facts)

    def _furthest(
        self, generalized: Generalized, floor: Sequence[KnownSet]
    ) -> tuple[CombinationHiding, tuple[AttributeChange, ...]]:
        """The last hiding, size by size, before a threshold is exceeded; the floor's in any case."""
        kept: tuple[CombinationHiding, tuple[AttributeChange, ...]] | None = None
        for hiding in self._rising(generalized, floor):
            changes = changes_of(generalized, hiding.hidden)
            exceeded = self.exceeds(changes)
            if kept is None or not exceeded:
                kept = hiding, changes
            if exceeded:
                break
        assert kept is not None
        return kept

    def exceeds(self, changes: Sequence[AttributeChange]) -> bool:
        """Whether some attribute has changed by more than a threshold; equality is allowed."""
        if self.scale == "relative":
            pairs = [(change.divergence_share, change.information_share) for change in changes]
        else:
            pairs = [(change.normalized_divergence, change.information) for change in changes]
        return any(d > self.delta_d + TOLERANCE or c > self.delta_c + TOLERANCE for d, c in pairs)

    def _rising(self, generalized: Generalized, floor: Sequence[KnownSet]) -> Iterator[CombinationHiding]:
        """What is hidden at the floor, then at each larger k that hides more; the k of all sets rises together."""
        raised: int | None = 0
        while raised is not None:
            hiding = CombinationHiding(generalized, raised=raised, strict=self.strict, on_small=self.on_small)
            hiding.settle(floor)
            yield hiding
            raised = hiding.next_raise
