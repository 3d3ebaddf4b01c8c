"""The least support of few rows, against the worked examples and brute force."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import RequirementError
from incrowd.methods.histories.known_rows import check_work, smallest_support, work
from support import oracle_persons as oracle

CASES = json.loads((Path(__file__).parents[3] / "golden" / "persons.json").read_text(encoding="utf-8"))["cases"]
LINKED = [case for case in CASES if case["mode"] == "linked"]
TWO_TABLES = [case for case in CASES if case["mode"] == "two tables" and case["expect"]["accepted"]]
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=9)


def counted(rows, most, static=None):
    owners = np.unique([person for person, _ in rows], return_inverse=True)[1]
    tuples = np.unique([value for _, value in rows], return_inverse=True)[1]
    return smallest_support(tuples, owners, int(owners.max()) + 1, most, static)


@pytest.mark.parametrize("case", LINKED, ids=[case["name"] for case in LINKED])
def test_worked_examples(case):
    person, places = case["columns"].index("person"), [case["columns"].index(one) for one in case["quasi_identifiers"]]
    rows = [(row[person], str([row[place] for place in places])) for row in case["rows"]]
    expected = {int(key[2:]): least for key, least in case["expect"].items() if key.startswith("k^")}
    assert expected
    for most, least in expected.items():
        assert counted(rows, most) == least


@pytest.mark.parametrize("case", TWO_TABLES, ids=[case["name"] for case in TWO_TABLES])
def test_worked_examples_of_two_tables(case):
    persons = [key for key, _ in case["static"]]
    static = np.unique([value for _, value in case["static"]], return_inverse=True)[1]
    owners = np.array([persons.index(key) for key, _ in case["events"]])
    tuples = np.unique([value for _, value in case["events"]], return_inverse=True)[1]
    most = case["ask"]["known rows"]
    assert smallest_support(tuples, owners, len(persons), most, static) == case["expect"][f"k^{most}"]


@given(ROWS, st.integers(1, 4), st.booleans())
def test_as_by_brute_force(rows, most, count):
    known = [oracle.Row(person, (value,)) for person, value in rows]
    lengths = np.unique([person for person, _ in rows], return_counts=True)[1]
    static = lengths if count else None
    assert counted(rows, most, static) == oracle.known_rows_k(known, most, count_known=count)


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=8),
    st.integers(1, 3),
)
def test_with_what_is_static_persons_without_rows_count(static, events, most):
    events = [(person, value) for person, value in events if person < len(static)]
    owners, tuples = (np.array([one[place] for one in events], np.int64) for place in (0, 1))
    own = smallest_support(tuples, owners, len(static), most, np.array(static))
    persons = [oracle.Row(person, (value,)) for person, value in enumerate(static)]
    assert own == oracle.joint_known_rows_k(persons, [oracle.Row(p, (v,)) for p, v in events], most)


def test_many_different_tuples_have_numbers_of_their_own():
    owners = np.repeat(np.arange(3), 4)
    tuples = np.tile(np.array([0, 10**15, 2 * 10**15, 3 * 10**15]), 3)
    assert smallest_support(tuples, owners, 3, 4) == 3
    tuples[-1] += 1
    assert smallest_support(tuples, owners, 3, 4) == 1


def test_nobody_is_found_where_nobody_is():
    assert smallest_support(np.empty(0, np.int64), np.empty(0, np.int64), 0, 2) == 0


@given(st.lists(st.integers(1, 7), min_size=1, max_size=6), st.integers(1, 4))
def test_work_is_what_the_oracle_counts(lengths, most):
    assert work(np.array(lengths), most) == oracle.work(lengths, most)


def test_too_much_work_is_refused_and_says_what_would_fit():
    lengths = np.array([500, 4, 4])
    with pytest.raises(RequirementError, match="Somebody has 500 rows") as caught:
        check_work(lengths, 4)
    fits = int(str(caught.value).split("at most ")[2].split(" row")[0].replace(",", ""))
    assert work(np.minimum(lengths, fits), 4) <= 50_000_000 < work(np.minimum(lengths, fits + 1), 4)
    check_work(np.minimum(lengths, fits), 4)
