"""Learners take a release of counts as its recipient does: dealt out, with weights."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import incrowd
from incrowd.comparisons.choices import Choice
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.feeding import Feeding, Parts, feed_release
from incrowd.comparisons.releasing import release_rows
from incrowd.errors import ParameterError
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.vocabulary.requirement import KAnonymity

EXACT = {"form": "counts", "redraw": 0}
NAMES = ["age", "sex", "smoker"]


@pytest.mark.parametrize("method", ["mondrian", "infogain-mondrian", "kactus"])
def test_counts_of_a_small_table_are_dealt_out_many_times_with_weights(method):
    frame = make_patients(600)
    source = read(frame.select(*NAMES, "ward", "readmitted"))
    schema = incrowd.inspect(source.frame).with_roles(quasi_identifiers=NAMES, target="readmitted")
    table, _ = encode(source, schema, [*NAMES, "ward", "readmitted"])
    train, test = np.arange(400), np.arange(400, 600)
    parts = Parts(table.take(train), table.take(test), "readmitted")
    made = release_rows(parts.train, source.frame[train], schema, method, EXACT, KAnonymity(20), 1)
    fed, tested = feed_release(parts, made.plan, made.draft, source.frame[test], Feeding(), 1)
    assert fed.height == 13 * made.draft.frame.height  # 5,000 rows and a little more
    assert fed.weights.sum() == pytest.approx(made.draft.frame.height)
    sex, own = (next(a for a in one.attributes if a.name == "sex") for one in (fed, tested))
    words = (*sex.categories, None)
    dealt = Counter(words[code] for code in sex.values.tolist())
    assert dealt == Counter({v: 13 * n for v, n in Counter(source.frame["sex"][made.draft.origin].to_list()).items()})
    assert [words[code] for code in own.values.tolist()] == source.frame["sex"][test].to_list()


def test_a_form_is_named_in_a_comparison():
    assert Choice.of("infogain-mondrian(form='counts')").parameters == (("form", "counts"),)
    with pytest.raises(ParameterError, match="form must be"):
        Choice.of("infogain-mondrian(form='sets')")


def test_accuracy_of_a_release_of_counts_is_measured():
    frame = make_patients(900)
    made = incrowd.release(
        frame,
        quasi_identifiers=NAMES,
        target="readmitted",
        identifiers=["patient_id"],
        k=20,
        method="infogain-mondrian",
        form="counts",
        measuring=incrowd.Measuring(accuracy=True),
    )
    assert 0.4 < made.certificate["accuracy"]["after"] <= 1
