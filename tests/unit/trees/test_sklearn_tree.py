"""scikit-learn's trees: our routing and theirs agree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from incrowd.errors import SchemaError
from incrowd.trees.routing import route
from incrowd.trees.sklearn_tree import Feature, SklearnInducer, encode, from_sklearn, recount, rounding_threshold
from incrowd.trees.tree import Eq, In, check_tree

GRADES = ("low", "mid", "high")
ESTIMATORS = [DecisionTreeClassifier(random_state=0), ExtraTreeClassifier(random_state=0)]


def mixed(make_table, seed, rows=300, gaps=0.0):
    rng = np.random.default_rng(seed)

    def holes(values):
        skip = rng.random(rows) < gaps
        return [None if gone else value for value, gone in zip(values, skip, strict=True)]

    x, n = rng.normal(size=rows), rng.integers(0, 90, rows)
    city, grade = rng.choice(list("ABCD"), rows), rng.choice(GRADES, rows)
    ill = (x > 0.3) ^ (n > 40) ^ (city == "B") ^ (grade == "mid")
    return make_table(
        x=holes(x.tolist()),
        n=holes(n.tolist()),
        city=holes(city.tolist()),
        grade=(holes(grade.tolist()), GRADES),
        ill=["yes" if each else "no" for each in ill],
    )


def partition(nodes):
    """The rows that share a node, whatever its number."""
    groups = {}
    for row, node in enumerate(np.asarray(nodes).tolist()):
        groups.setdefault(node, []).append(row)
    return sorted(groups.values())


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_inducer_routes_as_the_estimator(make_table, estimator):
    names = ["x", "n", "city", "grade"]
    table = mixed(make_table, seed=1)
    tree = SklearnInducer(estimator).grow(table, names, "ill")
    check_tree(tree, names)
    features, matrix = encode(table, names)
    assert len(features) == matrix.shape[1] == 1 + 1 + 4 + 1
    fitted = type(estimator)(random_state=0).fit(matrix, table["ill"].codes)
    assert not hasattr(estimator, "tree_")
    assert set(tree.attributes) == set(names)
    assert partition(route(tree, table)) == partition(fitted.apply(matrix))
    assert recount(tree, table) == tree
    assert len(tree.nodes) == fitted.tree_.node_count


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fitted_tree_routes_new_rows_as_the_estimator(make_table, estimator):
    names = ["x", "n", "city", "grade"]
    features, matrix = encode(mixed(make_table, seed=1), names)
    labels = mixed(make_table, seed=1)["ill"].codes
    fitted = type(estimator)(random_state=0).fit(matrix, np.array(["no", "yes"])[labels])
    tree = from_sklearn(fitted, features, "ill")
    assert tree.classes == ("no", "yes")
    assert tree.nodes[0].counts == tuple(np.bincount(labels))
    new = mixed(make_table, seed=2)
    theirs = fitted.apply(encode(new, names)[1])
    assert partition(route(tree, new)) == partition(theirs)


def test_thresholds_account_for_rounding_to_32_bits(make_table):
    rng = np.random.default_rng(5)
    base = rng.normal(size=400).astype(np.float32).astype(np.float64)
    values = np.concatenate([base, base * (1 + 1e-9), base * (1 - 1e-9), base * (1 + 6e-8)])
    labels = rng.integers(0, 2, len(values))
    fitted = DecisionTreeClassifier(random_state=0).fit(values[:, None], labels)
    tree = from_sklearn(fitted, [Feature("x")], "y")
    table = make_table(x=values.tolist())
    assert partition(route(tree, table)) == partition(fitted.apply(values[:, None]))


@pytest.mark.parametrize("start", [0, 2**24, 2**40, 2**61, -(2**61)])
def test_large_whole_numbers_are_divided_as_the_estimator_does(make_table, start):
    numbers = [start + step for step in range(0, 2**10, 3)]
    table = make_table(n=numbers, y=["no" if i % 7 < 3 else "yes" for i in range(len(numbers))])
    estimator = DecisionTreeClassifier(random_state=0)
    tree = SklearnInducer(estimator).grow(table, ["n"], "y")
    matrix = encode(table, ["n"])[1]
    fitted = DecisionTreeClassifier(random_state=0).fit(matrix, table["y"].codes)
    assert partition(route(tree, table)) == partition(fitted.apply(matrix))


@pytest.mark.parametrize("cut", [0.5, 0.1, -0.1, 1e-30, 16777217.0, 3.4e38, 0.0])
def test_rounding_threshold_is_the_largest_number_that_rounds_down(cut):
    threshold = rounding_threshold(cut)
    assert float(np.float32(threshold)) <= cut
    assert float(np.float32(np.nextafter(threshold, np.inf))) > cut


def test_rows_with_missing_values_rest_where_they_are_tested(make_table):
    names = ["x", "n", "city", "grade"]
    table = mixed(make_table, seed=3, gaps=0.2)
    tree = SklearnInducer(DecisionTreeClassifier(random_state=0)).grow(table, names, "ill")
    check_tree(tree, names)
    assert recount(tree, table) == tree
    rest = route(tree, table)
    for row, node in enumerate(rest.tolist()):
        attribute = tree.nodes[node].attribute
        gone = {name for name in names if table[name].codes[row] == table[name].missing_code}
        on_the_way = {predicate.attribute for predicate in tree.path_to(node)}
        assert not gone & on_the_way
        assert attribute is None or attribute in gone


def test_missing_values_alone_can_be_split_off(make_table):
    table = make_table(n=[1, 2] * 10 + [None] * 20, y=["no"] * 20 + ["yes"] * 20)
    tree = SklearnInducer(DecisionTreeClassifier(random_state=0)).grow(table, ["n"], "y")
    check_tree(tree, ["n"])
    assert sorted(set(route(tree, table)[20:].tolist())) == [0]


def test_one_hot_columns_fold_back(make_table):
    table = make_table(city=["A", "B", "C"] * 4, y=["no", "yes", "no"] * 4)
    tree = SklearnInducer(DecisionTreeClassifier(random_state=0)).grow(table, ["city"], "y")
    assert {branch.predicate for branch in tree.nodes[0].branches} == {
        Eq("city", "B"),
        In("city", frozenset({"A", "C"})),
    }


def test_columns_without_values_give_a_leaf(make_table):
    table = make_table(gone=[None, None], y=["no", None])
    tree = SklearnInducer(DecisionTreeClassifier()).grow(table, ["gone"], "y")
    assert (tree.classes, tree.nodes[0].counts) == (("no", None), (1, 1))


def test_class_weights_give_fractional_counts():
    fitted = DecisionTreeClassifier(class_weight={0: 0.3, 1: 1.0}).fit([[0], [0], [1]], [0, 0, 1])
    assert from_sklearn(fitted, [Feature("n")], "y").nodes[0].counts == pytest.approx((0.6, 1.0))


def test_what_is_no_single_classification_tree_is_refused(make_table):
    data, labels = [[0], [1]], [0, 1]
    for other in (
        RandomForestClassifier(n_estimators=2).fit(data, labels),
        DecisionTreeRegressor().fit(data, labels),
        DecisionTreeClassifier(),
        DecisionTreeClassifier().fit(data, [[0, 1], [1, 0]]),
    ):
        with pytest.raises(SchemaError, match="one fitted classification tree"):
            from_sklearn(other, [Feature("n")], "y")
    with pytest.raises(SchemaError, match="fitted on 1 columns"):
        from_sklearn(DecisionTreeClassifier().fit(data, labels), [], "y")
    words = [f"w{i}" for i in range(5000)]
    with pytest.raises(SchemaError, match="5000 values"):
        SklearnInducer(DecisionTreeClassifier()).grow(make_table(w=words, y=["a"] * 5000), ["w"], "y")
