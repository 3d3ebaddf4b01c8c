"""Hierarchies for the Adult census table, written for incrowd from its lists of values: an example to read."""

from __future__ import annotations

from importlib.resources import files

from incrowd.tables.hierarchies.compact import parse_compact
from incrowd.vocabulary.hierarchy import Hierarchy

_NAMES = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
)


def adult_hierarchies() -> dict[str, Hierarchy]:
    """The hierarchies of age and of the eight categorical attributes of Adult, by attribute."""
    folder = files("incrowd.tables.hierarchies") / "examples" / "adult"
    return {name: parse_compact((folder / f"{name}.txt").read_text(encoding="utf-8"), name) for name in _NAMES}
