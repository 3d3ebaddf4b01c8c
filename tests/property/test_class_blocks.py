"""Counts by class: parts of groups keep the requirement, classes stay apart, joins are those of a slow search."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.methods.class_blocks import ClassCells
from incrowd.methods.judging import Judge
from incrowd.methods.method import applied
from incrowd.methods.partitioning.mondrian import InfoGainMondrian, Mondrian
from incrowd.methods.release_forms import formed
from incrowd.methods.tree_suppression.kactus import KActus
from incrowd.methods.tree_suppression.kactus_plus import KActusPlus
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import GROUP, Drop, Seat
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Counts
from incrowd.vocabulary.requirement import KAnonymity
from support.strategies import TARGET, cases

SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
METHODS = (Mondrian, InfoGainMondrian, KActus, KActusPlus)


def decided(case, method, k, seed, owners=None):
    """The plan, and the group of each row before and after groups were parted."""
    randomness, engine, requirement = SeededRandomness(seed), EmbeddedEngine(), KAnonymity(k)
    population = engine.population(case.table, case.schema, randomness, owners)
    steps = method().decide(population, requirement, randomness)
    steps = formed(steps, "counts", population, requirement, redraw=0, by_class=True)
    plan = ReleasePlan(method.name, (), requirement, case.schema, len(case.rows), (Drop(()), *steps))
    before = plan.steps[: plan.steps.index(plan.places[-1])]
    whole = applied(before, population)
    return engine.settle(plan, population), whole.groups, applied(plan.steps, population).groups  # type: ignore[attr-defined]


@SOME
@given(cases(), st.sampled_from(METHODS), st.data())
def test_parts_have_k_rows_and_one_class_where_a_class_has_so_many(case, method, data):
    k = data.draw(st.integers(1, len(case.rows)))
    plan, before, after = decided(case, method, k, data.draw(st.integers(0, 99)))
    labels = case.table[TARGET].codes
    sizes = Counter(after[after >= 0].tolist())
    assert min(sizes.values()) >= k
    assert [group.rows for group in plan.groups] == [sizes[number] for number in range(len(sizes))]
    assert ((before < 0) == (after < 0)).all()  # nobody is left out who was not, and nobody comes back
    kept = after >= 0
    many = Counter(labels[kept].tolist())
    mixed = [number for number in sizes if len(set(labels[after == number].tolist())) > 1]
    large = [number for number in mixed if any(many[one] >= k for one in labels[after == number].tolist())]
    assert len(large) <= 1  # only what rare classes could not do without
    assert all(many[one] < k for number in set(mixed) - set(large) for one in labels[after == number].tolist())
    together = defaultdict(set)  # what a group has of a class stays together
    for row in np.flatnonzero(kept).tolist():
        together[before[row], labels[row]].add(after[row])
    assert all(len(numbers) == 1 for numbers in together.values())


@SOME
@given(cases(), st.sampled_from((Mondrian, InfoGainMondrian)), st.data())
def test_exact_counts_are_those_of_the_rows_of_a_part(case, method, data):
    k = data.draw(st.integers(1, len(case.rows)))
    plan, _, after = decided(case, method, k, 1)
    for name in case.names:
        column = case.table[name]
        if column.type.is_numeric:
            continue
        values = [*column.dictionary.to_list(), None]
        for number, form in enumerate(plan.forms(name)):
            assert isinstance(form, Counts)
            alike = [other for other, group in enumerate(plan.groups) if group.forms == plan.groups[number].forms]
            rows = np.flatnonzero(np.isin(after, alike))
            assert dict(form.members) == Counter(values[code] for code in column.codes[rows].tolist())


@SOME
@given(cases(max_rows=24), st.data())
def test_persons_of_parts_are_counted(case, data):
    rows = len(case.rows)
    owners = np.unique([data.draw(st.integers(0, rows // 2)) for _ in range(rows)], return_inverse=True)[1]
    k = data.draw(st.integers(1, int(owners.max()) + 1))
    _, _, after = decided(case, Mondrian, k, 1, owners.astype(np.int32))
    assert all(len(set(owners[after == number].tolist())) >= k for number in set(after.tolist()))


def slow_blocks(rows, starts, k):
    """Ward's joins by sums of squares over the rows themselves: the smallest part first, to where least is lost."""

    def spread(part):
        return float(((rows[part] - rows[part].mean(axis=0)) ** 2).sum())

    parts = [[*start] for start in starts]
    while (small := [at for at, part in enumerate(parts) if part and len(part) < k]) and sum(map(bool, parts)) > 1:
        least = min(small, key=lambda at: (len(parts[at]), at))
        others = [at for at, part in enumerate(parts) if part and at != least]
        nearest = min(
            others,
            key=lambda at: (
                round(spread(parts[at] + parts[least]) - spread(parts[at]) - spread(parts[least]), 7),
                at,
            ),
        )
        parts[nearest] = parts[nearest] + parts[least]
        parts[least] = []
    return {frozenset(part) for part in parts if len(part) >= k}


@SOME
@given(cases(max_columns=3), st.data())
def test_joins_are_those_of_a_slow_search(case, data):
    """One class, groups by chance: which cells come together is what sums of squares over rows say."""
    height = len(case.rows)
    k = data.draw(st.integers(1, height))
    chance = np.random.default_rng(data.draw(st.integers(0, 99)))
    seats = np.unique(chance.integers(0, max(1, height // 2), height), return_inverse=True)[1].astype(np.int32)
    population = EmbeddedEngine().population(case.table, case.schema, SeededRandomness(1))
    after = population.seat(Seat(tuple(np.bincount(seats).tolist()), seats))
    cells = ClassCells.of(after, Judge.of(KAnonymity(k), population), TARGET, case.names)
    labels = case.table[TARGET].codes
    columns = []
    for name in case.names:
        column = case.table[name]
        places = np.eye(column.width)[column.codes]
        places = np.cumsum(places, axis=1) if column.type.has_order else places
        spread = (places.mean(axis=0) * (1 - places.mean(axis=0))).sum()
        columns.append(places / np.sqrt(spread) if spread > 0 else 0 * places)
    rows = np.hstack(columns)
    for label in np.unique(labels):
        own = np.flatnonzero(cells.seen.codes[:, 1] == label)
        starts = [
            np.flatnonzero((seats == cells.seen.codes[cell, 0]) & (labels == label)).tolist() for cell in own.tolist()
        ]
        made, _ = cells._joined(own)
        place = dict(zip(own.tolist(), starts, strict=True))
        ours = {frozenset(row for cell in block for row in place[cell]) for block in made}
        assert ours == slow_blocks(rows, starts, k)
    assert GROUP in after.sample().columns
