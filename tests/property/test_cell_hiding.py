"""Hiding cells of random tables: bounds, what may be touched, adversaries that fail, the way back, smallest sets."""

from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import support.oracle_cell_hiding as oracle
import support.oracle_enhanced_hiding as enhanced
from incrowd.hiding.adversaries import BayesAdversary
from incrowd.hiding.bayes_hiders import DropP, JointDropP
from incrowd.hiding.id3 import Hid3, ID3Adversary
from incrowd.hiding.methods import Generic, Hybrid, Nrd
from incrowd.hiding.other_rows import DecP, IncP, JointDecP
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import Chance, Showed, Status, secret_at
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.schema import Column, ColumnType, Schema

FLAT = None
SHAPES = {
    2: [FLAT, {"v0": "*", "v1": "*"}],
    3: [FLAT, {"g": "*", "v0": "g", "v1": "g", "v2": "*"}],
    4: [FLAT, {"g": "*", "v0": "g", "v1": "g", "h": "*", "v2": "h", "v3": "h"}],
    5: [FLAT, {"g": "*", "v0": "g", "v1": "g", "h": "*", "v2": "h", "i": "h", "v3": "i", "v4": "i"}],
}
TARGET = "t"
DELETING = {"decp": DecP(3), "incp": IncP(3), "dropp": DropP(3), "hid3": Hid3(), "lean": Hid3(lean=True)}
RAISING = {
    "decp-g": DecP(3, generalize=True),
    "incp-g": IncP(3, generalize=True),
    "dropp-g": DropP(3, generalize=True),
    "hid3-g": Hid3(generalize=True),
    "lean-g": Hid3(lean=True, generalize=True),
}
HYBRIDS = {
    "hid3+decp": Hybrid(Hid3(), DecP(3)),
    "hid3+incp": Hybrid(Hid3(), IncP(3)),
    "hid3+dropp": Hybrid(Hid3(), DropP(3)),
    "hid3-g+decp-g": Hybrid(Hid3(generalize=True), DecP(3, generalize=True)),
    "hid3-g+incp-g": Hybrid(Hid3(generalize=True), IncP(3, generalize=True)),
    "hid3-g+dropp-g": Hybrid(Hid3(generalize=True), DropP(3, generalize=True)),
}
ALL = {**DELETING, **RAISING, **HYBRIDS, "nrd": Nrd()}
ADVERSARY = {"hid3": ID3Adversary(), "lean": ID3Adversary(), "hid3-g": ID3Adversary(), "lean-g": ID3Adversary()}


@dataclass
class Drawing:
    """Chance from a seed; remembers the values it drew."""

    seed: int = 0
    drawn: list = field(default_factory=list)

    def __post_init__(self):
        self.random = np.random.default_rng(self.seed)

    def one_of(self, values):
        self.drawn.append(values[self.random.integers(len(values))])
        return self.drawn[-1]

    def coin(self):
        return bool(self.random.integers(2))


@dataclass
class Table:
    """A table as an encoded one, and a cell of it."""

    table: EncodedTable
    schema: Schema
    row: int
    seed: int

    def published(self):
        return PublishedTable(self.table, self.schema)

    @property
    def codes(self):
        return {name: column.codes.tolist() for name, column in self.table.columns.items()}


@st.composite
def tables(draw, max_rows=24, max_columns=4):
    """Tables whose cell ``row`` of the target is known; columns with and without hierarchy, cells missing or groups.

    Columns depend on each other more or less; where the target can be predicted in a row, such a row is preferred.
    """
    height, width = draw(st.integers(2, max_rows)), draw(st.integers(1, max_columns))
    seed, row = draw(st.integers(0, 2**32 - 1)), draw(st.integers(0, height - 1))
    random = np.random.default_rng(seed)
    columns, schema = [], []
    kind, strength = random.integers(0, 3, height), draw(st.sampled_from([0.2, 0.5, 0.7, 0.9]))
    for name in (*[f"a{place}" for place in range(width)], TARGET):
        size = draw(st.integers(2, 5))
        shape = draw(st.sampled_from(SHAPES[size]))
        labels = [f"v{place}" for place in range(size)]
        codes = np.where(random.random(height) < strength, kind % size, random.integers(0, size, height))
        tree = None
        if shape is not None:
            nodes = ("*", *shape)
            tree = Hierarchy(name, nodes, (-1, *[nodes.index(above) for above in shape.values()]))
            groups = [label for label in shape if label not in labels]
            labels += groups
            if groups and draw(st.booleans()):
                codes = np.where(random.random(height) < 0.1, size, codes)
        if draw(st.booleans()):
            codes = np.where(random.random(height) < 0.15, len(labels), codes)
        if name == TARGET:
            codes[row] = random.integers(0, size)
        columns.append(EncodedColumn(name, ColumnType.CATEGORICAL, codes.astype(np.int32), pl.Series(labels)))
        schema.append(Column(name, type=ColumnType.CATEGORICAL, hierarchy=tree))
    case = Table(EncodedTable.of(columns), Schema(tuple(schema)), row, seed)
    return next(filter(is_predictable, (replace(case, row=(row + step) % height) for step in range(height))), case)


def guesses(adversary, shown, row, name):
    return adversary.study(shown, name, shown.node(row, name)).guess(row)


def is_predictable(case):
    shown = case.published()
    actual = shown.node(case.row, TARGET)
    if not shown.taxonomy(TARGET).is_leaf(actual):
        return False
    shown.show([case.row], TARGET, 0)
    return guesses(BayesAdversary(), shown, case.row, TARGET) == actual


def as_rows(shown):
    names = shown.attributes
    return [{name: shown.taxonomy(name).labels[shown.node(row, name)] for name in names} for row in range(shown.height)]


def parents(shown):
    found = {}
    for name in shown.attributes:
        labels = shown.taxonomy(name).labels
        above = zip(labels[1:], shown.taxonomy(name).parents[1:], strict=True)
        found[name] = {label: labels[parent] for label, parent in above}
    return found


def shuffle(shown, seed, keep):
    """Hide and raise some cells by chance, none of them in the kept row's target."""
    random = np.random.default_rng(seed)
    for _ in range(int(random.integers(0, 12))):
        name = shown.attributes[random.integers(len(shown.attributes))]
        row = int(random.integers(shown.height))
        if (row, name) != keep:
            taxonomy = shown.taxonomy(name)
            above = taxonomy.up(shown.node(row, name), int(random.integers(0, 3)))
            shown.show([row], name, above)


def state(shown):
    names = shown.attributes
    joint = [shown.joint(one, two).tolist() for one, two in combinations(names, 2)]
    return joint, [shown.counts(name).tolist() for name in names], as_rows(shown)


@settings(max_examples=80, deadline=None)
@given(tables(), st.integers(0, 1000))
def test_counts_are_kept_and_everything_can_be_taken_back(case, seed):
    shown = case.published()
    before = state(shown)
    mark = shown.mark()
    shuffle(shown, seed, None)
    joint, counts, rows = state(shown)
    again = case.published()
    for row, name in shown.touched():
        again.show([row], name, shown.node(row, name))
    assert (joint, counts, rows) == state(again)
    recounted = [[0] * len(shown.taxonomy(name)) for name in shown.attributes]
    for place, name in enumerate(shown.attributes):
        for node in shown.nodes(name).tolist():
            recounted[place][node] += 1
    assert counts == recounted
    shown.back(mark)
    assert state(shown) == before
    assert shown.touched() == []


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(0, 1000))
def test_rows_are_found_by_what_they_show_now(case, seed):
    shown = case.published()
    shown.all_rows_with(TARGET, 1)
    shuffle(shown, seed, None)
    rows = as_rows(shown)
    for one, two in combinations(shown.attributes, 2):
        for first in range(len(shown.taxonomy(one))):
            mine = [r for r, row in enumerate(rows) if row[one] == shown.taxonomy(one).labels[first]]
            assert shown.all_rows_with(one, first).tolist() == mine
            for second in range(len(shown.taxonomy(two))):
                both = [r for r in mine if rows[r][two] == shown.taxonomy(two).labels[second]]
                assert list(shown.rows_with((one, first), (two, second))) == both


@settings(max_examples=100, deadline=None)
@given(tables(), st.integers(0, 1000), st.integers(0, 3), st.sampled_from(["counted", "ignored", "shared"]))
def test_naive_bayes_is_the_oracle_s(case, seed, level, unknown):
    shown = case.published()
    secret_at(shown, case.row, TARGET, Drawing()).raise_to(level)
    shuffle(shown, seed, (case.row, TARGET))
    scores = BayesAdversary(unknown).scores(shown, case.row, TARGET)
    assert scores == BayesAdversary(unknown).belief(shown, case.row, TARGET).scores
    named = {shown.taxonomy(TARGET).labels[value]: score for value, score in scores.items()}
    theirs = oracle.bayes_scores(as_rows(shown), case.row, TARGET, shown.predictors, parents(shown), unknown)
    assert named == theirs


@settings(max_examples=100, deadline=None)
@given(tables(), st.integers(0, 1000), st.integers(1, 3))
def test_id3_is_the_oracle_s(case, seed, level):
    shown = case.published()
    secret = secret_at(shown, case.row, TARGET, Drawing())
    secret.raise_to(level)
    shuffle(shown, seed, (case.row, TARGET))
    found = guesses(ID3Adversary(), shown, case.row, TARGET)
    theirs = oracle.id3_says(as_rows(shown), case.row, TARGET, shown.predictors, parents(shown))
    assert (shown.taxonomy(TARGET).labels[found] if found else None) == theirs


def predicted(shown, row, target, actual, bayes="counted"):
    """What the oracle says: whether naive Bayes and whether ID3 take the cell for what it is."""
    rows, taxonomies = as_rows(shown), parents(shown)
    label = shown.taxonomy(target).labels[actual]
    scores = oracle.bayes_scores(rows, row, target, shown.predictors, taxonomies, bayes)
    return (
        oracle.bayes_says(scores) == label,
        oracle.id3_says(rows, row, target, shown.predictors, taxonomies) == label,
    )


@pytest.mark.parametrize("name", list(ALL))
@settings(max_examples=40, deadline=None)
@given(tables())
def test_the_adversary_is_wrong_or_the_row_deleted_and_the_cell_never_shown(name, case):
    codes, shown = case.codes, case.published()
    before = as_rows(shown)
    secret = secret_at(shown, case.row, TARGET, Drawing(case.seed))
    ended = ALL[name].hide(secret)  # type: ignore[attr-defined]
    assert shown.node(case.row, TARGET) != secret.actual
    assert shown.taxonomy(TARGET).below(secret.actual, shown.node(case.row, TARGET))
    assert case.codes == codes
    touched = [cell for cell in shown.touched() if cell != (case.row, TARGET)]
    if ended is Status.DELETED:
        assert all(shown.node(case.row, name) == 0 for name in shown.attributes)
        assert {row for row, _ in touched} <= {case.row}
    elif ended is Status.COIN:
        assert len(secret.candidates) == 2
    else:
        bayes, id3 = predicted(shown, case.row, TARGET, secret.actual, "shared" if "-g" in name else "counted")
        assert not (bayes and name not in ADVERSARY)
        assert not (id3 and (name in ADVERSARY or "+" in name))
    if ended is Status.NOT_PREDICTED:
        assert touched == []
    after, taxonomies = as_rows(shown), parents(shown)
    for row, column in shown.touched():
        assert after[row][column] in oracle.ancestors(before[row][column], taxonomies[column])[1:]


def lemma(name, shown, secret, before):
    """The bound on the cells a method may change, and which cells those are."""
    actual = shown.taxonomy(TARGET).labels[secret.actual]
    same = [r for r, row in enumerate(before) if r != secret.row and row[TARGET] == actual]
    others = [r for r, row in enumerate(before) if r != secret.row and row[TARGET] not in (actual, "?")]
    width, mine = len(shown.attributes), before[secret.row]
    if name.startswith(("dropp", "hid3", "lean")):
        return width - 1, lambda row, column: row == secret.row
    cells = max(0, (width - 1) * (len(same) - 1))
    if name.startswith("decp"):
        return (
            cells,
            lambda row, column: column != TARGET and row in same and supports(shown, before[row], column, mine),
        )
    return cells + len(others), lambda row, column: (row in others) if column == TARGET else row in same


def supports(shown, row, column, mine):
    return row[column] in oracle.ancestors(mine[column], parents(shown)[column])


@pytest.mark.parametrize("name", [*DELETING, *RAISING])
@settings(max_examples=60, deadline=None)
@given(tables())
def test_bounds_and_what_may_be_touched(name, case):
    shown, chance = case.published(), Drawing(case.seed)
    before = as_rows(shown)
    secret = secret_at(shown, case.row, TARGET, chance)
    ended = {**DELETING, **RAISING}[name].hide(secret)  # type: ignore[attr-defined]
    touched = [cell for cell in shown.touched() if cell != (case.row, TARGET)]
    bound, allowed = lemma(name, shown, secret, before)
    if ended is Status.DELETED:
        bound, allowed = len(shown.attributes) - 1, lambda row, column: row == case.row
    assert len(touched) <= bound
    assert all(allowed(*cell) for cell in touched)


@pytest.mark.parametrize("name", ["incp", "incp-g"])
@settings(max_examples=80, deadline=None)
@given(tables())
def test_labels_incp_hides(name, case):
    """At most m - N - 1 - s labels, for s next best values, all of them of these values (or groups of theirs)."""
    shown, chance = case.published(), Drawing(case.seed)
    secret = secret_at(shown, case.row, TARGET, chance)
    before, taxonomies = as_rows(shown), parents(shown)
    scores = oracle.bayes_scores(before, case.row, TARGET, shown.predictors, taxonomies)
    ended = {**DELETING, **RAISING}[name].hide(secret)  # type: ignore[attr-defined]
    labels = [row for row, column in shown.touched() if column == TARGET and row != case.row]
    if ended is not Status.HIDDEN or not secret.known:
        return
    actual = shown.taxonomy(TARGET).labels[secret.actual]
    same = sum(row[TARGET] == actual for row in before)
    assert len(labels) <= shown.height - same - 2
    if name == "incp":
        guess = shown.taxonomy(TARGET).labels[chance.drawn[0]]
        top = sorted(scores, key=lambda value: -scores[value])[:3]
        next_best = [value for value in top if value != actual and scores[value] >= scores[guess]]
        assert len(labels) <= shown.height - same - 1 - len(next_best)
        assert {before[row][TARGET] for row in labels} <= set(next_best)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_decp_leaves_one_supporter_for_each_attribute_and_moves_no_other_score(case):
    shown = case.published()
    secret = secret_at(shown, case.row, TARGET, Drawing(case.seed))
    before = BayesAdversary().scores(shown, case.row, TARGET)
    ended = DecP(3).hide(secret)
    if ended is not Status.HIDDEN:
        return
    after = BayesAdversary().scores(shown, case.row, TARGET)
    assert 0 < after.pop(secret.actual) <= before.pop(secret.actual)
    assert after == before


@settings(max_examples=100, deadline=None)
@given(tables())
def test_no_smaller_set_of_cells_does_what_dropp_does(case):
    shown, chance = case.published(), Drawing(case.seed)
    secret = secret_at(shown, case.row, TARGET, chance)
    rows, taxonomies, names = as_rows(shown), parents(shown), secret.known
    if DropP(3).hide(secret) is not Status.HIDDEN:
        return
    labels = shown.taxonomy(TARGET).labels
    actual, guess = labels[secret.actual], labels[chance.drawn[0]]
    scores = BayesAdversary().scores(shown, case.row, TARGET)
    if scores[secret.actual] > scores[chance.drawn[0]]:
        return
    used = sum(column != TARGET for _, column in shown.touched())
    for size in range(used):
        for chosen in combinations(names, size):
            changed = [dict(row) for row in rows]
            changed[case.row] |= dict.fromkeys(chosen, "?")
            found = oracle.bayes_scores(changed, case.row, TARGET, shown.predictors, taxonomies)
            assert found[actual] > found[guess]


@pytest.mark.parametrize("lean", [False, True])
@settings(max_examples=80, deadline=None)
@given(tables())
def test_hid3_succeeds_whenever_hiding_cells_can(lean, case):
    shown = case.published()
    secret = secret_at(shown, case.row, TARGET, Drawing(case.seed))
    rows, taxonomies = as_rows(shown), parents(shown)
    tree = oracle.id3_tree(rows, case.row, TARGET, shown.predictors, taxonomies)
    ended = Hid3(lean=lean).hide(secret)
    if ended is Status.COIN:
        return
    actual = shown.taxonomy(TARGET).labels[secret.actual]
    ways = oracle.every_raise(rows[case.row], shown.others(TARGET), taxonomies, blank_only=True)
    assert ended.success is any(oracle.walk(tree, row, taxonomies) != actual for row in ways)


@pytest.mark.parametrize("lean", [False, True])
@settings(max_examples=60, deadline=None)
@given(tables(max_columns=3))
def test_hid3_g_succeeds_whenever_raising_cells_can(lean, case):
    shown = case.published()
    secret = secret_at(shown, case.row, TARGET, Drawing(case.seed))
    actual, possible = shown.taxonomy(TARGET).labels[secret.actual], False
    for level in range(1, shown.taxonomy(TARGET).depth(secret.actual) + 1):
        secret.raise_to(level)
        if len(secret.candidates) > 1:
            rows, taxonomies = as_rows(shown), parents(shown)
            tree = oracle.id3_tree(rows, case.row, TARGET, shown.predictors, taxonomies)
            ways = oracle.every_raise(rows[case.row], shown.others(TARGET), taxonomies, blank_only=False)
            possible |= any(oracle.walk(tree, row, taxonomies) != actual for row in ways)
    secret.raise_to(99)
    ended = Hid3(lean=lean, generalize=True).hide(secret)
    assert ended is Status.COIN or ended.success is possible


@settings(max_examples=60, deadline=None)
@given(tables())
def test_lean_hid3_never_hides_more(case):
    sizes = []
    for lean in (True, False):
        shown = case.published()
        Hid3(lean=lean).hide(secret_at(shown, case.row, TARGET, Drawing(case.seed)))
        sizes.append(len(shown.touched()))
    assert sizes[0] <= sizes[1]


@pytest.mark.parametrize("method", [JointDecP(3), JointDecP(3, generalize=True)], ids=["e-decp", "e-decp-g"])
@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5))
def test_many_rows_with_one_value(method, case, most):
    shown = case.published()
    actual = shown.node(case.row, TARGET)
    rows = [row for row in range(shown.height) if shown.node(row, TARGET) == actual][:most]
    secrets = [secret_at(shown, row, TARGET, Drawing(case.seed + row)) for row in rows]
    ends = method.hide_all(secrets)
    for secret, ended in zip(secrets, ends, strict=True):
        assert shown.node(secret.row, TARGET) != actual
        if ended is Status.DELETED:
            assert all(shown.node(secret.row, name) == 0 for name in shown.attributes)
        elif ended is not Status.COIN:
            rule = "shared" if method.name.endswith("-g") else "counted"
            assert not predicted(shown, secret.row, TARGET, actual, rule)[0]
    kept = {secret.row for secret, ended in zip(secrets, ends, strict=True) if ended is not Status.DELETED}
    assert all(name == TARGET for row, name in shown.touched() if row in kept)


@pytest.mark.parametrize("method", [JointDropP(3), JointDropP(3, generalize=True)], ids=["e-dropp", "e-dropp-g"])
@settings(max_examples=60, deadline=None)
@given(tables())
def test_many_attributes_of_one_row(method, case):
    shown = case.published()
    names = [n for n in shown.attributes if shown.taxonomy(n).is_leaf(shown.node(case.row, n))][-3:]
    secrets = [secret_at(shown, case.row, name, Drawing(case.seed)) for name in names]
    ends = method.hide_all(secrets)
    assert {row for row, _ in shown.touched()} <= {case.row}
    for secret, ended in zip(secrets, ends, strict=True):
        assert shown.taxonomy(secret.attribute).below(secret.actual, shown.node(case.row, secret.attribute))
        if ended is Status.DELETED:
            assert all(shown.node(case.row, name) == 0 for name in shown.attributes)
        elif ended is not Status.COIN:
            rule = "shared" if method.name.endswith("-g") else "counted"
            assert not predicted(shown, case.row, secret.attribute, secret.actual, rule)[0]


class First(Chance):
    """Takes the first value, and goes on where a coin is flipped."""

    def one_of(self, values):
        return values[0]

    def coin(self):
        return True


def named_steps(shown, secrets):
    """The cells that were changed, with what they show, in the order of each secret."""
    labels = {name: shown.taxonomy(name).labels for name in shown.attributes}
    return [
        (step.row, step.attribute, labels[step.attribute][step.node])
        for secret in secrets
        for step in secret.steps
        if isinstance(step, Showed)
    ]


@settings(max_examples=400, deadline=None)
@given(tables(max_rows=30), st.integers(1, 6), st.integers(2, 3))
def test_e_decp_g_is_the_oracle_s(case, most, degree):
    shown = case.published()
    start, actual = as_rows(shown), shown.node(case.row, TARGET)
    places = [row for row in range(shown.height) if shown.node(row, TARGET) == actual][:most]
    if not shown.taxonomy(TARGET).is_leaf(actual):
        return
    secrets = [secret_at(shown, row, TARGET, First()) for row in places]
    ends = JointDecP(degree, generalize=True).hide_all(secrets)
    theirs = enhanced.joint_decp_g(start, places, TARGET, parents(shown), degree)
    assert as_rows(shown) == theirs.rows
    ours = {(step.row, step.attribute) for secret in secrets for step in secret.steps if isinstance(step, Showed)}
    assert {(row, name) for row, name, _ in theirs.changes} <= ours
    assert all(
        set(theirs.rows[s.row].values()) == {"?"} for s, e in zip(secrets, ends, strict=True) if e is Status.DELETED
    )


@settings(max_examples=400, deadline=None)
@given(tables(max_rows=16), st.integers(1, 3), st.integers(2, 3))
def test_e_dropp_g_is_the_oracle_s(case, most, degree):
    shown = case.published()
    start = as_rows(shown)
    names = [n for n in shown.attributes if shown.taxonomy(n).is_leaf(shown.node(case.row, n))][-most:]
    secrets = [secret_at(shown, case.row, name, First()) for name in names]
    if not names:
        return
    ends = JointDropP(degree, generalize=True).hide_all(secrets)
    theirs = enhanced.joint_dropp_g(start, case.row, names, parents(shown), degree)
    assert as_rows(shown) == theirs.rows
    if Status.DELETED not in ends:
        assert sorted(named_steps(shown, secrets)) == sorted(theirs.changes)
        assert len(secrets) > 1 or named_steps(shown, secrets) == theirs.changes


@settings(max_examples=60, deadline=None)
@given(tables())
def test_the_generic_hider_fools_all_adversaries_with_no_cell_too_many(case):
    shown = case.published()
    secret = secret_at(shown, case.row, TARGET, Drawing(case.seed))
    start = as_rows(shown)[case.row]
    ended = Generic((BayesAdversary(), ID3Adversary(), BayesAdversary("ignored"))).hide(secret)
    assert {row for row, _ in shown.touched()} == {case.row}
    if ended is Status.DELETED:
        assert all(shown.node(case.row, name) == 0 for name in shown.attributes)
    elif ended is not Status.COIN:
        assert not any(three(shown, secret))
        for _, name in shown.touched():
            if name != TARGET:
                mark = shown.mark()
                shown.show([case.row], name, shown.taxonomy(name).labels.index(start[name]))
                assert any(three(shown, secret))
                shown.back(mark)


def three(shown, secret):
    counted = predicted(shown, secret.row, TARGET, secret.actual)
    return (*counted, predicted(shown, secret.row, TARGET, secret.actual, "ignored")[0])


def test_a_level_that_the_second_hider_raises_is_checked_by_the_first():
    codes = {
        "a0": ([2, 2, 1, 2, 1, 1, 3, 0, 1, 3, 4, 0, 2, 0, 1, 0], 5),
        "a1": ([4, 2, 5, 5, 2, 1, 2, 0, 3, 0, 4, 0, 3, 0, 2, 0], 5),
        "a2": ([2, 2, 0, 2, 2, 1, 0, 0, 1, 1, 1, 0, 0, 0, 2, 0], 3),
        "a3": ([0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0], 2),
        TARGET: ([2, 1, 2, 1, 2, 1, 3, 0, 0, 0, 1, 0, 2, 0, 0, 3], 4),
    }
    columns = [
        EncodedColumn(name, ColumnType.CATEGORICAL, np.array(own, np.int32), pl.Series([f"v{i}" for i in range(width)]))
        for name, (own, width) in codes.items()
    ]
    above = Hierarchy(TARGET, ("*", "g", "v0", "v1", "h", "v2", "v3"), (-1, 0, 1, 1, 0, 4, 4))
    schema = Schema(tuple(Column(name, hierarchy=above if name == TARGET else None) for name in codes))
    case = Table(EncodedTable.of(columns), schema, 3, 263205)
    shown = case.published()
    secret = secret_at(shown, case.row, TARGET, Drawing(case.seed))
    assert ALL["hid3-g+dropp-g"].hide(secret) is Status.HIDDEN  # type: ignore[attr-defined]
    assert predicted(shown, case.row, TARGET, secret.actual, "shared") == (False, False)
