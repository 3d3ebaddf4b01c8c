"""Effective k and people alone, against the definition written a second way."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import support.oracle_unchanged as oracle
from incrowd.verification.unchanged import UnchangedColumn, count_from_release, count_unchanged
from support.unchanged_tables import coded, outcome

KINDS = ("noise", "code", "nearly", "coarse", "rising", "part", "key", "xor")
NOISE_VALUES = (2, 3, 5, 9, 17, 33, 65, 120, 250, 500, 900, 1500, 2500, 3999)


def released(generator, values, ways):
    """Cells for a column: nothing, the value, a set or an interval that holds it, as the ways say."""
    known = sorted({value for value in values if value is not None})
    width = int(generator.integers(1, len(known) + 1))
    cells, allows = [], {}
    for value in values:
        way = ways[int(generator.integers(len(ways)))]
        if value is None or way == "nothing":
            cell, allowed = "", None
        elif way == "value":
            cell, allowed = f"={value}", {value}
        else:
            start = known.index(value) // width * width
            allowed = set(known[start : start + width])
            cell = f"{min(allowed)} to {max(allowed)}"
        cells.append(cell)
        allows[cell] = allowed
    return cells, allows


def dependent(generator, source, kind, rows):
    """A column that follows another one, more or less."""
    codes = np.array([-1 if value is None else value for value in source])
    noise = generator.integers(0, int(generator.integers(2, 9)), rows)
    match kind:
        case "noise":
            own = noise
        case "code":
            own = codes * 7 % 11
        case "nearly":
            own = np.where(generator.random(rows) < 0.01, noise, codes)
        case "coarse":
            own = codes // 2
        case "rising":
            own = codes * 1000 + generator.integers(0, 900, rows)
        case "part":
            own = np.where(codes == codes[0], 0, noise + 1)
        case _:
            own = generator.permutation(rows)
    return [None if value == 3 and kind == "part" else int(value) for value in own]


@st.composite
def tables(draw, most_rows=420, wide=False):
    generator = np.random.Generator(np.random.Philox(draw(st.integers(0, 2**32))))
    rows = draw(st.integers(70, most_rows))
    quasi, cells, allows = {}, {}, {}
    for at in range(draw(st.integers(1, 3))):
        width = draw(st.sampled_from((2, 3, 4, 8))) if not wide else 400
        shares = generator.dirichlet(np.full(width, draw(st.sampled_from((0.5, 5.0)))))
        own = (
            generator.choice(width, rows, p=shares).tolist()
            if not wide
            else generator.integers(0, width, rows).tolist()
        )
        values = [None if value == 1 and at == 0 and not wide else int(value) for value in own]
        ways = draw(st.sampled_from((["nothing"], ["nothing", "value"], ["part"], ["part", "nothing", "value"])))
        if all(value is None for value in values):
            values[0] = 0
        quasi[f"q{at}"] = values
        cells[f"q{at}"], allows[f"q{at}"] = released(generator, values, ways)
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    unchanged = {}
    for at, kind in enumerate(kinds):
        source = quasi[f"q{int(generator.integers(len(quasi)))}"]
        if kind == "xor" and at:
            before = np.array([value or 0 for value in unchanged[f"u{at - 1}"]])
            unchanged[f"u{at}"] = ((before + np.array([value or 0 for value in source])) % 4).tolist()
        else:
            unchanged[f"u{at}"] = dependent(generator, source, kind, rows)
    roles = {name: draw(st.sampled_from(("other", "other", "private", "sensitive"))) for name in unchanged}
    if len(roles) > 1 and draw(st.booleans()):
        roles[list(roles)[-1]] = "target"
    parts = {"quasi": quasi, "cells": cells, "allows": allows, "unchanged": unchanged, "roles": roles}
    return {**parts, "k": draw(st.sampled_from((2, 5, 20)))}


def agrees(table):
    counts = outcome(count_unchanged(*coded(table)))
    wanted = oracle.count(table)
    nominal = wanted.pop("nominal_k")
    assert {name: counts[name] for name in wanted} | {"restored_by": sorted(counts["restored_by"])} == wanted | {
        "restored_by": sorted(wanted["restored_by"])
    }
    assert counts["alone"] == oracle.alone(table)
    if nominal >= table["k"] > wanted["effective_k"]:
        assert (counts["name_or_drop"], counts["effective_k_then"]) == oracle.advice(table)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(tables())
def test_counts_agree_with_the_definition(table):
    agrees(table)


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(tables(most_rows=900, wide=True))
def test_columns_of_many_values_are_counted_in_blocks(table):
    agrees(table)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(tables(most_rows=200))
def test_a_recipient_counts_what_rows_show(table):
    counts = count_from_release(*coded(table))
    wanted = oracle.from_release_alone(table)
    assert (counts.given_back, counts.effective_k) == (wanted["restored_cells"], wanted["effective_k"])


@pytest.mark.parametrize("seed", range(2))
def test_noise_raises_no_alarm(seed):
    """Twenty columns of chance, a weight that few share and a number for each row give nothing back."""
    generator = np.random.Generator(np.random.Philox(seed))
    rows = 4000
    ages, sexes = generator.integers(20, 80, rows).tolist(), generator.integers(0, 2, rows).tolist()
    jobs = generator.choice(6, rows, p=(0.9, 0.05, 0.02, 0.01, 0.01, 0.01)).tolist()
    quasi = {"age": ages, "sex": sexes, "job": jobs}
    unchanged = {f"noise {width}": generator.integers(0, width, rows).tolist() for width in NOISE_VALUES}
    unchanged |= {"weight": generator.integers(0, 2000, rows).tolist(), "id": generator.permutation(rows).tolist()}
    table = {
        "quasi": quasi,
        "cells": {name: [None] * rows for name in quasi},
        "allows": {name: {None: None} for name in quasi},
        "unchanged": unchanged,
        "roles": dict.fromkeys(unchanged, "other"),
        "k": 10,
    }
    counts = count_unchanged(*coded(table))
    assert (counts.given_back, counts.by, counts.effective_k) == (0, (), rows)
    assert counts.sound


def test_pairs_beyond_the_bound_are_not_counted_and_that_is_told():
    rows = 400
    values = np.arange(rows) % 4
    quasi, unchanged, known = coded(
        {
            "quasi": {"q": values.tolist()},
            "cells": {"q": [None] * rows},
            "allows": {"q": {None: None}},
            "unchanged": {"a": (values // 2).tolist(), "b": (np.arange(rows) % 3).tolist(), "c": [0] * rows},
            "roles": dict.fromkeys("abc", "other"),
            "k": 2,
        }
    )
    counts = count_unchanged(
        quasi, [UnchangedColumn(one.name, one.codes) for one in unchanged[1:]], known, pair_tests=0
    )
    assert [(one.what, one.why) for one in counts.not_counted] == [("1 of 1 tests of pairs of columns", "not counted")]
