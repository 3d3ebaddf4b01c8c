"""Members that belong together are dealt together, and each attribute in its own shares."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from incrowd.recipients.cells import Cells
from incrowd.recipients.dealing import Dealing, value_chances
from incrowd.recipients.views import ReleasedColumn
from incrowd.vocabulary.counts_text import read_counts, write_counts
from incrowd.vocabulary.schema import ColumnType

TOGETHER = ("job", "age")
COLUMNS = (
    ReleasedColumn("job", ColumnType.CATEGORICAL, "counts", together=TOGETHER),
    ReleasedColumn("age", ColumnType.INTEGER, "counts", (30.0, 50.0), together=TOGETHER),
    ReleasedColumn("sex", ColumnType.CATEGORICAL, "counts"),
)
BINS = ["(-inf, 30]", "(30, 50]", "(50, inf)", None]
combinations = st.dictionaries(
    st.tuples(st.sampled_from(["cook", "nurse", "smith"]), st.sampled_from(BINS)), st.integers(1, 6), min_size=1
)


@given(combinations)
def test_one_deal_has_each_combination_as_often_as_it_is_told(told):
    rows = sum(told.values())
    texts = [write_counts((values[at], many) for values, many in told.items()) for at in (0, 1)]
    cells = {"job": [texts[0]] * rows, "age": [texts[1]] * rows, "sex": [f"f:{rows}"] * rows}
    dealt = Dealing(COLUMNS, pa.table(cells)).dealt(np.random.default_rng(1), 1)
    words = [
        [None if code < 0 else one.categories[code] for code in one.values.tolist()] for one in dealt.attributes[:2]
    ]
    assert Counter(zip(*words, strict=True)) == told


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 5)), min_size=1, max_size=8))
def test_chances_pick_the_member_that_stands_there(members):
    text, rows = write_counts(members), sum(many for _, many in members)
    chances = (np.arange(rows) + 0.5) / rows
    moved = value_chances(Cells((text,), np.zeros(rows, np.int64)), chances)
    own = [value for value, many in members for _ in range(many)]
    listed = [value for value, many in read_counts(text) for _ in range(many)]
    assert [listed[int(chance * rows)] for chance in moved] == own
    assert np.allclose(np.sort(moved), chances), "a chance is given to nobody else"
