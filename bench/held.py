"""A file as the pipeline holds it in memory."""

from __future__ import annotations

from pathlib import Path

from incrowd.rows.memory.held import InMemory
from incrowd.rows.one_machine import Destination
from incrowd.tables.reading.read import read
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.forms import FileForm


def hold(file: Path, recipe: Recipe) -> InMemory:
    """Read and encode, every column with its role and type."""
    return InMemory.of(read(file, **recipe.reading), recipe, Destination(Path(), FileForm("parquet")))
