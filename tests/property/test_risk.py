"""Risk on random tables, against counting with dictionaries and trying everything."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import factorial, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.risk.assessment import measure_risk as risk
from incrowd.risk.attackers import guesses, inference, linkability
from incrowd.risk.classes import classes_of, coded, special_uniques
from support.strategies import TARGET, cases


def keys(rows, names):
    return [tuple(row[name] for name in names) for row in rows]


def by_dictionary(rows, names):
    """For each row, how many rows have its values; missing equals missing."""
    found = keys(rows, names)
    counts = Counter(found)
    return [counts[key] for key in found]


@given(cases())
@settings(deadline=None, max_examples=50)
def test_attackers_and_uniques_by_dictionary(case):
    sizes = by_dictionary(case.rows, case.names)
    n = len(sizes)
    found = risk(case.frame, quasi_identifiers=case.names, sensitive=[TARGET], population=10 * n)
    assert found.prosecutor.maximum == 1 / min(sizes)
    assert found.prosecutor.average == pytest.approx(float(sum(Fraction(1, size) for size in sizes) / n))
    for one in found.prosecutor.at_risk:
        assert one.rows == sum(Fraction(1, size) > Fraction(str(one.threshold)) for size in sizes)
    assert found.uniques.in_sample == sizes.count(1)
    assert found.singling_out.attack.estimate == pytest.approx(sizes.count(1) / n)
    assert 0 <= found.uniques.estimated.chosen.uniques <= 10 * n
    assert found.marketer.average <= found.prosecutor.average + 1e-12


@given(cases(), st.integers(1, 4))
@settings(deadline=None)
def test_minimal_sample_uniques_by_trying_every_set(case, largest):
    names, rows = case.names, range(len(case.rows))
    alone = {
        subset: [size == 1 for size in by_dictionary(case.rows, subset)]
        for size in range(1, len(names) + 1)
        for subset in combinations(names, size)
    }
    minimal = [
        (row, subset)
        for subset, unique in alone.items()
        for row in rows
        if unique[row]
        and not any(alone[smaller][row] for size in range(1, len(subset)) for smaller in combinations(subset, size))
    ]
    reach = min(largest, len(names))
    kept = [(row, subset) for row, subset in minimal if len(subset) <= reach]
    found = special_uniques(coded(case.frame, names), names, largest)
    assert list(found.minimal) == [sum(len(subset) == size for _, subset in kept) for size in range(1, reach + 1)]
    smallest = {row: min(len(subset) for other, subset in kept if other == row) for row, _ in kept}
    assert list(found.rows) == [list(smallest.values()).count(size) for size in range(1, reach + 1)]
    assert [count for _, count, _ in found.columns] == [sum(name in subset for _, subset in kept) for name in names]
    width = len(names)
    scores = [sum(_weight(len(subset), width, reach) for other, subset in kept if other == row) for row in rows]
    assert found.scores.tolist() == scores
    assert found.unscored == sum(alone[tuple(names)][row] and row not in smallest for row in rows)


def _weight(size, width, largest):
    """Out of all factors down to 1, those beyond the largest size are divided away."""
    last = min(largest, width - 1)
    return 1 if size == width else factorial(width - size) // factorial(width - last - 1)


@given(cases(max_rows=14, max_columns=4, max_values=3))
@settings(deadline=None)
def test_linkability_by_looking_for_every_row(case):
    names, rows = list(case.names), case.rows
    found = linkability(coded(case.frame, names), names)
    if len(names) < 2:
        assert found is None
        return
    shares = []
    for half in combinations(names, len(names) // 2):
        other = [name for name in names if name not in half]
        shares.append(sum(_leads_to(rows, row, half, other, [r]) for r, row in enumerate(rows)) / len(rows))
    assert found.attack.estimate == pytest.approx(max(shares))
    left, right = (part.split(" + ") for part in found.about.split(" each fit")[0].split(" and "))
    control = 0
    for place, row in enumerate(rows):
        others = [one for r, one in enumerate(rows) if r != place]
        control += any(_leads_to(others, row, left, right, [r]) for r in range(len(others)))
    assert found.control.estimate == pytest.approx(control / len(rows))


def _leads_to(rows, row, half, other, wanted):
    """Whether each half of a row's values fits exactly the wanted row."""
    fitting = [
        [r for r, one in enumerate(rows) if all(one[name] == row[name] for name in part)] for part in (half, other)
    ]
    return fitting == [wanted, wanted]


@given(cases(max_rows=16, max_values=3))
@settings(deadline=None)
def test_inference_by_leaving_every_row_out(case):
    names, rows = case.names, case.rows
    classes, secret = classes_of(coded(case.frame, names)), coded(case.frame, [TARGET])[0]
    hits, _ = guesses(classes, secret)
    found = inference(classes, secret, TARGET)
    own, left_out = [], []
    for place, row in enumerate(rows):
        others = [one for r, one in enumerate(rows) if r != place]
        alike = [one for one in others if keys([one], names) == keys([row], names)]
        own.append(_right([*alike, row], row))
        left_out.append(_right(alike or others, row))
    assert hits.tolist() == pytest.approx([float(one) for one in own])
    assert found.attack.estimate == pytest.approx(float(sum(own) / len(rows)))
    assert found.control.estimate == pytest.approx(float(sum(left_out) / len(rows)))
    assert found.chance == max(Counter(row[TARGET] for row in rows).values()) / len(rows)


def _right(seen, row):
    """How likely the most frequent value of the seen rows, one by lot, is the row's."""
    counts = Counter(one[TARGET] for one in seen)
    most = [value for value, count in counts.items() if count == max(counts.values())]
    return Fraction(row[TARGET] in most, max(1, len(most)))


@given(cases(max_rows=20), cases(max_rows=30))
@settings(deadline=None, max_examples=50)
def test_the_journalist_by_dictionary(case, more):
    """The population is the table and some rows of another table with the same columns."""
    names = [name for name in case.names if name in more.names]
    few = case.frame.select(names).cast(dict.fromkeys(names, str))
    many = few.vstack(more.frame.select(names).cast(dict.fromkeys(names, str)))
    found = risk(few, quasi_identifiers=names, population_table=many)
    people = Counter(many.rows())
    per_row = [Fraction(1, people[row]) for row in few.rows()]
    other_way = Fraction(len(set(few.rows())), sum(people[row] for row in set(few.rows())))
    assert found.journalist.maximum == float(max(per_row))
    assert found.marketer.average == pytest.approx(float(sum(per_row) / len(per_row)))
    assert found.journalist.average == pytest.approx(float(max(sum(per_row) / len(per_row), other_way)))
    assert found.uniques.counted[0] == list(people.values()).count(1)
    assert not [notice for notice in found.notices if notice.code == "population-too-small"]


def test_the_weights_agree_with_their_product():
    for width in range(1, 9):
        for largest in range(1, width + 1):
            for size in range(1, largest + 1):
                last = min(largest, width - 1)
                assert _weight(size, width, largest) == prod(width - i for i in range(size, last + 1))
