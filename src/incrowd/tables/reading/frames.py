"""Data frames of other libraries, in and out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import polars as pl

from incrowd.errors import FileFormatError, HeaderError, Notice, ParameterError, ValuesError, is_panic
from incrowd.tables.reading.layout import check_headers, without_pandas_index
from incrowd.tables.reading.source import MISSING_MARKERS, Form, Origin, Source
from incrowd.vocabulary.randomness import fresh_frame
from incrowd.vocabulary.schema import Column, ColumnType

_PLAIN = (pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Null, pl.Decimal)


def read_frame(frame: Any, *, missing: Sequence[str] = MISSING_MARKERS) -> Source:
    """Take a pandas, polars or PyArrow table."""
    form = _form(frame)
    declared: tuple[Column, ...] = ()
    dropped: tuple[Notice, ...] = ()
    if form == "pandas":
        check_headers(_text_names(frame.columns))
        dropped = _index_notice(frame)
        declared = tuple(_ordered_pandas(frame))
        table = _from_pandas(frame)
    elif form == "pyarrow":
        check_arrow(frame.schema)
        table = _polars(frame)
    else:
        table = frame
    return from_typed(table, Origin(form, missing=tuple(missing)), declared, dropped)


def from_typed(
    table: pl.DataFrame, origin: Origin, declared: Iterable[Column] = (), notices: Iterable[Notice] = ()
) -> Source:
    """A source from a table that has types: names and types checked, categories as plain text."""
    shape = check_types(table.schema, table.height)
    table = plain_text(table.select(shape.kept))
    return Source.of(table, origin, (*notices, *shape.notices), (*declared, *shape.declared))


@dataclass(frozen=True)
class FrameShape:
    """Columns of a table with types that were found sound: those to keep, what is odd, orders they declare."""

    kept: tuple[str, ...]
    notices: tuple[Notice, ...]
    declared: tuple[Column, ...]


def check_types(schema: Mapping[str, pl.DataType], height: int) -> FrameShape:
    """Refuse names and types that cannot be released, and a table without rows."""
    look_alikes = check_headers(tuple(schema))
    kept, dropped = without_pandas_index(schema)
    if not kept or height == 0:
        raise FileFormatError("The table has no rows. Give a table with at least one row.")
    for name in kept:
        _refuse_type(name, schema[name])
    return FrameShape(kept, (*look_alikes, *dropped), tuple(_ordered_enums({name: schema[name] for name in kept})))


def plain_text(table: pl.DataFrame) -> pl.DataFrame:
    """The table with categories as plain text."""
    return table.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def to_frame_like(frame: pl.DataFrame, origin: Origin) -> Any:
    """The table as the kind of frame that came in, in fresh memory, without index or attributes.

    Tables that came from a file are given as polars frames.
    """
    fresh = fresh_frame(frame)
    if origin.form == "pandas":
        from incrowd.optional import optional

        optional("pandas", "giving back a pandas frame")
        return fresh.to_pandas()
    if origin.form == "pyarrow":
        return fresh.to_arrow(compat_level=pl.CompatLevel.oldest())
    return fresh


def check_arrow(schema: Any) -> None:
    """Refuse the names that cannot be told apart and the nested and extension types of an Arrow schema."""
    import pyarrow as pa

    check_headers(schema.names)
    for field in schema:
        if isinstance(field.type, pa.BaseExtensionType) or b"ARROW:extension:name" in (field.metadata or {}):
            raise ValuesError(f"Column {field.name!r} has an extension type. Convert it to text or numbers.")
        if pa.types.is_nested(field.type):
            raise ValuesError(f"Column {field.name!r} is nested. Spread it over plain columns, or drop it.")
        if pa.types.is_decimal256(field.type):
            raise ValuesError(f"Column {field.name!r} holds 256-bit numbers. Convert it to text or to 64-bit numbers.")


def _form(frame: Any) -> Form:
    if isinstance(frame, pl.LazyFrame):
        raise ParameterError("A lazy frame has no rows yet. Call .collect() first.")
    if isinstance(frame, pl.DataFrame):
        return "polars"
    import narwhals as nw  # a frame of another library comes with it, a file needs none

    if nw.dependencies.is_pandas_dataframe(frame):
        return "pandas"
    if nw.dependencies.is_pyarrow_table(frame):
        return "pyarrow"
    raise ParameterError("Give a path, or a table of pandas, polars or PyArrow.")


def _text_names(names: Iterable[Any]) -> list[str]:
    listed = list(names)
    if not all(isinstance(name, str) for name in listed):
        raise HeaderError("Column names must be text. Rename them: frame.columns = frame.columns.map(str).")
    return listed


def _index_notice(frame: Any) -> tuple[Notice, ...]:
    """A pandas index other than the plain row count is not released."""
    if type(frame.index).__name__ == "RangeIndex":
        return ()
    message = "The row index of the frame is not released. If it holds data, call reset_index() first."
    return (Notice("index-dropped", "", message),)


def _ordered_pandas(frame: Any) -> Iterable[Column]:
    for name, dtype in frame.dtypes.items():
        if dtype == "category" and dtype.ordered:
            order = tuple(str(value) for value in dtype.categories)
            yield Column(name, type=ColumnType.ORDERED, order=order, reason="an ordered category")


def _ordered_enums(schema: Mapping[str, pl.DataType]) -> Iterable[Column]:
    for name, dtype in schema.items():
        if isinstance(dtype, pl.Enum):
            order = tuple(dtype.categories)
            yield Column(name, type=ColumnType.ORDERED, order=order, reason="an ordered category")


def _from_pandas(frame: Any) -> pl.DataFrame:
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        if column.dtype == object:
            _refuse_mixed(name, column)
    return _polars(frame.reset_index(drop=True))


def _refuse_mixed(name: str, column: Any) -> None:
    """Object columns may hold one type of plain value, and missing ones."""
    kinds = {type(value) for value in column[column.notna()].array}
    plain = (str, bool, int, float, dt.date, Decimal)
    if not all(issubclass(kind, plain) for kind in kinds):
        raise ValuesError(f"Column {name!r} holds objects that are not plain values. Convert it, or drop it.")
    if len(kinds) > 1 and kinds != {int, float}:
        raise ValuesError(f"Column {name!r} mixes {len(kinds)} types of values. Convert it to one type.")


def _polars(frame: Any) -> pl.DataFrame:
    """The table in polars; messages of a failed conversion quote cells, so none gets out."""
    import narwhals as nw

    table: pl.DataFrame | None = None
    try:
        table = nw.from_native(frame, eager_only=True).to_polars()
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
    if table is None:
        raise ValuesError("A column of the frame holds values of a type that is not supported. Convert it.")
    return table


def _refuse_type(name: str, dtype: pl.DataType) -> None:
    if dtype.is_nested():
        raise ValuesError(f"Column {name!r} is nested. Spread it over plain columns, or drop it.")
    if dtype in (pl.Int128, pl.UInt128):
        raise ValuesError(f"Column {name!r} holds 128-bit numbers. Convert it to text or to 64-bit numbers.")
    if dtype.is_numeric() or isinstance(dtype, (*_PLAIN, pl.Categorical, pl.Enum)):
        return
    raise ValuesError(f"Column {name!r} has the type {dtype}. Convert it to text, numbers or dates.")
