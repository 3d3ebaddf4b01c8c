"""What the parts of a recipe are checked for, in the words of its file.

Presets: recipe fragments by name, each a small YAML file that one can read (``incrowd presets NAME``).

The JSON Schema of recipes, made from the options as they are declared: editors complete and check by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from incrowd.errors import Notice, ParameterError, SchemaError, option_name
from incrowd.tables.options import RELEASE, Reading
from incrowd.vocabulary.column_rules import coarsenings
from incrowd.vocabulary.forms import STRICT
from incrowd.vocabulary.option import Declared, Kind, nearest, options_of
from incrowd.vocabulary.persons import LINKED_METHODS, Persons
from incrowd.vocabulary.schema import ColumnType, Role

if TYPE_CHECKING:
    from incrowd.tables.recipe import Recipe

DEFAULT_METHOD = "kactus-plus"
"""It shows two to three times as much as ``kactus``, in plain values, and leaves nobody out."""
PLAIN_METHOD = "blend"
"""Where plain values are asked for by their form: they keep more (docs/results/choices.md)."""
PRESETS = ("research", "public", "safe-harbor")
"""The presets there are."""


@dataclass(frozen=True)
class Preset:
    """What a preset asks for."""

    name: str  # what it is called
    settings: Mapping[str, Any] = field(default_factory=dict)  # what it says in a recipe's own keys
    # for kinds of identifiers that are looked for: the role, or the rule, of a column in which one is found
    kinds: Mapping[str, str] = field(default_factory=dict)
    sensitive: str | None = None  # what is required of every sensitive column, in words


@dataclass(frozen=True)
class PresetDeeds:
    """What a preset does with the columns of a table.

    ``columns`` are their settings with it, ``rules`` those by which it makes some coarser, ``why`` each of these.
    """

    columns: Mapping[str, Mapping[str, Any]]
    rules: Mapping[str, str]
    why: Mapping[str, str]
    notices: tuple[Notice, ...]

    def reading(self, own: Mapping[str, Any]) -> Mapping[str, Any]:
        """How the table is read with it."""
        return {**own, "coarsen": {**(own.get("coarsen") or {}), **self.rules}} if self.rules else own


def preset_text(name: str) -> str:
    """The file of a preset."""
    if name not in PRESETS:
        likely = nearest(name, {known: known for known in PRESETS})
        raise ParameterError(f"There is no preset {str(name)!r}.{likely} Known: {', '.join(PRESETS)}.")
    return files("incrowd.tables").joinpath("presets", f"{name}.yaml").read_text(encoding="utf-8")


def read_preset(name: str) -> Preset:
    """A preset by its name.

    Examples
    --------
    >>> read_preset("public").settings["k"], read_preset("safe-harbor").kinds["ZIP codes"]
    (20, 'zip3')
    """
    from incrowd.vocabulary.plain_data import read_plain_yaml

    data = dict(read_plain_yaml(preset_text(name), f"The preset {name}"))
    return Preset(name, kinds=data.pop("kinds", {}), sensitive=data.pop("sensitive", None), settings=data)


VERSION = 1
"""Of the format of a recipe's file, which may state it as ``incrowd_recipe``."""
READING_KEYS = tuple(one.name for one in options_of(Reading))


def choice(kind: type[StrEnum], value: object, column: str) -> StrEnum:
    """The role or type that a column is said to have."""
    try:
        return kind(str(value))
    except ValueError:
        word = "role" if kind is Role else "type"
        raise SchemaError(f"Column {column!r} has an unknown {word}. Choose one of {', '.join(kind)}.") from None


def check_version(version: object, name: str) -> None:
    """Raise unless a recipe's file is of the version that is read here."""
    if version != VERSION:
        raise ParameterError(
            f"The recipe {name} is of another version of the format than {VERSION}, which this incrowd reads. Update "
            "incrowd, or draft it again: incrowd inspect."
        )


def check_keys(data: object, known: tuple[str, ...] | None, where: str) -> None:
    """Raise unless the data are settings, and known ones if only some are known."""
    if not isinstance(data, Mapping):
        example = known[0] if known else "name"
        raise ParameterError(f"In {where}: expected settings such as {example}: …")
    for key in data:
        if known is not None and key not in known:
            likely = nearest(key, {name: name for name in known})
            raise ParameterError(f"In {where}: unknown setting {str(key)!r}.{likely} Known: {', '.join(known)}.")


def check_list(data: object, where: str) -> None:
    """Raise unless the data are a list, or nothing."""
    if data is not None and not isinstance(data, list | tuple):
        raise ParameterError(f"In {where}: expected a list such as [a, b].")


def check_names(data: object, where: str) -> None:
    """Raise unless the data are a list of names of columns, or nothing."""
    check_list(data, where)
    if isinstance(data, list | tuple) and not all(isinstance(name, str) for name in data):
        raise ParameterError(f"In {where}: names of columns are text. Put numbers in quotes.")


def check_reading(reading: Any) -> None:
    """Raise unless these are settings for reading files."""
    check_keys(reading, READING_KEYS, "reading")
    check_list(reading.get("missing"), "reading: missing")
    for key in ("delimiter", "encoding", "decimal", "dates", "sheet"):
        if not isinstance(reading.get(key), str | None):
            raise ParameterError(f"In reading: {key} must be text, in quotes.")
    check_names(reading.get("names"), "reading: names")
    coarsenings(reading.get("coarsen"))
    row = reading.get("header_row")
    if isinstance(row, bool) or not isinstance(row, int | None):
        raise ParameterError("In reading: header_row must be the number of a row.")
    if not isinstance(reading.get("header"), bool | None):
        raise ParameterError("In reading: header must be yes or no.")


def with_role(columns: Mapping[str, Any], role: Role, names: Sequence[str]) -> dict[str, Any]:
    """The columns with one more role stated; a column that has another already is refused."""
    settled = dict(columns)
    for name in names:
        settings = settled.get(name) or {}
        stated = settings.get("role", role) if isinstance(settings, Mapping) else role
        if stated != role:
            raise SchemaError(f"Column {name!r} cannot be both {stated} and {role}. Choose one role.")
        settled[name] = {**settings, "role": role}
    return settled


def class_and_parameters(method: Any, parameters: Mapping[str, Any]) -> tuple[type[Any], dict[str, Any]]:
    """The class of a method that is passed as an object, and those of its parameters that are not the usual ones."""
    if not (is_dataclass(method) and callable(getattr(method, "decide", None))):
        raise ParameterError(
            "method must be the name of a method, or a method as an object. To list the names: incrowd methods."
        )
    if parameters:
        raise ParameterError("A method that is passed as an object has its parameters. Set them there.")
    own = {field.name: getattr(method, field.name) for field in fields(method) if field.init}
    usual = {field.name: field.default for field in fields(method)}
    return type(method), {name: value for name, value in own.items() if value != usual[name]}


def with_method_of_form(recipe: Recipe) -> Recipe:
    """The recipe, which names no method, with the one for its form, unless that cannot do what is asked for."""
    unable = recipe.parameters or recipe.lose is not None or recipe.at_most or recipe.apart
    if recipe.method != DEFAULT_METHOD or recipe.form != STRICT or unable:
        return recipe
    if recipe.requirement.on_population:
        return recipe
    return replace(recipe, method=PLAIN_METHOD)


def columns_of(known_together: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of the sets that are known together, each once."""
    return list(dict.fromkeys(name for known in known_together for name in known["columns"]))


def linked_method(
    persons: Persons | None, method: Any, parameters: Mapping[str, Any], usual: str
) -> tuple[Any, Mapping[str, Any]]:
    """The method and its parameters; with persons who can be followed both follow from what is asked for.

    Examples
    --------
    >>> linked_method(Persons("patient_id", linked=True, known_rows=2), "kactus-plus", {}, "kactus-plus")
    ('known-rows', {'rows': 2, 'count': False})
    """
    name = method if isinstance(method, str) else getattr(method, "name", "")
    if persons is None or persons.method is None:
        if name in LINKED_METHODS:
            option = option_name("keep_link", "--keep-link")
            raise ParameterError(f"{name} makes releases in which persons can be followed. Add {option}.")
        return method, parameters
    own, needed = persons.method
    if name not in (usual, *LINKED_METHODS):
        raise ParameterError(not_linked(name, own))
    return own, {**parameters, **needed}


def not_linked(name: str, own: str) -> str:
    """That a method makes no releases in which persons can be followed."""
    option = option_name("keep_link", "--keep-link")
    return f"{name} groups rows, and {option} takes groups of persons: {own} makes them. Name no method."


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
    properties["incrowd_recipe"] = {"const": VERSION, "description": "The version of this format."}
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
