"""TDR: start from a table that shows nothing, and refine whatever tells most about the class per lost row of cover.

Fung, Wang, Yu, "Anonymizing Classification Data for Privacy Preservation" (IEEE TKDE 2007). Every attribute has one
state for the whole table: a cut through its taxonomy, intervals that are cut where the class changes, or values that
are disclosed one by one. The refinement with the best score is made, as long as one keeps the requirement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from incrowd.algorithms.numeric_forms import NUMERIC
from incrowd.algorithms.parameters import check_choice
from incrowd.algorithms.population import Population
from incrowd.algorithms.top_down_refinement.decision import begin, finish
from incrowd.algorithms.top_down_refinement.refinement import Refinement
from incrowd.algorithms.top_down_refinement.score import AVERAGES, Score, gain_alone, tdr_score
from incrowd.plan.steps import Step
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import Requirement


@dataclass(frozen=True)
class TDR:
    """Top-down refinement.

    Parameters
    ----------
    numeric
        How intervals are written: ``"interval"`` (default), ``"bounds"``, ``"midpoint"`` or ``"mean"``.
    loss_average
        With several sets of attributes known together: the loss is averaged over the sets that contain the attribute
        (``"related"``, default, as in the paper) or over ``"all"`` sets (as in the authors' program).
    criterion
        ``"score"`` (default): gain per loss. ``"gain"``: the information gain alone.

    Examples
    --------
    >>> TDR(criterion="gain").parameters()
    {'numeric': 'interval', 'loss_average': 'related', 'criterion': 'gain'}
    """

    numeric: str = "interval"
    loss_average: str = "related"
    criterion: str = "score"

    name: ClassVar[str] = "tdr"
    one_by_one: ClassVar[bool] = True
    criteria: ClassVar[Mapping[str, Score]] = {"score": tdr_score, "gain": gain_alone}

    def __post_init__(self) -> None:
        check_choice("numeric", self.numeric, NUMERIC)
        check_choice("loss_average", self.loss_average, AVERAGES)
        check_choice("criterion", self.criterion, tuple(self.criteria))

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return asdict(self)

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,  # noqa: ARG002, nothing is left to chance
    ) -> tuple[Step, ...]:
        """Refine until nothing can be refined; no row is left out."""
        return finish(self.begin(population, requirement), population, requirement, self.numeric)

    def begin(self, population: Population, requirement: Requirement) -> Refinement:
        """The search before its first refinement."""
        return begin(population, requirement, self.criteria[self.criterion], self.loss_average, self.one_by_one)
