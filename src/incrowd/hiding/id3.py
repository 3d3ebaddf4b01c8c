"""ID3: the adversary, grown only where it is walked, and HID3, the hider against it.

Information gain, one branch for each node of the taxonomy that occurs, in its order; ties go to the first attribute and
the first branch. A hidden cell of a training row is left out of the attribute's gain, which is scaled by the known
share, and follows the most common branch. Growing stops where a node is pure, out of attributes or without gain.

The first test follows from the counts alone. Rows are read below it only, and only on the ways that are walked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.hiding.published import PublishedTable, Rows
from incrowd.hiding.secret import Secret, Status, Walked, hide_or_delete
from incrowd.hiding.taxonomy import HIDDEN
from incrowd.measures.information import bits

Counts = npt.NDArray[np.int64]
Place = tuple[tuple[str, int], ...]
_SAME = 1e-10  # gains per row closer than this are a tie


@dataclass(frozen=True)
class ID3Adversary:
    """ID3 over what is published (Quinlan 1986)."""

    name = "id3"
    costly = False  # the tree grows only where it is walked

    def study(self, published: PublishedTable, attribute: str, shown: int) -> TreeNode:
        """The tree over all rows that show a value below the given node."""
        values = np.array(published.taxonomy(attribute).leaves_below(shown), np.int64)
        sizes = np.asarray(published.counts(attribute)[values], np.int64)
        return TreeNode(_Training(published, attribute, values), published.others(attribute), sizes)


@dataclass(frozen=True, eq=False)
class _Training:
    """The table a tree is grown on, and the classes it tells apart, in their order."""

    published: PublishedTable
    target: str
    values: npt.NDArray[np.int64]


@dataclass(eq=False)
class TreeNode:
    """A node of a tree that grows when it is looked at.

    ``sizes`` are its rows by class; ``above`` is the node it hangs below (None for the root, which has all training
    rows) and ``shown`` what its rows show of the attribute tested there.
    """

    training: _Training
    names: tuple[str, ...]
    sizes: Counts
    above: TreeNode | None = None
    shown: tuple[int, ...] = ()

    def guess(self, row: int) -> int | None:
        """The label of the leaf a row comes to from here; None if there was nothing to learn from."""
        node = self
        while node.attribute is not None:
            hits = node.matching(row)
            node = hits[0] if hits else node.most_common
        return node.label or None

    def matching(self, row: int) -> list[TreeNode]:
        """The children a row may follow: their value is, or lies below or above, what it shows; largest first."""
        assert self.attribute is not None
        taxonomy = self.training.published.taxonomy(self.attribute)
        shown = self.training.published.node(row, self.attribute)
        hits = [
            child
            for value, child in self.children
            if value == shown or taxonomy.below(value, shown) or taxonomy.below(shown, value)
        ]
        return sorted(hits, key=lambda child: -child.population)

    @property
    def most_common(self) -> TreeNode:
        """The child with the largest population, ties to the first."""
        return max((child for _, child in self.children), key=lambda child: child.population)

    @cached_property
    def population(self) -> int:
        """Training rows that come here."""
        return int(self.sizes.sum())

    @property
    def label(self) -> int:
        """The most common class, ties to the first; nothing where there is no row to learn from."""
        return int(self.training.values[np.argmax(self.sizes)]) if self.population else HIDDEN

    @cached_property
    def rows(self) -> Rows | None:
        """The training rows that come here; None stands for all of them."""
        if self.above is None or self.above.attribute is None:
            return None
        name, published = self.above.attribute, self.training.published
        above = self.above.rows
        if above is not None:
            parts = [above[published.nodes(name)[above] == node] for node in self.shown]
        else:
            parts = [published.all_rows_with(name, node) for node in self.shown]
            classes = published.nodes(self.training.target)
            parts = [part[np.isin(classes[part], self.training.values)] for part in parts]
        rows = np.concatenate(parts)
        published.work.rows += len(rows)
        return rows

    @cached_property
    def classes(self) -> npt.NDArray[np.int64]:
        """The place of each row's class among the values."""
        return np.searchsorted(self.training.values, self.training.published.nodes(self.training.target)[self.rows])

    def contingency(self, name: str) -> Counts:
        """Classes x nodes of an attribute."""
        published, values = self.training.published, self.training.values
        if self.rows is None:
            return np.asarray(published.joint(self.training.target, name)[values], np.int64)
        wide = len(published.taxonomy(name))
        keys = self.classes * wide + published.nodes(name)[self.rows]
        return np.bincount(keys, minlength=len(values) * wide).reshape(-1, wide)

    @cached_property
    def attribute(self) -> str | None:
        """The attribute of the highest gain; None where no test helps."""
        if np.count_nonzero(self.sizes) < 2:
            return None
        chosen, highest = None, 0.0
        for name in self.names:
            gain = gain_times_rows(self.contingency(name))
            if gain > highest + _SAME * self.population:
                chosen, highest = name, gain
        return chosen

    @cached_property
    def children(self) -> tuple[tuple[int, TreeNode], ...]:
        """One for each node of the taxonomy that occurs; hidden cells join the most common one."""
        if self.attribute is None:
            return ()
        counts = self.contingency(self.attribute)
        known = counts.sum(axis=0)
        known[HIDDEN] = 0
        largest = int(np.argmax(known))
        names = tuple(name for name in self.names if name != self.attribute)
        return tuple(
            (node, TreeNode(self.training, names, counts[:, list(shown)].sum(axis=1), self, shown))
            for node in np.flatnonzero(known).tolist()
            for shown in [(node, HIDDEN) if node == largest else (node,)]
        )


def gain_times_rows(contingency: Counts) -> float:
    """Information gain of a test, scaled by the known share, times the rows of the node (classes x nodes counts)."""
    known = contingency[:, 1:]
    known = known[:, known.any(axis=0)]
    return float(bits(known.sum(axis=1)) - bits(known.T).sum())


@dataclass(frozen=True)
class Hid3:
    """Hide from ID3: HID3, and by generalizing cells HID3-G.

    At the tests on the row's way, the tested cell is withheld so that the row follows another branch. Only the row
    changes, at most n - 1 cells of it and no more than the depth of the tree. It succeeds whenever some set of hidden
    cells, or some combination of levels, makes the tree miss.
    """

    lean: bool = False  # do not withhold a cell where that does not change the way; the thesis does
    generalize: bool = False  # show cells as groups of their hierarchies, level by level. Otherwise cells are blanked

    @property
    def name(self) -> str:
        """Its name in the list of methods."""
        return "hid3-g" if self.generalize else "hid3"

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from ID3; if that is impossible, delete the row."""
        return hide_or_delete(secret, self.attempt, generalize=self.generalize)

    def attempt(self, secret: Secret) -> Status:
        """One round with the confidential cell as it is shown."""
        tree = ID3Adversary().study(secret.published, secret.attribute, secret.shown(secret.attribute))
        return self.hide_from(tree, secret)

    def hide_from(self, tree: TreeNode, secret: Secret) -> Status:
        """Hide from a given tree; ``DELETED`` and nothing changed if that is impossible."""
        if tree.guess(secret.row) != secret.actual:
            return Status.NOT_PREDICTED
        if secret.coin_says_stop():
            return Status.COIN
        mark = secret.mark()
        if self._mislead(tree, secret, ()):
            return Status.HIDDEN
        secret.back(mark)
        return Status.DELETED

    def _mislead(self, node: TreeNode, secret: Secret, place: Place) -> bool:
        """Withhold cells so that the row, coming from this node, ends at another value; False, and none, if not."""
        label, name = node.guess(secret.row), node.attribute
        secret.steps.append(Walked("leaf" if name is None else "enter", place, label))
        if name is None or label != secret.actual:
            return label != secret.actual
        common, mark, start = node.most_common, secret.mark(), secret.shown(name)
        places = {id(child): (*place, (name, value)) for value, child in node.children}
        while True:
            hits = node.matching(secret.row)
            follows = hits[0] if hits else common
            if self.generalize or secret.shown(name) == start:
                match = places[id(follows)] if hits else None
                secret.steps.append(Walked("children", place, None, places[id(common)], match))
            settled = bool(hits) and follows is common  # wherever the cell is raised to, the row goes on there
            if settled and not self.lean:
                self._withhold(secret, name)
            if self._mislead(follows, secret, places[id(follows)]):
                return True
            if settled or secret.shown(name) == HIDDEN or not (hits or self.generalize):
                secret.back(mark)
                return False
            self._withhold(secret, name)

    def _withhold(self, secret: Secret, name: str) -> None:
        """Raise a cell of the row by one level, or blank it."""
        shown = secret.shown(name)
        if shown != HIDDEN:
            high = secret.published.taxonomy(name).parents[shown] if self.generalize else HIDDEN
            secret.show([secret.row], name, high)
