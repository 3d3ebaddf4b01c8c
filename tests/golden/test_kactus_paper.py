"""The worked examples of the kACTUS paper, for both readings."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.methods.tree_suppression.kactus import release_bottom_up
from incrowd.trees.tree import Branch, Eq, Node, Tree
from incrowd.verification.class_sizes import verify_table
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.randomness import SystemRandomness

GOLDEN = json.loads(Path(__file__).with_name("kactus.json").read_text())


def tree_of(data):
    """The printed tree, its node numbers kept, and the rows at each leaf."""
    nodes, counts = {}, {}
    waiting = [data]
    while waiting:
        node = waiting.pop()
        children = node.get("children", [])
        waiting += children
        branches = tuple(Branch(Eq(node["attr"], f"v{c['id']}"), c["id"]) for c in children)
        nodes[node["id"]] = Node(node.get("attr"), branches, (0,))
        counts[node["id"]] = node.get("count", 0)
    tree = Tree(tuple(nodes[i] for i in range(len(nodes))), "class", ("any",))
    return tree, np.array([[counts[i]] for i in range(len(nodes))])


@pytest.mark.parametrize("reading", ["recommended", "literal"])
def test_figures_1_to_4(reading):
    trace = GOLDEN["figure_trace"]
    tree, counts = tree_of(trace["tree"])
    ledger, left = release_bottom_up(tree, counts, trace["k"], SystemRandomness(), reading)
    found = {r.node: [r.node, r.waiting, r.moved, r.released, r.residual] for r in ledger.trace}
    expected = trace["continuation"][reading]
    assert [found[step[0]] for step in expected["steps"]] == expected["steps"]
    assert len(found) == len(expected["steps"])
    assert left.size == expected["rows_lost"] == expected["root_residual"]
    for printed in trace["printed_iterations"]:
        _, waiting, moved, released, residual = found[printed["node"]]
        assert (waiting, moved, released, residual) == (
            printed["nui"],
            printed["moved"],
            printed["released_total"],
            printed["residual"],
        )
    assert trace["fig4_count"] == sum(trace["fig4_addends"]) == found[8][1]


def test_the_102_rows_of_node_11_show_five_attributes():
    trace = GOLDEN["figure_trace"]
    tree, counts = tree_of(trace["tree"])
    ledger, _ = release_bottom_up(tree, counts, trace["k"], SystemRandomness(), "recommended")
    bundle = next(b for b in ledger.bundles if 11 in b.pool.cells and len(b.path) == 5)
    assert bundle.pool.size == 102
    shown = ["marital-status", "education", "occupation", "workclass", "race"]
    assert [test.attribute for test in bundle.path] == shown


@pytest.mark.parametrize("reading", ["recommended", "literal"])
@pytest.mark.parametrize("case", GOLDEN["step_cases"], ids=lambda case: case["name"])
def test_single_node_cases(case, reading):
    leaves = [{"id": i + 1, "count": count} for i, count in enumerate(case["children"])]
    tree, counts = tree_of({"id": 0, "attr": "a", "children": leaves})
    ledger, _ = release_bottom_up(tree, counts, case["k"], SystemRandomness(), reading)
    record = ledger.trace[0]
    assert [record.moved, record.released, record.residual] == case[reading]


class FixedTree:
    """An inducer that gives one tree, whatever the data."""

    def __init__(self, tree):
        self.tree = tree

    def grow(self, table, attributes, target):
        return self.tree


@pytest.fixture
def colours():
    example = GOLDEN["sibling_example"]
    values = [value for value, count in example["children"] for _ in range(count)]
    labels = ["a" if i % 2 else "b" for i in range(len(values))]
    branches = tuple(Branch(Eq("A1", value), i + 1) for i, (value, _) in enumerate(example["children"]))
    leaves = tuple(Node(None, (), (0, 0)) for _ in branches)
    tree = Tree((Node("A1", branches, (0, 0)), *leaves), "class", ("a", "b"))
    return pl.DataFrame({"A1": values, "class": labels}), tree, example


def released_colours(frame, tree, method, k):
    made = incrowd.release(
        frame,
        quasi_identifiers=["A1"],
        target="class",
        k=k,
        method=method,
        parameters={"inducer": FixedTree(tree)},
    )
    return {value or "?": rows for value, rows in made.table.group_by("A1").len().rows()}


def test_yellow_blue_red_base(colours):
    frame, tree, example = colours
    assert released_colours(frame, tree, "kactus", example["k"]) == example["base_release"]


def test_yellow_blue_red_merged(colours):
    frame, tree, example = colours
    assert released_colours(frame, tree, "kactus-plus", example["k"]) == example["merged_release"]


def test_fifteen_row_sample(tmp_path):
    sample = GOLDEN["sample15"]
    frame = pl.DataFrame(sample["rows"], schema=sample["columns"], orient="row")
    frame.write_csv(tmp_path / "sample.csv")
    verdict = verify_table(tmp_path / "sample.csv", FileForm("csv"), [("2-anonymity", sample["qi"], 2)])
    assert verdict.sizes.classes == sample["distinct_qi_tuples"]
    assert verdict.sizes.smallest == sample["k_of_table"]
    assert verdict.sizes.rows_below(2) == len(sample["rows_violating_2_anonymity"])
    assert not verdict.passed
    for k in (2, 3, 15):
        made = incrowd.release(frame, quasi_identifiers=sample["qi"], target="class", k=k)
        assert made.verdict.passed
        assert made.verdict.sizes.smallest >= k
        assert 15 - made.table.height < k


def test_numeric_example():
    example = GOLDEN["numeric_example"]
    ages = [*example["ages"], *[20] * 20, *[60] * 20]
    labels = ["y"] * len(example["ages"]) + ["n"] * 40
    frame = pl.DataFrame({"age": ages, "class": labels})
    made = incrowd.release(
        frame, quasi_identifiers=["age"], target="class", k=example["k"], parameters={"numeric": "mean"}
    )
    means = made.table.filter(pl.col("class") == "y")["age"].unique().to_list()
    assert means == [example["mean"]]
