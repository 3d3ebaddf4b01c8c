"""Unchanged columns: what released cells allow, and what the counts say."""

import datetime

import numpy as np
import pytest

from incrowd.verification.allowed_values import quasi_identifier
from incrowd.verification.alone import count_alone
from incrowd.verification.open_cells import QuasiIdentifier
from incrowd.verification.unchanged import UnchangedColumn, count_unchanged
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.requirement import KnownSet


def allowed(own, texts, **options):
    """The values that each text allows, as the first row of each value shows it."""
    rows = np.zeros(len(texts), np.int64)
    column = quasi_identifier("q", own, rows, texts, np.arange(len(texts)), **options)
    everything = [*own, None]
    return [one if one is None else [everything[int(code)] for code in one] for one in column.allows]


JOBS = ["cook", "nurse", "a|b", "50%", "?", "=sum"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (None, None),
        ("*", None),
        ("nurse", ["nurse"]),
        ("cook|nurse", ["cook", "nurse"]),
        ("a|b", ["a|b"]),
        ("a%7Cb|50%25", ["a|b", "50%"]),
        ("'=sum", ["=sum"]),
        ("unheard", None),
        ("care", ["cook", "nurse"]),
    ],
)
def test_cells_of_text(text, values):
    care = Hierarchy("q", ("*", "care", "cook", "nurse", "a|b", "50%", "?", "=sum"), (-1, 0, 1, 1, 0, 0, 0, 0))
    assert allowed(JOBS, [text], hierarchy=care) == [values]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("cook:3|nurse:4", ["cook", "nurse"]),
        ("a%7Cb:3|?:4", ["a|b", None]),
        ("%3F:3|%3Dsum:1", ["?", "=sum"]),
        ("*", None),
    ],
)
def test_cells_of_counts(text, values):
    assert allowed(JOBS, [text], counts=True) == [values]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("(20, 40]", [30, 40]),
        ("(-inf, 30]", [20, 30]),
        ("(30, inf)", [40, 55.5]),
        ("[20, 40]", [20, 30, 40]),
        ("(10, 20]|(40, 60]", [20, 55.5]),
        ("20|40", [20, 40]),
        ("20", [20]),
        ("30", None),
        ("31.5", None),
        (("20", "40"), [30, 40]),
        ((None, "30"), [20, 30]),
        (("40", "40"), [40]),
        ((None, None), None),
    ],
)
def test_cells_of_numbers(text, values):
    """A number that is not the value of all its rows is a mean, and allows all; here all rows have 20."""
    assert allowed([20, 30, 40, 55.5], [text]) == [values]


def test_cells_of_dates_and_of_groups_of_numbers():
    days = [datetime.date(2024, 1, 5), datetime.date(2024, 2, 6), datetime.date(2025, 1, 1)]
    assert allowed(days, ["2024", "(2024-01-05, 2024-12-31]", "2024-01-05"]) == [days[:2], days[1:2], days[:1]]
    ages = Hierarchy("q", ("*", "young", "(0, 20]", "(20, 30]", "(30, 99]"), (-1, 0, 1, 1, 0), Leaves.NUMBERS)
    assert allowed([20, 30, 40], ["young", "(30, 99]"], hierarchy=ages) == [[20, 30], [40]]


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


def columns(*codes):
    return [UnchangedColumn(f"c{at}", np.array(one)) for at, one in enumerate(codes)]


def test_sets_beyond_the_bound_grow_and_that_is_told():
    cube = np.arange(64)
    parts = columns(cube // 16, cube // 4 % 4, cube % 4, cube * 0)
    exact, greedy = count_alone(parts, 64), count_alone(parts, 64, people_times_sets=0)
    assert [one.people for one in exact.best] == [one.people for one in greedy.best] == [0, 0, 64]
    assert [one.exact for one in greedy.best] == [False] * 3
    assert greedy.telling is not None
    assert greedy.telling.columns == ("c0", "c1", "c2")


def test_a_telling_set_may_need_more_than_three_columns():
    cube = np.arange(256)
    alone = count_alone(columns(cube // 64, cube // 16 % 4, cube // 4 % 4, cube % 4), 256)
    assert [one.people for one in alone.best] == [0, 0, 0]
    assert alone.telling is not None
    assert (alone.telling.columns, alone.telling.people) == (("c0", "c1", "c2", "c3"), 256)


def test_combinations_too_many_for_one_number_are_counted():
    generator = np.random.Generator(np.random.Philox(1))
    wide = columns(*(generator.integers(0, 2**15, 1000) // 2**5 * 2**5 for _ in range(6)))
    assert count_alone(wide, 1000).without_class == 1000


def test_without_unchanged_columns_nobody_is_alone():
    counts = count_unchanged(
        [QuasiIdentifier("sex", np.arange(100) % 2, np.zeros(100, np.int64), [None])], [], [KnownSet(("sex",), 5)]
    )
    assert (counts.effective_k, counts.given_back, counts.alone.without_class, counts.alone.best) == (100, 0, 0, ())
