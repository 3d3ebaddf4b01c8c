"""What the verification is told: the user's request, and where input and release lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import ParameterError
from incrowd.methods.catalog import find_method
from incrowd.releases.job import Job, has_counts
from incrowd.rows.one_machine import input_file
from incrowd.tables.reading.read import is_known, of_population, read
from incrowd.tables.recipe import Recipe
from incrowd.verification.request import Drawn, InputFile, Request
from incrowd.vocabulary.column_rules import NONE, TOP, Coarsening
from incrowd.vocabulary.requirement import with_subjects
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Column, Role, Schema

if TYPE_CHECKING:
    from incrowd.rows.held import Held, Unverified


def request_of(
    job: Job,
    held: Held,
    draft: Unverified,
    left_out: int,
    folder: Path | None = None,
    bins: Mapping[str, Sequence[str]] | None = None,
    joint: Sequence[Sequence[str]] = (),
) -> Request:
    """What the user asked for, and what was announced where the user said nothing.

    ``folder`` is where what the verification must read is put down, else beside the release; ``bins`` are the names of
    the bins in which numbers are counted, ``joint`` the attributes that are counted together.
    """
    recipe, (written, *groups) = job.recipe, draft.files or (Path(),)
    folder = folder or (written.parent if draft.files else job.private or Path())
    resources = held.resources or Resources(job.memory)
    on_population = bool(recipe.requirement.on_population)
    columns = tuple(_requested(column, recipe.columns.get(column.name, {})) for column in held.schema.columns)
    return Request(
        input=replace(input_file(job.table, held.origin, folder, "input", recipe.reading), keyed=job.keying),
        release=written,
        form=job.form,
        columns=with_subjects(recipe.requirement, Schema(columns)).columns,
        requirement=recipe.requirement,
        hint=draft.hint,
        groups=groups[0] if groups else None,
        typed=frozenset(name for name, wishes in recipe.columns.items() if "type" in wishes),
        counted=has_counts(recipe),
        drawn=_drawn(job, bins or {}, joint),
        levels=_has_levels(recipe),
        extremes=recipe.parameters.get("boxes") == "extremes",
        loses_rows=find_method(recipe.method).loses_rows,
        left_out=left_out,
        seeded=job.seed is not None,
        preset=recipe.preset.name if recipe.preset else None,
        own_roles=frozenset(name for name, wishes in recipe.columns.items() if "role" in wishes),
        own_rules=frozenset(_own_rules(recipe)),
        rarest=recipe.rarest or 0,
        at_most=dict(recipe.at_most),
        apart=dict(recipe.preferences.apart),
        lose=recipe.lose,
        persons=recipe.persons,
        population=_population(job, folder, held.schema.quasi_identifiers) if on_population else None,
        memory=resources.memory,
        threads=resources.threads,
        scratch=resources.scratch or folder,
    )


def _drawn(job: Job, bins: Mapping[str, Sequence[str]], joint: Sequence[Sequence[str]]) -> Drawn | None:
    """How counts are drawn; the verification reads the key from a file in the private folder of the run."""
    if job.counts_key is None or job.private is None:
        return None
    from incrowd.tables.reading.keyed import put_key

    path = job.private / "counts.key"
    put_key(path, job.counts_key)
    return Drawn(job.redraw, path, bins, joint)


def _own_rules(recipe: Recipe) -> Iterator[str]:
    """The columns that the user does not want coarsened as a preset does."""
    for name, text in (recipe.reading.get("coarsen") or {}).items():
        rule, usual = Coarsening.of(text), recipe.preset.kinds.values() if recipe.preset else ()
        if rule.kind == NONE or (rule.kind == TOP and text not in usual):
            yield name


def _has_levels(recipe: Recipe) -> bool:
    """Whether the user asks for numbers as levels; methods that show value by value give means of that kind, too."""
    numeric = recipe.parameters.get("numeric")
    return numeric == "levels" or (numeric == "mean" and find_method(recipe.method).by_value)


def _requested(column: Column, wishes: Any) -> Column:
    """A column with the role and the hierarchy that the user gave it."""
    role = Role(wishes["role"]) if "role" in wishes else column.role
    return replace(column, role=role, hierarchy=wishes.get("hierarchy", column.hierarchy))


def _population(job: Job, folder: Path, names: Sequence[str]) -> InputFile:
    population, reading = job.recipe.population, of_population(job.recipe.reading, names)
    if isinstance(population, str | Path) and not is_known(Path(population)):
        raise ParameterError("The population is read without plug-ins. Convert it, for instance to Parquet.")
    return input_file(population, read(population, **reading).origin, folder, "population", reading)
