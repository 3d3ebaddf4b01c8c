"""Pseudonyms and shifted dates, made by the reader and once more by the verification."""

from __future__ import annotations

import datetime as dt
import hmac
from pathlib import Path

import polars as pl
import pytest

from incrowd.errors import ValuesError, VerificationError
from incrowd.tables.reading.keyed import KeyedCells, shift
from incrowd.verification.column_rules import UNKEYED, Hmac, form_check, make_keyed
from incrowd.verification.request import Hint, InputFile, Request
from incrowd.vocabulary.column_rules import Keying
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.requirement import KAnonymity
from support.one_database import start as connect

KEY = "00112233445566778899aabbccddeeff0f1e2d3c4b5a69788796a5b4c3d2e1f0"
PEOPLE = [
    "17",
    "017",
    " A7 ",
    "a7",
    "A7",
    "Zoe\u0308",
    "Zo\u00eb",
    "x\u200by",
    None,
    "?",
    "",
    " ? ",
    "NA",
    "p_" + "0" * 32,
]
SERIES = [
    pl.Series(PEOPLE),
    pl.Series(PEOPLE, dtype=pl.Categorical),
    pl.Series([17, -3, None, 2**62]),
    pl.Series([17, 200, None], dtype=pl.UInt8),
    pl.Series([17.0, -0.0, float("nan"), None, 2.0**53]),
    pl.Series([None, None], dtype=pl.String),
]
UTC = pl.Series([dt.datetime(2020, 3, 28, 23, 30), None]).dt.replace_time_zone("UTC")
DATES = [
    pl.Series(["2020-02-29", "0001-03-31", "9999-09-30", None, "?", " 2020-12-31 "]),
    pl.Series(["2020-02-29T23:59:59.5Z", "2020-02-29 7:05", "2020-02-29T07:05+01:00", "2020-02-29"]),
    pl.Series(["29.2.2020 14:30", "1.12.1999"]),
    pl.Series(["1/31/2020, 1:05 PM", "1/2/2020"]),
    pl.Series(["31/1/2020", "1/2/2020", None]),
    pl.Series(["29 Feb 2020", "1 Mar 2020"]),
    pl.Series(["February 29, 2020", "May 1, 2020"]),
    pl.Series([dt.date(2020, 2, 29), None, dt.date(1, 4, 1), dt.date(9999, 9, 1)]),
    pl.Series([dt.datetime(2020, 2, 29, 23, 59, 59, 999_999), None, dt.datetime(1900, 1, 1)]),
    pl.Series([dt.datetime(2020, 2, 29, 1)], dtype=pl.Datetime("ms")),
    pl.Series([1_582_934_400_123_456_789, None]).cast(pl.Datetime("ns")),
    UTC,
    UTC.dt.convert_time_zone("Europe/Vienna"),
]
UNREADABLE = [
    pl.Series(["soon"]),
    pl.Series(["2020-02-30"]),
    pl.Series(["2020-01-01x"]),
    pl.Series(["2020-01-01", "1.2.2020"]),
    pl.Series(["1.2.2020", "2020/1/3", "Feb 3, 2020"]),
    pl.Series(["0001-01-01"] * 9),
    pl.Series(["9999-12-31"] * 9),
    pl.Series([dt.date(1, 1, 1)] * 9),
    pl.Series([dt.datetime(2262, 4, 11)] * 9, dtype=pl.Datetime("ns")),
]


def key_file(folder):
    path = folder / "key.txt"
    path.write_text(KEY)
    path.chmod(0o600)
    return path


def by_reader(frame, keying, missing=("?",)):
    return KeyedCells.of(keying, lambda names: [frame.select(names)], missing).made(frame)


def by_sql(frame, keying, missing=("?",)):
    named = frame.rename({name: f"c{place}" for place, name in enumerate(frame.columns)})
    with connect(threads=1) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("had", named.to_arrow(compat_level=pl.CompatLevel.oldest()))
        connection.execute(f"CREATE TEMP TABLE {UNKEYED} AS FROM had")
        make_keyed(connection, frame.columns, keying, missing, to="TABLE made")
        made = pl.DataFrame(connection.sql("FROM made").to_arrow_table())
    return made.rename(dict(zip(made.columns, frame.columns, strict=True)))


def plain(series):
    return (
        series.dt.convert_time_zone("UTC").to_list() if getattr(series.dtype, "time_zone", None) else series.to_list()
    )


def test_the_hmac_is_that_of_the_standard():
    for key in (b"", b"Jefe", bytes(range(32)), bytes(64), b"k" * 131):  # RFC 4231 has keys of more than a block
        for message in (b"", b"what do ya want for nothing?", bytes(1000)):
            assert Hmac(key).digest(message) == hmac.digest(key, message, "sha256")


@pytest.mark.parametrize("cells", SERIES, ids=lambda cells: str(cells.dtype))
def test_reader_and_verification_agree_on_every_pseudonym(cells, tmp_path):
    frame, keying = pl.DataFrame({"who": cells}), Keying(key_file(tmp_path), ("who",))
    made = by_reader(frame, keying)["who"]
    assert made.to_list() == by_sql(frame, keying)["who"].to_list()
    assert made.drop_nulls().str.contains("^p_[0-9a-f]{32}$").all()


def test_a_pseudonym_is_that_of_the_page(tmp_path):
    key = hmac.digest(bytes.fromhex(KEY), b"incrowd pseudonym who", "sha256")
    expected = f"p_{hmac.digest(key, b'17', 'sha256').hex()[:32]}"
    for cells in (["17"], [17], [17.0], [" 17"]):
        assert by_reader(pl.DataFrame({"who": cells}), Keying(key_file(tmp_path), ("who",)))["who"].to_list() == [
            expected
        ]


def test_what_is_one_value_has_one_pseudonym_and_columns_have_their_own(tmp_path):
    frame = pl.DataFrame({"who": PEOPLE, "mother": PEOPLE})
    made = by_reader(frame, Keying(key_file(tmp_path), ("who", "mother")))
    known = dict(zip(PEOPLE, made["who"], strict=True))
    assert known[" A7 "] == known["A7"] != known["a7"]
    assert known["Zoe\u0308"] == known["Zo\u00eb"]
    assert known["17"] != known["017"]
    assert [word for word, pseudonym in known.items() if pseudonym is None] == [None, "?", "", " ? "]
    assert not set(made["who"].drop_nulls()) & set(made["mother"].drop_nulls())


@pytest.mark.each(3)
@pytest.mark.parametrize("cells", DATES, ids=lambda cells: f"{cells.dtype} {cells[0]}")
@pytest.mark.parametrize("days", [1, 60])
def test_reader_and_verification_agree_on_every_date(cells, days, tmp_path):
    frame = pl.DataFrame({"seen": cells, "who": [f"p{row}" for row in range(len(cells))]})
    keying = Keying(key_file(tmp_path), (), ("seen",), "who", days)
    made = by_reader(frame, keying)["seen"]
    assert made.dtype == cells.dtype
    assert plain(made) == plain(by_sql(frame, keying)["seen"])
    unseen = [cell is None or cell == "?" for cell in cells]
    assert [cell is None for cell in made] == unseen
    key = hmac.digest(bytes.fromhex(KEY), b"incrowd shift who", "sha256")
    if isinstance(cells.dtype, pl.Date | pl.Datetime):
        moved = [(after - before).days for before, after in zip(cells, made, strict=True) if before is not None]
        assert moved == [shift(key, f"p{row}", days) for row, gone in enumerate(unseen) if not gone]


@pytest.mark.parametrize("cells", UNREADABLE, ids=lambda cells: f"{cells.dtype} {cells[0]}")
def test_what_cannot_be_shifted_is_refused_by_both(cells, tmp_path):
    frame = pl.DataFrame({"seen": cells, "who": [str(row) for row in range(len(cells))]})
    keying = Keying(key_file(tmp_path), (), ("seen",), "who")
    with pytest.raises(
        ValuesError, match=r"Column 'seen': .* (cannot be read as dates|would leave the calendar)"
    ) as no:
        by_reader(frame, keying)
    assert str(cells[0]) not in str(no.value)
    if cells.dtype != pl.Datetime("ns"):  # DuckDB's nanoseconds go as far as those of polars
        with pytest.raises(VerificationError, match="A column that is made with a key has"):
            by_sql(frame, keying)


def test_dates_of_which_the_order_is_not_known_are_refused(tmp_path):
    frame = pl.DataFrame({"seen": ["1/2/2020", "3/4/2020"], "who": ["a", "b"]})
    with pytest.raises(ValuesError, match=r"cannot be told.*reading=\{'dates': 'dmy'\}"):
        by_reader(frame, Keying(key_file(tmp_path), (), ("seen",), "who"))


def test_a_date_of_nobody_is_refused_by_both(tmp_path):
    frame = pl.DataFrame(
        {"seen": ["2020-01-01", None], "who": [None, None]}, schema={"seen": pl.String, "who": pl.String}
    )
    keying = Keying(key_file(tmp_path), (), ("seen",), "who")
    with pytest.raises(ValuesError, match="1 row with a date has no 'who'"):
        by_reader(frame, keying)
    with pytest.raises(VerificationError, match="dates of nobody"):
        by_sql(frame, keying)


@pytest.mark.parametrize(
    "cells", [pl.Series([1.5]), pl.Series([2.0**54]), pl.Series([True]), pl.Series([dt.date(2020, 1, 1)])], ids=str
)
def test_what_identifies_nobody_is_refused_by_both(cells, tmp_path):
    frame, keying = pl.DataFrame({"who": cells}), Keying(key_file(tmp_path), ("who",))
    with pytest.raises(ValuesError, match="identifies nobody"):
        by_reader(frame, keying)
    with pytest.raises(VerificationError, match="neither text nor whole numbers"):
        by_sql(frame, keying)


def test_shifts_are_spread_evenly_and_never_none(tmp_path):
    drawn = [shift(bytes(32), str(person), 5) for person in range(4000)]
    counts = [drawn.count(days) for days in range(-5, 6)]
    assert counts[5] == 0
    assert min(counts[:5] + counts[6:]) > 300  # 400 are expected, with a deviation of 19


def test_columns_that_are_not_there_and_keys_that_are_none_are_refused(tmp_path):
    frame, key = pl.DataFrame({"who": ["a"]}), key_file(tmp_path)
    with pytest.raises(VerificationError, match="is not in the input"):
        by_sql(frame, Keying(key, ("whom",)))
    key.write_text(KEY[:32])
    with pytest.raises(VerificationError, match="too short"):
        by_sql(frame, Keying(key, ("who",)))
    with pytest.raises(VerificationError, match="cannot be read again"):
        by_sql(frame, Keying(tmp_path / "gone", ("who",)))


@pytest.mark.parametrize(
    ("cells", "passed"), [(["p_" + "0f" * 16, None], True), (["p_" + "0F" * 16], False), (["17"], False)]
)
def test_who_has_the_release_alone_sees_its_form(cells, passed):
    with connect(threads=1) as connection:
        connection.register("released", pl.DataFrame({"c0": cells}).to_arrow())
        check = form_check(connection, "who", 0)
    assert (check.name, check.passed) == ("who pseudonyms", passed)


def test_a_list_of_many_words_is_no_join_which_would_lose_the_order():
    with connect() as connection:
        words = ", ".join(f"'{word}'" for word in range(40))
        connection.execute("CREATE TEMP TABLE t AS SELECT range::VARCHAR AS c FROM range(10)")
        [(_, plan)] = connection.execute(f"EXPLAIN SELECT c, c NOT IN ({words}) FROM t").fetchall()
    assert "join" not in plan.lower()


def test_what_is_asked_for_is_read_as_it_was_written():
    keying = Keying(Path("/own/key.txt"), ("who",), ("seen", "left"), "who", 30)
    file, none = InputFile(Path("/data/in.csv"), "csv", keyed=keying), Path("/none")
    asked = Request(file, none, FileForm("csv"), (), KAnonymity(2), Hint(none, (1,)))
    assert Request.from_text(asked.to_text()).input == file
    assert KEY not in asked.to_text()
