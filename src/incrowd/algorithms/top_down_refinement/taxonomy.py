"""An attribute with a taxonomy: it shows a cut through the tree, one node above every value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.top_down_refinement.attribute import MISSING, Attribute, Look, Split
from incrowd.algorithms.top_down_refinement.gains import Counts, is_mixed, split_gain
from incrowd.plan.steps import Part

Dress = Callable[[int, int, Look], Part | None]


class Taxonomy(Attribute):
    """A cut, at first the root alone; a refinement replaces a node by its children.

    Parameters
    ----------
    name
        The attribute.
    labels, parents
        The nodes, numbered from the root (0) depth first.
    nodes
        For each code the leaf it belongs to; the missing one stands for itself, one past the last node.
    counts
        Rows per code and class.
    dress
        The part of a node, its rows given; None if it shows nothing.

    Examples
    --------
    >>> counts = np.array([[5, 11], [16, 2], [0, 0]])
    >>> taxonomy = Taxonomy("sex", ["*", "f", "m"], [-1, 0, 0], np.array([1, 2, 3]), counts, lambda *_: None)
    >>> taxonomy.words(0), round(float(taxonomy.gains[0]), 4)
    (('*', 'f, m'), 0.2716)
    """

    def __init__(
        self,
        name: str,
        labels: Sequence[str],
        parents: Sequence[int],
        nodes: npt.NDArray[np.int64],
        counts: Counts,
        dress: Dress,
    ) -> None:
        super().__init__(name, len(nodes), len(parents) + 1)
        self._labels = [*labels, MISSING]
        self._dress = dress
        above = [*parents, 0]
        self._children: list[list[int]] = [[] for _ in above]
        self._ends = np.arange(1, len(above) + 1)
        self._counts = np.zeros((len(above), counts.shape[1]), np.int64)
        np.add.at(self._counts, nodes, counts)
        for node in range(len(above) - 1, 0, -1):
            self._counts[above[node]] += self._counts[node]
            self._ends[above[node]] = max(self._ends[above[node]], self._ends[node])
        for used in (np.flatnonzero(self._counts[1:].any(axis=1)) + 1).tolist():
            self._children[above[used]].append(used)
        self._codes = np.argsort(nodes, kind="stable").astype(np.int32)
        self._sorted = nodes[self._codes]
        self._cut = {0}
        self._offer(0)

    def refines(self, candidate: int) -> int:
        """The node itself."""
        return candidate

    def place(self, candidate: int) -> int:
        """The number of the node."""
        return candidate

    def words(self, candidate: int) -> tuple[str, str]:
        """The node's label, and those of its children that have rows."""
        return self._labels[candidate], ", ".join(self._labels[child] for child in self._children[candidate])

    def refine(self, candidate: int) -> Split:
        """Replace the node by its children."""
        children = self._children[candidate]
        self.open[candidate] = False
        self._cut = self._cut - {candidate} | set(children)
        for child in children:
            self._offer(child)
        return self._split({child: self._below(child) for child in children})

    def close(self, candidate: int) -> None:
        """The node stays in the cut for good."""
        self.open[candidate] = False
        self.next[self._below(candidate)] = -1

    def parts(self, look: Look) -> tuple[Part, ...]:
        """One part for each node of the cut that has rows; the root and the missing show nothing."""
        shown = sorted(self._cut - {0, len(self._labels) - 1})
        dressed = (self._dress(node, int(self._counts[node].sum()), look) for node in shown)
        return tuple(part for part in dressed if part is not None)

    def _offer(self, node: int) -> None:
        """Make a node of the cut a candidate, if refining it can be of use."""
        children = self._children[node]
        missing = len(self._labels) - 1
        if children in ([], [missing]) or not is_mixed(self._counts[node]):
            self.close(node)
            return
        self.open[node] = True
        self.gains[node] = split_gain(self._counts[children])
        self.decides[children] = node
        for child in children:
            self.next[self._below(child)] = child

    def _below(self, node: int) -> npt.NDArray[np.int32]:
        """The codes below a node."""
        first, last = np.searchsorted(self._sorted, [node, self._ends[node]])
        return self._codes[first:last]
