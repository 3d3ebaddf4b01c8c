"""From a population to the steps of its release: what both methods share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from incrowd.algorithms.judging import Judge
from incrowd.algorithms.numeric_forms import interval_form, spread_steps
from incrowd.algorithms.population import Population
from incrowd.algorithms.top_down_refinement.attribute import Look
from incrowd.algorithms.top_down_refinement.attributes import attribute_of
from incrowd.algorithms.top_down_refinement.refinement import Refined, Refinement
from incrowd.algorithms.top_down_refinement.score import Score
from incrowd.errors import SchemaError
from incrowd.measures.cuts import outer_ends
from incrowd.plan.steps import Reasons, Recode, Recoding, Step
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.requirement import KnownSet, Requirement
from incrowd.vocabulary.schema import ColumnType


def begin(population: Population, requirement: Requirement, score: Score, average: str, one_by_one: bool) -> Refinement:
    """The table with nothing shown.

    Parameters
    ----------
    score, average
        See :class:`~incrowd.algorithms.top_down_refinement.refinement.Refinement`.
    one_by_one
        Whether categories without hierarchy and order are disclosed one by one.
    """
    schema = population.schema
    if schema.target is None:
        raise SchemaError("Top-down refinement needs a target: the class recipients will learn. Name one with target=.")
    requirement.check_possible(population.rows)
    judge = Judge.of(requirement, population)
    names = schema.quasi_identifiers
    table = population.sample()
    attributes = [
        attribute_of(table[name], population.contingency(name), schema[name].hierarchy, one_by_one) for name in names
    ]
    evidence = None if judge.by_size else judge.records(population, names)
    held = population.combinations(names)
    return Refinement(held, attributes, requirement.sets(names), score, average, evidence)


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
