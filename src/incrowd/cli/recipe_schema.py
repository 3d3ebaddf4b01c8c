"""``incrowd recipe-schema``: what editors complete recipes by."""

from __future__ import annotations

from incrowd.cli.shared import print_json


def recipe_schema() -> None:
    """Print the JSON Schema of recipes: save it as recipe.schema.json beside them, and editors complete them."""
    from incrowd.tables.recipe_schema import recipe_schema as schema

    print_json(schema())
