"""What a release and its verification are told about the population a table comes from."""

from __future__ import annotations

from collections.abc import Callable

from incrowd.plan.release_plan import ReleasePlan
from incrowd.reading.population import read_population
from incrowd.recipe import Recipe
from incrowd.verification.asked import Asked
from incrowd.verification.population import People
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.together import Together
from incrowd.vocabulary.schema import Schema


def people_of(recipe: Recipe, schema: Schema) -> EncodedTable | None:
    """The population of a recipe, its quasi-identifiers typed as those of the table; None if nothing is asked of it."""
    return read_population(recipe.population, recipe.requirement, schema, recipe.reading)


def people_asked(
    requirement: Requirement, plan: ReleasePlan, people: EncodedTable | None, asked: Asked, rename: Callable[[str], str]
) -> People | None:
    """What the verification is told about the population, in the names of the written file."""
    if people is None or not isinstance(requirement, Together):
        return None
    shown = {}
    for name in plan.names:
        shown[rename(next(written.name for written in plan.written if written.source == name))] = name
    return People(people, shown, requirement.on_population, asked.hierarchies, asked.bounds)
