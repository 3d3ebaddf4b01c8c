"""A file as the pipeline holds it in memory."""

from __future__ import annotations

from pathlib import Path

from incrowd.reading.read import read
from incrowd.recipe import Recipe
from incrowd.rows.memory.engine import EmbeddedEngine
from incrowd.rows.memory.held import InMemory


def hold(file: Path, recipe: Recipe) -> InMemory:
    """Read and encode, every column with its role and type."""
    return InMemory.of(read(file, **recipe.reading), recipe, EmbeddedEngine())
