"""Deal the published values out again, so that any learner can take a release of counts.

In each group, the published values of each attribute are dealt over its rows at random. What a row then shows is not
what its person has: only the group's counts are true. The decoded table is a convenience, it is not the release, and
the guarantee of the release is not counted on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import HeaderError, ParameterError
from incrowd.recipients.counted_table import CountedColumn, CountedTable
from incrowd.tables.publishing.serialise import write_table
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.read import read_release
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.randomness import Randomness, SeededRandomness, SystemRandomness
from incrowd.vocabulary.released_value import Interval, parse_interval

DEALS = 5
WARNING = "decoded from a release of counts: values are dealt at random within groups; carries no guarantee by itself"
METADATA = {"incrowd.decoded": WARNING}
NUMBERS = ("interval", "middle")


def decode(
    release: Any,
    *,
    groups: Any = None,
    deals: int = DEALS,
    columns: Iterable[str] | None = None,
    numbers: str = "interval",
    weight: str = "weight",
    seed: int | None = None,
) -> Any:
    """A plain table from a release of counts: the rows several times, each time with the values dealt out anew.

    Parameters
    ----------
    release
        The release: a path, or a pandas, polars or PyArrow table. Give all of its rows and columns of counts.
    groups
        The table of groups, for a release of two tables.
    deals
        How often rows are dealt. One deal adds noise; five stacked ones are nearly as good as the counts.
    columns
        The columns of counts, if they should not be found by themselves.
    numbers
        Numbers as the ``"interval"`` they were counted in, or as its ``"middle"`` (its only end, if it is open).
    weight
        The name of the column of weights, 1 / deals in every row.
    seed
        For a repeatable deal. The deal is the recipient's own; nothing secret depends on it.

    Returns
    -------
    frame
        The kind of frame that came in (polars for files). It does not carry the guarantee of the release.

    Examples
    --------
    >>> release = pl.DataFrame({"job": ["cook:2|nurse:1"] * 3, "ill": ["y", "n", "n"]})
    >>> plain = decode(release, deals=2)
    >>> plain.height, sorted(plain["job"].to_list()), plain["weight"].sum()
    (6, ['cook', 'cook', 'cook', 'cook', 'nurse', 'nurse'], 3.0)
    """
    source = read_release(release, missing=[])
    beside = None if groups is None else read_release(groups, missing=[]).frame
    table = CountedTable.of(source.frame, columns) if beside is None else CountedTable.of_pair(source.frame, beside)
    dealt = decode_table(table, deals=deals, numbers=numbers, weight=weight, seed=seed)
    return to_frame_like(dealt, source.origin)


def decode_table(
    table: CountedTable,
    *,
    deals: int = DEALS,
    numbers: str = "interval",
    weight: str = "weight",
    seed: int | None = None,
) -> pl.DataFrame:
    """The same for a table that was read."""
    if not isinstance(deals, int) or isinstance(deals, bool) or deals < 1:
        raise ParameterError("deals must be a whole number of at least 1.")
    if numbers not in NUMBERS:
        raise ParameterError(f"numbers must be one of {', '.join(NUMBERS)}.")
    if weight in table.order:
        raise HeaderError(f"The release has a column {weight!r} already. Name another for the weights.")
    chance = SystemRandomness() if seed is None else SeededRandomness(seed)
    order = np.argsort(table.groups, kind="stable")
    parts = []
    for _ in range(deals):
        dealt = {name: _dealt(column, table, order, numbers, chance) for name, column in table.columns.items()}
        parts.append(pl.DataFrame([dealt[name] if name in dealt else table.beside[name] for name in table.order]))
    return pl.concat(parts).with_columns(pl.lit(1 / deals).alias(weight))


def _dealt(
    column: CountedColumn, table: CountedTable, order: npt.NDArray[np.intp], numbers: str, chance: Randomness
) -> pl.Series:
    """One attribute dealt over the rows; ``order`` has the rows group by group."""
    values = _middles(column.values) if numbers == "middle" else None
    nothing = len(column.values)
    counts = np.column_stack([column.counts, np.where(column.hidden, table.sizes, 0)])
    cards = np.repeat(np.tile(np.arange(nothing + 1), len(counts)), counts.ravel())
    group = table.groups[order]
    shuffled = np.lexsort((chance.words(len(order)), group))
    places = np.empty(len(order), np.int64)
    places[order] = cards[shuffled]
    words = pl.Series(column.name, [*(column.values if values is None else values), None], strict=False)
    return words.cast(pl.String if values is None else pl.Float64).gather(places)


def _middles(values: Iterable[str | None]) -> list[float | None] | None:
    """The middles of intervals of numbers; None if some value is no such interval."""
    means: list[float | None] = []
    for value in values:
        interval = Interval() if value is None else parse_interval(value)
        if interval is None:
            return None
        ends = [end for end in (interval.low, interval.high) if end is not None]
        means.append(sum(ends) / len(ends) if ends else None)
    return means


def decoded_name(release: Path) -> Path:
    """Where a decoded table goes if nobody says: its name tells what it is."""
    return release.with_name(release.name.split(".")[0] + ".decoded.parquet")


def write_decoded(frame: pl.DataFrame, path: Path) -> None:
    """Write a decoded table; a Parquet file says in its metadata that it is one."""
    form = FileForm.of(path)
    if form.kind == "parquet":
        frame.write_parquet(path, compression="zstd", metadata=METADATA)
    else:
        write_table(frame, path, form)
