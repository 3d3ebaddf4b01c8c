"""Naive Bayes by SQL: a table reckoned by hand, a random one against the program's adversary, and lies."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.hiding import hide_cells
from incrowd.verification.hidden_cells import Withheld, verify_hidden_cells
from incrowd.verification.inference import Inference, recounted_guesses
from incrowd.verification.opening import connect
from incrowd.vocabulary.forms import FileForm

# class 0: three rows, two of them with 0 in a; class 1: two rows, one of them with 0 in a; the first row is asked about
VALUES = pl.DataFrame({"a": [0, 0, 0, 1, 0, 1], "y": [0, 0, 0, 0, 1, 1]})


def right(frame, told, differing):
    with connect() as connection:
        return recounted_guesses(connection, Inference(frame.to_arrow(), ["a"], told), differing)


def test_the_value_with_the_larger_product_is_guessed():
    # 3 * 2/3 = 2 for class 0 against 2 * 1/2 = 1 for class 1
    assert right(VALUES, {(0, "y"): True}, {(0, "y")}) == {(0, "y"): True}


def test_a_tie_is_no_guess():
    # one of the two rows that speak for class 0 is blank: 3 * 1/3 = 1 against 1
    assert right(VALUES, {(0, "y"): False}, {(0, "y"), (1, "a")}) == {(0, "y"): False}


def test_where_blanks_do_not_count_the_known_rows_are_the_whole():
    told = Inference(VALUES.to_arrow(), ["a"], {(0, "y"): True}, blanks_count=False)
    with connect() as connection:  # 3 * 1/2 = 1.5 against 1
        assert recounted_guesses(connection, told, {(0, "y"), (1, "a")}) == {(0, "y"): True}


@pytest.mark.parametrize(("said", "failed"), [(True, set()), (False, {"inference"})])
def test_a_lie_about_the_adversary_is_found(tmp_path, said, failed):
    path = tmp_path / "out.parquet"
    VALUES.with_columns(y=pl.Series([None, *VALUES["y"][1:]])).write_parquet(path)
    cells = [(0, "y")]
    told = Withheld(
        VALUES.columns, cells, dict.fromkeys(cells), inference=Inference(VALUES.to_arrow(), ["a"], {(0, "y"): said})
    )
    verdict = verify_hidden_cells(path, FileForm("parquet"), VALUES.to_arrow(), told)
    assert {check.name for check in verdict.checks if not check.passed} == failed


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_it_agrees_with_the_adversary_on_any_table(data):
    rows = data.draw(st.integers(2, 12))
    value = st.sampled_from(["x", "y", "z", None])
    frame = pl.DataFrame(
        {name: data.draw(st.lists(value, min_size=rows, max_size=rows)) for name in "abc"},
        schema=dict.fromkeys("abc", pl.String),
    )
    places = [(row, name) for name in "abc" for row in range(rows) if frame[name][row] is not None]
    if not places:
        return
    cells = data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3, unique=True))
    method = data.draw(st.sampled_from(["auto", "quiet", "decp", "incp", "dropp", "hid3+dropp", "nrd"]))
    adversary = data.draw(st.sampled_from(["nb", "nb-ignored"]))
    hidden = hide_cells(frame, cells, method, (adversary, "id3"), predictors=["a", "b", "c"])
    assert "inference" in {check.name for check in hidden.verdict.checks}
