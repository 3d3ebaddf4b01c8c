"""TDR: start from a table that shows nothing, and refine whatever tells most about the class per lost row of cover.

Fung, Wang, Yu, "Anonymizing Classification Data for Privacy Preservation" (IEEE TKDE 2007). Every attribute has one
state for the whole table: a cut through its taxonomy, intervals that are cut where the class changes, or values that
are disclosed one by one. The refinement with the best score is made, as long as one keeps the requirement.

TDS is its forerunner: Fung, Wang, Yu, "Top-Down Specialization for Information and Privacy Preservation" (ICDE 2005).
There is no suppression of single values: an attribute without taxonomy and order shows nothing, or all of its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar

from incrowd.measures.mdl import outer_ends
from incrowd.methods.catalog import target_of
from incrowd.methods.judging import Judge
from incrowd.methods.method import INTERVALS, Population, check_choice
from incrowd.methods.numeric_forms import interval_form, spread_steps
from incrowd.methods.top_down_refinement.attribute import Look
from incrowd.methods.top_down_refinement.attribute_kinds import attribute_of
from incrowd.methods.top_down_refinement.refinement import (
    AVERAGES,
    Refined,
    Refinement,
    Score,
    gain_alone,
    tdr_score,
    tds_score,
)
from incrowd.plan.steps import Reasons, Recode, Recoding, Step
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import KnownSet, Requirement
from incrowd.vocabulary.schema import ColumnType


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
        check_choice("numeric", self.numeric, INTERVALS)
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


def begin(population: Population, requirement: Requirement, score: Score, average: str, one_by_one: bool) -> Refinement:
    """The table with nothing shown.

    Parameters
    ----------
    score, average
        See :class:`~incrowd.methods.top_down_refinement.refinement.Refinement`.
    one_by_one
        Whether categories without hierarchy and order are disclosed one by one.
    """
    schema = population.schema
    target_of(schema, "Top-down refinement")
    requirement.check_possible(population.rows)
    judge = Judge.of(requirement, population)
    names = schema.quasi_identifiers
    table = population.sample()
    attributes = [
        attribute_of(table[name], population.contingency(name), schema[name].hierarchy, one_by_one) for name in names
    ]
    evidence = None if judge.by_size else judge.records(population, names)
    held = population.combinations(names)
    return Refinement(
        held=held, attributes=attributes, sets=requirement.sets(names), score=score, average=average, evidence=evidence
    )


def finish(refinement: Refinement, population: Population, requirement: Requirement, numeric: str) -> tuple[Step, ...]:
    """Refine as far as possible; then write down what the values show, and what was done in which order."""
    schema = population.schema
    trace = list(refinement.run())
    table = population.sample()
    columns = [table[name] for name in schema.quasi_identifiers]
    recodings = []
    for column, attribute in zip(columns, refinement.attributes, strict=True):
        look = _look(column, population, numeric, requirement.smallest_group)
        recodings.append(Recoding(column.name, attribute.parts(look)))
    spread = spread_steps(numeric, [c for c in columns if not _has_values(schema[c.name].hierarchy)])
    reasons = reasons_of(trace, requirement.sets(schema.quasi_identifiers), refinement.anonymity)
    return Recode(tuple(recodings)), *spread, reasons


def _has_values(hierarchy: Hierarchy | None) -> bool:
    return hierarchy is not None and hierarchy.kind is Leaves.VALUES


def _look(column: EncodedColumn, population: Population, numeric: str, k: int) -> Look:
    """How intervals of a column are written."""
    ends: tuple[float, float] = (0, 0)
    if numeric == "midpoint" and column.type.is_numeric:
        rows = population.contingency(column.name).sum(axis=1)[:-1]
        ends = outer_ends(column.numbers, rows, k, column.type is not ColumnType.REAL)
    return partial(interval_form, numeric=numeric, ends=ends)


def reasons_of(trace: Sequence[Refined], sets: Sequence[KnownSet], anonymity: Sequence[int]) -> Reasons:
    """The refinements as a table."""
    smallest = ["smallest group"] if len(sets) == 1 else [f"smallest group of {', '.join(one.names)}" for one in sets]
    rows = tuple(
        (
            step.candidate.attribute,
            step.candidate.refined,
            step.candidate.into,
            _short(step.candidate.gain),
            _short(step.candidate.loss),
            _short(step.candidate.score),
            *step.anonymity,
        )
        for step in trace
    )
    facts = (("refinements", len(trace)), *zip(smallest, anonymity, strict=True))
    columns = ("attribute", "refined", "into", "gain", "loss", "score", *smallest)
    return Reasons("Refinements, in order", columns, rows, facts)


def _short(figure: float) -> float:
    """A figure with four digits."""
    return float(f"{figure:.4g}")


@dataclass(frozen=True)
class TDS(TDR):
    """Top-down specialization: TDR without disclosing values one by one, and with another score.

    The parameters are those of :class:`TDR`.

    Examples
    --------
    >>> TDS().name
    'tds'
    """

    name: ClassVar[str] = "tds"
    one_by_one: ClassVar[bool] = False
    criteria: ClassVar[Mapping[str, Score]] = {"score": tds_score, "gain": gain_alone}
