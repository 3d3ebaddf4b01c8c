"""kADET compared: a tree that is published instead of a table, recounted, and tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from incrowd.compare.examples import Numbers
from incrowd.compare.feeding import Parts
from incrowd.compare.releasing import ReleaseRisk, without_unused
from incrowd.errors import RequirementError, VerificationError
from incrowd.models.induction.kadet import KAdet
from incrowd.models.published_tree import PublishedTree
from incrowd.verification.spans import verify_spans
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.schema import ColumnType, Schema

FILL = "mode"


def publish_and_score(
    parts: Parts, schema: Schema, k: int, parameters: Mapping[str, Any]
) -> tuple[Numbers, ReleaseRisk]:
    """Grow a tree on the rows to learn from, recount it, and score the test rows.

    Quasi-identifiers are public, other columns and the class private. The most frequent value, or the median, stands
    for a missing one, unless the parameters say otherwise. ``Risk`` is about spans: people who look alike to the tree.
    """
    schema = Schema(tuple(replace(column, type=_written(column.type)) for column in schema.columns))
    train, test = _retyped(without_unused(parts.train)), _retyped(parts.test)
    private = tuple(name for name in parts.inputs if name not in schema.quasi_identifiers)
    induction = KAdet(k=k, private=private, **{"fill": FILL, **parameters}).induce(train, schema)
    if induction.model is None:
        raise RequirementError(f"No tree is possible. {induction.reason}")
    verdict = verify_spans(induction.model.to_json(), train)
    if not verdict.passed:
        raise VerificationError("kadet broke its promise. This is a bug: please report it.")
    sizes = verdict.sizes
    risk = ReleaseRisk(sizes.classes, sizes.smallest, sizes.classes / train.height, 1 / max(1, sizes.smallest), 0.0)
    return _scores(induction.model, test, parts), risk


def _scores(model: PublishedTree, test: EncodedTable, parts: Parts) -> Numbers:
    """Class shares of the leaf where the model shows its counts; else 1 for its label."""
    values = [*parts.train[parts.target].dictionary.to_list(), None]
    place = {value: number for number, value in enumerate(values)}
    columns = [place[value] for value in model.classes]
    shares = np.zeros((len(model.labels), len(values)))
    for node, (label, counts) in enumerate(zip(model.labels, model.safe_counts, strict=True)):
        if counts is None:
            shares[node, columns[label]] = 1.0
        else:
            shares[node, columns] = np.array(counts) / sum(counts)
    return shares[model.leaf_of(test)]


def _retyped(table: EncodedTable) -> EncodedTable:
    return EncodedTable.of(replace(column, type=_written(column.type)) for column in table.columns.values())


def _written(kind: ColumnType) -> ColumnType:
    """Truth values are categories to a tree that others read."""
    return ColumnType.CATEGORICAL if kind is ColumnType.BOOLEAN else kind
