"""How many rows kACTUS handles on its way up the tree, the measure of work that the founding paper reasons with."""

from __future__ import annotations

from pathlib import Path

from bench.held import hold
from bench.people import ATTRIBUTES, TARGET
from incrowd.methods.numeric import bin_numbers
from incrowd.methods.tree_suppression.kactus import KActus, grow, release_bottom_up
from incrowd.tables.recipe import Recipe, with_roles
from incrowd.vocabulary.randomness import SystemRandomness


def rows_touched(file: Path, k: int) -> int:
    """Rows counted once for every node at which they are handled."""
    recipe = with_roles(Recipe(k), quasi_identifiers=ATTRIBUTES, target=[TARGET])
    randomness, method = SystemRandomness(), KActus()
    raw = hold(file, recipe).population(randomness)
    population = bin_numbers(raw, method.numeric, k).population
    tree = grow(method.inducer, method.missing, population, recipe.requirement)
    ledger, _ = release_bottom_up(tree, population.count(tree), k, randomness, method.reading)
    return ledger.touched
