"""One release, file to file, in a running process: CPU seconds of the whole and of deciding, and its facts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import process_time

import polars as pl

import incrowd
from bench.census import hierarchies
from bench.people import TARGET
from incrowd.methods.catalog import find_method
from incrowd.report.facts import Facts
from incrowd.tables.recipe import Recipe, with_hierarchies, with_roles


@dataclass(frozen=True)
class Spent:
    """CPU seconds, user and system, of all threads; what came out."""

    whole: float
    deciding: float
    facts: Facts


def recipe_for(file: Path, method: str, k: int) -> Recipe:
    """Every column but the class is a quasi-identifier; hierarchies for the methods that use them."""
    names = [name for name in pl.scan_csv(file).collect_schema().names() if name != TARGET]
    recipe = with_roles(Recipe(k, method), quasi_identifiers=names, target=[TARGET])
    return with_hierarchies(recipe, hierarchies(names)) if find_method(method).generalizes else recipe


def release_timed(file: Path, method: str, k: int) -> Spent:
    """Release a CSV file into a CSV file beside it, recounted as always."""
    recipe = recipe_for(file, method, k)
    begun: dict[str, float] = {}

    def stage_begins(stage: str) -> None:
        begun[stage] = process_time()

    start = process_time()
    made = incrowd.release(
        file,
        recipe=recipe,
        to=file.with_name("release.csv"),
        outputs=incrowd.Outputs(replace=True),
        progress=stage_begins,
        despite_unchanged=True,
    )
    return Spent(process_time() - start, begun["applying"] - begun["deciding"], made.report)


def copy_timed(file: Path) -> float:
    """CPU seconds of Polars reading the file as it is and writing it again."""
    start = process_time()
    pl.read_csv(file, infer_schema=False).write_csv(file.with_name("copy.csv"))
    return process_time() - start
