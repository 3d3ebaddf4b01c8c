"""Naive Bayes by SQL against plain loops over the rows, and on tables that are reckoned in the head."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.verification.inference import Inference, recounted_guesses
from incrowd.verification.opening import connect


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


@pytest.fixture(scope="module")
def connection():
    with connect(threads=1) as opened:
        yield opened


@pytest.mark.parametrize("seed", range(12))
def test_guesses_agree_with_plain_loops(connection, tmp_path, seed):
    blanks_count = seed % 2 == 0
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
    values = table if seed % 3 else tmp_path / "values.parquet"
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
        ({"a": [None, 8, 8], "y": [0, 0, 1]}, (1, "y"), ["a"], set(), False),
        ({"y": [0, 0, 1]}, (2, "y"), ["y"], set(), False),
    ],
)
def test_small_tables_by_hand(connection, columns, cell, predictors, differing, expected):
    table = pa.table({name: pa.array(values, pa.int32()) for name, values in columns.items()})
    found = recounted_guesses(connection, Inference(table, predictors, {cell: True}), differing)
    assert found == {cell: expected}


def test_a_second_table_on_the_same_connection_is_read_afresh():
    with connect(threads=1) as connection:
        for values, expected in (([0, 0, 1], True), ([1, 0, 0, 0], False), ([5, 5, 5], True)):
            table = pa.table({"y": values})
            assert recounted_guesses(connection, Inference(table, [], {(0, "y"): True}), set()) == {(0, "y"): expected}
