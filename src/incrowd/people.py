"""The population a table comes from: read like the table, for requirements that look at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from incrowd.errors import ParameterError
from incrowd.plan.release_plan import ReleasePlan
from incrowd.reading.encode import encode
from incrowd.reading.read import read
from incrowd.recipe import Recipe
from incrowd.verification.asked import Asked
from incrowd.verification.population import People
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.together import Together
from incrowd.vocabulary.schema import Schema, unknown_column


def people_of(recipe: Recipe, schema: Schema) -> EncodedTable | None:
    """The quasi-identifiers of the population, typed as those of the table; None if nothing is required of it."""
    requirement = recipe.requirement
    if not isinstance(requirement, Together) or not requirement.on_population:
        return None
    if recipe.population is None:
        raise ParameterError(
            f"{requirement.on_population[0]} needs a population: a table of the people the rows are from, with the "
            "quasi-identifiers. Give it with population= or --population."
        )
    source = read(recipe.population, **recipe.reading)
    names = list(schema.quasi_identifiers)
    for name in names:
        if name not in source.frame.columns:
            raise ParameterError(
                f"The population lacks a quasi-identifier. {unknown_column(name, source.frame.columns)}"
            )
    columns = tuple(replace(schema[name], reason="") for name in names)
    return encode(source, Schema(columns), names)[0]


def people_asked(
    requirement: Requirement, plan: ReleasePlan, people: EncodedTable | None, asked: Asked, rename: Callable[[str], str]
) -> People | None:
    """What the verification is told about the population, in the names of the written file."""
    if people is None or not isinstance(requirement, Together):
        return None
    values = {}
    for name in plan.names:
        first = next(written.name for written in plan.written if written.source == name)
        values[rename(first)] = _values(people[name])
    return People(values, requirement.on_population, asked.hierarchies, asked.bounds)


def _values(column: EncodedColumn) -> list[Any]:
    known = [*column.dictionary.to_list(), None]
    return [known[code] for code in column.codes.tolist()]
