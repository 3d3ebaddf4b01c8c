"""C4.5 and ID3: known trees, hard columns, refused parameters."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris, load_wine

from incrowd.errors import HeaderError, InputError, ParameterError, SchemaError
from incrowd.trees.c45 import C45, ID3, added_errors, estimated_errors, splits_to_keep
from incrowd.trees.draw import to_text
from incrowd.trees.routing import route
from incrowd.trees.sklearn_tree import recount
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType

NO, YES = "no", "yes"
WEATHER = {
    "outlook": ["sunny"] * 5 + ["overcast"] * 4 + ["rainy"] * 5,
    "temperature": [85, 80, 72, 69, 75, 83, 64, 72, 81, 70, 68, 65, 75, 71],
    "humidity": [85, 90, 95, 70, 70, 86, 65, 90, 75, 96, 80, 70, 80, 91],
    "windy": ["F", "T", "F", "F", "T", "F", "T", "T", "F", "F", "F", "T", "F", "T"],
    "play": [NO, NO, NO, YES, YES, YES, YES, YES, YES, YES, YES, NO, YES, NO],
}


def predicates(tree, number=0):
    return [branch.predicate for branch in tree.nodes[number].branches]


def test_weather_as_weka_prints_it(make_table):
    tree = C45().grow(make_table(**WEATHER), ["outlook", "temperature", "humidity", "windy"], "play")
    assert to_text(tree).splitlines() == [
        "outlook  [no: 5, yes: 9]",
        "├─ = overcast: yes  [yes: 4]",
        "├─ = rainy: windy  [no: 2, yes: 3]",
        "│  ├─ = F: yes  [yes: 3]",
        "│  └─ = T: no  [no: 2]",
        "└─ = sunny: humidity  [no: 3, yes: 2]",
        "   ├─ <= 75: yes  [yes: 2]",
        "   └─ > 75: no  [no: 3]",
    ]


def test_iris_as_weka_prints_it(make_table):
    data, target = load_iris(return_X_y=True)
    columns = {name: data[:, place].tolist() for place, name in enumerate(("sl", "sw", "pl", "pw"))}
    table = make_table(**columns, kind=[("setosa", "versicolor", "virginica")[label] for label in target])
    for bins in (None, 1024):
        tree = C45(bins=bins).grow(table, ["sl", "sw", "pl", "pw"], "kind")
        assert to_text(tree, counts=False).splitlines() == [
            "pw",
            "├─ <= 0.6: setosa",
            "└─ > 0.6: pw",
            "   ├─ <= 1.7: pl",
            "   │  ├─ <= 4.9: versicolor",
            "   │  └─ > 4.9: pw",
            "   │     ├─ <= 1.5: virginica",
            "   │     └─ > 1.5: versicolor",
            "   └─ > 1.7: virginica",
        ]
        assert [tree.nodes[leaf].counts for leaf in tree.leaves][-1] == (0, 2, 1)


def test_wine_as_weka_prints_it(make_table):
    data, target = load_wine(return_X_y=True)
    columns = {f"x{place}": data[:, place].tolist() for place in range(13)}
    table = make_table(**columns, kind=["abc"[label] for label in target])
    assert to_text(C45(raising=True).grow(table, list(columns), "kind")).splitlines() == [
        "x6  [a: 59, b: 71, c: 48]",
        "├─ <= 1.57: x9  [b: 14, c: 48]",
        "│  ├─ <= 3.8: b  [b: 13]",
        "│  └─ > 3.8: c  [b: 1, c: 48]",
        "└─ > 1.57: x12  [a: 59, b: 57]",
        "   ├─ <= 720.0: b  [a: 1, b: 53]",
        "   └─ > 720.0: x9  [a: 58, b: 4]",
        "      ├─ <= 3.4: b  [b: 4]",
        "      └─ > 3.4: a  [a: 58]",
    ]


def test_weather_with_a_missing_outlook_as_weka_prints_it(make_table):
    outlook = [None if day == 5 else value for day, value in enumerate(WEATHER["outlook"])]
    table = make_table(**WEATHER | {"outlook": outlook})
    tree = C45(missing="weight").grow(table, ["outlook", "temperature", "humidity", "windy"], "play")
    assert to_text(tree).splitlines()[1:] == [
        "├─ = overcast: yes  [yes: 3.23]",
        "├─ = rainy: windy  [no: 2, yes: 3.38]",
        "│  ├─ = F: yes  [yes: 3.38]",
        "│  └─ = T: no  [no: 2]",
        "└─ = sunny: humidity  [no: 3, yes: 2.38]",
        "   ├─ <= 75: yes  [yes: 2]",
        "   └─ > 75: no  [no: 3, yes: 0.38]",
    ]


def test_id3_takes_the_attribute_with_many_values_c45_does_not(make_table):
    table = make_table(
        number=[str(i) for i in range(8)] * 2,
        sex=["f"] * 6 + ["m"] * 2 + ["f"] * 6 + ["m"] * 2,
        ill=[YES] * 6 + [NO] * 2 + [YES] * 6 + [NO] * 2,
    )
    assert ID3().grow(table, ["number", "sex"], "ill").attributes == ("number",)
    assert C45(min_branch=1).grow(table, ["number", "sex"], "ill").attributes == ("sex",)


def test_ties_go_to_the_earlier_attribute(make_table):
    table = make_table(a=["x", "x", "y", "y"], b=[1, 1, 2, 2], ill=[NO, NO, YES, YES])
    assert C45(mdl=False).grow(table, ["a", "b"], "ill").nodes[0].attribute == "a"
    assert C45(mdl=False).grow(table, ["b", "a"], "ill").nodes[0].attribute == "b"


def test_whole_numbers_beyond_floats_are_exact(make_table):
    big = 2**62
    table = make_table(n=[big, big + 1, big, big + 1], ill=[NO, YES, NO, YES])
    tree = C45().grow(table, ["n"], "ill")
    assert predicates(tree) == [Le("n", big), Gt("n", big)]
    assert route(tree, table).tolist() == [1, 2, 1, 2]


def test_dates_are_days_and_orders_are_prefixes(make_table):
    days = [date(1970, 1, 2), date(1970, 1, 11)] * 3
    table = make_table(day=days, grade=(["mid", "high"] * 3, ("low", "mid", "high")), ill=["no", "yes"] * 3)
    assert predicates(C45().grow(table, ["day"], "ill")) == [Le("day", 1), Gt("day", 1)]
    low, high = In("grade", frozenset({"low", "mid"})), In("grade", frozenset({"high"}))
    assert predicates(C45().grow(table, ["grade"], "ill")) == [low, high]


def test_threshold_is_a_value_of_the_table_up_to_the_middle(make_table):
    table = make_table(n=[0, 0, 4, 9, 10, 10], s=["a", "a", "b", "b", "a", "a"], ill=[NO, NO, NO, YES, YES, YES])
    tree = C45(mdl=False, confidence=None).grow(table.take(np.array([0, 1, 4, 5])), ["n"], "ill")
    assert predicates(tree) == [Le("n", 0), Gt("n", 0)]  # 4 and 9 have no rows
    tree = C45(mdl=False, confidence=None, min_branch=1).grow(table, ["s", "n"], "ill")
    assert tree.nodes[0].attribute == "n"
    assert predicates(tree) == [Le("n", 4), Gt("n", 4)]


def test_missing_values_by_each_policy(make_table):
    table = make_table(n=[1, 1, 1, 2, 2, 2, None, None], ill=[NO, NO, NO, YES, YES, YES, YES, YES])
    stop = C45().grow(table, ["n"], "ill")
    assert [node.counts for node in stop.nodes] == [(3, 5), (3, 0), (0, 3)]
    branch = C45(missing="branch").grow(table, ["n"], "ill")
    assert predicates(branch) == [Le("n", 1), Gt("n", 1), Missing("n")]
    assert [node.counts for node in branch.nodes] == [(3, 5), (3, 0), (0, 3), (0, 2)]
    weight = C45(missing="weight").grow(table, ["n"], "ill")
    assert weight.fractional
    assert [node.counts for node in weight.nodes] == [(3, 5), (3, 1), (0, 4)]


def test_missing_class_is_a_class(make_table):
    tree = C45().grow(make_table(n=[1, 1, 2, 2], ill=[NO, NO, None, None]), ["n"], "ill")
    assert tree.classes == ("no", None)
    assert [node.counts for node in tree.nodes] == [(2, 2), (2, 0), (0, 2)]


def test_classes_of_any_type(make_table):
    assert C45().grow(make_table(n=[1, 2], day=[date(2020, 2, 29)] * 2), ["n"], "day").classes == ("2020-02-29",)
    assert C45().grow(make_table(n=[1, 2], y=[3, 5]), ["n"], "y").classes == (3, 5)


@pytest.mark.parametrize("policy", ["stop", "branch", "weight"])
@pytest.mark.parametrize("grower", [C45, ID3])
def test_columns_that_say_nothing_give_a_leaf(make_table, grower, policy):
    table = make_table(constant=["x"] * 4, gone=[None] * 4, same=[1] * 4, ill=[NO, YES, NO, YES], well=[YES] * 4)
    for attributes, target in ((["constant", "gone", "same"], "ill"), ([], "ill"), (["ill"], "well")):
        tree = grower(missing=policy).grow(table, attributes, target)
        assert len(tree.nodes) == 1
        assert sum(tree.nodes[0].counts) == 4


def test_one_row_and_one_column(make_table):
    tree = C45().grow(make_table(n=[1], ill=["no"]), ["n"], "ill")
    assert (tree.nodes[0].counts, tree.classes) == ((1,), ("no",))


def test_min_node_and_max_depth_stop_growth(make_table):
    table = make_table(a=[1, 2, 3, 4] * 4, b=["x", "y"] * 8, ill=[NO, YES, YES, NO] * 4)
    deep = ID3().grow(table, ["a", "b"], "ill")
    assert deep.depth > 1
    assert ID3(max_depth=1).grow(table, ["a", "b"], "ill").depth == 1
    assert ID3(max_depth=0).grow(table, ["a", "b"], "ill").depth == 0
    shallow = ID3(min_node=13).grow(table, ["a", "b"], "ill")
    assert all(node.is_leaf or node.size >= 13 for node in shallow.nodes)
    assert len(shallow.nodes) < len(deep.nodes)


def test_min_branch_holds_on_two_branches():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 50, 4000).astype(np.int32)
    flags = ((codes > 20) ^ (rng.random(4000) < 0.2)).astype(np.int32)
    table = EncodedTable.of(
        [
            EncodedColumn("n", ColumnType.INTEGER, codes, pl.Series(range(50))),
            EncodedColumn("ill", ColumnType.CATEGORICAL, flags, pl.Series(["no", "yes"])),
        ]
    )
    tree = C45(min_branch=150, confidence=None).grow(table, ["n"], "ill")
    assert len(tree.nodes) > 1
    assert min(tree.nodes[leaf].size for leaf in tree.leaves) >= 150


def test_values_without_rows_are_no_branches(make_table):
    whole = make_table(city=["A", "A", "B", "B", "C", "C"], ill=[NO, NO, YES, YES, NO, YES])
    tree = C45().grow(whole.take(np.arange(4)), ["city"], "ill")
    assert predicates(tree) == [Eq("city", "A"), Eq("city", "B")]
    assert route(tree, whole).tolist() == [1, 1, 2, 2, 0, 0]


@pytest.mark.parametrize(
    "parameters",
    [
        {"min_branch": 0},
        {"min_branch": 1.5},
        {"min_branch": True},
        {"min_node": 0},
        {"bins": 1},
        {"bins": "many"},
        {"max_depth": -1},
        {"confidence": 0},
        {"confidence": 0.6},
        {"confidence": float("nan")},
        {"confidence": None, "raising": True},
        {"missing": "guess"},
        {"min_branch": None},
    ],
)
def test_impossible_parameters_are_refused(parameters):
    with pytest.raises(ParameterError):
        C45(**parameters)


def test_columns_that_do_not_fit_are_refused(make_table):
    table = make_table(n=[1, 2], ill=[NO, YES])
    with pytest.raises(HeaderError, match="no column 'age'"):
        C45().grow(table, ["age"], "ill")
    with pytest.raises(SchemaError, match="is the class"):
        C45().grow(table, ["n", "ill"], "ill")
    with pytest.raises(SchemaError, match="twice"):
        C45().grow(table, ["n", "n"], "ill")
    with pytest.raises(InputError, match="no rows"):
        C45().grow(table.take(np.arange(0)), ["n"], "ill")


@pytest.mark.parametrize(("rows", "bound"), [(6, 0.206), (9, 0.143), (1, 0.750)])
def test_bound_without_errors_as_printed_by_quinlan(rows, bound):
    assert added_errors(rows, 0, 0.25) / rows == pytest.approx(bound, abs=5e-4)


def test_bound_between_and_beyond():
    none, one = added_errors(10, 0, 0.25), added_errors(10, 1, 0.25)
    assert added_errors(10, 0.5, 0.25) == pytest.approx((none + one) / 2)
    assert added_errors(10, 9.8, 0.25) == pytest.approx(0.2)
    assert added_errors(1, 1, 0.25) == 0
    assert estimated_errors(Node(None, (), (0, 0)), (), 0.25) == 0
    assert added_errors(100, 10, 0.1) > added_errors(100, 10, 0.25) > added_errors(100, 10, 0.5)


def test_quinlans_vote_is_replaced_by_a_leaf():
    """Quinlan 1993, figure 4.2: three leaves of 6, 9 and 1 rows promise 3.273 errors, one leaf 2.512."""
    leaves = [Node(None, (), counts) for counts in ((6, 0), (9, 0), (0, 1))]
    assert sum(estimated_errors(leaf, (), 0.25) for leaf in leaves) == pytest.approx(3.273, abs=2e-3)
    counts = np.array([(15, 1), *(leaf.counts for leaf in leaves)], float)
    assert not splits_to_keep(counts, np.array([-1, 0, 0, 0]), 0.25).any()


def test_a_useful_split_stays_and_rows_that_rest_are_counted():
    branches = (Branch(Le("n", 0), 1), Branch(Gt("n", 0), 2))
    good = (Node("n", branches, (50, 50)), Node(None, (), (50, 0)), Node(None, (), (0, 50)))
    counts = np.array([node.counts for node in good], float)
    assert splits_to_keep(counts, np.array([-1, 0, 0]), 0.25).tolist() == [True, False, False]
    resting = Node("n", branches, (100, 52))
    children = (Node(None, (), (1, 0)), Node(None, (), (0, 2)))
    assert estimated_errors(resting, children, 0.25) == pytest.approx(50 + added_errors(149, 50, 0.25))
    assert estimated_errors(good[0], good[1:], 0.25) == 0


def noisy(make_table, seed, rows=60):
    rng = np.random.default_rng(seed)
    a, b, c = (rng.integers(0, 3, rows) for _ in range(3))
    ill = ((a > 0) & (b > 0)) ^ (rng.random(rows) < 0.15)
    gone = rng.random(rows) < 0.1
    return make_table(
        a=[None if skip else str(x) for x, skip in zip(a, gone, strict=True)],
        b=b.tolist(),
        c=[str(x) for x in c],
        ill=["yes" if x else "no" for x in ill],
    )


@pytest.mark.parametrize("policy", ["stop", "branch", "weight"])
def test_raising_replaces_a_node_by_its_largest_branch(make_table, policy):
    raised = 0
    for seed in range(60):
        table = noisy(make_table, seed)
        plain = C45(missing=policy).grow(table, ["a", "b", "c"], "ill")
        tree = C45(missing=policy, raising=True).grow(table, ["a", "b", "c"], "ill")
        raised += tree != plain
        if policy != "weight":
            assert recount(tree, table) == tree
        else:
            assert tree.nodes[0].size == pytest.approx(60)
    assert raised > 0
