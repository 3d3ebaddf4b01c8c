"""Counting the classes of any file: nulls count, nothing is guessed, nothing passes by silence."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import FileFormatError, HeaderError, ParameterError
from incrowd.releases.recount import verify as recount
from incrowd.tables.publishing.serialise import write_table
from incrowd.verification import class_sizes
from incrowd.verification.class_sizes import k_check, sizes_of, verify_arrow, verify_table
from incrowd.verification.requirements import Further
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from incrowd.vocabulary.resources import Resources

FORMS = ["csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow", "arff"]


def count(tmp_path, ending, frame, k, names):
    path, form = tmp_path / f"t.{ending}", FileForm.of(f"t.{ending}")
    write_table(frame, path, form)
    return verify_table(path, form, [(f"{k}-anonymity", names, k)])


@pytest.mark.parametrize("ending", FORMS)
def test_three_equal_rows_and_a_null_row_are_not_3_anonymous(tmp_path, ending):
    frame = pl.DataFrame({"a": ["x", "x", "x", None], "b": ["y"] * 4})
    verdict = count(tmp_path, ending, frame, 3, ["a", "b"])
    assert not verdict.passed
    assert verdict.sizes == ClassSizes(4, 2, 1, ((1, 1), (3, 1)))
    assert str(verdict) == ("FAILED  3-anonymity: smallest of 2 classes: 1 rows; 1 rows are in 1 classes below 3")
    assert count(tmp_path, ending, frame, 1, ["a", "b"]).passed


@pytest.mark.parametrize("ending", FORMS)
def test_nulls_are_equal_to_each_other(tmp_path, ending):
    frame = pl.DataFrame({"a": [None, None, None, "x", "x", "x"], "b": [1, 1, 1, None, None, None]})
    assert count(tmp_path, ending, frame, 3, ["a", "b"]).passed


@pytest.mark.parametrize("ending", FORMS)
def test_an_empty_text_is_not_a_null(tmp_path, ending):
    frame = pl.DataFrame({"a": ["", "", None, None], "b": ["y"] * 4})
    assert count(tmp_path, ending, frame, 2, ["a"]).sizes.histogram == ((2, 2),)
    assert not count(tmp_path, ending, frame, 3, ["a"]).passed


@pytest.mark.parametrize("ending", FORMS[:-1])
def test_a_single_column_of_nulls(tmp_path, ending):
    frame = pl.DataFrame({"a": [None, "x", None]}, schema={"a": pl.String})
    assert count(tmp_path, ending, frame, 1, ["a"]).sizes == ClassSizes(3, 2, 1, ((1, 1), (2, 1)))


cell = st.sampled_from(
    [None, "", "a", "A", "a ", "?", "NA", '"', "'", ",", "\t", "|", "\\", "é", "e\u0301", "{", "%", "0"]
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=12), st.sampled_from(FORMS))
def test_classes_are_those_of_a_plain_count(tmp_path, rows, ending):
    frame = pl.DataFrame({"a": [a for a, _ in rows], "B": [b for _, b in rows]}, {"a": pl.String, "B": pl.String})
    sizes = count(tmp_path, ending, frame, 1, ["a", "B"]).sizes
    expected = Counter(Counter(rows).values())
    assert dict(sizes.histogram) == dict(expected)
    assert sizes.rows == len(rows)
    assert verify_arrow(frame.to_arrow(), [("all", ["a", "B"], 1)]).sizes == sizes


@pytest.mark.parametrize("ending", FORMS)
def test_names_that_differ_in_case_only(tmp_path, ending):
    frame = pl.DataFrame({"a": ["x", "y"], "A": ["z", "z"]})
    assert count(tmp_path, ending, frame, 2, ["A"]).passed
    assert not count(tmp_path, ending, frame, 2, ["a"]).passed


@pytest.mark.parametrize("ending", FORMS)
def test_unknown_columns_and_empty_tables(tmp_path, ending):
    frame = pl.DataFrame({"age": ["x"], "b": ["y"]})
    with pytest.raises(HeaderError, match=r"no column 'Age'. Did you mean 'age'\? The table has: age, b"):
        count(tmp_path, ending, frame, 1, ["Age"])
    with pytest.raises(ParameterError, match="at least one quasi-identifier"):
        count(tmp_path, ending, frame, 1, [])
    with pytest.raises(FileFormatError, match="no rows"):
        count(tmp_path, ending, frame.clear(), 1, ["age"])


BROKEN = {
    "csv with a ragged row": ("t.csv", b"a,b\nx,y\nx\n"),
    "csv with an open quote": ("t.csv", b'a,b\nx,"y\n'),
    "csv that is not utf-8": ("t.csv", b"a,b\nx,\xff\xfe\n"),
    "gzip that is none": ("t.csv.gz", b"a,b\nx,y\n"),
    "zstd that is none": ("t.csv.zst", b"a,b\nx,y\n"),
    "parquet that is none": ("t.parquet", b"a,b\nx,y\n"),
    "arrow that is none": ("t.arrow", b"a,b\nx,y\n"),
    "arff with a short row": ("t.arff", b"@relation r\n@attribute a {x}\n@attribute b {x}\n@data\nx,x\nx\n"),
    "arff with a long row": ("t.arff", b"@relation r\n@attribute a {x}\n@attribute b {x}\n@data\nx,x\nx,x,x\n"),
    "arff that is not utf-8": ("t.arff", b"@relation r\n@attribute a {\xff}\n@data\nx\n"),
    "arff without data": ("t.arff", b"@relation r\n@attribute a {x}\n@attribute b {x}\n"),
    "nothing": ("t.csv", b""),
}


@pytest.mark.parametrize(("name", "data"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_an_error_not_a_verdict(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises((FileFormatError, HeaderError)):
        verify_table(path, FileForm.of(name), [("all", ["a"], 1)])


def test_an_arff_of_somebody_else(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(
        "% made by hand\n@RELATION r\n@ATTRIBUTE 'a b' {'c, d', e}\n@attribute n numeric\n\n@DATA\n"
        "'c, d', 1\n% a comment\n\ne,1\n'c, d',1\ne,?\n"
    )
    sizes = verify_table(path, FileForm.of(path), [("all", ["a b", "n"], 1)]).sizes
    assert sizes == ClassSizes(4, 3, 1, ((1, 2), (2, 1)))


def test_the_verdict_tells_what_was_found():
    sizes = sizes_of([(2, 3), (10, 1)])
    assert (sizes.rows, sizes.classes, sizes.smallest, sizes.largest) == (16, 4, 2, 10)
    assert (sizes.rows_below(10), sizes.classes_below(10)) == (6, 3)
    assert not k_check(sizes, "3-anonymity", 3).passed
    assert k_check(sizes, "2-anonymity", 2).passed
    verdict = Verdict(sizes, (k_check(sizes, "2-anonymity", 2), Check("rows", False, "3 left out")))
    assert not verdict.passed
    assert verdict.to_json()["class_size_histogram"] == [[2, 3], [10, 1]]
    assert sizes_of([]).smallest == sizes_of([]).largest == 0
    assert not k_check(sizes_of([]), "1-anonymity", 1).passed


def test_frames_are_recounted_without_a_copy_on_disk(tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setattr(tempfile, "TemporaryDirectory", None)
    monkeypatch.setattr(tempfile, "mkdtemp", None)
    frame = pl.DataFrame({"a": ["x", "x", None], "b": [1, 1, 2]})
    for table in (frame, frame.to_pandas(), frame.to_arrow()):
        assert recount(table, k=1, quasi_identifiers=["a"]).sizes == ClassSizes(3, 2, 1, ((1, 1), (2, 1)))
    path = tmp_path / "latin.csv"
    path.write_bytes("a;b\né;1\né;2\n".encode("latin-1"))
    assert recount(path, k=2, quasi_identifiers=["a"], encoding="latin-1", delimiter=";").passed


def test_a_file_is_recounted_from_its_own_bytes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\nx;1\nx;2\nNA;3\n", encoding="utf-8")
    assert recount(path, k=1, quasi_identifiers=["a"]).sizes.histogram == ((1, 1), (2, 1))
    assert recount(path, k=1, quasi_identifiers=["a"], missing=["x", "NA"]).sizes.histogram == ((3, 1),)
    assert recount(path, k=1, quasi_identifiers=["a", "a"]).sizes.classes == 2
    crlf = tmp_path / "crlf.csv"
    crlf.write_bytes(b"a,b\r\nx,1\r\nx,2\r\n")
    assert recount(crlf, k=2, quasi_identifiers=["a"]).passed


@pytest.mark.parametrize("k", [0, -1, 2.5, float("nan"), "5", True, None])
def test_k_is_a_whole_number_of_at_least_1(k):
    with pytest.raises(ParameterError, match="whole number"):
        recount(pa.table({"a": [1]}), k=k, quasi_identifiers=["a"])


def test_every_promise_names_columns():
    table = pa.table({"a": ["x", "x"], "b": ["y", "y"]})
    with pytest.raises(ParameterError, match="at least one quasi-identifier"):
        verify_arrow(table, [("2-anonymity", ["a"], 2), ("nothing", [], 2)])


@pytest.mark.parametrize(("least", "passed"), [(2, True), (3, False)])
def test_further_requirements_are_recounted_of_any_table(tmp_path, least, passed):
    frame = pl.DataFrame({"a": ["x"] * 4 + ["y"] * 2, "ill": ["1", "2", "3", "1", "1", "2"]})
    further = [Further(DistinctDiversity(least), "ill")]
    promises = [("2-anonymity", ["a"], 2)]
    write_table(frame, tmp_path / "t.csv", FileForm("csv"))
    for verdict in (
        verify_arrow(frame.to_arrow(), promises, further),
        verify_table(tmp_path / "t.csv", FileForm("csv"), promises, further),
    ):
        assert [check.passed for check in verdict.checks] == [True, passed]
        assert verdict.passed is passed


def test_half_of_the_memory_is_for_counting(tmp_path, monkeypatch):
    told = []
    original = class_sizes.connect
    monkeypatch.setattr(class_sizes, "connect", lambda *given: told.append(given) or original(*given))
    write_table(pl.DataFrame({"a": ["x", "x"]}), tmp_path / "t.csv", FileForm("csv"))
    limits = Resources(2_000_000_000, scratch=tmp_path)
    verify_table(tmp_path / "t.csv", FileForm("csv"), [("2-anonymity", ["a"], 2)], resources=limits)
    assert told == [(1_000_000_000, None, tmp_path)]
