"""No cell names what fewer people have, in any method, form and engine; and the verification counts such cells.

The oracle reads the cells as a recipient does and counts people in plain Python rows.
"""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.methods.catalog import METHODS, make_method
from incrowd.methods.release_forms import formed, rare_kept_out
from incrowd.plan.plan_file import plan_from_json, plan_to_json
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.testing.tables import BlockedEngine
from incrowd.verification.forbidden_cells import RareValues
from incrowd.verification.opening import connect, register
from incrowd.vocabulary.counts_text import read_counts
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity
from support.strategies import cases

ENGINES = [EmbeddedEngine(), BlockedEngine(7)]
FORMS = [
    (name, {}, form)
    for name, entry in METHODS.items()
    for form in (None, "strict", "counts")
    if form is None or form in entry.forms
]
NUMERIC = [
    *(("kactus", {"numeric": numeric}, None) for numeric in ("mean", "levels", "interval")),
    *(("mondrian", {"numeric": numeric}, None) for numeric in ("bounds", "midpoint", "mean")),
    ("mondrian", {"boxes": "extremes"}, None),
    ("tdr", {"numeric": "bounds"}, None),
]
EACH = pytest.mark.parametrize(("name", "parameters", "form"), [*FORMS, *NUMERIC])


def release(case, k, engine, asked, rarest):
    name, parameters, form = asked
    chance, requirement = SeededRandomness(1), KAnonymity(k)
    population = engine.population(case.table, case.schema, chance)
    steps = formed(make_method(name, parameters).decide(population, requirement, chance), form, population, requirement)
    steps = (*steps, *rare_kept_out(rarest, requirement))
    plan = engine.settle(ReleasePlan(name, (), requirement, case.schema, len(case.rows), steps), population)
    return plan, engine.draft(plan, population, case.frame, chance)


def people_with(case, name, cell, own, counted):
    """For each name in a cell, the people it is true of."""
    values = [row[name] for row in case.rows]
    if cell is None:
        return []
    if counted:
        return [sum(is_member(value, member) for value in values) for member, _ in read_counts(cell)]
    if not case.schema[name].type.is_numeric:
        names = [cell] if cell == own else cell.split("|")
        return [values.count(one) for one in names]
    if not isinstance(cell, str):
        return [values.count(cell)] if cell in values else []
    found = []
    for one in cell.split("|"):
        if one[0] not in "([":
            found += [values.count(float(one))] if float(one) in values else []
            continue
        low, high = (float(end) for end in one[1:-1].split(", "))
        if one[0] == "[":
            found += [values.count(low), values.count(high)]
        else:
            found.append(sum(value is not None and low < value <= high for value in values))
    return found


def is_member(value, member):
    if value is None or member is None:
        return value is member
    if isinstance(value, str):
        return value == member
    low, high = (float(end) for end in member[1:-1].split(", "))
    return low < value <= high


def cells_of(plan, draft, name):
    """The cells of an attribute; two ends as the interval they write."""
    if name not in plan.spread:
        return draft.frame[name].to_list()
    ends = zip(draft.frame[f"{name}_low"].to_list(), draft.frame[f"{name}_high"].to_list(), strict=True)
    return [_interval(low, high) for low, high in ends]


def _interval(low, high):
    if low is None and high is None:
        return None
    if low == high:
        return low
    return f"({'-inf' if low is None else low}, {'inf' if high is None else high}]"


def rare_cells(case, plan, draft, people):
    """How many cells of each attribute name what fewer people have, by the oracle."""
    found = {}
    for name in plan.names:
        own = [case.rows[row][name] for row in draft.origin.tolist()]
        pairs = zip(cells_of(plan, draft, name), own, strict=True)
        named = [people_with(case, name, cell, value, name in plan.counted) for cell, value in pairs]
        found[name] = sum(min(one, default=people) < people for one in named)
    return found


def recounted(case, plan, draft, people):
    """The same by the verification."""
    columns = [written.name for written in plan.written]
    own = pl.DataFrame({name: [row[name] for row in case.rows] for name in case.schema.names}, _types(case))
    original = own[draft.origin].select(pl.col(written.source).alias(written.name) for written in plan.written)
    everybody = own.select(pl.col(written.source).alias(written.name) for written in plan.written)
    with connect() as connection:
        for table, name in ((draft.frame, "released"), (original, "original"), (everybody, "everybody")):
            register(connection, table.select(columns).to_arrow(), name)
        bounds = [(f"{name}_low", f"{name}_high") for name in plan.spread]
        transformed = [written.name for written in plan.written if written.source in plan.names]
        rare = RareValues(
            connection, columns, transformed, people, "everybody", counts=plan.counted, bounds=bounds
        ).cells()
    return {name: rare[f"{name}_low" if name in plan.spread else name] for name in plan.names}


def _types(case):
    return {name: case.table[name].dictionary.dtype for name in case.schema.names}


@pytest.mark.each(5)
@EACH
@pytest.mark.parametrize("engine", ENGINES, ids=["memory", "blocks"])
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_cell_names_what_fewer_people_have(engine, name, parameters, form, data):
    case = data.draw(cases())
    k, people = data.draw(st.integers(1, len(case.rows))), data.draw(st.integers(1, 8))
    plan, draft = release(case, k, engine, (name, parameters, form), people)
    assert set(rare_cells(case, plan, draft, people).values()) <= {0}
    assert set(recounted(case, plan, draft, people).values()) <= {0}
    looks = draft.frame.select(w.name for w in plan.written if w.source in plan.names).rows()
    assert all(looks.count(look) >= k for look in set(looks))
    assert plan_from_json(plan_to_json(plan)).rarest == people


@pytest.mark.each(5)
@EACH
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_the_verification_counts_the_cells_that_do(name, parameters, form, data):
    case = data.draw(cases())
    k, people = data.draw(st.integers(1, min(3, len(case.rows)))), data.draw(st.integers(1, 8))
    plan, draft = release(case, k, EmbeddedEngine(), (name, parameters, form), None)
    assert recounted(case, plan, draft, people) == rare_cells(case, plan, draft, people)
