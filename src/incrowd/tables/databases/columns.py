"""Types of PostgreSQL on their way in and out."""

from __future__ import annotations

from typing import Any

import polars as pl

from incrowd.errors import OutputError, ValuesError
from incrowd.tables.databases.tables import quoted

BEFORE = "SELECT * FROM (\n"
_AFTER = "\n) AS given"

_YEAR_1, _YEAR_10000 = -719162, 2932897  # their first days, counted from 1970
_MICROSECONDS = 86_400_000_000  # of a day
_AS_IT_IS = frozenset({"bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar"})
_TIMES = frozenset({"date", "timestamp", "timestamptz", "time"})
_AS_TEXT = frozenset({"numeric", "uuid", "bpchar", "name", "char", "citext", "inet", "cidr", "macaddr", "macaddr8"})
_WIDER: dict[type[pl.DataType] | pl.DataType, pl.DataType] = {
    pl.Int8: pl.Int16(),
    pl.UInt8: pl.Int16(),
    pl.UInt16: pl.Int32(),
    pl.UInt32: pl.Int64(),
    pl.UInt64: pl.Decimal(20, 0),
    pl.Null: pl.String(),
    pl.Categorical: pl.String(),
    pl.Enum: pl.String(),
}
_SQL: dict[type[pl.DataType] | pl.DataType, str] = {
    pl.Boolean: "boolean",
    pl.Int16: "smallint",
    pl.Int32: "integer",
    pl.Int64: "bigint",
    pl.Float32: "real",
    pl.Float64: "double precision",
    pl.String: "text",
    pl.Date: "date",
    pl.Time: "time",
}


def whole(query: str) -> str:
    """A query as a part of another one, which only a single query can be."""
    return f"{BEFORE}{query}{_AFTER}"


def selection(query: str, schema: Any) -> str:
    """The query with every column in a type that incrowd reads, named by its position.

    Exact numbers (numeric), identifiers (uuid), network addresses and padded text become plain text, exactly as
    PostgreSQL writes it. What has parts inside (arrays, json, records) or no plain value is refused.
    """
    names = [f"c{i}" for i in range(len(schema))]
    wanted = ", ".join(_expression(name, field) for name, field in zip(names, schema, strict=True))
    return f"SELECT {wanted} FROM (\n{query}{_AFTER}({', '.join(names)})"


def _expression(name: str, field: Any) -> str:
    import pyarrow as pa

    kind = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
    if kind in _AS_IT_IS or kind in _TIMES:
        return name
    if kind in _AS_TEXT or pa.types.is_string(field.type):  # enumerations come as text
        return f"{name}::pg_catalog.text"
    if kind == "oid":
        return f"{name}::pg_catalog.int8"
    raise ValuesError(
        f"Column {field.name!r} has the type {_word(kind, field.type)} of PostgreSQL, which is no plain value. "
        f"Leave it out, or cast it in the query, for instance {quoted(field.name)}::text."
    )


def _word(kind: str, dtype: Any) -> str:
    import pyarrow as pa

    if pa.types.is_list(dtype):
        return f"{kind.removeprefix('_')}[]"
    return "record" if pa.types.is_struct(dtype) else kind.partition("<")[0]


def check_dates(batch: Any, names: list[str]) -> None:
    """Refuse dates that are none for Python, as a database may hold them."""
    import pyarrow as pa

    for name, column in zip(names, batch.columns, strict=True):
        if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
            _check_years(name, column)


def _check_years(name: str, column: Any) -> None:
    """Infinite dates come as some number or other, and those far away as another one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_date = pa.types.is_date(column.type)
    unit = 1 if is_date else _MICROSECONDS
    ends = pc.min_max(column.view(pa.int32() if is_date else pa.int64())).as_py()
    if ends["min"] is not None and (ends["min"] < _YEAR_1 * unit or ends["max"] >= _YEAR_10000 * unit):
        raise ValuesError(
            f"Column {name!r} holds infinite dates, or dates outside the years 1 to 9999. Make them NULL in the query."
        )


def storable(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame in types that PostgreSQL has; nothing is rounded."""
    casts = {name: to for name, dtype in frame.schema.items() if (to := _wider(dtype)) is not None}
    _refuse_rounding(frame)
    return frame.cast(casts)  # type: ignore[arg-type]


def _wider(dtype: pl.DataType) -> pl.DataType | None:
    if isinstance(dtype, pl.Datetime):
        return pl.Datetime("us", dtype.time_zone and "UTC")
    return _WIDER.get(dtype) or _WIDER.get(type(dtype))


def _refuse_rounding(frame: pl.DataFrame) -> None:
    """PostgreSQL counts microseconds."""
    for series in frame.iter_columns():
        fine = series.dtype == pl.Time or (isinstance(series.dtype, pl.Datetime) and series.dtype.time_unit == "ns")
        if fine and (series.to_physical() % 1000 != 0).any():
            raise OutputError(f"Column {series.name!r} has nanoseconds, which PostgreSQL cannot keep. Round it.")


def sql_type(name: str, dtype: pl.DataType) -> str:
    """The type of a column in the new table.

    Examples
    --------
    >>> sql_type("age", pl.Int64()), sql_type("cost", pl.Decimal(10, 2))
    ('bigint', 'numeric(10, 2)')
    """
    if isinstance(dtype, pl.Decimal):
        return f"numeric({dtype.precision}, {dtype.scale})"
    if isinstance(dtype, pl.Datetime):
        return "timestamptz" if dtype.time_zone else "timestamp"
    kind = _SQL.get(dtype)
    if kind is None:
        raise OutputError(f"Column {name!r} has the type {dtype}, for which PostgreSQL has no column. Convert it.")
    return kind
