"""What a certificate states is counted from the release alone."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import FileFormatError
from incrowd.tables.publishing.serialise import write_pair, write_table
from incrowd.verification import restated
from incrowd.verification.requirements import Further
from incrowd.verification.restated import Stated, recount_stated, recount_stated_table
from incrowd.vocabulary.forms import FileForm, groups_path
from incrowd.vocabulary.randomness import SystemRandomness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from incrowd.vocabulary.resources import Resources

FRAME = pl.DataFrame(
    {
        "age": ["(1, 9]", "(1, 9]", None, None, None],
        "ill": ["y", "n", "y", "y", None],
        "town": ["a", "b", "a", None, None],
        "pay": [1.5, 1.5, 2.5, 2.5, -0.0],
    }
)


def stated(**changes):
    given = {
        "columns": FRAME.columns,
        "promises": [("k", ["age"], 2)],
        "quasi_identifiers": ["age"],
        "unchanged": {"ill": "target", "town": "other", "pay": "sensitive"},
    }
    return Stated(**{**given, **changes})


def written(folder, ending="csv", frame=FRAME):
    path = folder / f"release.{ending}"
    write_table(frame, path, FileForm.of(path))
    return path


def of_file(path, asked, **options):
    return recount_stated(path, FileForm.of(path), asked, **options)


def both(folder, asked, frame=FRAME):
    """The verdict on a file and on a table, which are the same."""
    path = written(folder, "parquet", frame)
    one, two = of_file(path, asked), recount_stated_table(frame.to_arrow(), asked)
    assert one == two
    return one


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow"])
def test_classes_promises_and_cells(tmp_path, ending):
    verdict = of_file(written(tmp_path, ending), stated())
    assert verdict.passed
    assert [(check.name, check.finding) for check in verdict.checks] == [
        ("columns", "4 columns, as stated"),
        ("k", "smallest of 2 classes: 2 rows"),
    ]
    assert (verdict.sizes.rows, verdict.sizes.histogram) == (5, ((2, 1), (3, 1)))
    assert verdict.suppressed == {"age": 3}
    assert verdict.input_rows is None


def test_a_promise_that_is_not_kept(tmp_path):
    verdict = both(tmp_path, stated(promises=[("k", ["age"], 3)]))
    assert [check.passed for check in verdict.checks] == [True, False]
    assert not both(tmp_path, stated(further=[Further(DistinctDiversity(3), "ill")])).passed
    assert both(tmp_path, stated(further=[Further(DistinctDiversity(2), "ill")])).passed


@pytest.mark.parametrize(
    "columns", [["age", "ill", "town"], ["age", "ill", "pay", "town"], ["age", "ill", "town", "x"], []]
)
def test_other_columns_are_told_and_nothing_else_is_counted(tmp_path, columns):
    verdict = both(tmp_path, stated(columns=columns))
    assert [(check.name, check.passed, check.finding) for check in verdict.checks] == [
        ("columns", False, "4 columns, not as stated")
    ]
    assert (verdict.sizes.rows, verdict.shown, verdict.alone) == (0, {}, None)


def test_a_name_that_comes_twice_is_none():
    table = pa.table([[1], [2]], names=["a", "a"])
    verdict = recount_stated_table(table, stated(columns=["a", "a"], promises=[], quasi_identifiers=[], unchanged={}))
    assert not verdict.passed


def test_who_is_alone_by_unchanged_columns(tmp_path):
    alone = both(tmp_path, stated()).alone
    # a, b, a, -, - with 1.5, 1.5, 2.5, 2.5, 0: all five are alone; by the town alone only b
    assert (alone.without_class, alone.with_class, alone.not_called_private) == (5, 5, 1)
    assert alone.roles == {"ill": "target", "town": "other", "pay": "sensitive"}
    assert [(one.columns, one.people) for one in alone.best] == [(("town",), 1), (("town", "pay"), 5)]
    assert not any(one.exact for one in alone.best)
    by_class = both(tmp_path, stated(unchanged={"ill": "target", "town": "other"})).alone
    # (y, a), (n, b), (y, a), (y, -), (-, -)
    assert (by_class.without_class, by_class.with_class) == (1, 3)


def test_nobody_is_alone_by_no_columns():
    assert recount_stated_table(FRAME.to_arrow(), stated(unchanged={})).alone is None


def test_what_cannot_be_read_is_named(tmp_path):
    path = tmp_path / "release.parquet"
    path.write_bytes(b"PAR1 is not all")
    with pytest.raises(FileFormatError, match=r"^release\.parquet cannot be read as parquet"):
        of_file(path, stated())


@pytest.mark.parametrize(("rows", "exact"), [(0, True), (1, False), (2, False)])
def test_sets_are_not_compared_one_by_one(tmp_path, rows, exact):
    alone = both(tmp_path, stated(unchanged={"town": "other"}), FRAME.head(rows)).alone
    assert (alone.without_class, [one.exact for one in alone.best]) == (rows, [exact])


@pytest.mark.parametrize(("most", "counted"), [(14, False), (15, True), (16, True)])
def test_of_too_many_cells_it_is_not_said_who_is_alone(tmp_path, monkeypatch, most, counted):
    monkeypatch.setattr(restated, "MOST_CELLS", most)
    assert (of_file(written(tmp_path), stated()).alone is not None) == counted


def test_a_row_that_is_lost_is_noticed(tmp_path, monkeypatch):
    true = restated.open_written

    def losing(connection, *given):
        opened = true(connection, *given)
        connection.execute("CREATE OR REPLACE TEMP TABLE fewer AS FROM written LIMIT 4")
        connection.execute("CREATE OR REPLACE TEMP VIEW written AS FROM fewer")
        return opened

    monkeypatch.setattr(restated, "open_written", losing)
    with pytest.raises(FileFormatError, match="DuckDB reads 4 rows, the file has 5"):
        of_file(written(tmp_path), stated())


def test_the_database_has_half_of_the_memory(tmp_path, monkeypatch):
    limits = []
    true = restated.connect
    monkeypatch.setattr(restated, "connect", lambda *given: limits.append(given) or true(*given))
    of_file(written(tmp_path, "parquet"), stated(), resources=Resources(10**9, 1, tmp_path))
    of_file(written(tmp_path, "parquet"), stated())
    assert limits == [(500_000_000, None, tmp_path), (None, None, None)]


def test_two_tables_are_counted_as_the_one_they_stand_for(tmp_path):
    counts = pl.DataFrame({"job": ["cook:2|nurse:1"] * 3 + ["cook:2"] * 2, "ill": ["y", "n", "y", "n", None]})
    path = tmp_path / "release.csv"
    form = FileForm.of(path)
    write_pair([counts.to_arrow()], path, form, ["job"], SystemRandomness())
    asked = stated(
        columns=["job", "ill"],
        promises=[("k", ["job"], 2)],
        quasi_identifiers=["job"],
        counts=["job"],
        unchanged={"ill": "target"},
    )
    verdict = recount_stated(path, form, asked, groups=groups_path(path))
    assert verdict.passed
    assert [check.name for check in verdict.checks] == ["columns", "groups", "k"]
    assert verdict.sizes.histogram == ((2, 1), (3, 1))
    assert verdict.alone.with_class == 1
    other = recount_stated(path, form, stated(columns=["job", "ill", "x"], counts=["job"]), groups=groups_path(path))
    assert [check.name for check in other.checks] == ["columns", "groups"]
    assert not other.passed
