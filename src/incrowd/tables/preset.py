"""Presets: recipe fragments by name, each a small YAML file that one can read (``incrowd presets NAME``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from incrowd.errors import ParameterError
from incrowd.vocabulary.option import nearest
from incrowd.vocabulary.plain_data import read_plain_yaml

_ORDER = ("research", "public", "safe-harbor")


@dataclass(frozen=True)
class Preset:
    """What a preset asks for."""

    name: str  # what it is called
    settings: Mapping[str, Any] = field(default_factory=dict)  # what it says in a recipe's own keys
    # for kinds of identifiers that are looked for: the role, or the rule, of a column in which one is found
    kinds: Mapping[str, str] = field(default_factory=dict)
    sensitive: str | None = None  # what is required of every sensitive column, in words


def preset_names() -> tuple[str, ...]:
    """The presets there are."""
    return _ORDER


def preset_text(name: str) -> str:
    """The file of a preset."""
    if name not in _ORDER:
        likely = nearest(name, {known: known for known in _ORDER})
        raise ParameterError(f"There is no preset {str(name)!r}.{likely} Known: {', '.join(_ORDER)}.")
    return files("incrowd.tables").joinpath("presets", f"{name}.yaml").read_text(encoding="utf-8")


def read_preset(name: str) -> Preset:
    """A preset by its name.

    Examples
    --------
    >>> read_preset("public").settings["k"], read_preset("safe-harbor").kinds["ZIP codes"]
    (20, 'zip3')
    """
    data = dict(read_plain_yaml(preset_text(name), f"The preset {name}"))
    return Preset(name, kinds=data.pop("kinds", {}), sensitive=data.pop("sensitive", None), settings=data)
