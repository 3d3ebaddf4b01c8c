"""Adversaries one by one."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from incrowd.hiding.adversaries import (
    ESTIMATORS,
    BayesAdversary,
    CellFeatures,
    School,
    SklearnAdversary,
    best,
    estimator_named,
)
from incrowd.hiding.id3 import ID3Adversary
from incrowd.hiding.published import PublishedTable
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.schema import Column, ColumnType, Schema


def column(name, codes, values, kind=ColumnType.CATEGORICAL):
    return EncodedColumn(name, kind, np.array(codes, np.int32), pl.Series(values))


def published(*columns, **hierarchies):
    schema = Schema(tuple(Column(c.name, type=c.type, hierarchy=hierarchies.get(c.name)) for c in columns))
    return PublishedTable(EncodedTable.of(columns), schema)


def guesses(adversary, shown, row, name):
    return adversary.study(shown, name, shown.node(row, name)).guess(row)


@pytest.fixture
def clear():
    """Rows whose class follows from the attributes."""
    codes = np.tile([0, 1, 2, 2], 60)
    return published(
        column("a", codes, ["x", "y", "z"]),
        column("n", codes, [1.0, 5.0, 9.0], ColumnType.REAL),
        column("c", codes, ["p", "q", "r"]),
    )


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_learners_see_what_is_there_and_nothing_of_what_is_hidden(clear, name):
    clear.show([1], "c", 0)
    light = estimator_named(name).set_params(max_iter=5) if name == "boosting" else None
    student = SklearnAdversary(name, light).study(clear, "c", 0)
    assert student.guess(1) == 2
    clear.show([1], "a", 0)
    clear.show([1], "n", 0)
    assert student.guess(1) in (1, 2, 3)


def test_an_estimator_of_one_s_own(clear):
    from sklearn.dummy import DummyClassifier

    own = SklearnAdversary("most common", DummyClassifier())
    clear.show([1], "c", 0)
    assert guesses(own, clear, 1, "c") == 3
    assert own.costly


def test_with_one_class_left_there_is_nothing_to_learn(clear):
    clear.show(np.flatnonzero(clear.nodes("c") != 1), "c", 0)
    assert guesses(SklearnAdversary("svm"), clear, 1, "c") == 1
    clear.show(np.flatnonzero(clear.nodes("c") == 1), "c", 0)
    assert guesses(SklearnAdversary("svm"), clear, 1, "c") is None
    assert guesses(ID3Adversary(), clear, 1, "c") is None
    assert guesses(BayesAdversary(), clear, 1, "c") is None


def test_groups_are_spread_over_their_values_and_hidden_cells_are_zero():
    tree = Hierarchy.from_paths("a", [["x", "g", "*"], ["y", "g", "*"], ["z", "*"]])
    shown = published(column("a", [0, 1, 2, 3], ["x", "y", "z"]), column("c", [0, 0, 1, 1], ["p", "q"]), a=tree)
    shown.show([0], "a", 1)
    found = CellFeatures(shown, ("a",)).of(np.arange(4))
    assert found.toarray().tolist() == [[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_numbers_are_centred_and_scaled():
    shown = published(column("n", [0, 1, 2], [2, 6], ColumnType.INTEGER), column("c", [0, 1, 1], ["p", "q"]))
    assert CellFeatures(shown, ("n",)).of(np.arange(3)).toarray().ravel().tolist() == [-1, 1, 0]


def test_a_tie_is_no_prediction():
    assert best({1: Fraction(1, 3), 2: Fraction(1, 3), 3: Fraction(0)}) is None
    assert best({}) is None
    assert best({4: Fraction(0)}) == 4


def test_a_school_keeps_what_was_costly_to_learn(clear):
    clear.show([0, 1], "c", 0)
    school = School((BayesAdversary(), SklearnAdversary("svm")), clear)
    first, again = school.students("c", 0), school.students("c", 0)
    assert first[1] is again[1]
    assert first[0] is not again[0]
    assert school.guesses(1, "c") == [2, 2]


def test_id3_reads_no_row_to_find_its_first_test():
    rng = np.random.default_rng(2)
    a = rng.integers(0, 4, 30_000)
    shown = published(
        column("a", a, ["1", "2", "3", "4"]),
        column("b", rng.integers(0, 3, 30_000), ["1", "2", "3"]),
        column("c", np.where(rng.random(30_000) < 0.8, a, rng.integers(0, 4, 30_000)), ["1", "2", "3", "4"]),
    )
    shown.show([7], "c", 0)
    tree = ID3Adversary().study(shown, "c", 0)
    rows = shown.work.rows
    assert tree.attribute == "a"
    assert len(tree.children) == 4
    assert shown.work.rows == rows
