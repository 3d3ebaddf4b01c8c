"""On any table and any method, a release read back by the lab covers the people it was made from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.attacks.scene import Again
from incrowd.errors import IncrowdError
from incrowd.risk.boxes import read_released
from incrowd.vocabulary.requirement import KAnonymity
from support.strategies import cases

METHODS = ("kactus", "kactus-plus", "tdr", "iack", "mondrian", "infogain-mondrian")


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases(max_rows=20, max_columns=3), k=st.integers(1, 4), seed=st.integers(0, 99))
def test_everybody_lies_in_the_box_of_the_own_class(method, case, k, seed):
    try:
        made = Again(method, KAnonymity(k)).release(case.table, case.frame, case.schema, seed)
    except IncrowdError:
        return
    if not made.draft.frame.height:
        return
    released = read_released(made.draft.frame, case.table, case.schema)
    for place, name in enumerate(released.boxes.names):
        own = case.table[name].codes[made.draft.origin]
        assert released.boxes.covers(place)[released.classes, own].all(), name
    assert released.boxes.inside(case.table.take(made.draft.origin)).all()
    truth = case.table[case.schema.target].codes[made.draft.origin]
    assert np.array_equal(released.values[case.schema.target], truth)


@settings(max_examples=60, deadline=None)
@given(case=cases(max_rows=15, max_columns=3), k=st.integers(1, 4))
def test_the_bits_say_what_plain_loops_say(case, k):
    try:
        made = Again("mondrian", KAnonymity(k)).release(case.table, case.frame, case.schema, 1)
    except IncrowdError:
        return
    released = read_released(made.draft.frame, case.table, case.schema)
    boxes = released.boxes
    home = []
    for row in range(case.table.height):
        fits = [
            number
            for number in range(len(boxes))
            if all(
                boxes.cells[name][boxes.shown[number, place]].covers[case.table[name].codes[row]]
                for place, name in enumerate(boxes.names)
            )
        ]
        home.append(fits[0] if fits else -1)
    assert boxes.home(case.table).tolist() == home
    assert boxes.inside(case.table).tolist() == [one >= 0 for one in home]
    counted = {}
    for key in map(tuple, boxes.shown[released.classes]):
        counted[key] = counted.get(key, 0) + 1
    assert [counted[tuple(key)] for key in boxes.shown] == released.sizes.tolist()
