"""Writing to a real server: what is written is read back equal, in order, by its owner only."""

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from incrowd.errors import OutputError, ParameterError
from incrowd.tables.databases.reading import read_query
from incrowd.tables.databases.tables import Address, Query
from incrowd.tables.databases.writing import check_table, staged_table
from support.postgresql_server import written_back

RELEASE = Address.parse("postgresql:///clinic?table=release")
SMALL = pl.DataFrame({"age": [39, None, 7], "job": ["nurse", "", None]})


def put(frame, address=RELEASE, **options):
    with staged_table(address, **options) as staged:
        staged.write([frame])
        assert written_back(staged).read_all().num_rows == frame.height


def got(table="release"):
    return read_query(Query.of("postgresql:///clinic?table=" + table))


def test_a_table_appears_when_the_block_ends(clinic):
    with staged_table(RELEASE) as staged:
        assert staged.write([SMALL, SMALL.head(1)]) == 4
        assert written_back(staged).read_all().num_rows == 4
        assert clinic.tables() == set()
    assert clinic.tables() == {"release"}
    assert got().rows() == [(39, "nurse"), (None, ""), (7, None), (39, "nurse")]
    assert clinic.sql("SELECT pg_typeof(age)::text, pg_typeof(job)::text FROM release LIMIT 1") == [("bigint", "text")]


def test_every_type_of_a_frame(clinic):
    frame = pl.DataFrame(
        {
            "truth": [True, None],
            "tiny": pl.Series([-128, None], dtype=pl.Int8),
            "byte": pl.Series([255, None], dtype=pl.UInt8),
            "short": pl.Series([65535, None], dtype=pl.UInt16),
            "word": pl.Series([2**32 - 1, None], dtype=pl.UInt32),
            "long": pl.Series([2**64 - 1, None], dtype=pl.UInt64),
            "signed": pl.Series([-(2**63), None], dtype=pl.Int64),
            "float": pl.Series([0.1, None], dtype=pl.Float32),
            "double": [float("inf"), float("nan")],
            "exact": pl.Series([Decimal("-12345678901234567890.05"), None], dtype=pl.Decimal(38, 2)),
            "text": ["é'\"\\\t\n,", ""],
            "group": pl.Series(["a", None], dtype=pl.Categorical),
            "level": pl.Series(["low", None], dtype=pl.Enum(["low", "high"])),
            "day": [dt.date(1, 1, 1), None],
            "moment": pl.Series([dt.datetime(1969, 12, 31, 23, 59, 59, 999999), None], dtype=pl.Datetime("ns")),
            "seconds": pl.Series([dt.datetime(2024, 2, 29), None], dtype=pl.Datetime("ms")),
            "zoned": pl.Series([dt.datetime(2024, 7, 1, 12), None]).dt.replace_time_zone("Europe/Berlin"),
            "clock": [dt.time(23, 59, 59, 999999), None],
            "nothing": pl.Series([None, None], dtype=pl.Null),
        }
    )
    put(frame)
    back = got()
    assert back.columns == frame.columns
    expected = frame.with_columns(
        pl.col("long", "exact", "group", "level", "nothing").cast(pl.String),
        pl.col("tiny", "byte").cast(pl.Int16),
        pl.col("short").cast(pl.Int32),
        pl.col("word").cast(pl.Int64),
        pl.col("moment", "seconds").cast(pl.Datetime("us")),
        pl.col("zoned").dt.convert_time_zone("UTC").cast(pl.Datetime("us", "UTC")),
    )
    assert_frame_equal(back, expected)


CELLS = {
    pl.Int64: st.integers(-(2**63), 2**63 - 1),
    pl.Float64: st.floats(),
    pl.String: st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
    pl.Boolean: st.booleans(),
    pl.Date: st.dates(),
    pl.Datetime("us"): st.datetimes(),
    pl.Time: st.times(),
}
NAMES = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp"]), min_size=1, max_size=12),
    min_size=1,
    max_size=5,
    unique=True,
)


@st.composite
def frames(draw):
    names = [name + str(place) for place, name in enumerate(draw(NAMES))]
    rows = draw(st.integers(1, 6))
    types = [draw(st.sampled_from(list(CELLS))) for _ in names]
    lists = [draw(st.lists(st.none() | CELLS[kind], min_size=rows, max_size=rows)) for kind in types]
    return pl.DataFrame(
        [pl.Series(name, values, dtype=kind) for name, kind, values in zip(names, types, lists, strict=True)]
    )


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frame=frames(), cut=st.integers(0, 6))
def test_any_frame_comes_back_as_it_was(frame, cut, clinic):
    with staged_table(RELEASE, replace=True) as staged:
        assert staged.write([frame.head(cut), frame.slice(cut)]) == frame.height
        assert_frame_equal(pl.DataFrame(written_back(staged).read_all()), frame)
    assert_frame_equal(got(), frame)


def test_rows_keep_their_order_also_where_some_are_large(clinic):
    numbers = pl.DataFrame({"i": range(40000)}).with_columns(
        text=pl.when(pl.col("i") % 37 == 0).then(pl.lit("x" * 5000)).otherwise(pl.col("i").cast(pl.String))
    )
    with staged_table(RELEASE) as staged:
        staged.write(numbers.iter_slices(7777))
        stream = written_back(staged)
        assert pl.DataFrame(stream.read_all())["i"].to_list() == list(range(40000))


def test_what_was_not_read_back_to_its_end_does_not_appear(clinic):
    with pytest.raises(OutputError, match="nothing vouches for them"), staged_table(RELEASE) as staged:
        staged.write([SMALL])
    assert clinic.tables() == set()


def test_an_existing_table_is_kept_unless_it_may_be_replaced(clinic):
    put(SMALL)
    for attempt in (lambda: put(SMALL), lambda: check_table(RELEASE)):
        with pytest.raises(OutputError, match=r"table public\.release exists already"):
            attempt()
    check_table(RELEASE, replace=True)
    put(SMALL.select("job"), replace=True)
    assert got().columns == ["job"]
    assert clinic.tables() == {"release"}


def test_a_table_in_a_schema(clinic):
    clinic.sql("DROP SCHEMA IF EXISTS research CASCADE")
    clinic.sql("CREATE SCHEMA research")
    put(SMALL, RELEASE.at("research.release"))
    assert (clinic.tables("research"), clinic.tables()) == ({"release"}, set())
    assert got("research.release").height == 3
    clinic.sql("DROP SCHEMA research CASCADE")


def test_only_the_owner_may_read_a_release(clinic):
    clinic.sql("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC, reader")
    try:
        clinic.sql("CREATE TABLE usual (a int)")
        put(SMALL)
    finally:
        clinic.sql("ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM PUBLIC, reader")
    may = "SELECT has_table_privilege('reader', '{}', 'SELECT, INSERT, UPDATE, DELETE')"
    assert clinic.sql(may.format("usual")) == [(True,)]
    assert clinic.sql(may.format("release")) == [(False,)]
    others = "SELECT count(*) FROM pg_class c, aclexplode(relacl) WHERE relname = 'release' AND grantee <> relowner"
    assert clinic.sql(others) == [(0,)]


def test_what_is_read_cannot_be_replaced(clinic):
    put(SMALL)
    clinic.sql("CREATE VIEW seen AS SELECT * FROM release")
    clinic.sql("CREATE TABLE other (a int)")
    for source in (
        Query.of("postgresql:///clinic?table=release"),
        Query.of("postgresql:///clinic?table=public.release"),
        Query.of("postgresql:///clinic", "SELECT 1 FROM other WHERE EXISTS (SELECT FROM seen)"),
    ):
        with pytest.raises(OutputError, match=r"table public\.release is what is read"):
            check_table(RELEASE, replace=True, source=source)
    check_table(RELEASE, replace=True, source=Query.of("postgresql:///clinic?table=other"))
    check_table(RELEASE.at("new"), source=Query.of("postgresql:///clinic?table=release"))


def test_other_things_are_not_replaced(clinic):
    clinic.sql("CREATE TABLE base (a int)")
    clinic.sql("CREATE VIEW v AS SELECT * FROM base")
    clinic.sql("CREATE MATERIALIZED VIEW m AS SELECT * FROM base")
    clinic.sql("CREATE SEQUENCE s")
    clinic.sql("CREATE INDEX i ON base (a)")
    clinic.sql("CREATE TABLE p (a int) PARTITION BY LIST (a)")
    clinic.sql("CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)")
    clinic.sql("CREATE TABLE child () INHERITS (base)")
    before = clinic.tables()
    for name in ("v", "m", "s", "i", "p", "p1", "base"):
        with pytest.raises(OutputError, match="not an ordinary table"):
            put(SMALL, RELEASE.at(name), replace=True)
    assert clinic.tables() == before
    clinic.sql("CREATE TABLE rested (a int)")
    clinic.sql("CREATE VIEW resting AS SELECT * FROM rested")
    with pytest.raises(OutputError, match="views or other tables rest on it"):
        put(SMALL, RELEASE.at("rested"), replace=True)
    assert clinic.sql("SELECT count(*) FROM resting") == [(0,)]


def test_what_cannot_be_written_is_said(clinic):
    with pytest.raises(ParameterError, match="State which table"):
        put(SMALL, Address.parse("postgresql:///clinic"))
    with pytest.raises(OutputError, match="no such schema"):
        put(SMALL, RELEASE.at("nowhere.release"))
    with pytest.raises(OutputError, match="belong to PostgreSQL"):
        put(SMALL, RELEASE.at("pg_temp.release"))
    for frame, message in (
        (pl.DataFrame({"a": [[1]]}), "Column 'a' has the type List"),
        (pl.DataFrame({"a": [b"x"]}), "Column 'a' has the type Binary"),
        (pl.DataFrame({"a": [1]}, {"a": pl.Int128}), "Column 'a' has the type Int128"),
        (pl.DataFrame({"x" * 64: [1]}), "longer than 63 bytes"),
        (pl.DataFrame({"xmin": [1]}), "keeps for itself"),
        (pl.DataFrame({"a": pl.Series([1], dtype=pl.Datetime("ns"))}), "has nanoseconds"),
        (pl.DataFrame({"a": pl.Series([1], dtype=pl.Int64).cast(pl.Time)}), "has nanoseconds"),
        (pl.DataFrame({"a": ["x\0canary"]}), "cannot store, such as NUL"),
        (pl.DataFrame(), "no columns"),
        (pl.DataFrame({f"c{i}": [1] for i in range(1601)}), "too many columns"),
    ):
        with pytest.raises(OutputError, match=message) as told:
            put(frame)
        assert "canary" not in str(told.value)
    with pytest.raises(OutputError, match="Nothing was written"), staged_table(RELEASE):
        pass
    with pytest.raises(OutputError, match="different columns or types"), staged_table(RELEASE) as staged:
        staged.write([SMALL, SMALL.select("job", "age")])
    assert clinic.tables() == set()
