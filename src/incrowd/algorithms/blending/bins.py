"""Public bins: where numbers are cut before anything else is done with them. The cuts are part of the release."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.algorithms.tree_suppression.binning import public_cuts
from incrowd.measures.cuts import even_cuts, roundest
from incrowd.plan.steps import Bin
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType

BINS = ("mdl", "fine")
FEWEST, PIECES = 5, 12


def public_bins(table: EncodedTable, names: Sequence[str], target: EncodedColumn, bins: str, k: int) -> Bin:
    """The cuts of all numbers.

    ``"mdl"``: where the class changes (Fayyad and Irani). ``"fine"``: there, and so that no bin has much more than a
    twelfth of the rows. Every bin has at least five rows (or k, if that is less), and cuts are round numbers.
    """
    numbers = [table[name] for name in names if table[name].type.is_numeric]
    return Bin(tuple((column.name, _cuts(column, target, bins, min(k, FEWEST))) for column in numbers))


def _cuts(column: EncodedColumn, target: EncodedColumn, bins: str, smallest: int) -> tuple[float, ...]:
    cuts = public_cuts(column, target.codes, target.width, smallest)
    if bins == "mdl":
        return cuts
    rows, whole = column.counts[:-1], column.type is not ColumnType.REAL
    places = even_cuts(rows, max(smallest, int(rows.sum()) // PIECES))
    even = (roundest(column.numbers[i - 1].item(), column.numbers[i].item(), whole) for i in places)
    return tuple(sorted({*cuts, *even}))
