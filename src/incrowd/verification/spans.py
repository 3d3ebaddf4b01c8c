"""Recount a published tree: is every span shared by enough rows, and are its counts those of the table?

Where a person may have several rows, every span is shared by enough persons.

By the definition (Friedman, Schuster, Wolff, "k-Anonymous Decision Tree Induction", PKDD 2006, section 2), and from the
written JSON alone: nothing is shared with the induction or with the model's own class. The span of a row is the set of
places where it may come to rest when its private attributes take every value of their domains; of a private number, one
value from each stretch between thresholds will do. The places that a private completion reaches are found by walking
the tree with the values each private attribute can still have. Rows that no public test tells apart walk together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, PlanError, SchemaError
from incrowd.verification.model_file import (
    ModelAttribute,
    ModelFile,
    ModelNode,
    Test,
    persons_of,
    recount_spans,
    unsafe_nodes,
)
from incrowd.verification.owners import Numbers
from incrowd.verification.requirements_border import diverse
from incrowd.verification.verdict import Check, ClassSizes, PersonCounts, Verdict
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable

MOST_VISITS = 50_000_000  # they may double with every private attribute: without a bound it would not end
SLACK = 1e-9  # of an entropy in bits: rounding is far smaller, so what is further from the limit, floats decide

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


def verify_spans(
    data: Any, table: EncodedTable, owners: Numbers | None = None, *, most_visits: int = MOST_VISITS
) -> Verdict:
    """Whether a model, as the plain data of its JSON file, keeps what it promises about its training table.

    Parameters
    ----------
    data
        What ``json.load`` gives for the file of a model.
    table
        The training table: the tested attributes and the class, typed as the model says.
    owners
        The number of the person of each row, if a person may have several: persons are then counted.
    most_visits
        How many visits of distinct public tuples to nodes are allowed. They can grow exponentially with the number of
        private attributes.

    Raises
    ------
    PlanError
        If the data are no model, or parts of it are gone or contradict each other.
    ParameterError
        If there are more visits; nothing is told then.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> codes = np.array([0, 1, 1], np.int32)
    >>> ill = EncodedColumn("ill", ColumnType.CATEGORICAL, codes, pl.Series(["no", "yes"]))
    >>> requirement = {"k": 4, "l": None, "max_confidence": None}
    >>> model = {"target": "ill", "classes": ["no", "yes"], "class_private": True, "smallest_span": 3, "spans": 1}
    >>> model |= {"incrowd_model": 1, "attributes": [], "requirement": requirement, "nodes": [{"label": 1}]}
    >>> print(verify_spans(model, EncodedTable.of([ill])).checks[0].finding)
    smallest of 1 spans: 3 rows; 3 rows are in 1 spans below 4
    """
    model = ModelFile.of(data)
    if table.height == 0:
        raise SchemaError("The table has no rows; there is nothing to verify.")
    if model.persons and owners is None:
        raise ParameterError(
            "This model counts persons, who may have several rows. Give the recipe that names the column with them."
        )
    classes = _classes(model, table)
    columns = {name: _Values.of_rows(table[name], model.attributes[name]) for name in model.tested}
    spans = _Spans(model, columns, table.height, most_visits).of_rows()
    counts = _by_class(model, spans, classes)
    rows = counts.sum(axis=1) if model.class_private else counts[counts > 0]
    people = rows if owners is None else _people(model, spans, classes, owners)
    arrived, resting = _arrivals(model, columns, classes)
    checks = (
        *_promises(model, counts, people, owners is not None),
        *recount_spans(model, table, spans, owners),
        _as_published(model, people, owners is not None),
        _shown_counts(model, arrived, _unsafe(model, table, arrived, resting, classes, owners)),
        _labels(model, arrived),
        _domains(model, columns, table),
    )
    histogram = tuple(sorted(Counter(rows.tolist()).items()))
    persons = None if owners is None else _counted(people, spans, owners)
    return Verdict(ClassSizes(table.height, len(rows), int(rows.min()), histogram, persons), checks)


def _counted(people: Places, spans: Places, owners: Numbers) -> PersonCounts:
    """The persons of spans, and the largest part of a span's rows that is one person's."""
    pairs, rows = np.unique(np.stack([spans, owners]), axis=1, return_counts=True)
    share = float((rows / np.bincount(spans)[pairs[0]]).max())
    histogram = tuple(sorted(Counter(people.tolist()).items()))
    return PersonCounts(len(np.unique(owners)), 0, int(people.min()), histogram, share)


def _by_class(model: ModelFile, groups: Places, classes: Places) -> Places:
    """Rows of each class in each group."""
    shape = (int(groups.max()) + 1, len(model.classes))
    return np.bincount(np.ravel_multi_index((groups, classes), shape), minlength=math.prod(shape)).reshape(shape)


def _people(model: ModelFile, groups: Places, classes: Places, owners: Numbers) -> Places:
    """Persons of each group that occurs; of each class in it, if the class is public."""
    cells = groups if model.class_private else groups * len(model.classes) + classes
    people = persons_of(cells, owners)
    return people[people > 0]


@dataclass(frozen=True, eq=False)
class _Values:
    """Values that tests are put to, and the value of each row, by its place among them, if there are rows.

    A place whose value is missing is not present; ``whole`` numbers are compared as such, hence exactly.
    """

    values: npt.NDArray[Any]
    present: Flags
    whole: bool
    codes: npt.NDArray[np.int32] | None = None

    @classmethod
    def of_rows(cls, column: EncodedColumn, attribute: ModelAttribute) -> _Values:
        """The values of a column; where the model says what stands for a missing one, that."""
        if column.type.is_numeric != attribute.numeric:
            raise SchemaError(f"Column {column.name!r} is {column.type} here, but {attribute.kind} in the model.")
        values = column.numbers if attribute.numeric else np.array(column.dictionary.to_list(), dtype=object)
        filled = attribute.fill is not None
        last = np.array([attribute.fill]) if filled else np.zeros_like(values, shape=1)
        present = np.append(np.ones(len(values), np.bool_), filled)
        values = np.concatenate([values, last])
        return cls(values, present, values.dtype.kind == "i", column.codes)

    @classmethod
    def of_domain(cls, attribute: ModelAttribute, thresholds: Sequence[float]) -> _Values:
        """Every value of a private attribute; of a number one from each stretch between thresholds."""
        if attribute.domain is not None:
            known = np.array(attribute.domain, dtype=object)
        else:
            known = np.array(_stretches(thresholds, attribute.kind != "real"))
        values = np.concatenate([known, np.zeros_like(known, shape=int(attribute.missing))])
        present = np.arange(len(values)) < len(known)
        return cls(values, present, values.dtype.kind == "i")

    def holds(self, test: Test) -> Flags:
        """Which values satisfy a test."""
        if test.kind == "missing":
            return ~self.present
        if test.kind == "in":
            return self.present & np.array([value in test.values for value in self.values.tolist()], np.bool_)
        threshold = math.floor(test.threshold) if self.whole else test.threshold
        low = self.values <= threshold
        return np.asarray(self.present & (low if test.kind == "le" else ~low))

    def ways(self, node: ModelNode) -> list[tuple[int, Flags]]:
        """Where the branches of a node lead, and which values take them."""
        branches = [(test.child, self.holds(test)) for test in node.tests]
        if (np.sum([going for _, going in branches], axis=0) > 1).any():
            raise PlanError(f"A test of {node.attribute!r} has branches that overlap: nobody knows where to go.")
        return branches


def _stretches(thresholds: Sequence[float], whole: bool) -> list[float]:
    """A number from each stretch between thresholds, whole ones where only those exist."""
    ends = {math.floor(each) for each in thresholds} if whole else set(thresholds)
    return [*ends, np.iinfo(np.int64).max if whole else math.inf]


class _Spans:
    """The walk through the tree, of all distinct public tuples at once.

    Who may visit the same nodes may come to rest at the same places, and the other way round: a place of rest has all
    nodes above it visited, and at a node that is visited rests who visits none below, or whose private values lead
    nowhere, which are the same for all.
    """

    def __init__(self, model: ModelFile, columns: Mapping[str, _Values], rows: int, most: int) -> None:
        self._model, self._left, self._most = model, most, most
        self._tuple_of = np.zeros(rows, np.int64)
        self._public = {name: values for name, values in columns.items() if model.attributes[name].public}
        for name, values in self._public.items():
            cells = _cells([values.holds(test) for _, test in model.tests_of(name)])
            assert values.codes is not None
            both = np.ravel_multi_index((self._tuple_of, cells[values.codes]), (rows, len(cells)))
            self._tuple_of = np.unique(both, return_inverse=True)[1]
        _, self._first = np.unique(self._tuple_of, return_index=True)
        self._spans = np.zeros(len(self._first), np.int64)
        self._next = len(self._first)
        self._domains = {name: _domain(model, name) for name in columns}

    def of_rows(self) -> Places:
        """The number of the span of each row, from 0; a public class is not part of it yet."""
        start = np.arange(len(self._first))
        waiting: list[tuple[int, Places, dict[str, Flags]]] = [(0, start, {})]
        while waiting:
            number, tuples, possible = waiting.pop()
            self._left -= len(tuples)
            if self._left < 0:
                raise ParameterError(
                    f"Too many private completions: verifying takes more than {self._most:,} visits to nodes. Nothing "
                    "is known about this model. Make fewer attributes private, or grow a smaller tree by a larger k."
                )
            self._tell_apart(tuples)
            node = self._model.nodes[number]
            if node.attribute in self._public:
                waiting += self._public_ways(node, tuples, possible)
            elif node.attribute is not None:
                waiting += self._private_ways(node, tuples, possible)
        return np.unique(self._spans, return_inverse=True)[1][self._tuple_of]

    def _tell_apart(self, tuples: Places) -> None:
        """Tell those that may visit a node from those that may not: theirs are other spans."""
        _, parts = np.unique(self._spans[tuples], return_inverse=True)
        self._spans[tuples] = self._next + parts
        self._next += len(tuples)

    def _public_ways(
        self, node: ModelNode, tuples: Places, possible: dict[str, Flags]
    ) -> Iterator[tuple[int, Places, dict[str, Flags]]]:
        """Each tuple goes where its own value leads."""
        values = self._public[str(node.attribute)]
        assert values.codes is not None
        own = values.codes[self._first[tuples]]
        for child, ways in values.ways(node):
            going = ways[own]
            if going.any():
                yield child, tuples[going], possible

    def _private_ways(
        self, node: ModelNode, tuples: Places, possible: dict[str, Flags]
    ) -> Iterator[tuple[int, Places, dict[str, Flags]]]:
        """All tuples go wherever some value leads that the way so far has left possible."""
        name = str(node.attribute)
        values = self._domains[name]
        now = possible.get(name, np.ones(len(values.values), np.bool_))
        for child, ways in values.ways(node):
            if (now & ways).any():
                yield child, tuples, {**possible, name: now & ways}


def _domain(model: ModelFile, name: str) -> _Values:
    return _Values.of_domain(model.attributes[name], [test.threshold for _, test in model.tests_of(name)])


def _cells(tests: Sequence[Flags]) -> Places:
    """For each value a number; values that no test tells apart have the same."""
    return np.unique(np.array(tests), axis=1, return_inverse=True)[1].ravel()


def _classes(model: ModelFile, table: EncodedTable) -> Places:
    """The class of each row, as a place in the model's classes."""
    column = table[model.target]
    place = {None if value is None else str(value): i for i, value in enumerate(model.classes)}
    values = (None if value is None else str(value) for value in [*column.dictionary.to_list(), None])
    known = [place.get(value, len(place)) for value in values]
    places = np.array(known, np.int64)[column.codes]
    unknown = int((places == len(place)).sum())
    if unknown:
        raise SchemaError(
            f"{unknown:,} rows have a class in {model.target!r} that the model does not know. Is this its table?"
        )
    return places


def _arrivals(model: ModelFile, columns: Mapping[str, _Values], classes: Places) -> tuple[Places, Places]:
    """How many rows of each class pass or reach each node, and the node at which each row comes to rest."""
    counts = np.zeros((len(model.nodes), len(model.classes)), np.int64)
    resting = np.zeros(len(classes), np.int64)
    waiting = [(0, np.arange(len(classes)))]
    while waiting:
        number, rows = waiting.pop()
        counts[number] = np.bincount(classes[rows], minlength=len(model.classes))
        resting[rows] = number
        node = model.nodes[number]
        if node.attribute is not None:
            values = columns[node.attribute]
            assert values.codes is not None
            own = values.codes[rows]
            waiting += [(child, rows[going[own]]) for child, going in values.ways(node)]
    return counts, resting


def _promises(model: ModelFile, counts: Places, sizes: Places, persons: bool) -> Iterator[Check]:
    """k, and what is promised about the classes of rows; about those of persons it is recounted apart."""
    below = sizes[sizes < model.k]
    finding = f"smallest of {len(sizes):,} spans: {sizes.min():,} {'persons' if persons else 'rows'}"
    if len(below) and persons:
        finding += f"; {len(below):,} spans have fewer than {model.k}"
    elif len(below):
        finding += f"; {below.sum():,} rows are in {len(below):,} spans below {model.k}"
    yield Check(f"{model.k}-anonymity of spans{' by persons' * persons}", not len(below), finding)
    if persons:
        return
    if model.l is not None:
        least = float(_entropies(counts).min())
        passed = _diverse(model, counts)
        yield Check(f"entropy {model.l:g}-diversity of spans", passed, f"smallest of all: {2**least:.4f}")
    if model.cap is not None:
        most = float(_shares(counts).max())
        yield Check(f"confidence of at most {model.cap:g}", _capped(model.cap, counts), f"largest share: {most:.4f}")


def _entropies(counts: Places) -> npt.NDArray[np.float64]:
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))


def _shares(counts: Places) -> npt.NDArray[np.float64]:
    return np.asarray(counts.max(axis=1) / counts.sum(axis=1))


def _diverse(model: ModelFile, counts: Places) -> bool:
    """Whether every row of counts is diverse enough: by floats where that is clear, else by whole numbers."""
    if model.l is None:
        return True
    apart = _entropies(counts) - math.log2(model.l)
    unclear = counts[np.abs(apart) <= SLACK].tolist()
    l = Fraction(repr(model.l))  # noqa: E741
    return not (apart < -SLACK).any() and all(diverse([count for count in each if count], l) for each in unclear)


def _capped(cap: float, counts: Places) -> bool:
    share = Fraction(repr(cap))
    largest, rows = counts.max(axis=1).astype(object), counts.sum(axis=1).astype(object)
    return bool((largest * share.denominator <= rows * share.numerator).all())


def _as_published(model: ModelFile, sizes: Places, persons: bool) -> Check:
    passed = (model.spans, model.smallest, model.persons) == (len(sizes), int(sizes.min()), persons)
    sentence = f"the model says {model.spans:,} spans, the smallest of {model.smallest:,} "
    sentence += "persons" if model.persons else "rows"
    sentence += "" if passed else f"; recounted {len(sizes):,}, {sizes.min():,}"
    return Check("spans as published", passed, sentence)


def _unsafe(
    model: ModelFile,
    table: EncodedTable,
    arrived: Places,
    resting: Places,
    classes: Places,
    owners: Numbers | None,
) -> set[int]:
    """The leaves that are too small, or too uneven, to show their counts."""
    uneven = unsafe_nodes(model, table, resting, owners)
    if owners is None:
        return uneven | {i for i in range(len(model.nodes)) if not _may_show(model, arrived[i : i + 1])}
    cells = resting if model.class_private else resting * len(model.classes) + classes
    few = np.flatnonzero(persons_of(cells, owners) < model.k)
    there = np.unique(cells)
    small = few[np.isin(few, there)] // (1 if model.class_private else len(model.classes))
    return uneven | set(small.tolist()) | set(np.flatnonzero(arrived.sum(axis=1) == 0).tolist())


def _shown_counts(model: ModelFile, arrived: Places, unsafe: set[int]) -> Check:
    """The counts that leaves show: those of the table, and enough rows to be shown."""
    shown = [i for i, node in enumerate(model.nodes) if node.counts is not None]
    wrong = sum(model.nodes[i].counts != tuple(arrived[i].tolist()) for i in shown)
    small = sum(i in unsafe for i in shown)
    leaves = sum(not node.tests for node in model.nodes)
    finding = f"{len(shown)} of {leaves} leaves show counts"
    finding += f"; {wrong} of them not as recounted" if wrong else ""
    finding += f"; {small} of them too small or too uneven to be shown" if small else ""
    return Check("counts as recounted", not wrong and not small, finding)


def _may_show(model: ModelFile, counts: Places) -> bool:
    if not model.class_private:
        return bool((counts[counts > 0] >= model.k).all()) and bool(counts.any())
    return (
        bool(counts.sum() >= model.k) and _diverse(model, counts) and (model.cap is None or _capped(model.cap, counts))
    )


def _labels(model: ModelFile, arrived: Places) -> Check:
    """A label is a most frequent class; where nobody arrives, the label of the parent."""
    parent = {test.child: i for i, node in enumerate(model.nodes) for test in node.tests}
    wrong = 0
    for number, node in enumerate(model.nodes):
        counts = arrived[number]
        if counts.any():
            wrong += int(counts[node.label] < counts.max())
        else:
            wrong += int(node.label != model.nodes[parent[number]].label)
    finding = f"all {len(model.nodes):,} nodes" if not wrong else f"{wrong:,} of {len(model.nodes):,} nodes differ"
    return Check("labels are majorities", not wrong, finding)


def _domains(model: ModelFile, columns: Mapping[str, _Values], table: EncodedTable) -> Check:
    """The private values of all rows belong to the domains over which spans are counted."""
    outside: list[str] = []
    for name, values in columns.items():
        attribute = model.attributes[name]
        if attribute.public:
            continue
        known = None if attribute.domain is None else set(attribute.domain)
        inside = np.array([known is None or value in known for value in values.values.tolist()])
        rows = int(table[name].counts[~np.where(values.present, inside, attribute.missing)].sum())
        if rows:
            outside.append(f"{name!r} ({rows:,} rows)")
    finding = f"values outside the domain: {', '.join(outside)}" if outside else "every private value is in its domain"
    return Check("private domains", not outside, finding)
