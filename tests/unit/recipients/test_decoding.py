"""A plain table from a release: groups keep their values, numbers lie inside, the table says what it is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import incrowd
from incrowd.cli.main import app
from incrowd.errors import HeaderError, ParameterError
from incrowd.recipients import decode
from incrowd.recipients.cells import Cells, Shape, pieces_of
from incrowd.recipients.dealing import Dealing
from incrowd.recipients.received import WARNING, decoded_name
from incrowd.recipients.views import ReleasedColumn
from incrowd.vocabulary.counts_text import write_counts
from incrowd.vocabulary.schema import ColumnType

QUIET = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
VALUES = st.lists(st.none() | st.text(":|%?*=a", max_size=3), min_size=1, max_size=8)


def released(groups, hidden=()):
    """Two columns of counts; a group is the values its rows have of the first, the second is the group's own."""
    cells = []
    for number, values in enumerate(groups):
        counted = Counter(values)
        text = "*" if number in hidden else write_counts(sorted(counted.items(), key=lambda item: str(item)))
        cells += [(text, write_counts([(f"g{number}", len(values))]))] * len(values)
    return pa.table({"a": [a for a, _ in cells], "b": [b for _, b in cells]})


def dealt(table, deals, seed=0):
    columns = tuple(ReleasedColumn(name, ColumnType.CATEGORICAL, "counts") for name in table.column_names)
    rows = Dealing(columns, table, plain=True).dealt(np.random.default_rng(seed), deals)
    words = [np.array([*each.categories, None], object)[each.values].tolist() for each in rows.attributes]
    return rows, words


@QUIET
@given(st.lists(VALUES, min_size=1, max_size=5), st.integers(1, 3), st.data())
def test_every_deal_has_the_values_of_each_group(groups, deals, data):
    hidden = data.draw(st.sets(st.integers(0, len(groups) - 1)))
    table = released(groups, hidden)
    rows, (first, second) = dealt(table, deals)
    assert rows.height in (table.num_rows, deals * table.num_rows)  # once, if there is nothing to deal
    for start in range(0, rows.height, table.num_rows):
        part = slice(start, start + table.num_rows)
        for number, values in enumerate(groups):
            mine = [a for a, b in zip(first[part], second[part], strict=True) if b == f"g{number}"]
            assert Counter(mine) == Counter([None] * len(values) if number in hidden else values)


def test_every_value_may_come_to_every_row_and_a_seed_repeats_it():
    table = released([["x", "y"]])
    assert {tuple(dealt(table, 1, seed)[1][0]) for seed in range(60)} == {("x", "y"), ("y", "x")}
    assert dealt(table, 3, 5)[1] == dealt(table, 3, 5)[1]


NUMBERS = st.integers(-50, 50)


@QUIET
@given(st.lists(st.tuples(NUMBERS | st.none(), NUMBERS | st.none()), min_size=1, max_size=9), st.booleans(), st.data())
def test_numbers_lie_inside_what_is_shown(pairs, whole, data):
    ends = [sorted(pair) if None not in pair else list(pair) for pair in pairs]
    texts = []
    for low, high in ends:
        if low is not None and low == high:
            texts.append(str(low))
        else:
            texts.append(
                f"({'-inf' if low is None else low}, {'inf' if high is None else high}{')' if high is None else ']'}"
            )
    kind = ColumnType.INTEGER if whole else ColumnType.REAL
    table = pa.table({"n": [text for text in texts for _ in range(data.draw(st.integers(1, 4)))]})
    rows = Dealing((ReleasedColumn("n", kind, "interval"),), table, plain=True).dealt(np.random.default_rng(1), 2)
    for number, text in zip(rows.attributes[0].values, table["n"].to_pylist() * 2, strict=False):
        if not text.startswith("("):
            assert number == float(text)
            continue
        low, high = text[1:-1].split(", ")
        assert float(low) < number <= float(high)
        assert not whole or number == round(number)


def test_a_wide_interval_follows_the_narrow_ones():
    pieces = [(0.0, 100.0), (0.0, 10.0), (90.0, 100.0)]
    shape = Shape.of(pieces, np.array([100.0, 90.0, 10.0]), whole=False)
    drawn = shape.drawn((0.0, 100.0), np.linspace(0.001, 0.999, 1000))
    assert np.mean(drawn <= 10) == pytest.approx(0.9, abs=0.05)
    assert np.mean((drawn > 10) & (drawn <= 90)) < 0.05


def test_open_ends_reach_as_far_as_their_rows_take_and_not_across_zero():
    ages = Shape.of([(-np.inf, 20.0), (20.0, 40.0), (40.0, np.inf)], np.array([10.0, 40.0, 20.0]), whole=True)
    assert ages.ends.tolist() == [15.0, 20.0, 40.0, 50.0]
    gain = Shape.of([(-np.inf, 0.0), (0.0, 100.0)], np.array([900.0, 10.0]), whole=True)
    assert gain.drawn((-np.inf, 0.0), np.array([0.1, 0.9])).tolist() == [0.0, 0.0]
    alone = Shape.of([(-np.inf, 30.0), (30.0, np.inf)], np.array([1.0, 1.0]), whole=False)
    assert alone.ends.tolist() == [0.0, 30.0, 60.0]


def test_dates_and_ranges_are_read():
    assert pieces_of("(1970-01-01, 1970-01-11]", ColumnType.DATE) == ((0.0, 10.0),)
    assert pieces_of("1970-01", ColumnType.DATE) == ((-1.0, 30.0),)
    low, high = pieces_of("[3, 9]", ColumnType.INTEGER)[0]
    assert 2.9 < low < 3
    assert high == 9
    assert pieces_of("old", ColumnType.INTEGER) == ()
    assert Cells.of(pa.chunked_array([[1.0, None, float("nan"), 1.0]])).codes.tolist() == [0, -1, -1, 0]


@pytest.fixture
def people():
    jobs = ["cook", "nurse", "a|b:c", "?", None, "=1+2", "-5", "'x", "ä𝔘", "*"]
    rows = [(20 + i % 37, jobs[i % 10] if i % 3 else "cook", "yn"[i % 4 == 0]) for i in range(120)]
    return pl.DataFrame(rows, ["age", "job", "ill"], orient="row").with_columns(
        pl.when(pl.col("job").is_in(["?", "*"])).then(None).otherwise(pl.col("job")).alias("job")
    )


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_release_is_decoded_on_the_command_line(tmp_path, ending, people):
    people.write_parquet(tmp_path / "people.parquet")
    out = str(tmp_path / f"out.{ending}")
    call = ["release", str(tmp_path / "people.parquet"), "--to", out, "-q", "age,job"]
    made = CliRunner().invoke(
        app, [*call, "--target", "ill", "--class-sensitive", "no", "-k", "5", "--form", "counts", "--redraw", "0"]
    )
    assert made.exit_code == 0, made.output
    done = CliRunner().invoke(app, ["decode", out, "--deals", "3"])
    assert done.exit_code == 0, done.output
    assert "does not carry the guarantee" in done.output
    path = tmp_path / "out.decoded.parquet"
    assert pq.read_metadata(path).metadata[b"incrowd.decoded"].decode() == WARNING
    plain = pl.read_parquet(path)
    assert plain.height == 3 * people.height
    assert plain["age"].dtype == pl.Int64
    assert Counter(plain["job"].to_list()) == Counter(people["job"].to_list() * 3)
    assert not list(tmp_path.glob("*.decoded.parquet.certificate.json"))
    over = CliRunner().invoke(app, ["decode", out, "-o", out])
    assert isinstance(over.exception, incrowd.IncrowdError)


@pytest.mark.parametrize("form", ["counts", "pair"])
def test_a_release_decodes_itself(people, form):
    made = incrowd.release(people, quasi_identifiers=["age", "job"], target="ill", k=5, form=form, redraw=0)
    assert Counter(made.decode(deals=2)["job"].to_list()) == Counter(people["job"].to_list() * 2)
    assert (made.groups is None) == (form == "counts")
    for deals in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match="deals"):
            made.decode(deals=deals)
    with pytest.raises(HeaderError, match="'ill' already"):
        made.decode(weight="ill")


def test_what_is_hidden_everywhere_is_left_out_with_a_warning():
    frame = pd.DataFrame({"a": range(40), "b": ["x", "y"] * 20, "c": ["n", "y"] * 20})
    made = incrowd.release(
        frame, quasi_identifiers=["a", "b"], target="c", class_sensitive=False, k=20, method="kactus"
    )
    with pytest.warns(UserWarning, match="hides all of a"):
        plain = decode(made.table, certificate=made.certificate)
    assert list(plain.columns) == ["b", "c", "weight"]


def test_what_is_decoded_lies_beside_the_release():
    assert decoded_name(Path("people.csv.gz")).name == "people.decoded.parquet"
