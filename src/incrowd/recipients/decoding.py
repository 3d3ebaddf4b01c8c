"""A plain table from a release, for whoever wants one value a cell.

Every cell becomes one of the values it stands for: members of sets, values below groups, counted values and numbers
inside intervals are dealt over the rows of a group at random, several times. What a row then shows need not be what
its person has: only what the release says of the group is true. The decoded table is a convenience, it is not the
release, and the guarantee of the release is not counted on it.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from incrowd.errors import HeaderError
from incrowd.recipients.dealing import DEALS, Dealing
from incrowd.recipients.matrix import Attribute
from incrowd.recipients.received import ReceivedRelease, open_release
from incrowd.vocabulary.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Mapping

WARNING = "decoded from a release: values are dealt at random within groups; carries no guarantee by itself"
METADATA = {"incrowd.decoded": WARNING}


def decode(
    release: Any,
    *,
    certificate: Any = None,
    groups: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
    deals: int = DEALS,
    weight: str = "weight",
    seed: int | None = None,
) -> Any:
    """A plain table from a release: its rows several times, each time with the values dealt out anew.

    Numbers are drawn inside their interval, by the shape that the release itself shows; where an interval is open, next
    to the end that is published. Sets, counts and groups become one of their values. What is hidden is missing; a
    column that is hidden in all rows is left out, with a warning.

    Parameters
    ----------
    release, certificate, groups, hierarchies
        The release, as :func:`incrowd.open_release` takes it.
    deals
        How often rows are dealt. One deal adds noise; five stacked ones are nearly as good as the release. A release in
        which no cell stands for several values is dealt once.
    weight
        The name of the column of weights, 1 / deals in every row.
    seed
        For a repeatable deal. The deal is the recipient's own; nothing secret depends on it.

    Returns
    -------
    frame
        The kind of frame that came in; for files pandas, or PyArrow where pandas is not installed. It does not carry
        the guarantee of the release.

    Examples
    --------
    >>> import pandas as pd
    >>> import incrowd
    >>> people = pd.DataFrame({"age": [30, 41, 56, 63] * 25, "ill": ["no", "no", "yes", "yes"] * 25})
    >>> made = incrowd.release(people, quasi_identifiers=["age"], target="ill", class_sensitive=False, k=10)
    >>> plain = decode(made.table, certificate=made.certificate, deals=2, seed=1)
    >>> plain.columns.tolist(), len(plain), float(plain["weight"].sum())
    (['age', 'ill', 'weight'], 200, 100.0)
    """
    received = open_release(release, certificate=certificate, groups=groups, hierarchies=hierarchies)
    return received.frame("decoded", deals=deals, weight=weight, seed=seed)


def decoded_table(
    release: ReceivedRelease, *, deals: int = DEALS, weight: str = "weight", seed: int | None = None
) -> pa.Table:
    """The same for a release that is open, as a table of PyArrow."""
    table, released = release.opened.table, release.certificate["released_columns"]
    names = list(dict.fromkeys(column["from"] for column in released))
    if weight in names:
        raise HeaderError(f"The release has a column {weight!r} already. Name another for the weights.")
    shown = [column for column in release.attributes if column.form != "plain"]
    rows = Dealing(tuple(shown), table, plain=True).dealt(np.random.default_rng(seed), deals)
    dealt = {column.name: _column(each, column.kind) for column, each in zip(shown, rows.attributes, strict=True)}
    times = rows.height // table.num_rows if table.num_rows else 1
    hidden = [name for name, each in dealt.items() if each.null_count == rows.height]
    if hidden and table.num_rows:
        message = f"The release hides all of {', '.join(hidden)}; the decoded table leaves such columns out."
        warnings.warn(message, stacklevel=2)
    columns = {name: dealt.get(name) or _repeated(table.column(name), times) for name in names if name not in hidden}
    columns[weight] = pa.array(np.full(rows.height, 1 / times))
    return pa.table(columns).replace_schema_metadata(METADATA)


def _repeated(column: pa.ChunkedArray, times: int) -> pa.ChunkedArray:
    return pa.chunked_array(column.chunks * times, column.type)


def _column(attribute: Attribute, kind: ColumnType) -> pa.Array:
    """A dealt attribute as a column of its type: whole numbers where all are, days as dates, words."""
    if attribute.categories is not None:
        words = pa.array(attribute.categories, pa.string())
        return words.take(pa.array(attribute.values, pa.int64(), mask=attribute.is_missing))
    numbers = np.asarray(attribute.values, np.float64)
    known = numbers[~np.isnan(numbers)]
    if kind is ColumnType.DATE:
        days = np.floor(np.nan_to_num(numbers)).astype(np.int32)
        return pa.array(days, pa.int32(), mask=np.isnan(numbers)).cast(pa.date32())
    if kind is ColumnType.INTEGER and (known == np.floor(known)).all() and (np.abs(known) < 2**53).all():
        return pa.array(np.nan_to_num(numbers).astype(np.int64), mask=np.isnan(numbers))
    return pa.array(numbers, from_pandas=True)


def decoded_name(release: Path) -> Path:
    """Where a decoded table goes if nobody says: its name tells what it is."""
    return release.with_name(release.name.split(".")[0] + ".decoded.parquet")
