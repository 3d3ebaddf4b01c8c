"""Why opening a release loses, where it does: what the two ways do differently with such releases."""

from __future__ import annotations

from experiments.recipients.cells import Kind
from incrowd.methods.catalog import find_method
from incrowd.vocabulary.forms import STRICT

DEALT = "chance of the deals: both ways deal the same counts; nearest neighbours take one deal, not five"
GROUPS = "the certificate does not say which group of the hierarchy a value belongs to"
NEAREST = "a mean or a middle does not tell where its box ends: new rows go to the box that is nearest"
OVERLAP = "sets name only values that occur: a row that fits no box goes to the one that fits best"
HIDDEN = "sets and hidden cells are dealt, where comparisons leave them missing: which is luckier differs by table"
MIDDLES = "test rows have numbers of their own, the release few middles or means"


def cause_of(kind: Kind) -> str:
    """The cause for a kind of release."""
    method, form, numeric, hierarchies = kind
    if form != STRICT:
        return DEALT
    if hierarchies:
        return GROUPS
    if find_method(method).generalizes:
        return NEAREST if numeric in ("midpoint", "mean") else OVERLAP
    return MIDDLES if numeric in ("levels", "mean", "interval") else HIDDEN
