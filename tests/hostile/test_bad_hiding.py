"""Cells that cannot be hidden are refused without a trace; a hidden value is in no published byte."""

import gzip

import numpy as np
import polars as pl
import pytest

from incrowd.errors import HeaderError, IncrowdError, ParameterError, UnexpectedError
from incrowd.hiding.methods import NAMES
from incrowd.hiding.pipeline import hide_cells

CANARY = "xyzzy-canary"


@pytest.fixture(scope="module")
def people():
    """The canary is the value of one row only; other rows have values of their own."""
    rng = np.random.default_rng(6)
    job, town = rng.choice(["nurse", "smith", "cook"], 60), rng.choice(["here", "there"], 60)
    ill = np.where(job == "nurse", "flu", rng.choice(["cold", "none"], 60)).tolist()
    ill[7], ill[9] = CANARY, None
    return pl.DataFrame({"job": job, "town": town, "ill": ill})


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        ((60, "ill"), ParameterError),
        ((-1, "ill"), ParameterError),
        ((10**30, "ill"), ParameterError),
        ((True, "ill"), ParameterError),
        ((1.0, "ill"), ParameterError),
        ((7, "illness"), HeaderError),
        ((7, ""), HeaderError),
        ((9, "ill"), ParameterError),
    ],
)
def test_cells_that_are_not_there(people, tmp_path, cell, error):
    with pytest.raises(error) as refused:
        hide_cells(people, [(7, "ill"), cell], to=tmp_path / "out.csv", report=tmp_path / "out.html")
    assert CANARY not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_an_old_table_stays_when_a_new_one_is_refused(people, tmp_path):
    (tmp_path / "out.csv").write_text("old")
    with pytest.raises(IncrowdError):
        hide_cells(people, [(9, "ill")], to=tmp_path / "out.csv")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.csv", "old")]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet", "out.arrow", "out.arff"])
@pytest.mark.parametrize("method", ["auto", "dropp"])
def test_no_published_byte_holds_the_value(people, tmp_path, name, method):
    hidden = hide_cells(people, [(7, "ill")], method=method, to=tmp_path / name, report=tmp_path / "out.html")
    for path in tmp_path.iterdir():
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        assert CANARY.encode() not in data, path.name
    assert CANARY not in f"{hidden} {hidden.report} {hidden.verdict} {hidden.report.to_json()} {hidden.changes}"


@pytest.mark.parametrize("method", NAMES)
def test_no_method_tells_the_value(people, tmp_path, method):
    cells = [(7, "ill"), (8, "ill"), (7, "job")]
    files = {"to": tmp_path / "out.csv", "report": tmp_path / "out.html"}
    hidden = hide_cells(people, cells, method=method, adversaries=("nb", "id3"), **files)
    written = [path.read_text() for path in tmp_path.iterdir()]
    assert not [text for text in (*written, str(hidden.report.to_json())) if CANARY in text]
    assert pl.read_csv(tmp_path / "out.csv").row(7)[::2] == (None, None)


def test_delicate_names_are_written_safely(people, tmp_path):
    odd = people.rename({"ill": "=<script>ill", "job": "Ill"}).with_columns(pl.lit(1).alias("ill"))
    hidden = hide_cells(odd, [(7, "=<script>ill")], to=tmp_path / "out.csv", report=tmp_path / "out.html")
    assert hidden.verdict.passed
    assert "<script" not in (tmp_path / "out.html").read_text()
    assert (tmp_path / "out.csv").read_text().startswith("Ill,town,'=<script>ill,ill\n")


def test_an_unexpected_failure_leaves_nothing(people, tmp_path, monkeypatch):
    def broken(*_):
        raise MemoryError

    monkeypatch.setattr("incrowd.hiding.pipeline.verify_hidden_cells", broken)
    with pytest.raises(UnexpectedError, match="not enough memory"):
        hide_cells(people, [(7, "ill")], to=tmp_path / "out.csv", report=tmp_path / "out.html")
    assert not list(tmp_path.iterdir())
