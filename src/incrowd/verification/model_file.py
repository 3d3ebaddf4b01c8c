"""What the file of a published tree says, as the verification reads it: by itself, and without trust."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import PlanError
from incrowd.verification.input_table import InputTable
from incrowd.verification.opening import column, connect, register
from incrowd.verification.owners import OWNED, Numbers, Owners
from incrowd.verification.requirements import Further, broken_classes, recount_requirements
from incrowd.verification.verdict import Check
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.requirement import Columnwise, part_from_json
from incrowd.vocabulary.requirements.closeness import ConfidenceCap
from incrowd.vocabulary.requirements.diversity import EntropyDiversity
from incrowd.vocabulary.schema import ColumnType

_MOST = 1 << 62  # numbers of a file are held in 64 bits, with room for the sum of two


@dataclass(frozen=True)
class ModelAttribute:
    """An attribute of the model: who knows it, and what values it has."""

    public: bool
    kind: str
    domain: tuple[str, ...] | None
    missing: bool
    fill: str | int | float | None

    @property
    def numeric(self) -> bool:
        """Whether it is tested by thresholds."""
        return self.kind in ("integer", "real", "date")


@dataclass(frozen=True)
class Test:
    """A branch: the kind of its condition, the values or the threshold in it, and where it leads."""

    kind: str
    values: frozenset[str]
    threshold: float
    child: int


@dataclass(frozen=True)
class ModelNode:
    """A node: its label, its tests unless it is a leaf, its counts if it shows them."""

    label: int
    attribute: str | None
    tests: tuple[Test, ...]
    counts: tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What the file says, read by this module alone."""

    target: str
    classes: tuple[Any, ...]
    class_private: bool
    attributes: Mapping[str, ModelAttribute]
    nodes: tuple[ModelNode, ...]
    k: int
    l: float | None  # noqa: E741
    cap: float | None
    smallest: int
    spans: int
    further: tuple[Columnwise, ...] = ()
    persons: bool = False  # whether persons are promised something, who may have several rows

    @classmethod
    def of(cls, data: Any) -> ModelFile:
        """Read the plain data of a model's JSON file, and refuse what is malformed."""
        try:
            _expect(data["incrowd_model"] == 1)
            requirement = data["requirement"]
            model = cls(
                target=data["target"],
                classes=tuple(data["classes"]),
                class_private=_truth(data["class_private"]),
                attributes={each["name"]: _attribute(each) for each in data["attributes"]},
                nodes=tuple(_node(each) for each in data["nodes"]),
                k=_whole(requirement["k"], 1),
                l=_number(requirement["l"], 1, math.inf),
                cap=_number(requirement["max_confidence"], 0, 1),
                smallest=_whole(data["smallest_span"]),
                spans=_whole(data["spans"]),
                further=tuple(_further(part, data["target"]) for part in requirement.get("further", [])),
                persons=requirement.get("of", "rows") == "persons",
            )
            _expect(requirement.get("of", "persons") == "persons")
            model._check()
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise PlanError(
                f"This is not a model that can be verified: a part is gone or malformed ({type(error).__name__})."
            ) from None
        return model

    def _check(self) -> None:
        """One parent before every node but the first; tests fit their attributes, labels and counts the classes."""
        children = [test.child for node in self.nodes for test in node.tests]
        _expect(len(self.nodes) > 0 and sorted(children) == list(range(1, len(self.nodes))))
        _expect(len(set(self.classes)) == len(self.classes))
        _expect(self.class_private or (self.l is None and self.cap is None and not self.further))
        for number, node in enumerate(self.nodes):
            _expect(node.label < len(self.classes) and all(test.child > number for test in node.tests))
            _expect(node.counts is None or (not node.tests and len(node.counts) == len(self.classes)))
            if node.attribute is not None:
                allowed = ("le", "gt", "missing") if self.attributes[node.attribute].numeric else ("in", "missing")
                _expect(all(test.kind in allowed for test in node.tests))

    @property
    def tested(self) -> tuple[str, ...]:
        """The attributes that are tested somewhere."""
        return tuple(dict.fromkeys(node.attribute for node in self.nodes if node.attribute is not None))

    def tests_of(self, name: str) -> Iterator[tuple[int, Test]]:
        """All tests of an attribute, with their nodes."""
        return ((i, test) for i, node in enumerate(self.nodes) if node.attribute == name for test in node.tests)


def _further(data: Any, target: str) -> Columnwise:
    part = part_from_json(data)
    if not isinstance(part, Columnwise) or part.on not in (None, target):
        raise ValueError
    return part


def _attribute(data: Any) -> ModelAttribute:
    domain = None if data["domain"] is None else tuple(map(_text, data["domain"]))
    read = ModelAttribute(
        _truth(data["public"]), str(ColumnType(data["type"])), domain, _truth(data["missing"]), data["fill"]
    )
    _expect(read.numeric == (domain is None))
    _expect(read.fill is None or (_is_number(read.fill) if read.numeric else isinstance(read.fill, str)))
    return read


def _node(data: Any) -> ModelNode:
    branches = data.get("branches", [])
    _expect(bool(branches) == ("attribute" in data))
    tests = tuple(_test(branch["if"], _whole(branch["go"]), data["attribute"]) for branch in branches)
    counts = tuple(map(_whole, data["counts"])) if "counts" in data else None
    return ModelNode(_whole(data["label"]), _text(data["attribute"]) if branches else None, tests, counts)


def _test(data: Any, child: int, attribute: str) -> Test:
    _expect(data["attribute"] == attribute)
    match data["is"]:
        case "eq":
            return Test("in", frozenset([_text(data["value"])]), 0.0, child)
        case "in":
            return Test("in", frozenset(map(_text, data["values"])), 0.0, child)
        case "le" | "gt":
            threshold = data["threshold"]
            _expect(_is_number(threshold))
            return Test(data["is"], frozenset(), threshold, child)
        case "missing":
            return Test("missing", frozenset(), 0.0, child)
        case _:
            raise LookupError


def _expect(sound: bool) -> None:
    if not sound:
        raise ValueError


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST


def _whole(value: Any, least: int = 0) -> int:
    _expect(isinstance(value, int) and not isinstance(value, bool) and least <= value < _MOST)
    return int(value)


def _number(value: Any, low: float, high: float) -> float | None:
    _expect(value is None or (_is_number(value) and low <= value <= high))
    return None if value is None else float(value)


def _truth(value: Any) -> bool:
    _expect(isinstance(value, bool))
    return bool(value)


def _text(value: Any) -> str:
    _expect(isinstance(value, str))
    return str(value)


# Requirements on the class of a model, recounted by SQL over its spans and over the leaves that show counts.
Places = npt.NDArray[np.int64]
_GROUP, _CLASS = "span", "class"


def with_owners(
    table: EncodedTable, source: InputTable, persons: Persons | None
) -> tuple[EncodedTable, Numbers | None]:
    """The rows of a table that have a person, and the person of each; None if every row is one."""
    if persons is None:
        return table, None
    codes = Owners.of(source, persons).codes
    kept = np.flatnonzero(codes >= 0)
    return (table, codes) if len(kept) == len(codes) else (table.take(kept), codes[kept])


def persons_of(groups: Places, owners: Numbers) -> Places:
    """How many persons are in each group, from the group and the person of each row."""
    pairs = np.unique(np.stack([groups, owners]), axis=1)
    return np.bincount(pairs[0], minlength=int(groups.max(initial=-1)) + 1)


def recount_spans(
    model: ModelFile, table: EncodedTable, spans: Places, owners: Numbers | None = None
) -> tuple[Check, ...]:
    """A check for each further requirement; ``spans`` is the span of each row.

    ``owners``: the person of each row, if rows are not persons; then what the model promises of l and of the
    confidence is among the further requirements.
    """
    requirements = _requirements(model, table, owners)
    if not requirements:
        return ()
    with connect() as connection:
        names, whose = _registered(connection, spans, _classes(model, table), owners)
        return recount_requirements(connection, names, [[_GROUP]], requirements, whose)


def unsafe_nodes(model: ModelFile, table: EncodedTable, resting: Places, owners: Numbers | None = None) -> set[int]:
    """The nodes whose own rows break a further requirement; ``resting`` is the node at which each row comes to rest."""
    requirements = _requirements(model, table, owners)
    if not requirements:
        return set()
    present = sorted(set(resting.tolist()))
    with connect() as connection:
        names, whose = _registered(connection, resting, _classes(model, table), owners)
        broken = [broken_classes(connection, names, [_GROUP], one, whose) for one in requirements]
    return {present[number - 1] for each in broken for number in each}


def _requirements(model: ModelFile, table: EncodedTable, owners: Numbers | None) -> list[Further]:
    """The requirements; classes are numbered in their order, which is all that a distance needs."""
    kind = ColumnType.INTEGER if table[model.target].type.has_order else ColumnType.CATEGORICAL
    parts: list[Columnwise] = [*model.further]
    if owners is not None:
        parts += [] if model.l is None else [EntropyDiversity(model.l)]
        parts += [] if model.cap is None else [ConfidenceCap(model.cap)]
    return [Further(part, _CLASS, kind) for part in parts]


def _classes(model: ModelFile, table: EncodedTable) -> Places:
    """The class of each row as a number; all have as many digits, so as text they are in their order as well."""
    codes = table[model.target].codes.astype(np.int64)
    return np.asarray(codes + 10 ** len(str(int(codes.max(initial=0)))))


def _registered(
    connection: Any, groups: Places, classes: Places, owners: Numbers | None
) -> tuple[list[str], Owners | None]:
    """The group and the class of each row as a table, with the person of each, if rows are not persons."""
    import pyarrow as pa

    rows = {_GROUP: groups, _CLASS: classes}
    if owners is None:
        return register(connection, pa.table(rows), "released"), None
    names = register(connection, pa.table({**rows, "person": owners}), "released")
    listed = ", ".join(map(column, range(len(rows))))
    connection.execute(
        f"CREATE OR REPLACE VIEW {OWNED} AS SELECT {listed}, {column(len(rows))} AS person FROM released"
    )
    return names[:-1], Owners(Persons("person"), None, owners, owners)
