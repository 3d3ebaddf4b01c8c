"""HID3-G: as HID3, with cells of the row generalized instead of blanked."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.adversaries.id3 import ID3Adversary, TreeNode, classify, matching, most_common
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.generalizing import level_by_level
from incrowd.algorithms.cell_hiding.hid3 import Place
from incrowd.algorithms.cell_hiding.opening import or_delete
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Status, Walked


@dataclass(frozen=True)
class Hid3G:
    """Hide from ID3 by generalizing the cells that are tested on the row's way.

    It succeeds whenever some combination of levels makes the tree miss.

    Parameters
    ----------
    lean
        Do not generalize a cell where that does not change the way; the thesis does.
    """

    lean: bool = False
    name = "hid3-g"

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from ID3."""
        return or_delete(secret, level_by_level(secret, self.attempt))

    def attempt(self, secret: Secret) -> Status:
        """One round at the class level that is shown."""
        tree = ID3Adversary().study(secret.published, secret.attribute, secret.shown(secret.attribute)).tree
        return self.hide_from(tree, secret)

    def hide_from(self, tree: TreeNode, secret: Secret) -> Status:
        """Hide from a given tree; ``DELETED`` if that is impossible."""
        if classify(secret.published, tree, secret.row) != secret.actual:
            return Status.NOT_PREDICTED
        if secret.coin_says_stop():
            return Status.COIN
        return Status.HIDDEN if mislead_by_levels(tree, secret, self.lean, ()) else Status.DELETED


def mislead_by_levels(node: TreeNode, secret: Secret, lean: bool, place: Place) -> bool:
    """Raise cells so that the row, coming from this node, ends at another value; False, and nothing raised, if not."""
    label = classify(secret.published, node, secret.row)
    name = node.attribute
    if name is None:
        secret.steps.append(Walked("leaf", place, label))
        return label != secret.actual
    secret.steps.append(Walked("enter", place, label))
    if label != secret.actual:
        return True
    common = most_common(node)
    places = {id(child): (*place, (name, value)) for value, child in node.children}
    mark = secret.mark()
    while True:
        hits = matching(secret.published, node, secret.row)
        first = hits[0] if hits else common
        told = places[id(first)] if hits else None
        secret.steps.append(Walked("children", place, None, places[id(common)], told))
        if hits and first is common:
            if not lean:
                _raise_one_level(secret, name)
            if mislead_by_levels(common, secret, lean, places[id(common)]):
                return True
            break
        if mislead_by_levels(first, secret, lean, places[id(first)]):
            return True
        if secret.shown(name) == HIDDEN:
            break
        _raise_one_level(secret, name)
    secret.back(mark)
    return False


def _raise_one_level(secret: Secret, name: str) -> None:
    shown = secret.shown(name)
    if shown != HIDDEN:
        secret.show([secret.row], name, secret.published.taxonomy(name).parents[shown])
