"""Requirements on the class of a model, recounted by SQL over its spans and over the leaves that show counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd.verification.model_file import Model
from incrowd.verification.opening import connect, register
from incrowd.verification.requirements import Further, broken_classes, recount_requirements
from incrowd.verification.verdict import Check
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.schema import ColumnType

Places = npt.NDArray[np.int64]
_GROUP, _CLASS = "span", "class"


def recount_spans(model: Model, table: EncodedTable, spans: Places) -> tuple[Check, ...]:
    """A check for each further requirement; ``spans`` is the span of each row."""
    if not model.further:
        return ()
    column = table[model.target]
    with connect() as connection:
        names = register(connection, _rows(spans, column.codes.astype(np.int64)), "released")
        return recount_requirements(connection, names, [[_GROUP]], _asked(model, table))


def unsafe_nodes(model: Model, table: EncodedTable, arrived: Places) -> set[int]:
    """The nodes whose own rows break a further requirement; ``arrived`` is nodes x classes of the model."""
    if not model.further:
        return set()
    resting = arrived.copy()
    for number, node in enumerate(model.nodes):
        for test in node.tests:
            resting[number] -= arrived[test.child]
    nodes, classes = np.nonzero(resting)
    times = resting[nodes, classes]
    present = sorted(set(nodes.tolist()))
    with connect() as connection:
        names = register(connection, _rows(np.repeat(nodes, times), np.repeat(classes, times)), "released")
        broken = [broken_classes(connection, names, [_GROUP], one) for one in _asked(model, table)]
    return {present[number - 1] for each in broken for number in each}


def _asked(model: Model, table: EncodedTable) -> list[Further]:
    """The requirements; classes are numbered in their order, which is all that a distance needs."""
    kind = ColumnType.INTEGER if table[model.target].type.has_order else ColumnType.CATEGORICAL
    return [Further(part, _CLASS, kind) for part in model.further]


def _rows(groups: Places, classes: Places) -> object:
    import pyarrow as pa

    return pa.table({_GROUP: groups, _CLASS: classes})
