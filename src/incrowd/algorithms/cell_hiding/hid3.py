"""HID3: hide the cells of the row itself that lead an ID3 tree to the true value."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.adversaries.id3 import ID3Adversary, TreeNode, classify, matching, most_common
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Status, Walked

Place = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Hid3:
    """Hide from ID3: at the tests on the row's way, blank the tested cell so that the row follows the common branch.

    Only the row changes, at most n - 1 cells of it and no more than the depth of the tree. It succeeds whenever some
    set of hidden cells makes the tree miss.

    Parameters
    ----------
    lean
        Do not hide a cell where that does not change the way; the thesis does.
    """

    lean: bool = False
    name = "hid3"

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from ID3."""
        tree = ID3Adversary().study(secret.published, secret.attribute, secret.shown(secret.attribute)).tree
        return hide_from(tree, secret, self.lean)


def hide_from(tree: TreeNode, secret: Secret, lean: bool) -> Status:
    """Hide a blanked cell from a given tree; if that is impossible, delete the row."""
    if classify(secret.published, tree, secret.row) != secret.actual:
        return Status.NOT_PREDICTED
    if secret.coin_says_stop():
        return Status.COIN
    mark = secret.mark()
    if mislead(tree, secret, lean, ()):
        return Status.HIDDEN
    secret.back(mark)
    secret.delete_row()
    return Status.DELETED


def mislead(node: TreeNode, secret: Secret, lean: bool, place: Place) -> bool:
    """Hide cells so that the row, coming from this node, ends at another value; False, and nothing hidden, if not."""
    label = classify(secret.published, node, secret.row)
    if node.attribute is None:
        secret.steps.append(Walked("leaf", place, label))
        return label != secret.actual
    secret.steps.append(Walked("enter", place, label))
    if label != secret.actual:
        return True
    common = most_common(node)
    hits = matching(secret.published, node, secret.row)
    shown = secret.shown(node.attribute)
    places = {id(child): (*place, (node.attribute, value)) for value, child in node.children}
    match = hits[0] if hits and shown != HIDDEN else None
    told = places[id(match)] if match is not None else None
    secret.steps.append(Walked("children", place, None, places[id(common)], told))
    if match is None or (lean and match is common):
        return mislead(common, secret, lean, places[id(common)])
    if match is not common and mislead(match, secret, lean, places[id(match)]):
        return True
    mark = secret.mark()
    secret.show([secret.row], node.attribute, HIDDEN)
    if mislead(common, secret, lean, places[id(common)]):
        return True
    secret.back(mark)
    return False
