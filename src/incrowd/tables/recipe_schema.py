"""The JSON Schema of recipes, made from the options as they are declared: editors complete and check by it."""

from __future__ import annotations

from typing import Any

from incrowd.tables.options import RELEASE, Reading
from incrowd.vocabulary.option import Declared, Kind, options_of
from incrowd.vocabulary.schema import ColumnType, Role

FILE_NAME = "recipe.schema.json"
"""What the schema is called beside a recipe."""
_TEXTS = {"type": ["array", "null"], "items": {"type": ["string", "number", "boolean"]}}
_NAMES = {"type": ["array", "null"], "items": {"type": "string"}}
_KINDS: dict[Kind, dict[str, Any]] = {
    Kind.TEXT: {"type": ["string", "null"]},
    Kind.TEXTS: _TEXTS,
    Kind.NAMES: _NAMES,
    Kind.WHOLE: {"type": ["integer", "null"], "minimum": 1},
    Kind.SWITCH: {"type": ["boolean", "null"]},
    Kind.YES_NO: {"type": ["boolean", "null"]},
    Kind.FILE: {"type": ["string", "null"]},
    Kind.SETTINGS: {"type": ["object", "null"]},
    Kind.RENAMED: {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
    Kind.SETS: {
        "type": ["array", "null"],
        "items": {
            "type": "object",
            "properties": {"columns": {"type": "array", "items": {"type": "string"}}, "k": {"type": "integer"}},
            "required": ["columns"],
            "additionalProperties": False,
        },
    },
}
_COLUMN = {
    "type": "object",
    "properties": {
        "role": {"enum": [str(role) for role in Role], "description": "What the column is."},
        "type": {"enum": [str(kind) for kind in ColumnType], "description": "What its values are."},
        "order": {**_TEXTS, "description": "Its values from low to high, if it is ordered."},
        "hierarchy": {"type": ["string", "null"], "description": "The file of its hierarchy, beside the recipe."},
    },
    "additionalProperties": False,
}


def recipe_schema() -> dict[str, Any]:
    """The schema of a recipe, as plain data."""
    options = [one for groups in RELEASE.values() for group in groups for one in options_of(group)]
    properties = {one.name: _property(one) for one in options if one.key == one.name}
    properties["require"] = {"anyOf": [{"type": "string"}, _NAMES], "description": properties["require"]["description"]}
    sets = {"anyOf": [{"type": "string"}, {"type": "array", "items": _TEXTS}]}
    properties["apart"] = {**properties["apart"], "additionalProperties": sets}
    properties["lose"]["type"] = ["string", "number", "null"]
    properties["columns"] = {
        "type": ["object", "null"],
        "description": "What each column is; those that are not named keep what is drafted from the data.",
        "additionalProperties": _COLUMN,
    }
    properties["reading"] = {
        "type": ["object", "null"],
        "description": "How the file is read.",
        "properties": {one.name: _property(one) for one in options_of(Reading)},
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A recipe of incrowd: what is released, and how",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _property(one: Declared) -> dict[str, Any]:
    kind = _KINDS.get(one.option.kind, {"enum": [*one.option.example.split("|"), None]})
    return {**kind, "description": one.option.help}
