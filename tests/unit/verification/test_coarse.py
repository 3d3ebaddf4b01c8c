"""Rules that make columns coarser, kept by the reader and once more by the verification."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest

from incrowd.errors import HeaderError, ParameterError, ValuesError, VerificationError
from incrowd.tables.reading.coarsen import coarsened, coarser
from incrowd.tables.reading.read import read
from incrowd.verification.column_rules import coarsen
from incrowd.verification.opening import connect
from incrowd.vocabulary.column_rules import SMALL_AREAS, Coarsening

DATES = [
    *("2020-03-01", "2020-03", "2020", " 2020-03-01 ", "2020-12-31T23:59:59Z", "2020-12-31 23:59", "2020/1/31"),
    *("2020.1.31", "31.1.2020", "1/31/2020", "31-01-2020", "31 Jan 2020", "31-Jan-2020", "31 January 2020"),
    *("January 31, 2020", "Jan 2020", "31.1.2020 13:05", "1/31/2020, 1:05 PM", "\u200b1999", "0099-01-01"),
    *("soon", "20200131", "31.1.20", "2020-3-1x", "12020", "x 2020-01-01", "\u0662\u0660\u0662\u0660"),
    *(None, "", " ", "?", " ? "),
]
NUMBERS = [
    "89",
    "90",
    "91",
    "090",
    "90.0",
    "90.5",
    " 103",
    "-4",
    "+95",
    "91.",
    "9e5",
    "90+",
    "x",
    "1,5",
    None,
    "?",
    "inf",
]
ZIPS = [
    *("02139", "02139-1234", "021391234", "03601", "1234", "021", "021**", "036XX", "036", "0213", "12", "K1A 0B1"),
    *("00501", " 90210 ", "902100", "unknown", "\u0661\u0662\u0663\u0664\u0665", None, "", "?"),
]
TYPED = [
    ("year", pl.Series([dt.date(2020, 2, 29), None, dt.date(1, 1, 1)])),
    ("year-from-1936", pl.Series([dt.datetime(1920, 12, 31, 23, 30), None, dt.datetime(1937, 1, 1)])),
    ("year", pl.Series([dt.datetime(2020, 12, 31, 23, 30)]).dt.replace_time_zone("America/New_York")),
    ("year", pl.Series([2020, 999, 10_000, None])),
    ("year", pl.Series([2020.0, 2020.5, float("nan"), None])),
    ("year", pl.Series([True, None])),
    ("top-90", pl.Series([89, 90, 91, None])),
    ("top-90", pl.Series([120, 7, None], dtype=pl.UInt8)),
    ("top-1000", pl.Series([120, 7, None], dtype=pl.Int8)),
    ("top-90", pl.Series([89.5, 90.5, float("nan"), None])),
    ("top-90", pl.Series([Decimal("89.5"), Decimal("90.5"), None])),
    ("top-90", pl.Series([dt.date(2020, 2, 29)])),
    ("top-90", pl.Series(["89", "91"], dtype=pl.Categorical)),
    ("zip3", pl.Series([2139, 90210, 3601, 501, 902101234, -1234, None])),
    ("zip3", pl.Series([2139.0, float("nan"), 90210.7, None])),
    ("zip3", pl.Series([dt.date(2020, 2, 29), None])),
]


def by_sql(cells: pl.Series, rule: str, missing=("?",)):
    with connect(threads=1) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("had", pl.DataFrame({"c0": cells}).to_arrow(compat_level=pl.CompatLevel.oldest()))
        coarsen(connection, ["it"], {"it": rule}, missing, of="had", to="TABLE coarse")
        return [row[0] for row in connection.execute("SELECT c0 FROM coarse").fetchall()]


def plainly(values):
    return [None if value is None or value != value else value for value in values]


@pytest.mark.each(3)
@pytest.mark.parametrize(
    ("rule", "cells"),
    [
        *((rule, pl.Series(DATES)) for rule in ("year", "year-from-2021")),
        ("top-90", pl.Series(NUMBERS)),
        ("zip3", pl.Series(ZIPS)),
        *TYPED,
    ],
    ids=lambda one: one if isinstance(one, str) else str(one.dtype),
)
def test_reader_and_verification_agree_on_every_cell(rule, cells):
    after = coarser(cells, Coarsening.of(rule), ("?",)).to_list()
    for cell, coarse in zip(cells.to_list(), after, strict=True):
        one = pl.Series([cell], dtype=cells.dtype)
        missing = cell is None or cell != cell or (isinstance(cell, str) and cell.strip() in ("", "?"))
        if coarse is None and not missing:
            with pytest.raises(VerificationError, match="cannot read"):
                by_sql(one, rule)
        else:
            assert plainly(by_sql(one, rule)) == plainly([coarse])


def test_what_the_rules_mean():
    assert set(coarser(pl.Series(DATES[:18]), Coarsening.of("year")).to_list()) == {2020}
    assert coarser(pl.Series(["1901", "1936", "1950"]), Coarsening.of("year-from-1936")).to_list() == [1936, 1936, 1950]
    assert coarser(pl.Series(["89", "90.5", "103"]), Coarsening.of("top-90")).to_list() == ["89", "90", "90"]
    zips = ["02139", "021391234", "03601", "1234", "021**", "K1A 0B1", "12"]
    assert coarser(pl.Series(zips), Coarsening.of("zip3")).to_list() == [
        "021",
        "021",
        "000",
        "012",
        "021",
        "000",
        "000",
    ]
    assert len(SMALL_AREAS) == 23


def test_a_cell_that_a_rule_cannot_read_is_refused_without_being_shown():
    table = pl.DataFrame({"seen": ["2020-01-01", "next week", "soon"]})
    with pytest.raises(ValuesError, match="'seen': 2 cells cannot be read as dates or years") as refused:
        read(table, coarsen={"seen": "year"})
    assert "week" not in str(refused.value)
    assert read(table, coarsen={"seen": "none"}).frame.equals(table)
    assert read(table, coarsen={"seen": "year"}, missing=["next week", "soon"]).frame["seen"].to_list()[0] == 2020


def test_unknown_columns_and_rules_are_refused():
    table = pl.DataFrame({"seen": ["2020-01-01"]})
    with pytest.raises(HeaderError, match="There is no column 'sen'"):
        read(table, coarsen={"sen": "year"})
    for rule in ("years", "top", "top-x", "zip5", "", 90):
        with pytest.raises(ParameterError, match="A column is coarsened by"):
            read(table, coarsen={"seen": rule})
    with connect(threads=1) as connection:
        connection.execute("CREATE TEMP TABLE had AS SELECT '2020' AS c0")
        with pytest.raises(VerificationError, match="not in the input"):
            coarsen(connection, ["seen"], {"sen": "year"}, (), of="had", to="TABLE coarse")


def test_what_columns_were_is_kept_and_told():
    source = read(pl.DataFrame({"seen": ["2020-01-01", None], "age": [93, 40]}))
    coarse = coarsened(source, {"seen": "year", "age": "top-90"})
    assert coarse.finer is not None
    assert coarse.finer.equals(source.frame)
    assert [str(notice) for notice in coarse.notices] == [
        "seen: coarsened by the rule year: 1 cell changed.",
        "age: coarsened by the rule top-90: 1 cell changed.",
    ]
