"""Two releases of random tables with a ledger: the same groups again, or counts that a second way of counting finds."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
import pyarrow as pa
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from strategies import TARGET, cases

from incrowd.api import release
from incrowd.errors import RequirementError
from incrowd.verification.joint import recount_joint, recount_pair

METHODS = ("kactus", "kactus-plus", "mondrian", "infogain-mondrian", "tdr", "iack")
CALM = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
ROW = "row"


def asked(case, book, **more):
    """A release of the case with a column by which rows are found again; None if there can be none."""
    assume(len({row[TARGET] for row in case.rows}) > 1)
    table = case.frame.with_columns(pl.Series(ROW, [f"r{i}" for i in range(case.frame.height)]))
    said = {"quasi_identifiers": list(case.names), "target": TARGET, "class_sensitive": False, "sensitive": [ROW]}
    try:
        return release(table, ledger=book, **said, **more)
    except RequirementError:
        return None


def shown(made, case):
    """What each row of the table shows of its quasi-identifiers; None if it was left out."""
    columns = [c.name for c in made.plan.written if c.source in case.names]
    found = {row[ROW]: tuple(row[name] for name in columns) for row in made.table.iter_rows(named=True)}
    return [found.get(f"r{i}") for i in range(case.frame.height)]


@CALM
@given(cases(), st.sampled_from(METHODS), st.integers(1, 6))
def test_the_same_request_shows_every_row_the_same(case, method, k):
    with tempfile.TemporaryDirectory() as folder:
        one = asked(case, Path(folder) / "book", method=method, k=k)
        if one is None:
            return
        other = asked(case, Path(folder) / "book", method=method, k=k)
        assert shown(one, case) == shown(other, case)
        found = other.certificate["earlier_releases"]
        assert found["releases"][0]["same_groups"]
        assert found["together"]["share_below_k"] == 0


@CALM
@given(cases(), st.sampled_from(METHODS), st.sampled_from(METHODS), st.integers(1, 6), st.integers(1, 6))
def test_two_requests_are_counted_as_by_hand(case, first, second, k, other_k):
    with tempfile.TemporaryDirectory() as folder:
        one = asked(case, Path(folder) / "book", method=first, k=k)
        other = asked(case, Path(folder) / "book", method=second, k=other_k, despite_earlier=True)
        if one is None or other is None:
            return
        then, now = shown(one, case), shown(other, case)
    found, wanted = other.certificate["earlier_releases"], by_hand(now, [then], max(k, other_k))
    together = found["together"]
    assert together["rows"] == wanted["rows"]
    assert together["smallest_group"] == found["releases"][0]["smallest"] == wanted["smallest"]
    assert together["share_below_k"] == round(wanted["below"] / wanted["rows"], 6)
    assert together["share_below_k_by_this"] == round(wanted["broken"] / wanted["rows"], 6)
    assert found["published_despite"] == (wanted["broken"] > 0)


CLASSES = st.lists(st.lists(st.sampled_from([None, 1, 2, 3]), min_size=3, max_size=3), min_size=1, max_size=25)


@settings(max_examples=60, deadline=None)
@given(CLASSES, st.integers(1, 5))
def test_joint_groups_are_those_of_a_second_count(rows, k):
    now, *earlier = ([row[place] for row in rows] for place in range(3))
    found = recount_joint(*_arrays(now, earlier), k)
    wanted = by_hand(now, earlier, k)
    assert {name: getattr(found, name) for name in wanted} == wanted
    pair = recount_pair(pa.array(now, pa.int32()), pa.array(earlier[0], pa.int32()))
    both = Counter(pair for pair in zip(now, earlier[0], strict=True) if pair != (None, None))
    one_to_one = len({a for a, _ in both}) == len({b for _, b in both}) == len(both)
    assert pair == type(pair)(min(both.values(), default=0), one_to_one)


def _arrays(now, earlier):
    return pa.array(now, pa.int32()), [pa.array(each, pa.int32()) for each in earlier]


def by_hand(now, earlier, k):
    """The same figures by dictionaries."""
    rows = [row for row in zip(now, *earlier, strict=True) if any(one is not None for one in row)]
    after, before = Counter(rows), Counter(row[1:] for row in rows)
    company = []
    for row in rows:
        known = any(one is not None for one in row[1:])
        company.append((after[row], before[row[1:]] if known else len(rows)))
    return {
        "rows": len(rows),
        "smallest": min((size for size, _ in company), default=0),
        "below": sum(size < k for size, _ in company),
        "closer": sum(size < earlier_size for size, earlier_size in company),
        "broken": sum(size < min(k, earlier_size) for size, earlier_size in company),
    }
