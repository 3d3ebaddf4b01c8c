"""Promises beyond k, as far as a certificate says enough to recount them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incrowd.certified.statements import Statement, left_open
from incrowd.report.certificate import sha256_of_hierarchy
from incrowd.verification.requirements import Further
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.t_closeness import TCloseness
from incrowd.vocabulary.requirements.together import Columnwise, Together
from incrowd.vocabulary.schema import ColumnType

ORDER = "it needs the order of the values, which the certificate does not tell"
HIERARCHY = "it needs the hierarchy of the column: name its folder with --hierarchies"
OTHER_HIERARCHY = "the hierarchy that was given is not the one of the certificate"
POPULATION = "it needs the table of the population: recount it with --require and --population"


@dataclass(frozen=True)
class Part:
    """A promise about a column that can be recounted: the column in the file, its type, its hierarchy."""

    part: Columnwise
    name: str
    type: ColumnType
    hierarchy: Hierarchy | None


@dataclass(frozen=True)
class Sought:
    """The promises beyond k: those that can be recounted, and statements about those that cannot."""

    parts: tuple[Part, ...] = ()
    unknown: tuple[Statement, ...] = ()

    @classmethod
    def of(
        cls, certificate: Mapping[str, Any], requirement: Requirement, hierarchies: Mapping[str, Hierarchy]
    ) -> Sought:
        """Those of a certificate; ``hierarchies`` are known by the names of columns of the table."""
        if not isinstance(requirement, Together):
            return cls()
        written = {column["from"]: column["name"] for column in certificate["released_columns"]}
        types = {column["name"]: ColumnType(column["type"]) for column in certificate["columns"]}
        target = next((column["name"] for column in certificate["columns"] if column["role"] == "target"), None)
        parts: list[Part] = []
        unknown = [left_open(str(part), POPULATION, promised=True) for part in requirement.on_population]
        for part in requirement.on_columns:
            source = part.on or target
            if source not in written or source not in types:
                unknown.append(left_open(str(part), "the release has no such column", promised=True))
                continue
            assert source is not None
            hierarchy = hierarchies.get(source)
            missing = _missing(part, types[source], certificate["hierarchies"].get(source), hierarchy)
            if missing:
                unknown.append(left_open(str(part), missing, promised=True))
            else:
                parts.append(Part(part, written[source], types[source], hierarchy))
        return cls(tuple(parts), tuple(unknown))


def _missing(part: Columnwise, kind: ColumnType, digest: str | None, hierarchy: Hierarchy | None) -> str | None:
    """What a distance needs and the certificate does not tell."""
    if not isinstance(part, TCloseness) or part.distance == "equal":
        return None
    if part.distance == "hierarchical" or (part.distance is None and digest is not None):
        if hierarchy is None:
            return HIERARCHY
        return None if sha256_of_hierarchy(hierarchy) == digest else OTHER_HIERARCHY
    return ORDER if kind is ColumnType.ORDERED else None


def further_stated(sought: Sought) -> tuple[Further, ...]:
    """What the recount has to know of these promises; in a release a missing value is an empty cell, and no word."""
    return tuple(
        Further(
            part.part,
            part.name,
            _plain(part.type),
            (),
            part.hierarchy if isinstance(part.part, TCloseness) else None,
        )
        for part in sought.parts
    )


def _plain(kind: ColumnType) -> ColumnType:
    """Where an order matters it is asked for elsewhere; for all else it does not."""
    return ColumnType.CATEGORICAL if kind is ColumnType.ORDERED else kind
