"""What unchanged columns give back of whole tables: against the definition, and what is told beside the counts."""

import numpy as np
import pytest

from incrowd.verification.open_cells import QuasiIdentifier, distinct
from incrowd.verification.unchanged import UnchangedColumn, _in_pair, _views, count_unchanged
from incrowd.vocabulary.requirement import KnownSet
from support.unchanged_tables import agrees, invented


@pytest.mark.parametrize("seed", range(48))
def test_counts_agree_with_the_definition(seed):
    agrees(invented(seed, most_rows=280))


def hidden(name, values, labels=None, allows=(None,)):
    shown = np.zeros(len(values), np.int64) if labels is None else np.asarray(labels, np.int64)
    return QuasiIdentifier(name, np.asarray(values, np.int64), shown, list(allows))


def unchanged(**codes):
    return [UnchangedColumn(name, np.asarray(one, np.int64)) for name, one in codes.items()]


def told(counts):
    return [(one.columns, one.quasi_identifier, one.cells) for one in counts.by]


ROWS = np.arange(640)
ONE, TWO, EXCLUSIVE = ROWS % 2, ROWS // 2 % 2, ROWS % 2 ^ ROWS // 2 % 2


@pytest.mark.parametrize(
    ("pair_tests", "cells", "told_of"),
    [(0, 0, "3 of 3"), (1, 0, "2 of 3"), (2, 640, "1 of 3"), (3, 640, None), (4, 640, None)],
)
def test_pairs_beyond_the_bound_are_told(pair_tests, cells, told_of):
    """The second of three pairs decides q."""
    columns = unchanged(a=ONE, noise=ROWS // 4 % 2, b=TWO)
    counts = count_unchanged([hidden("q", EXCLUSIVE)], columns, [KnownSet(("q",), 2)], pair_tests=pair_tests)
    assert counts.given_back == cells
    words = [] if told_of is None else [(f"{told_of} tests of pairs of columns", "not counted")]
    assert [(one.what, one.why) for one in counts.not_counted] == words


@pytest.mark.parametrize(
    ("columns", "asked", "words"), [(36, {}, "30 of 630"), (35, {}, None), (46, {"pair_tests": 0}, "1,035 of 1,035")]
)
def test_600_pairs_are_asked_unless_something_else_is_said(columns, asked, words):
    """36 columns are 630 pairs."""
    noise = unchanged(**{f"n{at}": np.zeros(40) for at in range(columns)})
    column, known = hidden("q", np.arange(40) % 2), [KnownSet(("q",), 2)]
    counts = count_unchanged([column], noise, known, people_times_sets=0, **asked)
    assert [one.what for one in counts.not_counted] == ([f"{words} tests of pairs of columns"] if words else [])


def test_pairs_of_unchanged_columns_come_before_those_with_a_shown_quasi_identifier():
    shown = QuasiIdentifier("b", TWO, TWO, [np.array([0]), np.array([1])])
    columns, known = unchanged(a=ONE, noise=ROWS // 4 % 2), [KnownSet(("b", "q"), 2)]
    found = {
        tests: told(count_unchanged([shown, hidden("q", EXCLUSIVE)], columns, known, pair_tests=tests))
        for tests in (1, 2, 3)
    }
    assert found == {1: [], 2: [(("a", "b"), "q", 640)], 3: [(("a", "b"), "q", 640)]}


def test_no_pair_is_asked_of_what_one_column_gives_back_or_of_what_is_shown():
    shown = QuasiIdentifier("b", TWO, TWO, [np.array([0]), np.array([1])])
    columns = unchanged(code=EXCLUSIVE, a=ONE, b2=TWO)
    counts = count_unchanged([hidden("q", EXCLUSIVE), shown], columns, [KnownSet(("q",), 2)], pair_tests=0)
    assert (told(counts), counts.not_counted) == ([(("code",), "q", 640)], ())


def test_a_quasi_identifier_that_is_always_hidden_makes_no_pairs():
    """Neither with itself nor with others: one pair of columns for each, and no more."""
    columns = unchanged(a=ONE, noise=ROWS // 4 % 2)
    both = [hidden("q", EXCLUSIVE), hidden("p", ROWS // 8 % 2)]
    counts = count_unchanged(both, columns, [KnownSet(("q",), 2)], pair_tests=0)
    assert [one.what for one in counts.not_counted] == ["2 of 2 tests of pairs of columns"]


def test_what_gives_back_most_is_told_first_then_by_the_order_of_columns():
    """Two codes of the column q, one of the first 400 rows of p, and one of p."""
    q, p = ROWS % 4, ROWS // 4 % 2
    part = np.where(ROWS < 400, p, 2)
    columns = unchanged(part=part, second=q, first=3 - q, code=p)
    counts = count_unchanged([hidden("p", p), hidden("q", q)], columns, [KnownSet(("p", "q"), 2)])
    assert told(counts) == [
        (("second",), "q", 640),
        (("first",), "q", 640),
        (("code",), "p", 640),
        (("part",), "p", 400),
    ]
    assert (counts.hidden_cells, counts.given_back, counts.rows) == (1280, 1280, 640)


def test_people_below_k_in_any_set_are_counted_once():
    """Groups of 20 and 620 by q, of 30 and 610 by p; five people are in both small ones."""
    q, p = (ROWS < 20).astype(int), ((ROWS >= 15) & (ROWS < 45)).astype(int)
    known = [KnownSet(("q",), 25), KnownSet(("p",), 31), KnownSet(("p",), 30)]
    counts = count_unchanged([hidden("q", q), hidden("p", p)], unchanged(cq=q, cp=p), known)
    assert [(one.effective_k, one.people_below_k) for one in counts.sets] == [(20, 20), (30, 30), (30, 0)]
    assert (counts.people_below_k, counts.sound) == (45, False)


def test_who_is_not_given_back_stands_out_among_those_who_are():
    """A code of all but ten people; the table shows nothing of the others."""
    q = ROWS % 2
    code = np.where(ROWS < 10, 2, q)
    counts = count_unchanged([hidden("q", q)], unchanged(code=code), [KnownSet(("q",), 50)])
    assert (counts.given_back, counts.effective_k, counts.people_below_k) == (630, 10, 10)


@pytest.mark.parametrize(
    ("labels", "words"),
    [([2] * 6, ["too few rows to tell"]), ([0, 1, 0, 1, 0, 2], ["too few rows to tell"]), ([0, 1, 0, 1, 0, 1], [])],
)
def test_too_few_rows_are_told_of_columns_that_hide_a_cell(labels, words):
    column = hidden("q", [0, 1] * 3, labels, [np.array([0]), np.array([1]), None])
    counts = count_unchanged([column], unchanged(a=np.arange(6)), [KnownSet(("q",), 2)])
    assert [one.why for one in counts.not_counted] == words


def test_a_quasi_identifier_that_is_partly_shown_is_not_asked_about_itself():
    column = hidden("q", ONE, np.where(ROWS < 20, ONE, 2), [np.array([0]), np.array([1]), None])
    assert count_unchanged([column], unchanged(a=TWO), [KnownSet(("q",), 2)], pair_tests=0).not_counted == ()


def test_advice_keeps_out_what_leaves_most_of_k():
    """Without b the smallest group is 40, without a it is 20; then a is named as well, and all 640 are one group."""
    p, q = (ROWS < 40).astype(int), (ROWS >= 620).astype(int)
    columns, known = unchanged(a=p, b=q, noise=ROWS % 3), [KnownSet(("p", "q"), 100)]
    counts = count_unchanged([hidden("p", p), hidden("q", q)], columns, known)
    assert counts.advice is not None
    assert (counts.advice.columns, counts.advice.effective_k) == (("b", "a"), 640)


def test_advice_keeps_out_what_gives_back_most_cells_where_it_leaves_the_same_of_k():
    """A code of q for all but 64 people, and one of p, which 64 people have, for all: without either 64 are left."""
    q, p = ROWS % 2, (ROWS // 2 % 10 == 0).astype(int)
    columns = unchanged(few=np.where(ROWS < 64, 2, q), many=p)
    counts = count_unchanged([hidden("q", q), hidden("p", p)], columns, [KnownSet(("p", "q"), 100)])
    assert told(counts) == [(("many",), "p", 640), (("few",), "q", 576)]
    assert counts.advice is not None
    assert counts.advice.columns == ("many", "few")


def test_advice_looks_at_the_set_that_keeps_least_of_its_k():
    """Without a there are 20 of 40 left in one set; without b 30 of 80 in the other."""
    p, q = (ROWS < 20).astype(int), (ROWS >= 610).astype(int)
    columns, known = unchanged(a=q, b=p), [KnownSet(("p",), 40), KnownSet(("q",), 80)]
    counts = count_unchanged([hidden("p", p), hidden("q", q)], columns, known)
    assert counts.advice is not None
    assert (counts.advice.columns, counts.advice.effective_k) == (("a", "b"), 640)


def test_advice_goes_on_where_pairs_tell_what_one_column_told_before(monkeypatch):
    monkeypatch.setattr("incrowd.verification.unchanged.ADVICE_COUNTS", 0)
    columns = unchanged(code=EXCLUSIVE, a=ONE, b=TWO)
    counts = count_unchanged([hidden("q", EXCLUSIVE)], columns, [KnownSet(("q",), 400)])
    assert counts.advice is not None
    assert counts.advice.columns == ("code", "a", "b")


def test_advice_tells_the_smallest_effective_k_of_all_sets():
    """Without the code the set with q has all 640 people in one group, that of what is shown 320."""
    shown = hidden("town", TWO, TWO, [np.array([0]), np.array([1])])
    known = [KnownSet(("q",), 400), KnownSet(("town",), 2)]
    counts = count_unchanged([hidden("q", ONE), shown], unchanged(code=ONE), known)
    assert counts.advice is not None
    assert (counts.advice.columns, counts.advice.effective_k) == (("code",), 320)


def test_there_is_no_advice_where_nothing_is_given_back_or_k_is_kept():
    shown = QuasiIdentifier("q", ONE, ONE, [np.array([0]), np.array([1])])
    assert count_unchanged([shown], unchanged(code=ONE), [KnownSet(("q",), 500)]).advice is None
    assert count_unchanged([hidden("q", ONE)], unchanged(code=ONE), [KnownSet(("q",), 320)]).advice is None


@pytest.mark.parametrize(("copies", "first"), [(59, "last"), (60, "c0")])
def test_beyond_sixty_counts_all_columns_that_tell_are_named_at_once(copies, first):
    """Up to sixty, the one that harms most is found: without it the smallest group has forty people, not twenty."""
    rows = np.arange(100)
    p, q = (rows < 40).astype(int), (rows >= 80).astype(int)
    columns = unchanged(**{f"c{at}": p for at in range(copies)}, last=q)
    known = [KnownSet(("p", "q"), 50)]
    counts = count_unchanged([hidden("p", p), hidden("q", q)], columns, known, people_times_sets=0)
    assert counts.advice is not None
    assert counts.advice.columns[0] == first
    assert len(counts.advice.columns) == copies + 1
    assert counts.advice.effective_k == 100


@pytest.mark.parametrize(
    ("rows", "size"),
    [(65, 120), (1000, 120), (491_521, 121), (4096 * 150, 150), (4097 * 150, 151)],
)
def test_an_unchanged_column_of_many_values_is_counted_in_blocks_too(rows, size):
    """Of 120 people, and in 4,096 blocks at most."""
    views = [view.codes for view in _views(UnchangedColumn("weight", np.arange(rows)))]
    assert len(views) == 2
    assert (views[0] == np.arange(rows)).all()
    assert np.bincount(views[1])[:-1].tolist() == [size] * ((rows - 1) // size)


@pytest.mark.parametrize(
    ("values", "in_pairs"), [(64, 64), (65, 22), (96, 32), (97, 25), (320, 32), (330, 30), (341, 31)]
)
def test_in_pairs_there_are_32_blocks_at_most(values, in_pairs):
    """Every value once."""
    column = _in_pair(UnchangedColumn("weight", np.arange(values)))
    assert column.width == in_pairs
    assert column.usable.all()


def test_missing_cells_are_a_block_of_their_own():
    column = UnchangedColumn("weight", np.minimum(np.arange(130), 100), missing=100)
    assert [distinct(view.codes) for view in _views(column)] == [101, 2]
    assert _in_pair(column).width == 21
    assert [distinct(view.codes) for view in _views(UnchangedColumn("weight", column.codes))] == [101, 1]
