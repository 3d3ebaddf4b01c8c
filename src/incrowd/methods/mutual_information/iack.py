"""IACk: every attribute at the level that tells most of the class; then hide the combinations of fewer than k rows.

Li, Liu, Baig, Wong, "Information based data anonymization for classification utility" (Data & Knowledge Engineering
2011), Algorithm 1. The level of an attribute is chosen for the class, not for k, and is the same for all rows, so that
learners see one consistent domain. What is still rare after that is suppressed, whole combinations at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from incrowd.methods.method import INTERVALS, check_choice, check_flag, check_not_negative
from incrowd.methods.mutual_information.generalizing import generalize
from incrowd.methods.mutual_information.hiding import ON_SMALL, CombinationHiding, changes_of, reasons
from incrowd.methods.population import Population
from incrowd.plan.steps import Step
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import Requirement

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
