"""Sets of columns that are known together, each with its own k."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Requirement, requirement_from_json

SETS = st.lists(
    st.builds(KnownSet, st.sets(st.sampled_from("abcd"), min_size=1).map(sorted).map(tuple), st.integers(1, 9)),
    min_size=1,
    max_size=6,
)


def keeps(rows, known):
    """Whether each combination is shared by k rows, counted plainly."""
    for one in known:
        tuples = [tuple(row["abcd".index(name)] for name in one.names) for row in rows]
        if any(tuples.count(seen) < one.k for seen in tuples):
            return False
    return True


@given(SETS, st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=1, max_size=14))
def test_leaving_out_what_is_covered_changes_no_promise(known, rows):
    kept = KnownTogether(tuple(known)).known
    assert keeps(rows, kept) == keeps(rows, known)
    assert not any(a is not b and a.covers(b) for a in kept for b in kept)


def test_a_subset_with_a_larger_k_is_kept():
    inner, outer = KnownSet(("a",), 5), KnownSet(("a", "b"), 4)
    assert KnownTogether((inner, outer)).known == (inner, outer)
    assert KnownTogether((KnownSet(("a",), 4), outer)).known == (outer,)
    assert KnownTogether((outer, outer)).known == (outer,)


def test_it_is_a_requirement_on_groups_by_the_largest_k():
    asked = KnownTogether((KnownSet(("a",), 5), KnownSet(("a", "b"), 4)))
    assert isinstance(asked, Requirement)
    assert asked.smallest_group == 5
    assert asked.holds(np.array([3, 2]))
    assert not asked.holds(np.array([2, 2]))
    assert asked.promises == ("5-anonymity of a", "4-anonymity of a, b")
    assert requirement_from_json(asked.to_json()) == asked
    with pytest.raises(RequirementError, match="k=5 is impossible"):
        asked.check_possible(4)


def test_the_sets_name_exactly_the_quasi_identifiers():
    asked = KnownTogether((KnownSet(("a",), 5), KnownSet(("b",), 4)))
    assert asked.sets(["b", "a"]) == asked.known
    for names in (["a"], ["a", "b", "c"]):
        with pytest.raises(RequirementError, match="must name every quasi-identifier, and nothing else"):
            asked.sets(names)
    assert KAnonymity(3).sets(["a", "b"]) == (KnownSet(("a", "b"), 3),)


@pytest.mark.parametrize(("names", "k"), [((), 2), (("a", "a"), 2), (("a",), 0), (("a",), True), (("a",), 2.5)])
def test_sets_are_checked_at_birth(names, k):
    with pytest.raises(ParameterError):
        KnownSet(names, k)


def test_no_set_is_no_requirement():
    with pytest.raises(ParameterError, match="at least one set"):
        KnownTogether(())
