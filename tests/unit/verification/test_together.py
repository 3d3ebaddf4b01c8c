"""What unchanged columns of two tables undo together."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.verification.open_cells import QuasiIdentifier
from incrowd.verification.together import NUMBER, CodedTable, count_together
from incrowd.verification.unchanged import UnchangedColumn, count_unchanged
from incrowd.verification.unchanged_counts import GiveBack
from incrowd.vocabulary.requirement import KnownSet

PERSONS, K = 200, 5
EVERYBODY = np.arange(PERSONS)
ACTIVE = np.repeat(EVERYBODY[: PERSONS - 20], 1 + EVERYBODY[: PERSONS - 20] % 3)  # twenty have no events
YEAR = EVERYBODY % 40
NOISE = np.random.default_rng(8)


def hidden(name, values):
    return QuasiIdentifier(name, values, np.zeros(len(values), np.int64), [None])


def table(quasi, unchanged, owners):
    columns = [UnchangedColumn(name, codes) for name, codes in unchanged.items()]
    known = [KnownSet(tuple(one.name for one in quasi), K)]
    return CodedTable(quasi, columns, owners, count_unchanged(quasi, columns, known, owners=owners, linked=True))


def counted(of_persons, of_events, before=None, owners=ACTIVE):
    persons = table([hidden("year", YEAR)], of_persons, EVERYBODY)
    events = table([hidden("ward", NOISE.integers(0, 4, len(owners)))], of_events, owners)
    alone = persons.counts, events.counts
    assert all(one.effective_k >= K and not one.given_back for one in alone)  # each table by itself is sound
    return count_together(persons, events, K, pair_tests=100, before=before)


def test_columns_of_events_give_back_what_the_table_of_persons_hides():
    persons, events = counted({}, {"yob": YEAR[ACTIVE]})
    assert persons.effective_k == events.effective_k == 1
    assert not persons.sound
    assert not events.sound
    assert persons.given_back == PERSONS - 20  # persons, not events
    assert events.given_back == 0
    assert GiveBack(("yob",), "year", len(ACTIVE)) in events.by
    assert persons.advice.columns == events.advice.columns == ("yob",)
    assert [one.columns for one in (*persons.sets, *events.sets)] == [("year",), ("ward",)]


def test_noise_gives_nothing_back_and_names_may_be_the_same():
    noise = {"note": NOISE.integers(0, 3, len(ACTIVE))}
    persons, events = counted({"note": NOISE.integers(0, 3, PERSONS)}, noise)
    assert persons.sound
    assert events.sound
    assert persons.by == events.by == ()


def test_a_number_of_ones_own_predicts_nobody():
    """What one person has in all its rows is learned from that person alone: it tells nothing of others."""
    assert counted({}, {"device": ACTIVE})[0].sound


@pytest.mark.parametrize(("known", "left"), [(True, 1), (False, 60)])
def test_a_number_of_events_gives_back_rows_that_are_left_out(known, left):
    """Everybody is left with one event; the table of persons tells how many there were."""
    before = np.append(1 + EVERYBODY[:-1] % 3, 9)
    persons, events = counted({"visits": before}, {}, before if known else None, owners=EVERYBODY)
    assert (events.effective_k < K) == known
    assert [one.quasi_identifier for one in persons.by] == ([NUMBER] if known else [])


def test_who_is_alone_by_both_tables():
    """Ten persons have each value of the one column, and twenty each of the other; both are of one person."""
    persons, events = counted({"a": EVERYBODY % 20}, {"b": EVERYBODY // 20}, owners=EVERYBODY)
    assert [one.alone.best[0].people for one in (persons, events)] == [0, 0]
    assert persons.alone.without_class == events.alone.without_class == PERSONS
