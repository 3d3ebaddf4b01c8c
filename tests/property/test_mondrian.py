"""Both partitionings against plain recursion, and what their boxes promise, on random tables."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.methods.partitioning.mondrian import InfoGainMondrian, Mondrian
from incrowd.plan.steps import Place, Show
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.testing.tables import owned, random_owners
from incrowd.trees.routing import route
from incrowd.trees.tree import check_tree
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.randomness import SystemRandomness
from incrowd.vocabulary.released_value import (
    Category,
    Interval,
    Shown,
    ShownMissing,
    Suppressed,
    ValueSet,
    interval_text,
)
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether
from incrowd.vocabulary.schema import ColumnType, Schema
from support.oracle_mondrian import candidates, partition
from support.strategies import TARGET, Case, cases

MANY = settings(max_examples=550, deadline=None, suppress_health_check=list(HealthCheck))
SOME = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
METHODS = st.sampled_from([Mondrian(), InfoGainMondrian(), InfoGainMondrian(min_gain=0.05)])


class TwoClasses:
    """A home-made promise: at least two classes with two rows each."""

    smallest_group = 4

    def holds(self, histogram):
        return int((histogram >= 2).sum()) >= 2

    def check_possible(self, rows):
        pass


class AskedEachTime:
    """k-anonymity that nobody recognises as such."""

    def __init__(self, k):
        self.smallest_group = k

    def holds(self, histogram):
        return int(histogram.sum()) >= self.smallest_group

    def check_possible(self, rows):
        pass


# ---- random hierarchies, as nested dicts and as the real thing


def nested(rng, leaves, depth=0):
    """Random groups of neighbours; a group may have one child only."""
    node = {"leaves": leaves, "children": []}
    if len(leaves) > 1 or (depth and depth < 3 and rng.random() < 0.2):
        most = len(leaves) if depth < 3 else 1
        count = len(leaves) if depth >= 2 else int(rng.integers(1, most + 1))
        cuts = sorted(rng.choice(np.arange(1, len(leaves)), count - 1, replace=False).tolist()) if count > 1 else []
        parts = [leaves[i:j] for i, j in pairwise([0, *cuts, len(leaves)])]
        if len(leaves) > 1 or depth < 2:
            node["children"] = [nested(rng, part, depth + 1) for part in parts]
    return node


def as_hierarchy(name, root, texts, kind):
    labels, parents, waiting = ["*"], [-1], [(child, 0) for child in root["children"]]
    while waiting:
        node, parent = waiting.pop(0)
        labels.append(f"group {len(labels)}" if node["children"] else texts[node["leaves"][0]])
        parents.append(parent)
        waiting += [(child, len(labels) - 1) for child in node["children"]]
    return Hierarchy(name, tuple(labels), tuple(parents), kind)


def as_oracle(node, tests):
    """An only child stands for its parent."""
    while len(node["children"]) == 1:
        node = node["children"][0]
    return {
        "leaves": [tests[leaf] for leaf in node["leaves"]],
        "children": [as_oracle(child, tests) for child in node["children"]],
    }


def random_hierarchy(rng, column, kind):
    """A hierarchy of the column's values and one nobody has, or of intervals of its numbers."""
    values = column.dictionary.to_list()
    if kind is Leaves.NUMBERS:
        edges = sorted({*rng.integers(-5, 12, int(rng.integers(1, 6))).tolist()})
        ends = list(pairwise([None, *edges, None]))
        texts = [interval_text(low, high) for low, high in ends]

        def test(low, high):
            return lambda v: (low is None or v > low) and (high is None or v <= high)

        tests = [test(low, high) for low, high in ends]
    else:
        values = [*values, 999 if column.type.is_numeric else "never"]
        texts = [str(value) for value in values]
        tests = [lambda v, own=value: v == own for value in values]
    root = nested(rng, list(range(len(texts))))
    if not root["children"]:
        root = {"leaves": root["leaves"], "children": [root]}
    return as_hierarchy(column.name, root, texts, kind), as_oracle(root, tests)


def dimension_of(column, tree):
    values = column.dictionary.to_list()
    dimension = {"name": column.name, "kind": "line", "all": values}
    if tree is not None:
        return {**dimension, "kind": "tree", "tree": tree}
    if column.type.is_numeric:
        ends = (values[0], values[-1]) if values else (0, 1)
        return {**dimension, "rank": lambda value: value, "ends": ends}
    kind = "line" if column.type.has_order else "values"
    return {**dimension, "kind": kind, "rank": values.index, "ends": (0, len(values) - 1)}


@st.composite
def tables(draw, hierarchies=True, numbers_only=False):
    """A case, its dimensions for the oracle, and a k of at most half its rows."""
    case = draw(cases(max_rows=60, max_values=9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns, dimensions = [], []
    for column in case.schema.columns[:-1]:
        encoded, tree = case.table[column.name], None
        if hierarchies and rng.random() < 0.5:
            numeric = encoded.type.is_numeric
            kind = Leaves.NUMBERS if numeric and rng.random() < 0.6 else Leaves.VALUES
            hierarchy, tree = random_hierarchy(rng, encoded, kind)
            column = replace(column, hierarchy=hierarchy)
        columns.append(column)
        dimensions.append(dimension_of(encoded, tree))
    if numbers_only:
        keep = [i for i, column in enumerate(columns) if column.type.is_numeric]
        columns, dimensions = [columns[i] for i in keep], [dimensions[i] for i in keep]
    schema = Schema((*columns, case.schema.columns[-1]))
    k = draw(st.integers(1, max(1, min(8, len(case.rows) // 2))))
    return Case(case.rows, case.table, schema), dimensions, k


def decide(case, method, requirement):
    population = EmbeddedPopulation(case.table, case.schema, SystemRandomness(), owners=case.owners)
    return method.decide(population, requirement, SystemRandomness())


def released(case, steps):
    """The group of each row, and the groups."""
    place = next(step for step in steps if isinstance(step, Place))
    show = next(step for step in steps if isinstance(step, Show))
    check_tree(place.tree, case.names)
    group_at = {share.node: share.group for share in place.shares}
    return [group_at[node] for node in route(place.tree, case.table).tolist()], show.groups


def parts_of(groups):
    found = {}
    for row, group in enumerate(groups):
        found.setdefault(group, []).append(row)
    return {frozenset(members) for members in found.values()}


def expected(case, dimensions, method, holds):
    labels = [row[TARGET] for row in case.rows]
    gain = getattr(method, "min_gain", None)
    parts = partition(
        case.rows, labels, dimensions, holds, method.name == "infogain-mondrian", -1.0 if gain is None else gain
    )
    return {frozenset(part) for part in parts}


# ---- the partition


@MANY
@given(tables(), METHODS)
def test_the_parts_are_those_of_the_oracle(asked, method):
    case, dimensions, k = asked
    groups, _ = released(case, decide(case, method, KAnonymity(k)))
    assert parts_of(groups) == expected(case, dimensions, method, lambda labels: len(labels) >= k)


@SOME
@given(tables(), METHODS)
def test_asking_for_every_part_gives_the_same_cuts(asked, method):
    case, _, k = asked
    at_once, each_time = decide(case, method, KAnonymity(k)), decide(case, method, AskedEachTime(k))
    assert released(case, at_once) == released(case, each_time)
    assert at_once[1:] == each_time[1:]


@SOME
@given(tables(), METHODS)
def test_a_promise_about_classes_is_kept_by_every_part(asked, method):
    case, dimensions, _ = asked

    def holds(labels):
        return sum(count >= 2 for count in Counter(labels).values()) >= 2

    if not holds([row[TARGET] for row in case.rows]):
        return
    groups, _ = released(case, decide(case, method, TwoClasses()))
    assert parts_of(groups) == expected(case, dimensions, method, holds)


@SOME
@given(tables(), st.sampled_from([Mondrian(), InfoGainMondrian()]))
def test_no_allowable_cut_remains(asked, method):
    """Brute force over every threshold and, with a hierarchy, the groups right below the one that is shown."""
    case, dimensions, k = asked
    labels = [row[TARGET] for row in case.rows]
    groups, shown = released(case, decide(case, method, KAnonymity(k)))
    for members in parts_of(groups):
        for number, dimension in enumerate(dimensions):
            if dimension["kind"] == "tree":
                own = [case.rows[row][dimension["name"]] for row in members]
                form = shown[groups[min(members)]].forms[number]
                assert not may_go_down(own, form, case.schema[dimension["name"]].hierarchy, k)
                continue
            one = dimension if method.name == "infogain-mondrian" else {**dimension, "kind": "line"}
            for _, _, parts, _ in candidates(case.rows, labels, [one], sorted(members), {}, True, -1.0):
                assert any(len(part) < k for part in parts)


# ---- persons with several rows


class OwnedLabel(str):
    """A class that knows whose row it is of."""

    person: int


def owned_labels(case):
    labels = [OwnedLabel(row[TARGET]) for row in case.rows]
    for label, person in zip(labels, case.owners.tolist(), strict=True):
        label.person = person
    return labels


@st.composite
def tables_of_persons(draw):
    case, dimensions, _ = draw(tables())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    case = owned(case, random_owners(rng, len(case.rows)))
    return case, dimensions, draw(st.integers(1, max(1, case.persons // 2)))


@SOME
@given(tables_of_persons(), st.sampled_from([InfoGainMondrian(), InfoGainMondrian(min_gain=0.05)]))
def test_the_parts_of_persons_are_those_of_the_oracle(asked, method):
    case, dimensions, k = asked
    groups, _ = released(case, decide(case, method, KAnonymity(k)))

    def holds(labels):
        return len({label.person for label in labels}) >= k

    gain = -1.0 if method.min_gain is None else method.min_gain
    parts = partition(case.rows, owned_labels(case), dimensions, holds, True, gain)
    assert parts_of(groups) == {frozenset(part) for part in parts}


@SOME
@given(tables_of_persons(), METHODS)
def test_asking_for_every_part_gives_the_same_cuts_of_persons(asked, method):
    case, _, k = asked
    at_once, each_time = decide(case, method, KAnonymity(k)), decide(case, method, AskedEachTime(k))
    assert released(case, at_once) == released(case, each_time)
    assert at_once[1:] == each_time[1:]


@SOME
@given(tables_of_persons(), st.sampled_from([Mondrian(), InfoGainMondrian()]))
def test_no_allowable_cut_of_persons_remains(asked, method):
    case, dimensions, k = asked
    labels = owned_labels(case)
    groups, _ = released(case, decide(case, method, KAnonymity(k)))
    for members in parts_of(groups):
        for dimension in dimensions:
            if dimension["kind"] == "tree":
                continue
            one = dimension if method.name == "infogain-mondrian" else {**dimension, "kind": "line"}
            for _, _, parts, _ in candidates(case.rows, labels, [one], sorted(members), {}, True, -1.0):
                assert any(len({labels[row].person for row in part}) < k for part in parts)


def may_go_down(values, form, hierarchy, k):
    """Whether the rows could show the groups below the one they show."""
    if isinstance(form, Shown | ShownMissing) or all(value is None for value in values):
        return False
    nodes = range(len(hierarchy))
    match form:
        case Suppressed():
            node = 0
        case Category(label):
            node = hierarchy.labels.index(label)
        case Interval():
            node = next(node for node in nodes if hierarchy.interval(node) == form)
    while len(hierarchy.children(node)) == 1:
        node = hierarchy.children(node)[0]
    children = hierarchy.children(node)
    leaves = [None if value is None else hierarchy.leaf_of(value) for value in values]
    sizes = [sum(leaf in hierarchy.leaves_below(child) for leaf in leaves if leaf is not None) for child in children]
    return bool(children) and all(size >= k for size in [*sizes, leaves.count(None)] if size)


@SOME
@given(tables(hierarchies=False, numbers_only=True))
def test_parts_of_numbers_are_bounded(asked):
    """At most 2d(k - 1) rows and those of the most frequent combination; for complete rows."""
    case, _, k = asked
    complete = [i for i, row in enumerate(case.rows) if all(row[name] is not None for name in case.names)]
    if not case.names or len(complete) < k:
        return
    kept = Case([case.rows[i] for i in complete], case.table.take(np.array(complete)), case.schema)
    groups, _ = released(kept, decide(kept, Mondrian(), KAnonymity(k)))
    for members in parts_of(groups):
        tuples = Counter(tuple(kept.rows[row][name] for name in kept.names) for row in members)
        assert len(members) <= 2 * len(kept.names) * (k - 1) + max(tuples.values())


@SOME
@given(tables(), METHODS, st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter_and_equal_rows_look_alike(asked, method, seed):
    case, _, k = asked
    steps = decide(case, method, KAnonymity(k))
    groups, shown = released(case, steps)
    looks = {}
    for row, group in zip(case.rows, groups, strict=True):
        key = tuple(row[name] for name in case.names)
        assert looks.setdefault(key, group) == group
    order = np.random.default_rng(seed).permutation(len(case.rows))
    shuffled = Case([case.rows[i] for i in order], case.table.take(order), case.schema)
    assert decide(shuffled, method, KAnonymity(k)) == steps
    assert len(shown) == len(set(groups))


@SOME
@given(tables(), METHODS)
def test_sets_that_are_known_together_are_kept_by_their_largest_k(asked, method):
    case, _, k = asked
    together = KnownTogether(tuple(KnownSet((name,), k if i == 0 else 1) for i, name in enumerate(case.names)))
    assert decide(case, method, together) == decide(case, method, KAnonymity(k))


# ---- the boxes


def inside(form, value, hierarchy):
    match form:
        case Suppressed():
            return True
        case ShownMissing():
            return value is None
        case _ if value is None:
            return False
        case Shown(only):
            return value == only
        case ValueSet(values):
            return value in values
        case Interval(low, high):
            return (low is None or value > low) and (high is None or value <= high)
        case Category(label):
            below = hierarchy.leaves_below(hierarchy.labels.index(label))
            return hierarchy.leaf_of(value) in below
    raise AssertionError(form)


@SOME
@given(tables(), METHODS)
def test_every_row_lies_in_its_own_box_and_in_no_other(asked, method):
    case, _, k = asked
    groups, shown = released(case, decide(case, method, KAnonymity(k)))
    hierarchies = [case.schema[name].hierarchy for name in case.names]
    for row, own in zip(case.rows, groups, strict=True):
        values = [row[name] for name in case.names]
        lies_in = [
            number
            for number, group in enumerate(shown)
            if all(inside(f, v, h) for f, v, h in zip(group.forms, values, hierarchies, strict=True))
        ]
        assert lies_in == [own]
    assert Counter(groups) == {number: group.rows for number, group in enumerate(shown)}
    assert all(group.rows >= k for group in shown)


@SOME
@given(tables(hierarchies=False), METHODS, st.integers(0, 2**32 - 1))
def test_boxes_cover_every_possible_row(asked, method, seed):
    """Also combinations of values that no row has; a missing value has a part only if one was there to be cut."""
    case, _, k = asked
    _, shown = released(case, decide(case, method, KAnonymity(k)))
    rng = np.random.default_rng(seed)
    for _ in range(20):
        point = [_any_value(rng, case.table[name]) for name in case.names]
        boxes = [all(inside(f, v, None) for f, v in zip(g.forms, point, strict=True)) for g in shown]
        assert sum(boxes) == 1 or (None in point and not any(boxes))


def _any_value(rng, column):
    if column.type.is_numeric:
        return float(rng.uniform(-10, 30))
    values = [*column.dictionary.to_list(), None]
    return values[rng.integers(0, len(values))]


@SOME
@given(tables(), METHODS, st.integers(0, 2**32 - 1))
def test_cuts_found_on_a_part_of_the_rows_are_true_for_all(asked, method, seed):
    case, _, k = asked
    rng = np.random.default_rng(seed)
    some = np.flatnonzero(rng.random(len(case.rows)) < 0.7)

    class Sampled(EmbeddedPopulation):
        def sample(self) -> EncodedTable:
            return self.table.take(some)

    population = Sampled(case.table, case.schema, SystemRandomness())
    steps = method.decide(population, KAnonymity(k), SystemRandomness())
    groups, shown = released(case, steps)
    assert dict(steps[-1].facts)["cuts taken back"] >= 0
    assert Counter(groups) == {number: group.rows for number, group in enumerate(shown)}
    assert all(group.rows >= k for group in shown)
    for row, own in zip(case.rows, groups, strict=True):
        for name, form in zip(case.names, shown[own].forms, strict=True):
            assert inside(form, row[name], case.schema[name].hierarchy)


@SOME
@given(tables(), st.sampled_from([Mondrian, InfoGainMondrian]))
def test_thresholds_lie_between_the_rows_they_part(asked, factory):
    """All numeric forms tell the same interval; middles lie in it."""
    case, _, k = asked
    _, plain = released(case, decide(case, factory(), KAnonymity(k)))
    _, middles = released(case, decide(case, factory(numeric="midpoint"), KAnonymity(k)))
    _, bounds = released(case, decide(case, factory(numeric="bounds"), KAnonymity(k)))
    assert bounds == plain
    for one, other in zip(plain, middles, strict=True):
        for interval, middle in zip(one.forms, other.forms, strict=True):
            if isinstance(interval, Interval):
                assert (interval.low, interval.high) == (middle.low, middle.high)
                assert inside(interval, middle.value, None) or middle.value in (interval.low, interval.high)
            else:
                assert interval == middle


def test_column_types_of_the_random_tables_are_all_there():
    """The strategies above would prove little if they only made one kind of column."""
    seen = set()

    @settings(max_examples=60, deadline=None, database=None, derandomize=True)
    @given(tables())
    def look(asked):
        case, _, _ = asked
        for column in case.schema.columns[:-1]:
            seen.add((column.type, column.hierarchy.kind if column.hierarchy else None))

    look()
    assert {kind for kind, _ in seen} >= {ColumnType.CATEGORICAL, ColumnType.ORDERED, ColumnType.INTEGER}
    assert {kind for _, kind in seen} == {None, Leaves.VALUES, Leaves.NUMBERS}
