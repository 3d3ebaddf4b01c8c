"""The whole verdict from input and written file: what a request says is held against both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from incrowd.errors import FileFormatError, VerificationError
from incrowd.tables.publishing.serialise import write_table
from incrowd.verification.judge import expected_columns, judge
from incrowd.verification.request import Hint, InputFile, Request
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.randomness import fresh_frame
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role

ROWS = 60
COLUMNS = (
    Column("id", Role.IDENTIFIER, ColumnType.TEXT),
    Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER),
    Column("job", Role.QUASI_IDENTIFIER, ColumnType.CATEGORICAL),
    Column("ill", Role.TARGET, ColumnType.CATEGORICAL),
)


def people():
    return pl.DataFrame(
        {
            "id": [f"p{n:02d}" for n in range(ROWS)],
            "age": [str(20 + n % 30) for n in range(ROWS)],
            "job": [["cook", "nurse", None][n % 3] for n in range(ROWS)],
            "ill": [["yes", "no", "?"][n % 7 % 3] for n in range(ROWS)],
        }
    )


def released(order):
    """The people in groups of one job each."""
    frame = people()[order]
    age = pl.when(pl.col("job") == "cook").then(pl.lit("(10, 60]"))
    return fresh_frame(frame.select(age.alias("age"), "job", pl.when(pl.col("ill") != "?").then("ill").alias("ill")))


def request(tmp_path, ending="csv", frame=None, order=None, given="people.csv", **changes):
    order = np.random.default_rng(86420).permutation(ROWS) if order is None else order
    source, path = tmp_path / given, tmp_path / f"release.{ending}"
    if not source.exists():
        people().write_csv(source)
    write_table(released(order) if frame is None else frame, path, FileForm.of(path))
    np.save(tmp_path / "origin.npy", order)
    asked = Request(
        input=InputFile(source, "csv", missing=("?", "*")),
        release=path,
        form=FileForm.of(path),
        columns=COLUMNS,
        requirement=KAnonymity(10),
        hint=Hint(tmp_path / "origin.npy", (len(order),)),
        scratch=tmp_path,
    )
    return replace(asked, **changes)


def failed(verdict):
    return {check.name for check in verdict.checks if not check.passed}


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "arff"])
def test_a_faithful_release_holds(tmp_path, ending):
    verdict = judge(request(tmp_path, ending))
    assert verdict.passed, str(verdict)
    assert verdict.input_rows == ROWS
    assert verdict.sizes.rows == ROWS
    assert len(verdict.digests[0]) == 64
    assert verdict.suppressed == {"age": 40, "job": 20}
    assert verdict.unchanged is not None


def test_a_request_is_a_document(tmp_path):
    asked = request(tmp_path)
    again = Request.from_text(asked.to_text())
    assert again.to_text() == asked.to_text()
    assert judge(again).passed


@pytest.mark.parametrize(
    ("columns", "wrong"),
    [
        ([Role.OTHER, None, None, None], {"columns"}),  # an identifier that the user wants to keep is not there
        ([None, Role.IDENTIFIER, None, None], {"columns"}),  # one that is to be dropped is there
    ],
)
def test_roles_are_the_users(tmp_path, columns, wrong):
    changed = tuple(replace(c, role=role or c.role) for c, role in zip(COLUMNS, columns, strict=True))
    assert wrong <= failed(judge(request(tmp_path, columns=changed)))


def test_a_quasi_identifier_that_was_left_as_it_was_breaks_k(tmp_path):
    order = np.random.default_rng(86420).permutation(ROWS)
    frame = released(order).with_columns(people()[order]["age"])
    assert failed(judge(request(tmp_path, frame=frame, order=order))) == {"10-anonymity"}


def test_a_column_that_the_request_forgets_is_missed(tmp_path):
    assert failed(judge(request(tmp_path, columns=COLUMNS[:-1]))) == {"input"}


def test_rows_left_out_must_be_announced_and_allowed(tmp_path):
    order = np.random.default_rng(86420).permutation(ROWS)
    fewer = order[people()["job"].to_numpy()[order] != "cook"]
    few = np.concatenate([fewer, order[people()["job"].to_numpy()[order] == "cook"][:18]])
    assert failed(judge(request(tmp_path, order=few))) == {"rows", "left out"}
    assert failed(judge(request(tmp_path, order=few, loses_rows=True))) == {"left out"}
    assert judge(request(tmp_path, order=few, loses_rows=True, left_out=2)).passed


def test_a_wrong_hint_makes_cells_disagree(tmp_path):
    asked = request(tmp_path)
    origin = np.load(asked.hint.origin)
    np.save(asked.hint.origin, np.roll(origin, 1))
    assert {"job faithful", "ill untouched"} <= failed(judge(asked))


@pytest.mark.parametrize("origin", [np.zeros(ROWS, np.int64), np.arange(ROWS) + 1, np.arange(ROWS) - 1, np.arange(3)])
def test_a_hint_must_name_every_row_once(tmp_path, origin):
    asked = request(tmp_path)
    np.save(asked.hint.origin, origin)
    with pytest.raises(VerificationError):
        judge(asked)


def test_the_input_is_read_here(tmp_path):
    asked = request(tmp_path)
    text = asked.input.path.read_text()
    asked.input.path.write_text(text.replace("p07,27,nurse", "p07,27,cook"))
    assert failed(judge(asked)) == {"job faithful"}
    asked.input.path.write_text(text + "p99,44,cook,no\n")
    assert failed(judge(asked)) == {"rows", "left out"}
    asked.input.path.write_text(text + "# p99,44,cook,no\n")  # DuckDB would take it for a comment
    assert failed(judge(asked)) == {"rows", "left out"}


def test_numbers_that_are_codes_are_not_numbers(tmp_path):
    (tmp_path / "codes.csv").write_text(people().write_csv().replace(",20,", ",020,"))
    with pytest.raises(VerificationError, match="no integer"):
        judge(request(tmp_path, given="codes.csv"))
    assert judge(request(tmp_path, given="codes.csv", typed=frozenset({"age"}))).passed


def test_an_encoding_is_told(tmp_path):
    data = people().with_columns(pl.col("job").replace("cook", "Köchin"))
    (tmp_path / "german.csv").write_bytes(data.write_csv(separator=";").encode("latin-1"))
    order = np.random.default_rng(86420).permutation(ROWS)
    frame = released(order).with_columns(pl.col("job").replace("cook", "Köchin"))
    german = InputFile(tmp_path / "german.csv", "csv", ";", "latin-1", missing=("?", "*"))
    assert judge(request(tmp_path, frame=frame, order=order, input=german)).passed
    with pytest.raises(FileFormatError):
        judge(request(tmp_path, frame=frame, order=order, input=replace(german, encoding="utf-8")))


def test_the_order_of_the_input_is_refused(tmp_path):
    assert failed(judge(request(tmp_path, order=np.arange(ROWS)))) == {"order", "hidden order", "order in classes"}
    by_age = np.argsort(people()["age"].to_numpy(), kind="stable")
    assert "hidden order" in failed(judge(request(tmp_path, order=by_age)))


def test_a_table_on_a_server_has_no_order_and_no_bytes(tmp_path):
    assert judge(request(tmp_path, order=np.arange(ROWS), file=False)).passed


def test_rare_values_are_counted_where_asked(tmp_path):
    assert judge(request(tmp_path, rarest=20)).passed
    assert len(failed(judge(request(tmp_path, rarest=21)))) == 1


def test_bounds_are_two_columns(tmp_path):
    asked = request(tmp_path)
    shown = [(one.name, one.column.name) for one in expected_columns(asked, ["age_low", "age_high", "job", "ill"])]
    assert shown == [("age_low", "age"), ("age_high", "age"), ("job", "job"), ("ill", "ill")]
    assert [one.name for one in expected_columns(asked, ["age", "job", "ill"])] == ["age", "job", "ill"]
