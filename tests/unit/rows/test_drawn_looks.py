"""Counts that are drawn by a key: by the rule as the page states it, written once more in plain Python."""

from __future__ import annotations

import hashlib
import hmac
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import ParameterError, PlanError
from incrowd.plan.plan_file import plan_from_json, plan_to_json
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import AsCounts, Group, Show
from incrowd.rows.memory.looks import with_drawn_looks
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import Counts, Interval, Suppressed
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

KEY = bytes(range(32))
JOBS = ["z", "ä", "=a", "b:c", "%", "?"]  # in an order of their own, which is not that of their bytes
NAMES = {"z": "z", "ä": "ä", "=a": "%3Da", "b:c": "b%3Ac", "%": "%25", "?": "%3F", None: "?"}
CUTS = (10.0, 20.5)
BINS = {Interval(None, 10.0): "(-inf, 10]", Interval(10.0, 20.5): "(10, 20.5]", Interval(20.5, None): "(20.5, inf)"}
COLUMNS = {
    "job": EncodedColumn("job", ColumnType.ORDERED, np.array([], np.int32), pl.Series(JOBS)),
    "age": EncodedColumn("age", ColumnType.REAL, np.array([], np.int32), pl.Series([5.0, 15.0, 30.0])),
}
SCHEMA = Schema(tuple(Column(name, Role.QUASI_IDENTIFIER, one.type) for name, one in COLUMNS.items()))


def counts(rows, order):
    """The exact counts of some values, in the order of cells."""
    return Counts(tuple((value, rows.count(value)) for value in order if value in rows))


def plan_of(groups, redraw=2, key=KEY):
    """Groups of pairs of a job and a bin; None instead of all of one attribute hides it."""
    shown = []
    for group in groups:
        jobs, ages = zip(*group, strict=True)
        forms = [counts(jobs, [*JOBS, None]), counts(ages, [*BINS, None])]
        shown.append(Group(len(group), tuple(forms)))
    step = AsCounts(("job", "age"), (("age", CUTS),), redraw, key)
    steps = (Show(("job", "age"), tuple(shown)), step)
    return ReleasePlan("mondrian", (), KAnonymity(1), SCHEMA, sum(map(len, groups)), steps)


def drawn(*groups, **asked):
    """What each group shows, as lists of pairs."""
    plan = with_drawn_looks(plan_of(groups, **asked), COLUMNS)
    return [tuple(form.members for form in group.forms) for group in plan.groups]


def job_order(value):
    return value is None, NAMES[value].encode()


def age_order(value):
    return value is None, -np.inf if value is None or value.low is None else value.low


def by_the_rule(group, everybody, redraw=2):
    """A group of pairs and those of the whole release, drawn as the page says."""
    n, texts = len(group), []
    orders, words = (job_order, age_order), ({**NAMES}, {**BINS, None: "?"})
    own = [sorted((row[a] for row in group), key=orders[a]) for a in (0, 1)]
    every = [[row[a] for row in everybody] for a in (0, 1)]
    parts = [{v: math.ceil(Fraction(64 * each.count(v), len(each))) for v in set(each)} for each in every]
    whole = [[v for v in sorted(parts[a], key=orders[a]) for _ in range(parts[a][v])] for a in (0, 1)]
    for a in (0, 1):
        text = "|".join(f"{words[a][value]}:{own[a].count(value)}" for value in dict.fromkeys(own[a]))
        texts.append(f"{len(text.encode())}:{text}")
    seed = hmac.new(KEY, "".join(texts).encode(), hashlib.sha256).digest()
    stream = hashlib.shake_256(seed).digest(16 * n)
    new = [[], []]
    for place in range(2 * n):
        word = int.from_bytes(stream[8 * place : 8 * place + 8], "big")
        row, a = word % (n + redraw), place % 2
        new[a].append(own[a][row] if row < n else whole[a][word // (n + redraw) % len(whole[a])])
    return tuple(counts(rows, order).members for rows, order in zip(new, ([*JOBS, None], [*BINS, None]), strict=True))


rows = st.tuples(st.sampled_from([*JOBS, None]), st.sampled_from([*BINS, None]))
tables = st.lists(st.lists(rows, min_size=1, max_size=9), min_size=1, max_size=5)


@given(tables, st.integers(1, 4))
def test_groups_are_drawn_by_the_rule_and_those_that_look_alike_as_one(groups, redraw):
    everybody = [row for group in groups for row in group]
    shown = drawn(*groups, redraw=redraw)
    together = {}
    for look, group in zip(shown, groups, strict=True):
        together.setdefault(look, []).extend(group)
    for look, group in together.items():
        assert look == by_the_rule(group, everybody, redraw)
        assert [sum(many for _, many in members) for members in look] == [len(group)] * 2


ONE = [("z", Interval(None, 10.0))] * 20 + [("%", Interval(10.0, 20.5))] * 20
OTHER = [("b:c", Interval(20.5, None))] * 30 + [(None, None)] * 12


def test_a_group_that_stays_is_drawn_alike_and_one_with_a_row_less_afresh():
    first, again, less = drawn(ONE, OTHER), drawn(OTHER, ONE), drawn(ONE[1:], OTHER)
    assert first == again[::-1]
    assert less[0] != first[0]
    assert less[1] == first[1]
    afresh = [dict(drawn(ONE[n:], OTHER)[0][0]).get("z", 0) for n in range(8)]
    assert len(set(afresh)) > 2, "a row that goes would be told by what is left"


def test_another_key_draws_other_counts_and_none_is_refused():
    assert drawn(ONE, OTHER) != drawn(ONE, OTHER, key=bytes(32))
    with pytest.raises(PlanError, match="Release the table again"):
        drawn(ONE, key=None)


def test_what_a_group_hides_it_hides_and_is_no_part_of_what_others_draw():
    plan = plan_of([ONE, OTHER])
    show = plan.show
    hidden = Group(show.groups[1].rows, (Suppressed(), show.groups[1].forms[1]))
    changed = replace(plan, steps=(replace(show, groups=(show.groups[0], hidden)), *plan.steps[1:]))
    made = with_drawn_looks(changed, COLUMNS)
    assert made.forms("job")[1] == Suppressed()
    assert {member for member, _ in made.forms("job")[0].members} <= {"z", "%"}


def test_a_plan_says_that_counts_are_drawn_and_keeps_no_key():
    made = with_drawn_looks(plan_of([ONE, OTHER]), COLUMNS)
    read = plan_from_json(plan_to_json(made))
    assert (made.redraw, made.draw_key, read.redraw, read) == (2, None, 2, made)
    assert repr(KEY)[2:-1] not in repr(plan_of([ONE]))
    with pytest.raises(ParameterError, match="redraw is a whole number"):
        AsCounts((), redraw=-1)
