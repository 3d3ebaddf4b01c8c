"""From table to tree: pack, grow, read back. ID3 and C4.5 differ only in their rules."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.trees.levels import Limits, grow_levels, without_splits
from incrowd.trees.packing import pack
from incrowd.trees.pruning import splits_to_keep
from incrowd.trees.reading_back import read_back
from incrowd.trees.records import Rules
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import EncodedTable


def grow(
    table: EncodedTable,
    attributes: Sequence[str],
    target: str,
    rules: Rules,
    min_rows: int,
    bins: int | None,
    max_depth: int | None,
    weighted: bool,
    confidence: float | None = None,
) -> Tree:
    """Grow a tree by the given rules, pruned if a confidence is given."""
    training = pack(table, attributes, target, bins)
    limits = Limits(min_rows, max_depth, weighted)
    grown = grow_levels(training.rows, training.columns, rules, limits)
    if confidence is not None:
        grown = without_splits(grown, splits_to_keep(grown.counts.astype(float), grown.parents, confidence))
    return read_back(grown, training, weighted)
