"""A published tree as text, and as a drawing for a paper: groups by their names, counts where the model shows them."""

from __future__ import annotations

from dataclasses import replace

from incrowd.drawing.drawing import Drawing
from incrowd.drawing.wording import plain, sentence
from incrowd.models.published_tree import PublishedTree
from incrowd.trees.draw import draw_lines, draw_tree
from incrowd.trees.tree import Branch, Eq, Gt, Le, Node, Predicate, Tree
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
    >>> requirement = {"is": "k-anonymity of spans", "k": 2, "l": None, "max_confidence": None}
    >>> model = PublishedTree("ill", ("no", "yes"), True, (), tree, (1,), (None,), requirement, ((2, 3),), 5, 1)
    >>> print(export_text(model))
    yes  [no: 2, yes: 3]
    ill: every span has at least 2 rows; 1 span, of 5 rows
    """
    drawn = draw_lines(drawable(model), model.safe_counts, max_depth)
    return f"{drawn}\n{plain(model.target)}: {promise(model)}"


def plot_tree(model: PublishedTree, *, max_depth: int | None = None) -> Drawing:
    """Draw a published tree; the lines below it tell what was promised.

    Parameters
    ----------
    model
        Any published tree.
    max_depth
        Nodes below this depth are left out; the boxes above them end in an ellipsis.

    Examples
    --------
    >>> tree = Tree((Node(None, (), (0, 0)),), "ill", ("no", "yes"))
    >>> requirement = {"is": "k-anonymity of spans", "k": 2, "l": None, "max_confidence": None}
    >>> model = PublishedTree("ill", ("no", "yes"), True, (), tree, (1,), (None,), requirement, ((2, 3),), 5, 1)
    >>> plot_tree(model)
    Drawing of 'Decision tree for ill'
    """
    tree = drawable(model)
    deepest = max(tree.depths) if max_depth is None else max_depth
    drawn = {node.attribute for node, depth in zip(tree.nodes, tree.depths, strict=True) if depth <= deepest}
    notes = ["Bars: class shares, where counts may be shown."] if any(model.safe_counts) else []
    if drawn & {*model.private}:
        notes.append("Dashed: private attribute.")
    caption = [sentence(promise(model)), *([" ".join(notes)] if notes else [])]
    return draw_tree(tree, model.safe_counts, private=model.private, caption=caption, max_depth=max_depth)


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
    requirement = model.requirement
    clauses = [f"every span has {'rows of ' * model.of_persons}at least {requirement['k']} {model.counted}"]
    if requirement.get("l") is not None:
        clauses.append(f"an entropy of classes of at least log2 {requirement['l']:g}")
    if requirement.get("max_confidence") is not None:
        clauses.append(f"no class with a share above {requirement['max_confidence']:g}")
    spans = "1 span, of" if model.spans == 1 else f"{model.spans:,} spans, the smallest of"
    return f"{', '.join(clauses)}; {spans} {model.smallest_span:,} {model.counted}"


def _named(predicate: Predicate, group: str | None, dates: set[str]) -> Predicate:
    if group is not None:
        return Eq(predicate.attribute, group)
    if isinstance(predicate, Le | Gt) and predicate.attribute in dates:
        return replace(predicate, threshold=_Day(predicate.threshold))
    return predicate
