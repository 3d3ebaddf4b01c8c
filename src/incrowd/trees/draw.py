"""A tree for human eyes: as text for a terminal, or as a picture (see :mod:`incrowd.trees.svg`)."""

from __future__ import annotations

from incrowd.trees.svg import to_svg
from incrowd.trees.tree import Tree
from incrowd.trees.wording import amount, class_name, condition, headline

__all__ = ["to_svg", "to_text"]


def to_text(tree: Tree, *, counts: bool = True, max_depth: int | None = None) -> str:
    """Draw a tree with lines.

    Parameters
    ----------
    tree
        Any tree.
    counts
        Whether to show the class histogram of each node.
    max_depth
        Nodes below this depth are only counted.

    Examples
    --------
    >>> from incrowd.trees.tree import Branch, Node
    >>> from incrowd.vocabulary.predicate import Gt, Le
    >>> root = Node("age", (Branch(Le("age", 30), 1), Branch(Gt("age", 30), 2)), (2, 2))
    >>> tree = Tree((root, Node(None, (), (2, 0)), Node(None, (), (0, 2))), "ill", ("no", "yes"))
    >>> print(to_text(tree))
    age  [no: 2, yes: 2]
    ├─ <= 30: no  [no: 2]
    └─ > 30: yes  [yes: 2]
    """
    lines = []
    below = _sizes(tree)
    waiting = [(0, "", "", "")]
    while waiting:
        number, lead, elbow, test = waiting.pop()
        node = tree.nodes[number]
        hidden = max_depth is not None and tree.depths[number] >= max_depth and not node.is_leaf
        lines.append(lead + elbow + test + _headline(tree, number, counts, below[number] if hidden else 0))
        if hidden:
            continue
        inner = lead + {"": "", "├─ ": "│  ", "└─ ": "   "}[elbow]
        for place, branch in reversed(list(enumerate(node.branches))):
            corner = "└─ " if place == len(node.branches) - 1 else "├─ "
            waiting.append((branch.child, inner, corner, f"{condition(branch.predicate)}: "))
    return "\n".join(lines)


def _headline(tree: Tree, number: int, counts: bool, hidden: int) -> str:
    """What a node tests or says, with its counts."""
    node = tree.nodes[number]
    words = headline(tree, node)
    if hidden:
        words += f" … {hidden:,} nodes below"
    if not counts:
        return words
    parts = [
        f"{class_name(value)}: {amount(count)}" for value, count in zip(tree.classes, node.counts, strict=True) if count
    ]
    return f"{words}  [{', '.join(parts)}]"


def _sizes(tree: Tree) -> list[int]:
    """Number of nodes below each node."""
    below = [0] * len(tree.nodes)
    for number in range(len(tree.nodes) - 1, 0, -1):
        below[tree.parents[number]] += below[number] + 1
    return below
