"""From a job to what the verification is told: the user's request, and where input and release lie."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from incrowd.methods.catalog import find_method
from incrowd.releases.job import Job
from incrowd.rows.held import Held
from incrowd.rows.hint import input_file
from incrowd.tables.recipe import Recipe
from incrowd.verification.request import Hint, InputFile, Request
from incrowd.vocabulary.forms import COUNTS, PAIR, groups_path
from incrowd.vocabulary.requirements.together import Together
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Column, Role, Schema


def request_of(job: Job, held: Held, hint: Hint, written: Path, left_out: int) -> Request:
    """What the user asked for, and what was announced where the user said nothing."""
    recipe, folder = job.recipe, written.parent
    resources = held.resources or Resources(job.memory)
    on_population = isinstance(recipe.requirement, Together) and bool(recipe.requirement.on_population)
    return Request(
        input=input_file(job.given, held.origin, folder, "input", recipe.reading),
        release=written,
        form=job.form,
        columns=as_asked(recipe, held.schema),
        requirement=recipe.requirement,
        hint=hint,
        groups=groups_path(written) if job.pair else None,
        typed=frozenset(name for name, said in recipe.columns.items() if "type" in said),
        counted=has_counts(recipe),
        levels=has_levels(recipe),
        extremes=has_extremes(recipe),
        loses_rows=find_method(recipe.method).loses_rows,
        left_out=left_out,
        seeded=job.seed is not None,
        rarest=recipe.rarest or 0,
        population=_population(job, folder) if on_population else None,
        memory=resources.memory,
        threads=resources.threads,
        scratch=resources.scratch or folder,
    )


def as_asked(recipe: Recipe, schema: Schema) -> tuple[Column, ...]:
    """The columns with the roles and hierarchies that the user gave them."""
    return tuple(_asked(column, recipe.columns.get(column.name, {})) for column in schema.columns)


def has_counts(recipe: Recipe) -> bool:
    """Whether the user asks for counts, by the form or by a method that releases them by itself."""
    return recipe.form in (COUNTS, PAIR) or (recipe.form is None and find_method(recipe.method).counts)


def has_levels(recipe: Recipe) -> bool:
    """Whether the user asks for numbers as levels; methods that show value by value give means of that kind, too."""
    numeric = recipe.parameters.get("numeric")
    return numeric == "levels" or (numeric == "mean" and find_method(recipe.method).by_value)


def has_extremes(recipe: Recipe) -> bool:
    """Whether the user asks for intervals that end at numbers somebody has."""
    return recipe.parameters.get("boxes") == "extremes"


def _asked(column: Column, said: Any) -> Column:
    """A column with the role and the hierarchy that the user gave it."""
    role = Role(said["role"]) if "role" in said else column.role
    return replace(column, role=role, hierarchy=said.get("hierarchy", column.hierarchy))


def _population(job: Job, folder: Path) -> InputFile:
    from incrowd.tables.reading.read import read

    population, reading = job.recipe.population, job.recipe.reading
    return input_file(population, read(population, **reading).origin, folder, "population", reading)
