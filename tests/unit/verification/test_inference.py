"""Naive Bayes by SQL: a table reckoned by hand, a random one against the program's adversary, and lies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
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


def by_hand(columns, name, row, predictors, differing, blanks_count):
    """Whether naive Bayes, row by row over what is shown, guesses a cell."""
    shown = {one: [None if (i, one) in differing else v for i, v in enumerate(cells)] for one, cells in columns.items()}
    scores = {}
    for value in {cell for cell in columns[name] if cell is not None}:
        mine = [i for i, cell in enumerate(shown[name]) if cell == value]
        scores[value] = Fraction(len(mine))
        for other in predictors:
            if other != name and shown[other][row] is not None:
                known = [i for i in mine if blanks_count or shown[other][i] is not None]
                alike = [i for i in known if shown[other][i] == shown[other][row]]
                scores[value] *= Fraction(len(alike), len(known)) if known else 0
    best = [value for value, score in scores.items() if score == max(scores.values())]
    return len(best) == 1 and best[0] == columns[name][row]


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("blanks_count", [True, False])
def test_guesses_agree_with_plain_loops(tmp_path, seed, blanks_count):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(5, 10))
    drawn = {name: rng.choice([0, 0, 1, 2, None], rows).tolist() for name in "abc"}
    cells = [(row, name) for name in "abc" for row in range(rows) if drawn[name][row] is not None]
    asked = [cells[i] for i in rng.choice(len(cells), 4, replace=False)]
    differing = {*asked, *(cells[i] for i in rng.choice(len(cells), 3))}
    predictors = ["c", "a", "b"][: int(rng.integers(1, 4))]
    table = pa.table({name: pa.array(values, pa.int32()) for name, values in drawn.items()})
    expected = {(row, name): by_hand(drawn, name, row, predictors, differing, blanks_count) for row, name in asked}
    pq.write_table(table, tmp_path / "values.parquet")
    for values in (table, tmp_path / "values.parquet"):
        with connect(threads=1) as connection:
            told = Inference(values, predictors, dict.fromkeys(asked, True), blanks_count)
            assert recounted_guesses(connection, told, differing) == expected


@pytest.mark.parametrize(
    ("columns", "cell", "predictors", "differing", "expected"),
    [
        ({"y": [0, 0, 1]}, (0, "y"), [], {(0, "y")}, False),  # without predictors: one of each
        ({"y": [0, 0, 1]}, (0, "y"), [], set(), True),
        ({"y": [0, 0, 1]}, (2, "y"), [], set(), False),
        ({"y": [0, 0, 1]}, (0, "y"), ["y"], {(0, "y")}, False),  # a column is no predictor of itself
        ({"y": [0, None]}, (0, "y"), [], {(0, "y")}, True),  # no row speaks for the only value that occurs
        ({"y": [0, 1]}, (0, "y"), [], {(0, "y"), (1, "y")}, False),  # two values for which nothing speaks
        ({"a": [7, 7, 8], "y": [0, 0, 1]}, (2, "y"), ["a"], set(), True),
        ({"a": [7, 7, 8], "y": [0, 0, 1]}, (2, "y"), ["a"], {(2, "a")}, False),  # blank: it tells nothing
        ({"a": [7, 7, 8, None], "y": [0, 0, 1, 1]}, (3, "y"), ["a"], set(), False),
        ({"a": [None, 8, 8], "y": [0, 0, 1]}, (2, "y"), ["a"], set(), False),  # 2 x 1/2 against 1 x 1
    ],
)
def test_small_tables_by_hand(columns, cell, predictors, differing, expected):
    table = pa.table({name: pa.array(values, pa.int32()) for name, values in columns.items()})
    with connect(threads=1) as connection:
        found = recounted_guesses(connection, Inference(table, predictors, {cell: True}), differing)
    assert found == {cell: expected}


def test_a_second_table_on_the_same_connection_is_read_afresh():
    with connect(threads=1) as connection:
        for values, expected in (([0, 0, 1], True), ([1, 0, 0, 0], False), ([5, 5, 5], True)):
            table = pa.table({"y": values})
            assert recounted_guesses(connection, Inference(table, [], {(0, "y"): True}), set()) == {(0, "y"): expected}
