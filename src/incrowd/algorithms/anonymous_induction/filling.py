"""Missing values: refused, unless the user says what stands for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from incrowd.errors import ValuesError
from incrowd.models.published_tree import filled
from incrowd.vocabulary.encoded_table import EncodedColumn

FILLS = (None, "mode", "value")


def fill_columns(
    columns: Iterable[EncodedColumn],
    target: EncodedColumn,
    fill: str | None,
    by_threshold: Callable[[EncodedColumn], bool],
) -> tuple[dict[str, EncodedColumn], dict[str, str | int | float]]:
    """The attributes without missing values, and what stands for them by attribute.

    ``"mode"``: the most frequent value of a category, the median of what is split by a threshold. ``"value"``: missing
    is a value of its own, which a threshold cannot have. A class is never made up: a missing one may only be a class
    of its own, by ``"value"``.

    Raises
    ------
    ValuesError
        If missing values remain; it names the columns and how many rows each lacks.
    """
    columns = list(columns)
    fills: dict[str, str | int | float] = {}
    for column in columns:
        if fill == "mode" and 0 < column.counts[-1] < len(column.codes):
            fills[column.name] = stand_in(column, by_threshold(column))
    done = {column.name: filled(column, fills.get(column.name)) for column in columns}
    left = [c for c in done.values() if c.counts[-1] and not (fill == "value" and not by_threshold(c))]
    if target.counts[-1] and fill != "value":
        left.append(target)
    if left:
        raise ValuesError(_refusal(left, target.name))
    return done, fills


def stand_in(column: EncodedColumn, middle: bool) -> str | int | float:
    """The most frequent value (the first of several), or the one in the middle of all."""
    counts = column.counts[:-1]
    code = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)) if middle else int(counts.argmax())
    value: str | int | float = column.numbers[code].item() if column.type.is_numeric else column.dictionary[code]
    return value


def _refusal(columns: list[EncodedColumn], target: str) -> str:
    told = ", ".join(f"{column.name!r} ({int(column.counts[-1])} rows)" for column in columns)
    advice = "fill='mode' puts the most frequent value or the median there, fill='value' makes missing a category."
    if any(column.name == target for column in columns):
        advice += " A missing class can only be a class of its own (fill='value'); or leave these rows out."
    return f"Values are missing in {told}. Leave these rows out, or choose how to fill them: {advice}"
