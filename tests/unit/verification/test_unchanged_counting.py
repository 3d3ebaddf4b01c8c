"""Unchanged columns: what released cells allow, and what the counts say."""

import numpy as np
import pytest

from incrowd.verification.open_cells import QuasiIdentifier, own_cells
from incrowd.verification.unchanged import UnchangedColumn, _in_pair, _views, count_unchanged
from incrowd.vocabulary.requirement import KnownSet


def test_a_cell_that_does_not_hold_the_own_value_allows_all():
    """The comparison of cells refuses such a release; the count must not go astray on it."""
    own = np.repeat([0, 1], 40)
    wrong = QuasiIdentifier("sex", own, np.zeros(80, np.int64), [np.array([0])])
    counts = count_unchanged([wrong], [UnchangedColumn("code", own)], [KnownSet(("sex",), 5)])
    assert (counts.hidden_cells, counts.given_back) == (80, 80)


def test_every_set_that_is_known_together_has_its_own_effective_k():
    sex, code = np.repeat([0, 1], [100, 60]), np.repeat([0, 1], [100, 60])
    hidden = QuasiIdentifier("sex", sex, np.zeros(160, np.int64), [None])
    town = np.arange(160) % 2
    shown = QuasiIdentifier("town", town, town, [np.array([0]), np.array([1])])
    known = [KnownSet(("sex", "town"), 40), KnownSet(("town",), 20)]
    counts = count_unchanged([hidden, shown], [UnchangedColumn("code", code)], known)
    assert [(one.effective_k, one.people_below_k) for one in counts.sets] == [(30, 60), (80, 0)]
    assert (counts.effective_k, counts.people_below_k, counts.sound) == (30, 60, False)
    assert counts.advice is not None
    assert counts.advice.columns == ("code",)


def test_advice_about_very_many_columns_names_them_at_once(monkeypatch):
    monkeypatch.setattr("incrowd.verification.unchanged.ADVICE_COUNTS", 2)
    own = np.repeat([0, 1], [60, 40])
    hidden = QuasiIdentifier("sex", own, np.zeros(100, np.int64), [None])
    copies = [UnchangedColumn(name, own) for name in "abc"]
    counts = count_unchanged([hidden], copies, [KnownSet(("sex",), 50)])
    assert counts.advice is not None
    assert (counts.advice.columns, counts.advice.effective_k) == (("a", "b", "c"), 100)


def test_a_pair_gets_no_credit_for_what_one_of_its_columns_tells():
    """At a = 0 nearly all have 0, not nearly enough; where b = 0 they happen to be all, which b does not explain."""
    own = np.repeat([0, 0, 1, 1, 1], [500, 455, 45, 500, 500])
    first, second = np.repeat([0, 1], 1000), np.repeat([0, 1, 0, 1], 500)
    hidden = QuasiIdentifier("sex", own, np.zeros(2000, np.int64), [None])
    counts = count_unchanged(
        [hidden], [UnchangedColumn("a", first), UnchangedColumn("b", second)], [KnownSet(("sex",), 5)]
    )
    assert [(one.columns, one.cells) for one in counts.by] == [(("a",), 1000)]
    assert counts.given_back == 1000


@pytest.mark.parametrize(("rows", "told"), [(38, []), (39, ["sex"])])
def test_too_few_rows_are_told(rows, told):
    """20 * 38 <= (38 + 2) * 19, but 20 * 39 > (39 + 2) * 19."""
    own = np.repeat([0, 1], [rows - 19, 19])
    hidden = QuasiIdentifier("sex", own, np.zeros(rows, np.int64), [None])
    counts = count_unchanged([hidden], [UnchangedColumn("noise", np.arange(rows) % 3)], [KnownSet(("sex",), 5)])
    assert [one.what for one in counts.not_counted] == told


def test_two_values_of_38_people_are_just_enough_for_a_function():
    """20 * (0 + 1) * 38 <= (38 + 2) * 19."""
    own = np.repeat([0, 1], 19)
    hidden = QuasiIdentifier("sex", own, np.zeros(38, np.int64), [None])
    assert count_unchanged([hidden], [UnchangedColumn("code", own)], [KnownSet(("sex",), 5)]).given_back == 38


@pytest.mark.parametrize(("values", "width"), [(256, 256), (257, 86), (512, 128)])
def test_a_quasi_identifier_of_many_values_is_counted_in_128_blocks(values, width):
    column = QuasiIdentifier("pay", np.arange(values), np.zeros(values, np.int64), [None, range(5)])
    assert own_cells(column).width == width


@pytest.mark.parametrize(("values", "views", "in_pairs"), [(64, 1, 64), (65, 2, 26)])
def test_an_unchanged_column_of_many_values_is_counted_in_blocks_too(values, views, in_pairs):
    column = UnchangedColumn("weight", np.arange(2 * values) // 2)
    assert (len(list(_views(column))), _in_pair(column).width) == (views, in_pairs)


def test_a_quasi_identifier_helps_only_where_it_is_shown():
    """a and b decide c; b is shown to half of the people, and a and c would decide b, but c is shown to nobody."""
    rows = np.arange(640)
    first, second, shown = rows % 2, rows // 2 % 2, rows < 320
    hidden = QuasiIdentifier("c", first ^ second, np.zeros(640, np.int64), [None])
    half = QuasiIdentifier("b", second, np.where(shown, second, 2), [np.array([0]), np.array([1]), None])
    counts = count_unchanged([hidden, half], [UnchangedColumn("a", first)], [KnownSet(("b", "c"), 5)])
    assert [(one.columns, one.quasi_identifier, one.cells) for one in counts.by] == [(("a", "b"), "c", 320)]


def test_without_unchanged_columns_nobody_is_alone():
    counts = count_unchanged(
        [QuasiIdentifier("sex", np.arange(100) % 2, np.zeros(100, np.int64), [None])], [], [KnownSet(("sex",), 5)]
    )
    assert (counts.effective_k, counts.given_back, counts.alone.without_class, counts.alone.best) == (100, 0, 0, ())
