"""Counts filled in by engines: groups that look alike are summed, numbers need cuts, large tables come out the same."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import PlanError
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import AsCounts, Group, Show
from incrowd.recipients import decode
from incrowd.rows.memory.looks import with_distinct_looks
from incrowd.rows.memory.settling import FormTally, settle_counts
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import (
    Common,
    Counts,
    Interval,
    Shown,
    ShownMissing,
    Suppressed,
    ValueSet,
    form_from_json,
    form_to_json,
)
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import ColumnType, Schema

JOBS = EncodedColumn(
    "job", ColumnType.TEXT, np.array([0, 1, 1, 2, 0, 0, 2, 2, 3], np.int32), pl.Series(["a", "b", "c"])
)
AGES = EncodedColumn("age", ColumnType.INTEGER, np.array([0, 1, 2, 3, 0, 1], np.int32), pl.Series([10, 20, 30]))


def test_members_come_in_order_and_missing_last():
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1], np.int32)
    tally = FormTally.of(JOBS, groups, 2)
    told = settle_counts([Counts(), Common()], JOBS, tally, None, [4, 5])
    assert told == [Counts((("a", 1), ("b", 2), ("c", 1))), Suppressed()]
    assert form_from_json(form_to_json(told[0])) == told[0]


def test_numbers_are_counted_in_bins_and_need_cuts():
    tally = FormTally.of(AGES, np.array([0, 0, 0, 0, 1, 1], np.int32), 2)
    told = settle_counts([Counts(), Common()], AGES, tally, [10, 25], [4, 2])
    low, middle, high = Interval(None, 10), Interval(10, 25), Interval(25, None)
    assert told == [Counts(((low, 1), (middle, 1), (high, 1), (None, 1))), ValueSet(("(-inf, 10]", "(10, 25]"))]
    assert form_from_json(form_to_json(told[0])) == told[0]
    with pytest.raises(PlanError, match="no public cuts"):
        settle_counts([Counts()], AGES, tally, (), [6])


@pytest.mark.parametrize(
    ("codes", "form"),
    [
        ([0, 0], Shown("a")),
        ([3, 3], ShownMissing()),
        ([0, 3], Suppressed()),
        ([0, 2], ValueSet(("a", "c"))),
        ([0, 1, 2], Suppressed()),
    ],
)
def test_what_rows_have_in_common(codes, form):
    column = EncodedColumn("job", ColumnType.TEXT, np.array(codes, np.int32), pl.Series(["a", "b", "c"]))
    tally = FormTally.of(column, np.zeros(len(codes), np.int32), 1)
    assert settle_counts([Common()], column, tally, None, [len(codes)]) == [form]


def plan_of(*groups):
    shown = Show(("job",), tuple(Group(sum(n for _, n in one.members), (one,)) for one in groups))
    steps = (shown, AsCounts(("job",)))
    return ReleasePlan("mondrian", (), KAnonymity(1), Schema(()), sum(g.rows for g in shown.groups), steps)


def test_groups_that_look_alike_are_summed_until_all_look_different():
    one, two, four = (Counts((("a", n), ("b", n))) for n in (1, 2, 4))
    other = Counts((("a", 1),))
    assert with_distinct_looks(plan_of(one, other, one, two)).forms("job") == (four, other, four, four)
    assert with_distinct_looks(plan_of(one, other)) == plan_of(one, other)


def test_cuts_of_other_attributes_are_refused():
    with pytest.raises(PlanError, match="written as counts"):
        AsCounts(("job",), (("age", (1,)),))
    with pytest.raises(PlanError, match="ascend"):
        AsCounts(("age",), (("age", (2, 1)),))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_folder_of_files_is_released_as_counts_block_by_block(tmp_path, ending):
    people = make_patients(500)
    folder = tmp_path / "parts"
    folder.mkdir()
    for place in range(2):
        people[250 * place : 250 * (place + 1)].write_parquet(folder / f"part-{place}.parquet")
    asked = {"quasi_identifiers": ["age", "sex", "occupation"], "target": "readmitted", "identifiers": ["patient_id"]}
    made = incrowd.release(
        folder, **asked, k=25, method="infogain-mondrian", form="counts", redraw=0, to=tmp_path / f"o.{ending}"
    )
    assert made.verdict.passed
    plain = decode(tmp_path / f"o.{ending}", deals=1)
    dealt = plain["occupation"].astype(object).where(plain["occupation"].notna(), None)
    assert Counter(dealt) == Counter(people["occupation"].to_list())
