"""Why opening a release loses, where it does: what the two ways do differently with such releases."""

from __future__ import annotations

from experiments.recipients.cells import Kind
from incrowd.methods.catalog import find_method
from incrowd.vocabulary.forms import STRICT

DEALT = "chance of the deals: both ways deal the same counts, each with draws of its own"
ENDS = "a mean or a middle does not tell where its box ends: new rows may go to a neighbour of their box"
UNSEEN = "a test row has a value that no released row has"
HIDDEN = "sets and hidden cells are dealt, where comparisons leave them missing: which is luckier differs by table"
MIDDLES = "test rows have numbers of their own, the release few middles or means"


def cause_of(kind: Kind) -> str:
    """The cause for a kind of release."""
    method, form, numeric, _ = kind
    if form != STRICT:
        return DEALT
    if find_method(method.partition("(")[0]).generalizes:
        return ENDS if numeric in ("midpoint", "mean") else UNSEEN
    return MIDDLES if numeric in ("levels", "mean", "interval") else HIDDEN
