"""What the verification is told about requirements beyond k, in the words of the written file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from incrowd.verification.requirements import Further
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.together import Together
from incrowd.vocabulary.schema import Schema

if TYPE_CHECKING:
    import polars as pl


def further_asked(
    requirement: Requirement,
    schema: Schema,
    table: EncodedTable,
    source: pl.DataFrame,
    rename: Callable[[str], str],
) -> tuple[Further, ...]:
    """Each requirement on a column, with what tells its values apart.

    ``table`` is the input as it was understood, ``source`` as it was read: where a text means another value, or none,
    the verification must know, for the file has the text. ``rename`` says how a text is written.
    """
    if not isinstance(requirement, Together):
        return ()
    found = []
    for part in requirement.on_columns:
        column = schema[part.on or str(schema.target)]
        unified = unified_texts(table[column.name], source[column.name])
        written = {rename(text): None if meant is None else rename(meant) for text, meant in unified.items()}
        found.append(
            Further(part, rename(column.name), table[column.name].type, column.order, column.hierarchy, written)
        )
    return tuple(found)


def unified_texts(column: EncodedColumn, source: pl.Series) -> dict[str, str | None]:
    """The texts that were understood as another one.

    Examples
    --------
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> import polars as pl
    >>> column = EncodedColumn("a", ColumnType.CATEGORICAL, np.array([0, 0, 1], np.int32), pl.Series(["x"]))
    >>> unified_texts(column, pl.Series(["x", " x", "-"]))
    {' x': 'x', '-': None}
    """
    import polars as pl

    if source.dtype != pl.String:
        return {}
    texts, first = np.unique(source.fill_null("").to_numpy().astype(object), return_index=True)
    meant = [*column.dictionary.cast(pl.String).to_list(), None]
    pairs = zip(texts.tolist(), column.codes[first].tolist(), first.tolist(), strict=True)
    return {text: meant[code] for text, code, row in pairs if source[row] is not None and meant[code] != text}
