"""IACk and IACc: every attribute at the level that tells most of the class; then hide what is still rare.

Li, Liu, Baig, Wong, "Information based data anonymization for classification utility" (Data & Knowledge Engineering
2011). The level of an attribute is chosen for the class, not for k, and is the same for all rows, so that learners see
one consistent domain. IACk (Algorithm 1) then hides every combination of fewer than k rows, whole. IACc (Algorithm 2)
hides combinations size by size, the rarest first, while no attribute's distribution (delta_d) and no attribute's
information on the class (delta_c) changes too much. The k asked for is a floor that is kept whatever the thresholds
say; with k=1 this is the paper's algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from incrowd.methods.method import INTERVALS, Population, check_choice, check_flag, check_not_negative
from incrowd.methods.mutual_information.generalizing import TOLERANCE, Generalized, generalize
from incrowd.methods.mutual_information.hiding import (
    ON_SMALL,
    AttributeChange,
    CombinationHiding,
    changes_of,
    reasons,
)
from incrowd.plan.steps import Step
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import KnownSet, Requirement

TITLE = "Levels by normalized mutual information with the class"


@dataclass(frozen=True)
class IACk:
    """IACk.

    Parameters
    ----------
    numeric
        How intervals are released: ``"interval"`` (default), ``"bounds"``, ``"midpoint"`` or ``"mean"``.
    min_entropy
        A level whose values have less entropy, in bits, scores 0; 0 (default) is the paper. The score divides by that
        entropy, and a level that sets a handful of rows apart from all others can score high by accident.
    strict
        Whether the rows that show nothing must be at least k as well, or none. Without it (as in the paper) they may
        be fewer, and the release is not k-anonymous.
    on_small
        What to do, if strict, when they are fewer: ``"suppress"`` (default) hides the smallest combination that is
        left as well; ``"drop"`` leaves them out.

    Examples
    --------
    >>> IACk().name
    'iack'
    """

    numeric: str = "interval"
    min_entropy: float = 0.0
    strict: bool = True
    on_small: str = "suppress"

    name: ClassVar[str] = "iack"

    def __post_init__(self) -> None:
        check_choice("numeric", self.numeric, INTERVALS)
        check_not_negative("min_entropy", self.min_entropy)
        check_flag("strict", self.strict)
        check_choice("on_small", self.on_small, ON_SMALL)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return dict(vars(self))

    def decide(self, population: Population, requirement: Requirement, randomness: Randomness) -> tuple[Step, ...]:  # noqa: ARG002, nothing is left to chance
        """Choose the levels, then hide what is rare."""
        generalized = generalize(population, requirement, self.numeric, self.min_entropy)
        hiding = CombinationHiding(generalized, strict=self.strict, on_small=self.on_small)
        hiding.settle(requirement.sets(generalized.names))
        changes = changes_of(generalized, hiding.hidden)
        recode = generalized.recode(generalized.still_shown(hiding.hidden))
        return recode, *hiding.steps, *generalized.spread, reasons(TITLE, generalized, hiding, changes, ())


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
        As in :class:`~incrowd.methods.mutual_information.iac.IACk`.

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
