"""Dealing a release of counts out again: multisets come back, the table says what it is, damage is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

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
from incrowd.errors import FileFormatError, HeaderError, ParameterError, ValuesError
from incrowd.recipients import binned, decode, public_bins
from incrowd.recipients.counted_table import CountedTable, find_counts
from incrowd.recipients.decoding import WARNING, decode_table, decoded_name
from incrowd.vocabulary.counts_text import write_counts

QUIET = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
VALUES = st.lists(st.none() | st.text(":|%?*=a", max_size=3), min_size=1, max_size=8)


def released(groups, hidden=()):
    """A release of two attributes; a group is the values its rows have of the first, the second is the group's own."""
    cells, own = [], []
    for number, values in enumerate(groups):
        counted = Counter(values)
        text = "*" if number in hidden else write_counts(sorted(counted.items(), key=lambda item: str(item)))
        cells += [(text, write_counts([(f"g{number}", len(values))]))] * len(values)
        own += [number] * len(values)
    return pl.DataFrame(cells, ["a", "b"], orient="row").with_columns(own=pl.Series(own))


@QUIET
@given(st.lists(VALUES, min_size=1, max_size=5), st.integers(1, 3), st.data())
def test_every_deal_has_the_values_of_each_group(groups, deals, data):
    hidden = data.draw(st.sets(st.integers(0, len(groups) - 1)))
    plain = decode(released(groups, hidden), deals=deals, columns=["a", "b"])
    assert plain.columns == ["a", "b", "own", "weight"]
    assert plain["weight"].to_list() == [1 / deals] * plain.height
    height = plain.height // deals
    for deal in range(deals):
        part = plain[deal * height : (deal + 1) * height]
        for number, values in enumerate(groups):
            mine = part.filter(pl.col("own") == number)
            wanted = [None] * len(values) if number in hidden else values
            assert Counter(mine["a"].to_list()) == Counter(wanted)
            assert set(mine["b"].to_list()) == {f"g{number}"}


def test_deals_differ_and_a_seed_repeats_them():
    frame = released([[str(i) for i in range(40)]])
    one, two = (decode(frame, deals=1)["a"].to_list() for _ in range(2))
    assert one != two
    assert decode(frame, seed=1).equals(decode(frame, seed=1))


def test_every_value_may_come_to_every_row():
    frame = released([["x", "y"]])
    assert {tuple(decode(frame, deals=1)["a"]) for _ in range(60)} == {("x", "y"), ("y", "x")}


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.Table])
def test_the_kind_of_frame_comes_back(kind):
    frame = released([["x", "y"], ["x", "x"]])
    given_ = frame if kind is pl.DataFrame else frame.to_pandas() if kind is pd.DataFrame else frame.to_arrow()
    assert isinstance(decode(given_), kind)


def test_numbers_as_middles():
    ages = ["(-inf, 30]:1|(30, 50]:1|(50, inf):1|?:1"] * 4
    dates = ["(-inf, 2020-01-05]:4"] * 4
    plain = decode(pl.DataFrame({"age": ages, "day": dates}), deals=1, numbers="middle")
    assert sorted(plain["age"].drop_nulls().to_list()) == [30.0, 40.0, 50.0]
    assert plain["day"].unique().to_list() == ["(-inf, 2020-01-05]"]


def test_columns_of_counts_are_found_and_times_of_day_are_none():
    frame = released([["x", "y", "y"]]).with_columns(at=pl.Series(["12:30", "12:31", "1:2"]), gone=pl.lit("*"))
    assert find_counts(frame) == ["a", "b", "gone"]
    assert find_counts(pl.DataFrame({"at": ["12:30"], "gone": ["*"]})) == []


def test_a_part_of_a_release_is_refused():
    frame = released([["x", "y", "y"]])
    with pytest.raises(FileFormatError, match="Read the whole release"):
        decode(frame[:2], columns=["a", "b"])
    with pytest.raises(FileFormatError, match="no column of counts"):
        decode(pl.DataFrame({"a": ["x"]}))
    with pytest.raises(FileFormatError, match="does not hold counts"):
        decode(pl.DataFrame({"a": ["x"]}), columns=["a"])


def test_bad_requests_are_refused():
    frame = released([["x", "y"]])
    for deals in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match="deals"):
            decode(frame, deals=deals)
    with pytest.raises(ParameterError, match="numbers"):
        decode(frame, numbers="mean")
    with pytest.raises(HeaderError, match="weight"):
        decode(frame.with_columns(weight=pl.lit(1)))
    with pytest.raises(HeaderError, match="no column 'z'"):
        decode(frame, columns=["z"])


def test_bins_are_public_and_serve_new_rows():
    cells = {
        "age": ["(-inf, 30]:1|(30, 40.5]:1|?:1"] * 3,
        "day": ["(-inf, 2020-01-05]:1|(2020-01-05, inf):2"] * 3,
        "job": ["x:3"] * 3,
    }
    bins = public_bins(pl.DataFrame(cells))
    assert bins == {"age": (30, 40.5), "day": ("2020-01-05",)}
    rows = pl.DataFrame(
        {"age": [30, 31, 99, None], "day": ["2020-01-05", "2020-01-06", None, "1999-01-01"], "job": "y"}
    )
    seen = binned(rows, bins)
    assert seen["age"].to_list() == ["(-inf, 30]", "(30, 40.5]", "(40.5, inf)", None]
    first, last = "(-inf, 2020-01-05]", "(2020-01-05, inf)"
    assert seen["day"].to_list() == [first, last, None, first]
    assert binned(rows.with_columns(pl.col("day").str.to_date()), bins)["day"].to_list() == [first, last, None, first]
    with pytest.raises(ValuesError, match="no numbers"):
        binned(pl.DataFrame({"age": ["old"]}), {"age": (30,)})
    with pytest.raises(HeaderError):
        binned(rows, {"size": (1,)})


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_release_of_counts_is_decoded_on_the_command_line(tmp_path, ending, people):
    people.write_parquet(tmp_path / "people.parquet")
    call = ["release", str(tmp_path / "people.parquet"), "--to", str(tmp_path / f"out.{ending}"), "-q", "age,job"]
    made = CliRunner().invoke(app, [*call, "--target", "ill", "--class-sensitive", "no", "-k", "5", "--form", "counts"])
    assert made.exit_code == 0, made.output
    done = CliRunner().invoke(app, ["decode", str(tmp_path / f"out.{ending}"), "--deals", "3"])
    assert done.exit_code == 0, done.output
    assert "does not carry the guarantee" in done.output
    path = tmp_path / "out.decoded.parquet"
    assert pq.read_metadata(path).metadata[b"incrowd.decoded"].decode() == WARNING
    plain = pl.read_parquet(path)
    assert plain.height == 3 * people.height
    assert Counter(plain["job"].to_list()) == Counter(people["job"].to_list() * 3)
    assert not list(tmp_path.glob("*.decoded.parquet.certificate.json"))


def test_a_decoded_table_is_not_written_over_the_release(tmp_path):
    released([["x", "y"]]).write_csv(tmp_path / "r.csv")
    done = CliRunner().invoke(app, ["decode", str(tmp_path / "r.csv"), "-o", str(tmp_path / "r.csv")])
    assert done.exit_code != 0
    assert isinstance(done.exception, incrowd.IncrowdError)


@pytest.mark.parametrize("form", ["counts", "pair"])
def test_a_release_decodes_itself(people, form):
    made = incrowd.release(people, quasi_identifiers=["age", "job"], target="ill", k=5, form=form)
    assert Counter(made.decode(deals=2)["job"].to_list()) == Counter(people["job"].to_list() * 2)
    assert (made.groups is None) == (form == "counts")


def test_groups_that_hide_an_attribute_deal_nothing():
    table = CountedTable.of(released([["x", "y"], ["z", "z"]], hidden={1}), ["a", "b"])
    dealt = decode_table(table, deals=1)
    assert dealt.filter(pl.col("own") == 1)["a"].to_list() == [None, None]


@pytest.fixture
def people():
    jobs = ["cook", "nurse", "a|b:c", "?", None, "=1+2", "-5", "'x", "ä𝔘", "*"]
    rows = [(20 + i % 37, jobs[i % 10] if i % 3 else "cook", "yn"[i % 4 == 0]) for i in range(120)]
    return pl.DataFrame(rows, ["age", "job", "ill"], orient="row").with_columns(
        pl.when(pl.col("job").is_in(["?", "*"])).then(None).otherwise(pl.col("job")).alias("job")
    )


def test_what_is_decoded_lies_beside_the_release():
    assert decoded_name(Path("people.csv.gz")).name == "people.decoded.parquet"


def test_a_pair_of_tables_is_joined_by_group():
    rows = pl.DataFrame({"group": [7, 7], "ill": ["y", "n"]})
    counts = pl.DataFrame({"group": [7, 7], "attribute": ["job"] * 2, "value": ["cook", None], "count": [1, 1]})
    assert CountedTable.of_pair(rows, counts).columns["job"].values == ("cook", None)
