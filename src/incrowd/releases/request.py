"""From a job to what the verification is told: the user's request, and where input and release lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.methods.catalog import find_method
from incrowd.releases.job import Job
from incrowd.rows.held import Held
from incrowd.tables.databases.tables import query_of
from incrowd.tables.reading.read import missing_markers
from incrowd.tables.reading.source import Origin
from incrowd.tables.recipe import Recipe
from incrowd.verification.request import Hint, InputFile, Request
from incrowd.vocabulary.forms import COUNTS, PAIR, groups_path
from incrowd.vocabulary.requirements.together import Together
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Column, Role, Schema

_FRAMES = ("pandas", "polars", "pyarrow")


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


def input_file(given: Any, origin: Origin, folder: Path, name: str, reading: Mapping[str, Any]) -> InputFile:
    """The file that the user named, as the user says it is read and else as was announced; a frame is put down as one.

    What is read from a server lies where the reader says.
    """
    if origin.form in _FRAMES:
        return InputFile(_put_down(given, folder / f"{name}.arrow"), "arrow", missing=origin.missing)
    path = Path(str(origin.path) if query_of(given) is not None else given)
    delimiter = reading.get("delimiter") or origin.delimiter
    missing = missing_markers(reading.get("missing"))
    return InputFile(path.resolve(), origin.form, delimiter, origin.encoding, origin.compression, missing)


def _put_down(frame: Any, path: Path) -> Path:
    """A frame as an Arrow file, cell by cell as it is."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pl.DataFrame):
        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    elif isinstance(frame, pa.Table):
        table = frame
    else:
        table = nw.from_native(frame.reset_index(drop=True), eager_only=True).to_arrow()
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    return path


def _population(job: Job, folder: Path) -> InputFile:
    from incrowd.tables.reading.read import read

    population, reading = job.recipe.population, job.recipe.reading
    return input_file(population, read(population, **reading).origin, folder, "population", reading)
