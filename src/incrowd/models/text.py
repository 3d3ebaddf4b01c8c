"""A published tree as text: groups by their names, counts where the model shows them."""

from __future__ import annotations

from dataclasses import replace

from incrowd.models.published_tree import PublishedTree
from incrowd.trees.draw import amount, class_name, to_text, visible
from incrowd.trees.tree import Branch, Node, Tree
from incrowd.vocabulary.predicate import Eq, Gt, Le, Predicate
from incrowd.vocabulary.released_value import date_text
from incrowd.vocabulary.schema import ColumnType


class _Day(int):
    """A day number that is written as its date."""

    def __str__(self) -> str:
        return date_text(self)


def export_text(model: PublishedTree, *, max_depth: int | None = None) -> str:
    """Draw a published tree with lines; below it, what was promised.

    Nodes below ``max_depth`` are only counted.

    Examples
    --------
    >>> tree = Tree((Node(None, (), (0, 0)),), "ill", ("no", "yes"))
    >>> asked = {"is": "k-anonymity of spans", "k": 2, "l": None, "max_confidence": None}
    >>> print(export_text(PublishedTree("ill", ("no", "yes"), True, (), tree, (1,), (None,), asked, ((2, 3),), 5, 1)))
    yes  [no: 2, yes: 3]
    ill: every span has at least 2 rows; 1 span, of 5 rows
    """
    lines = to_text(drawable(model), counts=False, max_depth=max_depth).split("\n")
    tree = model.tree
    shown = [number for number in tree.preorder() if max_depth is None or tree.depths[number] <= max_depth]
    drawn = [line + _counts(model, model.safe_counts[node]) for line, node in zip(lines, shown, strict=True)]
    return "\n".join([*drawn, f"{visible(model.target)}: {promise(model)}"])


def drawable(model: PublishedTree) -> Tree:
    """The tree for drawings: every node counts for its label, groups are values by their names, dates are dates."""
    dates = {attribute.name for attribute in model.attributes if attribute.type is ColumnType.DATE}
    nodes = []
    for node, label in zip(model.tree.nodes, model.labels, strict=True):
        branches = (
            Branch(_named(branch.predicate, model.groups[branch.child], dates), branch.child)
            for branch in node.branches
        )
        nodes.append(Node(node.attribute, tuple(branches), tuple(int(i == label) for i in range(len(model.classes)))))
    return replace(model.tree, nodes=tuple(nodes))


def promise(model: PublishedTree) -> str:
    """What every span keeps, in words."""
    asked = model.requirement
    said = [f"every span has at least {asked['k']} rows"]
    if asked.get("l") is not None:
        said.append(f"an entropy of classes of at least log2 {asked['l']:g}")
    if asked.get("max_confidence") is not None:
        said.append(f"no class with a share above {asked['max_confidence']:g}")
    spans = "1 span, of" if model.spans == 1 else f"{model.spans:,} spans, the smallest of"
    return f"{', '.join(said)}; {spans} {model.smallest_span:,} rows"


def _named(predicate: Predicate, group: str | None, dates: set[str]) -> Predicate:
    if group is not None:
        return Eq(predicate.attribute, group)
    if isinstance(predicate, Le | Gt) and predicate.attribute in dates:
        return replace(predicate, threshold=_Day(predicate.threshold))
    return predicate


def _counts(model: PublishedTree, counts: tuple[int, ...] | None) -> str:
    if counts is None:
        return ""
    pairs = zip(model.classes, counts, strict=True)
    return f"  [{', '.join(f'{class_name(value)}: {amount(count)}' for value, count in pairs if count)}]"
