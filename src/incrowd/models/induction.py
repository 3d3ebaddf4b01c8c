"""What an induction works with: how an attribute can be split, what has to be kept, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, SchemaError
from incrowd.measures.information import roundest
from incrowd.models.published_tree import PublishedTree
from incrowd.trees.packing import Bins, exact_bins, quantile_bins
from incrowd.trees.tree import Eq, Gt, Le, Missing, Predicate, one_of
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import Columnwise, KAnonymity, RequirementPart, Together
from incrowd.vocabulary.requirements.closeness import ConfidenceCap
from incrowd.vocabulary.requirements.columns import Flags, Histograms, RequirementSubject
from incrowd.vocabulary.requirements.diversity import EntropyDiversity
from incrowd.vocabulary.requirements.words import parse_requirements
from incrowd.vocabulary.schema import Column, ColumnType

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class DivisionPart:
    """One way out of a split: its test, and its name if it is a group of a hierarchy."""

    predicate: Predicate
    group: str | None = None


@dataclass(frozen=True, eq=False)
class Division:
    """A split of an attribute's codes into parts."""

    attribute: int
    part_of: Codes
    parts: tuple[DivisionPart, ...]


@dataclass(frozen=True, eq=False)
class Categories:
    """An attribute that is split by value; the levels become coarser.

    With a hierarchy a public attribute has one level for each of its levels that tells values apart; a private one is
    never generalized, since its splits never breach. A missing value, where allowed, is a part of its own.
    ``domain_declared`` says that the domain does not come from the table, but from a hierarchy or a declared order.
    """

    number: int
    name: str
    codes: Codes
    domain: tuple[str, ...]
    domain_declared: bool
    missing: bool
    levels: tuple[Division, ...]
    threshold = False

    @classmethod
    def of(cls, number: int, column: EncodedColumn, declared: Column, public: bool) -> Categories:
        """The attribute of an encoded column; its missing values, if any, count as a value."""
        missing = bool(column.counts[-1])
        hierarchy = declared.hierarchy
        if hierarchy is None:
            domain = _domain(column, declared)
            place = {value: i for i, value in enumerate(domain)}
            places = np.array([*(place[value] for value in column.dictionary.to_list()), len(domain)], np.int64)
            divisions = [_by_value(number, column.name, domain, places, missing)]
        else:
            domain = tuple(hierarchy.labels[leaf] for leaf in hierarchy.leaves)
            places = hierarchy.encode(column)
            heights = range(hierarchy.height, 0, -1) if public else [hierarchy.height]
            divisions = [_by_group(number, hierarchy, level, places, missing) for level in heights]
        kept = [division for division in divisions if len(division.parts) > 1] or divisions[:1]
        domain_declared = hierarchy is not None or domain is declared.order
        return cls(
            number=number,
            name=column.name,
            codes=column.codes,
            domain=domain,
            domain_declared=domain_declared,
            missing=missing,
            levels=tuple(kept),
        )

    @property
    def width(self) -> int:
        """Number of codes."""
        return len(self.levels[0].part_of)

    def division(self, level: int, _low: int, _high: int) -> Division:
        """The split at a level."""
        return self.levels[level]


@dataclass(frozen=True, eq=False)
class Thresholds:
    """An attribute that is split in two: numbers, dates, ordered categories."""

    number: int
    column: EncodedColumn
    bins: Bins
    domain: tuple[str, ...] | None
    threshold = True
    missing = False
    levels = ()

    @classmethod
    def of(cls, number: int, column: EncodedColumn, declared: Column, bins: int | None) -> Thresholds:
        """The attribute of an encoded column without missing values, counted in at most that many bins."""
        if not column.type.is_numeric:
            return cls(number, column, exact_bins(column.counts), _domain(column, declared))
        binned = exact_bins(column.counts) if bins is None else quantile_bins(column.counts, bins)
        return cls(number, column, binned, None)

    @property
    def name(self) -> str:
        """Name of the attribute."""
        return self.column.name

    @property
    def codes(self) -> Codes:
        """The bin of each row."""
        return self.bins.of_code[self.column.codes]

    @property
    def width(self) -> int:
        """Number of bins."""
        return len(self.bins.first)

    def division(self, _level: int, low: int, high: int) -> Division:
        """The split after one of the bins ``low`` to ``high``, which all do the same to the rows of the node."""
        if self.domain is None:
            cut, threshold = self._threshold(low, high)
            parts = DivisionPart(Le(self.name, threshold)), DivisionPart(Gt(self.name, threshold))
        else:
            cut = low
            end = self.domain.index(self.column.dictionary[int(self.bins.last[cut])]) + 1
            parts = (
                DivisionPart(one_of(self.name, self.domain[:end])),
                DivisionPart(one_of(self.name, self.domain[end:])),
            )
        part_of = (np.arange(self.width) > cut).astype(np.int32)
        return Division(self.number, part_of, parts)

    def _threshold(self, low: int, high: int) -> tuple[int, float]:
        """The bin to cut after, and the roundest number between it and the next: it is nobody's value, if possible."""
        first, last = self._ends
        whole = self.column.type is not ColumnType.REAL
        threshold = roundest(last[low].item(), first[high + 1].item(), whole)
        cut = int(np.searchsorted(last, threshold, side="right")) - 1
        if threshold >= first[cut + 1]:
            threshold = roundest(last[cut].item(), first[cut + 1].item(), whole)
        return cut, threshold

    @cached_property
    def _ends(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        return self.column.numbers[self.bins.first], self.column.numbers[self.bins.last]


Attribute = Categories | Thresholds


def _domain(column: EncodedColumn, declared: Column) -> tuple[str, ...]:
    """The declared order, if it covers the values there are; else these."""
    values = column.dictionary.to_list()
    return declared.order if declared.order and set(values) <= set(declared.order) else tuple(values)


def _by_value(number: int, name: str, domain: Sequence[str], places: npt.NDArray[np.int64], missing: bool) -> Division:
    parts = [DivisionPart(Eq(name, value)) for value in domain]
    if missing:
        parts.append(DivisionPart(Missing(name)))
    return Division(number, places[: len(places) - (not missing)].astype(np.int32), tuple(parts))


def _by_group(number: int, hierarchy: Hierarchy, level: int, places: npt.NDArray[np.int64], missing: bool) -> Division:
    """The groups of one level of a hierarchy; each is named unless it is a single value."""
    nodes, part_of_leaf = np.unique(hierarchy.at_level(level), return_inverse=True)
    parts = []
    for node in nodes.tolist():
        values = [hierarchy.labels[hierarchy.leaves[place]] for place in hierarchy.leaves_below(node)]
        parts.append(DivisionPart(one_of(hierarchy.name, values), hierarchy.labels[node] if len(values) > 1 else None))
    if missing:
        parts.append(DivisionPart(Missing(hierarchy.name)))
    part_of = np.append(part_of_leaf, len(nodes))[places]
    return Division(number, part_of[: len(places) - (not missing)].astype(np.int32), tuple(parts))


PERSONS = "persons"
"""What k of a model counts, if not rows."""


@dataclass(frozen=True)
class SpanRequirement:
    """k-anonymity of spans, alone or together with requirements on the class."""

    k: int  # rows of a span, or persons
    l: float | None = None  # noqa: E741
    max_confidence: float | None = None
    further: tuple[Columnwise, ...] = ()  # other requirements on the class
    persons: bool = False  # whether persons are counted, who may have several rows

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", KAnonymity(self.k).k)
        _ = self.on_class  # each checks its own parameter
        for name in ("l", "max_confidence"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else float(value))

    @property
    def on_class(self) -> tuple[Columnwise, ...]:
        """The requirements on the class."""
        short: list[Columnwise] = []
        if self.l is not None:
            short.append(EntropyDiversity(self.l))
        if self.max_confidence is not None:
            short.append(ConfidenceCap(self.max_confidence))
        return (*short, *self.further)

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:
        """Whether populations with these class counts may be spans of a table; an empty one may."""
        sizes = histograms.sum(axis=1)
        allowed = np.asarray((sizes >= self.k) | (sizes == 0))
        for part in self.on_class:
            left = np.flatnonzero(allowed)
            allowed[left] = part.holds_each(histograms[left], subject)
        return allowed

    def holds(self, histogram: npt.ArrayLike, whole: npt.ArrayLike | None = None) -> bool:
        """Whether a population with these class counts may be a span; ``whole`` are the counts of all rows."""
        counts = np.asarray(histogram, np.int64)
        subject = RequirementSubject("", counts if whole is None else np.asarray(whole, np.int64))
        return bool(counts.any()) and bool(self.holds_each(counts[None, :], subject)[0])

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        data: dict[str, Any] = {"is": "k-anonymity of spans", "k": self.k, "l": self.l}
        data["max_confidence"] = self.max_confidence
        if self.persons:
            data["of"] = PERSONS
        return {**data, "further": [part.to_json() for part in self.further]} if self.further else data

    def __str__(self) -> str:
        clauses = [
            f"every span has {'rows of ' * self.persons}at least {self.k} {'persons' if self.persons else 'rows'}"
        ]
        if self.l is not None:
            clauses.append(f"its classes an entropy of at least log2 {self.l:g}")
        if self.max_confidence is not None:
            clauses.append(f"none of its classes a share above {self.max_confidence:g}")
        return ", ".join([*clauses, *map(str, self.further)])


def required_of_spans(
    required: str | RequirementPart | Together | Iterable[str | RequirementPart | Together],
) -> tuple[Columnwise, ...]:
    """The requirements on the class that a model can keep, from their text form or objects."""
    on_class: list[Columnwise] = []
    for one in [required] if isinstance(required, str) or not isinstance(required, Iterable) else required:
        parts = parse_requirements(one) if isinstance(one, str) else one.parts if isinstance(one, Together) else (one,)
        for part in parts:
            if not isinstance(part, Columnwise):
                raise ParameterError(
                    "A model shows no rows: beside k it can keep requirements on its class. Give k by itself, and "
                    "leave out k-map, delta-presence and sets of columns."
                )
            on_class.append(part)
    return tuple(on_class)


def about_class(parts: Iterable[Columnwise], target: str) -> None:
    """Raise if a requirement is about another column than the class: a model tells nothing of it."""
    for part in parts:
        if part.on not in (None, target):
            raise SchemaError(
                f"A requirement is about {part.on!r}, but a model shows nothing of a column that it does not predict. "
                f"Require something of its class {target!r}, or leave it out."
            )


@dataclass(frozen=True, eq=False)
class Span:
    """People who look alike to the model: their rows, and the leaves they may be in."""

    rows: npt.NDArray[np.int64]
    leaves: frozenset[int]


@dataclass(frozen=True)
class Event:
    """What became of a candidate that was taken from the queue.

    ``node`` is its number in the order of growing, and ``path`` the tests that lead there. ``level`` counts the steps
    up the hierarchy. ``outcome`` is ``"split"``, ``"breach"``, or ``"requeue"``: the best threshold that is still
    allowed is another one than before.
    """

    node: int
    path: str
    attribute: str
    level: int
    outcome: str
    score: float


@dataclass(frozen=True, eq=False)
class Induction:
    """The outcome of an induction.

    Only ``model`` is made to be published; spans and trace tell about single rows. If no tree is possible, ``model`` is
    ``None`` and ``reason`` says why.
    """

    model: PublishedTree | None
    reason: str
    spans: tuple[Span, ...]
    trace: tuple[Event, ...]
