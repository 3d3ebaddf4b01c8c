"""Tree reconstruction: the counts of a published tree, put together, name small groups of people.

What: the attacker reads the counts at the nodes of a tree and gets those that are not shown by subtraction: a parent
less its other children. Paper: Friedman, Wolff, Schuster: Providing k-Anonymity in Data Mining, VLDB Journal 2008,
section 3 (what a tree with counts tells); Gambs, Gmati, Hurfin: Reconstruction Attack through Classifier Analysis,
DBSec 2012. Measured: the share of the people in a leaf (in a leaf and class, if the class is public) whose number is
shown, or follows, and is below k. Control: the tree without counts, from which no number follows. Leak: any such
person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.measuring import share_interval
from incrowd.attacks.scene import Scene
from incrowd.errors import CannotRunError

Counts = list[int | None]


def tree_reconstruction(scene: Scene) -> Finding:
    """Subtracts the counts of a tree from each other."""
    if scene.model is None:
        raise CannotRunError("No published model is on the table.")
    tree = read_tree(scene.model)
    counts = solve(tree)
    small = [
        count
        for node in tree.leaves
        for count in ([_total(counts[node])] if tree.private else counts[node])
        if count is not None and 0 < count < tree.k
    ]
    rows, exposed = scene.table.height, sum(small)
    known = sum(count is not None for node in tree.leaves for count in counts[node])
    return Finding(
        LEAK if exposed else NO_LEAK,
        f"{known:,} counts of leaves are shown or follow; {exposed:,} people are in groups below {tree.k}.",
        measured=exposed / rows,
        control=0.0,
        interval=share_interval(exposed, rows),
        goal=0.0,
        unit="share of people",
        details={
            "counts known": float(known),
            "groups below k": float(len(small)),
            "leaves": float(len(tree.leaves)),
            "share, if the number of rows is known": _below_k(tree, counts, rows) / rows,
        },
    )


@dataclass(frozen=True)
class ShownTree:
    """What the file of a tree shows: children and class counts of each node, and what was promised."""

    children: Sequence[Sequence[int]]
    counts: Sequence[Counts]
    k: int
    private: bool

    @property
    def leaves(self) -> list[int]:
        """The nodes without children."""
        return [node for node, below in enumerate(self.children) if not below]


def read_tree(model: Mapping[str, Any]) -> ShownTree:
    """The tree of a model's file, whatever its nodes show."""
    try:
        nodes, classes = model["nodes"], len(model["classes"])
        children = [[int(branch["go"]) for branch in node.get("branches", ())] for node in nodes]
        counts: list[Counts] = [list(node.get("counts", [None] * classes)) for node in nodes]
        if any(len(row) != classes for row in counts) or any(not 0 < c < len(nodes) for b in children for c in b):
            raise ValueError
        return ShownTree(children, counts, int(model["requirement"]["k"]), bool(model["class_private"]))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise CannotRunError("The model's file is not a tree that incrowd wrote.") from None


def solve(tree: ShownTree) -> list[Counts]:
    """All counts that are shown or follow by subtraction and addition, node by node."""
    known = [list(row) for row in tree.counts]
    changed = True
    while changed:
        changed = False
        for parent, place, value in _following(tree, known):
            known[parent][place] = value
            changed = True
    return known


def _following(tree: ShownTree, known: list[Counts]) -> Iterator[tuple[int, int, int]]:
    """Counts that follow from others and are not known yet."""
    for parent, below in enumerate(tree.children):
        for place in range(len(known[parent])) if below else ():
            open_ones = [child for child in below if known[child][place] is None]
            rest = sum(known[child][place] or 0 for child in below)
            whole = known[parent][place]
            if whole is None and not open_ones:
                yield parent, place, rest
            elif whole is not None and len(open_ones) == 1:
                yield open_ones[0], place, whole - rest


def _below_k(tree: ShownTree, counts: list[Counts], rows: int) -> int:
    """People in leaves of fewer than k, for somebody who also knows how many people there are."""
    totals: list[Counts] = [[_total(row)] for row in counts]
    totals[0] = [rows]
    known = solve(ShownTree(tree.children, totals, tree.k, tree.private))
    return sum(count for node in tree.leaves if (count := known[node][0]) is not None and 0 < count < tree.k)


def _total(counts: Counts) -> int | None:
    return None if None in counts else sum(count or 0 for count in counts)
