"""Every table of up to six rows of three persons: both promises, once more by brute force."""

from collections import Counter

import pytest

from incrowd.methods.histories.known_rows import KnownRows
from incrowd.methods.histories.whole_histories import WholeHistories
from support.linked_tables import every_table, release_linked
from support.oracle_persons import known_rows_k, linked_k, losses

TABLES = list(every_table())


def test_they_are_many():
    assert len(TABLES) == 264
    assert Counter(len(rows) for rows in TABLES)[6] == 172


@pytest.mark.each(2)
@pytest.mark.parametrize("k", [2, 3])
def test_k_persons_share_every_history_and_nobody_is_lost(k):
    for rows in TABLES:
        released, draft, plan = release_linked(rows, WholeHistories(), k, names=("person", "q"))
        assert linked_k(released) >= k, rows
        lost, persons = losses([row[0] for row in rows], [row.person for row in released])
        assert (lost, persons) == (plan.rows_dropped, 0), rows
        assert len(set(draft.origin.tolist())) == len(released)
        assert _one_pseudonym_each(draft, released)
        _cells_are_true(rows, draft)


@pytest.mark.each(4)
@pytest.mark.parametrize(("m", "count"), [(1, False), (2, False), (3, False), (2, True)])
def test_k_persons_have_any_few_rows(m, count):
    for rows in TABLES:
        for k in (2, 3):
            released, draft, plan = release_linked(rows, KnownRows(m, count), k, names=("person", "q"))
            assert known_rows_k(released, m, count_known=count) >= k, rows
            lost, persons = losses([row[0] for row in rows], [row.person for row in released])
            assert (lost, persons) == (plan.rows_dropped, 0), rows
            _cells_are_true(rows, draft)


def _one_pseudonym_each(draft, released):
    pairs = set(zip(draft.frame["person"].to_list(), [row.person for row in released], strict=True))
    return len(pairs) == len({one for one, _ in pairs}) == len({one for _, one in pairs})


def _cells_are_true(rows, draft):
    for cell, origin in zip(draft.frame["q"].to_list(), draft.origin.tolist(), strict=True):
        assert cell is None or rows[origin][1] in cell.split("|")
