"""From a grown tree to what may leave the house: pruned, numbered anew, counts only where they keep the promise.

Pruning keeps the guarantee: subtrees become leaves, and nothing else. Replacing a subtree by a leaf merges bins and can
only make spans larger. Raising a branch in place of its parent could put a public test on the path of other rows and
make spans smaller: it is not done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from incrowd.errors import VerificationError
from incrowd.models.induction.attributes import Categories
from incrowd.models.induction.growing import GrowingNode, Growth
from incrowd.models.induction.induction import Span, SpanRequirement
from incrowd.models.induction.spans import InductionTable, SpanOrder, Territory
from incrowd.models.published_tree import PublishedAttribute, PublishedTree
from incrowd.trees.pruning import splits_to_keep
from incrowd.trees.tree import Branch, Node, Tree
from incrowd.vocabulary.encoded_table import EncodedTable

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
        safe_counts=_safe_counts(tree, [node.counts for node in nodes], requirement, training),
        smallest_span=min(len(span.rows) for span in spans),
        spans=len(spans),
    )
    return model, spans


def _check(growth: Growth, spans: tuple[Span, ...], requirement: SpanRequirement) -> None:
    """Count once more before anything leaves: refuse a tree with a span that breaks the requirement."""
    labels, classes = growth.training.inputs.labels, len(growth.training.classes)
    counts = np.array([np.bincount(labels[span.rows], minlength=classes) for span in spans])
    broken = int((~requirement.holds_each(counts, growth.training.subject)).sum())
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
            domain = tuple(
                value for value, rows in zip(attribute.domain, column.counts.tolist(), strict=False) if rows >= k
            )
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
    tree: Tree, counts: list[Counts], requirement: SpanRequirement, training: InductionTable
) -> tuple[tuple[int, ...] | None, ...]:
    """The counts of the leaves that may show them.

    If a single leaf with rows had to hide them, the smallest of the others hides its counts as well: else who knows the
    number of all rows could find them.
    """
    leaves = [leaf for leaf in tree.leaves if counts[leaf].any()]
    safe = {leaf for leaf in leaves if _is_safe(counts[leaf], requirement, training)}
    if len(leaves) - len(safe) == 1 and safe:
        safe.remove(min(safe, key=lambda leaf: int(counts[leaf].sum())))
    return tuple(tuple(counts[node].tolist()) if node in safe else None for node in range(len(counts)))


def _is_safe(counts: Counts, requirement: SpanRequirement, training: InductionTable) -> bool:
    if training.class_private:
        return bool(requirement.holds_each(counts[None, :], training.subject)[0])
    return bool((counts[counts > 0] >= requirement.k).all())


def _spans(growth: Growth, split: npt.NDArray[np.bool_], place: Mapping[int, int]) -> tuple[Span, ...]:
    """The spans of the tree with these splits, with the new numbers of the leaves they cover."""
    spans, territories = spans_again(growth, split)
    leaves: dict[int, set[int]] = {low: set() for low, _ in spans.of(spans.root())}
    for number, new in place.items():
        if not split[number]:
            for low, _ in spans.of(territories[number]):
                leaves[low].add(new)
    return tuple(Span(np.sort(spans.order[low:high]), frozenset(leaves[low])) for low, high in spans.of(spans.root()))
