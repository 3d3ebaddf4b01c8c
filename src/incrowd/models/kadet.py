"""kADET: grow a decision tree that is itself k-anonymous.

Friedman, Schuster, Wolff, "k-Anonymous Decision Tree Induction" (PKDD 2006). Some owners may not release a table, but a
model. An attacker knows your *public* attributes and the tree. The bins (a class in a leaf) that you may then be in,
whatever your *private* attributes are, are your *span*. The tree is grown so that every span is shared by at least k
people; a split that would make a span smaller is generalized along its hierarchy, or refused.

Deviations from the paper, besides its misprints: with gain ratio, a candidate below the average gain is held back until
the others have been refused; thresholds are round numbers; a public value that leads nobody to a node has no branch.

Pruning keeps the guarantee: subtrees become leaves, and nothing else. Replacing a subtree by a leaf merges bins and can
only make spans larger. Raising a branch in place of its parent could put a public test on the path of other rows and
make spans smaller: it is not done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incrowd.errors import InputError, ParameterError, SchemaError, ValuesError, VerificationError, named_option
from incrowd.measures.information import entropy
from incrowd.models.growing import GrowingNode, Growth
from incrowd.models.induction import (
    Attribute,
    Categories,
    Induction,
    Span,
    SpanRequirement,
    Thresholds,
    about_class,
    required_of_spans,
)
from incrowd.models.published_tree import PublishedAttribute, PublishedTree, filled
from incrowd.models.spans import InductionTable, SpanOrder, SpanOwners, Territory
from incrowd.trees.c45 import at_least, splits_to_keep
from incrowd.trees.packing import exact_bins, occurring_classes
from incrowd.trees.tree import Branch, Node, Tree
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable, ValueOwners
from incrowd.vocabulary.requirements.columns import RequirementSubject
from incrowd.vocabulary.schema import Schema

CONFIDENCE = 0.25  # what C4.5 prunes with if it is not told otherwise
Counts = npt.NDArray[np.int64]


def kept_splits(nodes: Sequence[GrowingNode]) -> npt.NDArray[np.bool_]:
    """Which nodes stay split: those that promise fewer errors than a leaf would (Quinlan 1993, 4.2)."""
    counts = np.array([node.counts for node in nodes], np.float64)
    return splits_to_keep(counts, np.array([node.parent for node in nodes]), CONFIDENCE)


def reached_nodes(nodes: Sequence[GrowingNode], split: npt.NDArray[np.bool_]) -> list[int]:
    """The nodes that are left, level by level."""
    reached = [0]
    for number in reached:
        if split[number]:
            reached.extend(nodes[number].children)
    return reached


def spans_again(growth: Growth, split: npt.NDArray[np.bool_]) -> tuple[SpanOrder, dict[int, Territory]]:
    """The spans of the tree that has only these splits, and the territory of each node that is left."""
    spans = SpanOrder(growth.training, growth.spans.requirement)
    territories = {0: spans.root()}
    for number in reached_nodes(growth.nodes, split):
        node = growth.nodes[number]
        if split[number] and node.division is not None:
            parts = spans.split(territories[number], node.division)
            for child in node.children:
                territory = parts[growth.nodes[child].place]
                assert territory is not None
                territories[child] = territory
    return spans, territories


def publish(
    growth: Growth,
    split: npt.NDArray[np.bool_],
    requirement: SpanRequirement,
    table: EncodedTable,
    fills: Mapping[str, str | int | float],
) -> tuple[PublishedTree, tuple[Span, ...]]:
    """The tree with these splits, and its spans."""
    training = growth.training
    reached = reached_nodes(growth.nodes, split)
    place = {number: new for new, number in enumerate(reached)}
    nodes = [growth.nodes[number] for number in reached]
    none = (0,) * len(training.classes)
    tree = Tree(
        tuple(_node(growth, number, bool(split[number]), place, none) for number in reached),
        training.target,
        training.classes,
    )
    labels, spans = _labels(growth.nodes), _spans(growth, split, place)
    _check(growth, spans, requirement)
    model = PublishedTree(
        target=training.target,
        classes=training.classes,
        class_private=training.class_private,
        attributes=_attributes(growth, requirement.k, table, fills),
        tree=tree,
        labels=tuple(labels[number] for number in reached),
        groups=tuple(_group(growth, node) for node in nodes),
        requirement=requirement.to_json(),
        safe_counts=_safe_counts(tree, nodes, requirement, growth),
        smallest_span=min(_size(training, span.rows) for span in spans),
        spans=len(spans),
    )
    return model, spans


def _size(training: InductionTable, rows: Counts) -> int:
    """The persons of some rows; rows, where every row is a person."""
    return len(rows) if training.owners is None else training.owners.size(rows)


def _broken(growth: Growth, rows: Sequence[Counts], requirement: SpanRequirement) -> int:
    """How many of these sets of rows may not be a span."""
    labels, classes, owners = growth.training.inputs.labels, len(growth.training.classes), growth.training.owners
    if owners is not None:
        span = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
        return int((~owners.holds(np.concatenate(rows), span, len(rows))).sum())
    counts = np.array([np.bincount(labels[each], minlength=classes) for each in rows])
    return int((~requirement.holds_each(counts, growth.training.subject)).sum())


def _check(growth: Growth, spans: tuple[Span, ...], requirement: SpanRequirement) -> None:
    """Count once more before anything leaves: refuse a tree with a span that breaks the requirement."""
    broken = _broken(growth, [span.rows for span in spans], requirement)
    if broken:
        raise VerificationError(f"{broken} of {len(spans)} spans of the tree break the requirement: {requirement}.")


def _node(growth: Growth, number: int, split: bool, place: Mapping[int, int], none: tuple[int, ...]) -> Node:
    node = growth.nodes[number]
    if not split or node.division is None:
        return Node(None, (), none)
    parts = node.division.parts
    branches = (Branch(parts[growth.nodes[son].place].predicate, place[son]) for son in node.children)
    return Node(growth.training.attributes[node.division.attribute].name, tuple(branches), none)


def _labels(nodes: list[GrowingNode]) -> list[int]:
    """The majority class of each node, ties to the earlier class; a node without rows has its parent's."""
    labels: list[int] = []
    for node in nodes:
        labels.append(int(node.counts.argmax()) if node.counts.any() else labels[node.parent])
    return labels


def _group(growth: Growth, node: GrowingNode) -> str | None:
    """The name of the group that leads to a node."""
    division = growth.nodes[node.parent].division if node.parent >= 0 else None
    return None if division is None else division.parts[node.place].group


def _attributes(
    growth: Growth, k: int, table: EncodedTable, fills: Mapping[str, str | int | float]
) -> tuple[PublishedAttribute, ...]:
    attributes = []
    for attribute, public in zip(growth.training.attributes, growth.training.inputs.public.tolist(), strict=True):
        column = table[attribute.name]
        domain = attribute.domain
        if public and isinstance(attribute, Categories) and not attribute.domain_declared:
            owners = growth.training.owners
            people = column.counts if owners is None else ValueOwners.of(column, owners.persons.astype(np.int32)).each()
            domain = tuple(value for value, many in zip(attribute.domain, people.tolist(), strict=False) if many >= k)
        fill = fills.get(attribute.name)
        attributes.append(
            PublishedAttribute(
                name=attribute.name,
                public=public,
                type=column.type,
                domain=domain,
                missing=attribute.missing,
                fill=fill,
            )
        )
    return tuple(attributes)


def _safe_counts(
    tree: Tree, nodes: list[GrowingNode], requirement: SpanRequirement, growth: Growth
) -> tuple[tuple[int, ...] | None, ...]:
    """The counts of the leaves that may show them.

    If a single leaf with rows had to hide them, the smallest of the others hides its counts as well: else who knows the
    number of all rows could find them.
    """
    counts = [node.counts for node in nodes]
    leaves = [leaf for leaf in tree.leaves if counts[leaf].any()]
    safe = {leaf for leaf in leaves if _is_safe(nodes[leaf], requirement, growth)}
    if len(leaves) - len(safe) == 1 and safe:
        safe.remove(min(safe, key=lambda leaf: int(counts[leaf].sum())))
    return tuple(tuple(counts[node].tolist()) if node in safe else None for node in range(len(counts)))


def _is_safe(node: GrowingNode, requirement: SpanRequirement, growth: Growth) -> bool:
    counts, owners, rows = node.counts, growth.training.owners, growth.rows_of(node)
    if growth.training.class_private:
        return not _broken(growth, [rows], requirement)
    people = counts if owners is None else owners.of_classes(rows)
    return bool((people[counts > 0] >= requirement.k).all())


def _spans(growth: Growth, split: npt.NDArray[np.bool_], place: Mapping[int, int]) -> tuple[Span, ...]:
    """The spans of the tree with these splits, with the new numbers of the leaves they cover."""
    spans, territories = spans_again(growth, split)
    leaves: dict[int, set[int]] = {low: set() for low, _ in spans.of(spans.root())}
    for number, new in place.items():
        if not split[number]:
            for low, _ in spans.of(territories[number]):
                leaves[low].add(new)
    return tuple(Span(np.sort(spans.order[low:high]), frozenset(leaves[low])) for low, high in spans.of(spans.root()))


SCORES = ("gain_ratio", "gain")
FILLS = (None, "mode", "value")


@dataclass(frozen=True)
class KAdet:
    """kADET."""

    k: int  # every span has at least this many people
    private: tuple[str, ...] = ()  # unknown to attackers; all other quasi-identifiers are public
    class_private: bool = True  # whether an attacker does not know the class either
    score: str = "gain_ratio"  # as C4.5; "gain" as ID3, categories only
    l: float | None = None  # noqa: E741
    max_confidence: float | None = None  # no class has a larger share in any span. Needs a private class
    prune: bool | None = None  # None: with gain ratio only, as C4.5 and ID3 do
    fill: str | None = None  # missing: refused, "mode" (or median), or "value": a category of its own
    bins: int | None = 1024
    require: Any = ()  # further ones on the class in every span: "t=0.2, distinct-l=3"

    name: ClassVar[str] = "kadet"

    def __post_init__(self) -> None:
        object.__setattr__(self, "require", required_of_spans(self.require))
        requirement = self.requirement
        object.__setattr__(self, "l", requirement.l)
        object.__setattr__(self, "max_confidence", requirement.max_confidence)
        object.__setattr__(self, "private", tuple(self.private))
        at_least("bins", self.bins, 2)
        if self.score not in SCORES:
            raise ParameterError(f"score must be one of {', '.join(SCORES)}.")
        if self.fill not in FILLS:
            raise ParameterError("fill must be mode or value, or be left out.")
        if not self.class_private and requirement.on_class:
            raise ParameterError(
                "l, max_confidence and require are about a class that an attacker does not know. "
                "With a public class leave them out."
            )

    @property
    def requirement(self) -> SpanRequirement:
        """What every span keeps."""
        return SpanRequirement(self.k, self.l, self.max_confidence, self.require)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return {**vars(self), "private": list(self.private), "require": [str(part) for part in self.require]}

    def induce(self, table: EncodedTable, schema: Schema, owners: Codes | None = None) -> Induction:
        """Grow the tree that predicts the target from the quasi-identifiers and the private attributes.

        ``owners``: the person of each row, if a person may have several: persons are then counted.
        """
        names, target = self._names(schema)
        about_class(self.require, target)
        if table.height == 0:
            raise InputError("The table has no rows; a tree needs at least one.")
        columns, fills = fill_columns([table[name] for name in names], table[target], self.fill, self._by_threshold)
        who = self._owners(table[target], owners)
        reason = self._impossible(table[target]) if who is None else self._impossible_for(who, table[target])
        if reason:
            return Induction(None, reason, (), ())
        attributes = [self._attribute(i, columns[name], schema) for i, name in enumerate(names)]
        table = EncodedTable({**columns, target: table[target]}, table.height)
        public = [attribute.name not in self.private for attribute in attributes]
        training = InductionTable.of(attributes, public, table[target], self.class_private, who)
        return self._grow(training, table, fills, replace(self.requirement, persons=owners is not None))

    def _owners(self, target: EncodedColumn, owners: Codes | None) -> SpanOwners | None:
        """Whose rows they are; None where every row is a person."""
        if owners is None or np.bincount(owners).max(initial=0) <= 1:
            return None
        labels = exact_bins(target.counts).of_code[target.codes].astype(np.int32)
        classes = len(occurring_classes(target))
        return SpanOwners.of(self.requirement, owners, labels, classes=classes, ordered=target.type.has_order)

    def _impossible_for(self, owners: SpanOwners, target: EncodedColumn) -> str:
        """Why not even a tree without tests keeps the requirement for persons; empty if it does."""
        rows = np.arange(len(owners.persons))
        people, persons = owners.of_classes(rows), owners.size(rows)
        if not self.class_private and people.min() < self.k:
            return (
                f"A class of {target.name!r} has rows of {people.min()} persons, fewer than k={self.k}; a public class "
                "needs k."
            )
        if persons < self.k:
            return f"The table has rows of {persons} persons, fewer than k={self.k}."
        if self.class_private and not owners.holds(rows, np.zeros(len(rows), np.int64), 1)[0]:
            return (
                "The classes of all persons together are too uneven: the most frequent class is one of "
                f"{people.max() / persons:.1%} of them. Parts of the table might do better, but not all of it."
            )
        return ""

    def _names(self, schema: Schema) -> tuple[list[str], str]:
        """The attributes, in the order of the schema, and the target."""
        for name in self.private:
            schema[name]  # raises HeaderError, listing the columns there are
        names = [name for name in schema.names if name in {*schema.quasi_identifiers, *self.private}]
        if schema.target is None:
            raise SchemaError(
                f"A tree needs a target: the class it predicts. Name one: {named_option(target='COLUMN')}."
            )
        if schema.target in names or {*schema.dropped} & {*names}:
            raise SchemaError("The target, identifiers and dropped columns cannot be attributes of the tree.")
        if not names:
            raise SchemaError("A tree needs attributes to test. Name quasi-identifiers, or private attributes.")
        numbers = [name for name in names if schema[name].type.is_numeric]
        if self.score == "gain" and numbers:
            raise SchemaError(
                f"The score id3 takes categories only; {', '.join(map(repr, numbers))} are numbers. "
                "Leave them out, or use the score c45."
            )
        return names, schema.target

    def _by_threshold(self, column: EncodedColumn) -> bool:
        return column.type.has_order and self.score == "gain_ratio"

    def _attribute(self, number: int, column: EncodedColumn, schema: Schema) -> Attribute:
        declared = schema[column.name]
        if self._by_threshold(column):
            return Thresholds.of(number, column, declared, self.bins)
        return Categories.of(number, column, declared, column.name not in self.private)

    def _impossible(self, target: EncodedColumn) -> str:
        """Why not even a tree without tests keeps the requirement; empty if it does."""
        counts = target.counts[target.counts > 0]
        if not self.class_private and counts.min() < self.k:
            return f"A class of {target.name!r} has {counts.min()} rows, fewer than k={self.k}; a public class needs k."
        if counts.sum() < self.k:
            return f"The table has {counts.sum()} rows, fewer than k={self.k}."
        subject = RequirementSubject(target.name, counts, target.type.has_order)
        for part in self.require:
            part.check_possible(subject)
        if self.class_private and not self.requirement.holds(counts):
            return (
                "The classes of all rows together are too uneven, and no tree can do better: the most frequent class "
                f"has {counts.max() / counts.sum():.1%} of the rows, and l is {2 ** entropy(counts):.3f}."
            )
        return ""

    def _grow(
        self,
        training: InductionTable,
        table: EncodedTable,
        fills: dict[str, str | int | float],
        requirement: SpanRequirement,
    ) -> Induction:
        growth = Growth(training, requirement, self.score == "gain_ratio").run()
        split = np.array([node.division is not None for node in growth.nodes])
        if self.prune or (self.prune is None and self.score == "gain_ratio"):
            split = self._pruned(growth, split, requirement)
        model, spans = publish(growth, split, requirement, table, fills)
        return Induction(model, "", spans, tuple(growth.trace))

    def _pruned(
        self, growth: Growth, split: npt.NDArray[np.bool_], requirement: SpanRequirement
    ) -> npt.NDArray[np.bool_]:
        """The splits that stay; all of them, if spans of persons would be joined that do not keep it together."""
        kept = split & kept_splits(growth.nodes)
        if growth.training.owners is None or not requirement.on_class:
            return kept
        spans, _ = spans_again(growth, kept)
        rows = [spans.order[low:high] for low, high in spans.of(spans.root())]
        return split if _broken(growth, rows, requirement) else kept


def fill_columns(
    columns: Iterable[EncodedColumn],
    target: EncodedColumn,
    fill: str | None,
    by_threshold: Callable[[EncodedColumn], bool],
) -> tuple[dict[str, EncodedColumn], dict[str, str | int | float]]:
    """The attributes without missing values, and what stands for them by attribute.

    ``"mode"``: the most frequent value of a category, the median of what is split by a threshold. ``"value"``: missing
    is a value of its own, which a threshold cannot have. A class is never made up: a missing one may only be a class
    of its own, by ``"value"``.
    """
    columns = list(columns)
    fills: dict[str, str | int | float] = {}
    for column in columns:
        if fill == "mode" and 0 < column.counts[-1] < len(column.codes):
            fills[column.name] = stand_in(column, by_threshold(column))
    done = {column.name: filled(column, fills.get(column.name)) for column in columns}
    left = [c for c in done.values() if c.counts[-1] and not (fill == "value" and not by_threshold(c))]
    if target.counts[-1] and fill != "value":
        left.append(target)
    if left:
        raise ValuesError(_refusal(left, target.name))
    return done, fills


def stand_in(column: EncodedColumn, middle: bool) -> str | int | float:
    """The most frequent value (the first of several), or the one in the middle of all."""
    counts = column.counts[:-1]
    code = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)) if middle else int(counts.argmax())
    value: str | int | float = column.numbers[code].item() if column.type.is_numeric else column.dictionary[code]
    return value


def _refusal(columns: list[EncodedColumn], target: str) -> str:
    missing = ", ".join(f"{column.name!r} ({int(column.counts[-1])} rows)" for column in columns)
    mode, value = named_option(fill="mode"), named_option(fill="value")
    advice = f"{mode} puts the most frequent value or the median there, {value} makes missing a category."
    if any(column.name == target for column in columns):
        advice += f" A missing class can only be a class of its own ({value}); or leave these rows out."
    return f"Values are missing in {missing}. Leave these rows out, or choose how to fill them: {advice}"
