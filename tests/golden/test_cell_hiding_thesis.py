"""The thesis' worked examples 2 to 10, step by step, as exact fractions."""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from incrowd.hiding.adversaries import BayesAdversary, best
from incrowd.hiding.bayes_hiders import DropP
from incrowd.hiding.evaluation import costs
from incrowd.hiding.id3 import Hid3, ID3Adversary, TreeNode
from incrowd.hiding.methods import Hybrid
from incrowd.hiding.other_rows import DecP, IncP, JointDecP, strangers
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import Chose, Showed, Status, Walked, secret_at
from incrowd.hiding.taxonomy import HIDDEN, CellTaxonomy
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.schema import Column, ColumnType, Schema

GOLDEN = json.loads((Path(__file__).parent / "cell_hiding.json").read_text(encoding="utf-8"))
EXAMPLES = GOLDEN["examples"]
BAYES = {
    "DECP": (DecP(), BayesAdversary()),
    "INCP": (IncP(), BayesAdversary()),
    "DROPP": (DropP(), BayesAdversary()),
    "DECP-G": (DecP(generalize=True), BayesAdversary("shared")),
    "INCP-G": (IncP(generalize=True), BayesAdversary("shared")),
    "DROPP-G": (DropP(generalize=True), BayesAdversary("shared")),
}


@dataclass
class Forced:
    """Draws the value the thesis drew, and lets the coin say: continue."""

    guess: int = -1

    def one_of(self, values):
        assert self.guess in values
        return self.guess

    def coin(self):
        return True


def paths(tree, above=("*",)):
    for label, below in tree.items():
        if below:
            yield from paths(below, (label, *above))
        else:
            yield (label, *above)


def hierarchy(name, key):
    return Hierarchy.from_paths(name, list(paths(GOLDEN["taxonomies"][key]["?"])))


def orders(example, table):
    """The declared order of each column's values, and its hierarchy."""
    for place, name in enumerate(table["columns"]):
        found = sorted({row[place] for row in table["rows"]} - {"?"})
        tree = None
        if example["table"] == "4.1":
            tree = hierarchy(name, "diagnosis" if name == example["class"] else "severity")
            found = list(tree.labels[1:])
        elif name == example["class"]:
            found = example["class_domain"]
        elif name in example["predictors"]:
            found = example["predictor_domain_order"]
        yield name, found, tree


def encoded(example, rows=None):
    """The example's table as the hiders see it."""
    source = GOLDEN["tables"][example["table"]]
    rows = [list(row) for row in (rows or source["rows"])]
    if "override" in example:
        change = example["override"]
        rows[change["row"] - 1][source["columns"].index(change["column"])] = change["value"]
    columns, schema = [], []
    for place, (name, order, tree) in enumerate(orders(example, source)):
        codes = np.array([order.index(row[place]) if row[place] != "?" else len(order) for row in rows], np.int32)
        columns.append(EncodedColumn(name, ColumnType.ORDERED, codes, pl.Series(order)))
        schema.append(Column(name, type=ColumnType.ORDERED, order=tuple(order), hierarchy=tree))
    return EncodedTable.of(columns), Schema(tuple(schema))


def published(example, rows=None):
    table, schema = encoded(example, rows)
    return PublishedTable(table, schema, (*example["predictors"], example["class"]))


def label(shown, name, node):
    return shown.taxonomy(name).labels[node]


def node(shown, name, text):
    return shown.taxonomy(name).labels.index(text)


def as_rows(shown):
    return [[label(shown, name, shown.node(row, name)) for name in shown.attributes] for row in range(shown.height)]


def check_model(step, shown, bayes, row, target):
    belief = bayes.belief(shown, row, target)
    named = {label(shown, target, value): value for value in belief.prior}
    assert {text: belief.prior[value] for text, value in named.items()} == exact(step["prior"])
    assert {text: belief.scores[value] for text, value in named.items()} == exact(step["score"])
    for text, likelihood in step["likelihood"].items():
        assert belief.likelihood[named[text]] == exact(likelihood)


def exact(numbers):
    return {key: Fraction(value) for key, value in numbers.items()}


FIGURES = {
    "counts": "counts",
    "count_actual": "actual",
    "count_rnbg": "guess",
    "ratios": "ratios",
    "F1": "F1",
    "F2": "F2",
    "F3": "F3",
    "rnbg_hi": "guess_high",
    "rnbg_lo": "guess_low",
    "actual_hi": "actual_high",
    "actual_lo": "actual_low",
}


def check_choice(step, chose, shown, secret):
    assert chose.level == step.get("level", 0)
    if "value" in step:
        assert chose.chosen == step["value"]
        rows = strangers(secret, node(shown, secret.attribute, step["value"]))
        assert [row + 1 for row in rows] == step["rows"]
        return
    assert chose.chosen == step["chosen"]
    assert list(chose.candidates) == step.get("candidates", list(chose.candidates))
    for theirs, ours in FIGURES.items():
        if theirs in step:
            assert dict(chose.figures[ours]) == exact(step[theirs])


@pytest.mark.parametrize("key", ["ex2", "ex3", "ex4", "ex7", "ex8", "ex9"])
def test_examples_against_naive_bayes(key):
    example = EXAMPLES[key]
    method, bayes = BAYES[example["algorithm"]]
    shown, again = published(example), published(example)
    row, target = example["row"] - 1, example["class"]
    forced = Forced(node(shown, target, example["choices"]["rnbg"]))
    secret = secret_at(shown, row, target, forced)
    assert label(shown, target, secret.actual) == example["actual"]
    assert method.hide(secret) is Status.HIDDEN

    replay = secret_at(again, row, target, forced)
    replay.raise_to(example.get("class_levels", 9))
    first, *steps = example["steps"]
    assert first["action"] == "model"
    check_model(first, again, bayes, row, target)
    assert len(steps) == len(secret.steps)
    for step, ours in zip(steps, secret.steps, strict=True):
        if isinstance(ours, Chose):
            assert step["action"] == "select"
            check_choice(step, ours, again, replay)
            continue
        assert (step.get("row"), step["attribute"]) == (ours.row + 1, ours.attribute)
        assert label(again, ours.attribute, again.node(ours.row, ours.attribute)) == step["from"]
        assert label(again, ours.attribute, ours.node) == step["to"]
        assert (str(ours.factor) if ours.factor else None) == step.get("factor")
        again.show([ours.row], ours.attribute, ours.node)
        check_model(step, again, bayes, row, target)
    check_end(example, shown)


def check_end(example, shown):
    assert as_rows(shown) == example["final_table"]["rows"]
    changes = [(change["row"] - 1, change["column"]) for change in example["changes"]]
    assert shown.touched() == sorted(changes, key=lambda cell: (cell[0], shown.attributes.index(cell[1])))
    for change in example["changes"]:
        name = change["column"]
        assert label(shown, name, shown.node(change["row"] - 1, name)) == change["to"]


def drawn(shown, tree, target):
    """A grown tree as the golden file draws it, nodes numbered breadth first."""
    made = {(): {"population": tree.population, "label": label(shown, target, tree.label), "children": {}}}
    waiting, ids = [(tree, ())], {}
    while waiting:
        at, place = waiting.pop(0)
        ids[place] = len(ids) + 1
        made[place] |= {"attribute": at.attribute, "id": ids[place]}
        for value, child in at.children:
            below = (*place, (at.attribute, value))
            made[below] = {"population": child.population, "label": label(shown, target, child.label), "children": {}}
            made[place]["children"][label(shown, at.attribute, value)] = made[below]
            waiting.append((child, below))
    return made[()], ids


def check_walk(example, shown, secret, ids):
    for step, ours in zip(example["steps"], secret.steps, strict=True):
        if isinstance(ours, Showed):
            assert step["action"] in ("hide", "generalize")
            assert (ours.attribute, label(shown, ours.attribute, ours.node)) == (step["attribute"], step["to"])
            continue
        assert isinstance(ours, Walked)
        assert (ours.action, ids[ours.place]) == (step["action"], step["node"])
        if ours.action == "children":
            assert (ids[ours.most_common], ids[ours.match]) == (step["most_common"], step["match"])
        else:
            text = step["prediction"] if ours.action == "enter" else step["value"]
            assert label(shown, example["class"], ours.label) == text
            assert step.get("result", True) is (ours.label != secret.actual) or ours.action == "enter"


def test_example_5_against_id3():
    example = EXAMPLES["ex5"]
    shown = published(example)
    secret = secret_at(shown, example["row"] - 1, example["class"], Forced())
    tree = ID3Adversary().study(shown, example["class"], 0)
    picture, ids = drawn(shown, tree, example["class"])
    assert picture == example["tree"]
    assert Hid3().hide(secret) is Status.HIDDEN
    check_walk(example, shown, secret, ids)
    check_end(example, shown)


def test_example_6_shares_groups_out():
    example = EXAMPLES["ex6"]
    tree = hierarchy("severity", "severity")
    column = EncodedColumn("severity", ColumnType.ORDERED, np.zeros(0, np.int32), pl.Series(tree.labels[1:]))
    taxonomy = CellTaxonomy.of(column, tree)
    own = np.zeros(len(taxonomy), np.int64)
    for text, count in example["own_counts"].items():
        own[taxonomy.labels.index(text)] = count
    for text, count in example["estimated"].items():
        assert taxonomy.estimate(own, taxonomy.labels.index(text)) == Fraction(count)
    for text, count in example["aggregated"].items():
        at = taxonomy.labels.index(text)
        assert own[at : taxonomy.ends[at]].sum() == Fraction(count)


class Drawn(TreeNode):
    """A tree as the golden file draws it."""

    label = HIDDEN

    def __init__(self, published, attribute, population, label, children):
        self.training = SimpleNamespace(published=published)
        self.attribute, self.population, self.label, self.children = attribute, population, label, children


def undrawn(shown, picture, target, ids, place=()):
    ids[place] = picture["id"]
    name = picture["attribute"]
    children = tuple(
        (at, undrawn(shown, below, target, ids, (*place, (name, at))))
        for text, below in picture["children"].items()
        for at in [node(shown, name, text)]
    )
    mark = node(shown, target, picture["label"]) if picture["label"] else 0
    return Drawn(shown, name, picture["population"], mark, children)


def test_example_10_on_the_reconstructed_tree():
    example = EXAMPLES["ex10"] | {"table": "4.1"}
    row = [example["tuple"][name] for name in GOLDEN["tables"]["4.1"]["columns"]]
    shown, ids = published(example, [row]), {}
    tree = undrawn(shown, example["tree"], example["class"], ids)
    secret = secret_at(shown, 0, example["class"], Forced())
    secret.raise_to(example["class_levels"])
    assert Hid3(generalize=True).hide_from(tree, secret) is Status.HIDDEN
    check_walk(example, shown, secret, ids)
    check_end(example, shown)


def test_a_lean_hid3_saves_the_useless_step_of_example_10():
    example = EXAMPLES["ex10"] | {"table": "4.1"}
    row = [example["tuple"][name] for name in GOLDEN["tables"]["4.1"]["columns"]]
    shown = published(example, [row])
    tree = undrawn(shown, example["tree"], example["class"], {})
    secret = secret_at(shown, 0, example["class"], Forced())
    secret.raise_to(example["class_levels"])
    assert Hid3(lean=True, generalize=True).hide_from(tree, secret) is Status.HIDDEN
    assert [name for _, name in shown.touched()] == ["Nausea", "Diagnosis"]


@pytest.mark.parametrize(("key", "right"), [("ex2", True), ("ex3", None)])
def test_the_caveat_an_adversary_who_ignores_hidden_cells_is_not_stopped(key, right):
    example = EXAMPLES[key]
    shown = published(example, example["final_table"]["rows"])
    scores = BayesAdversary("ignored").scores(shown, example["row"] - 1, example["class"])
    actual, guess = node(shown, "Diagnosis", "Angina Pectoris"), node(shown, "Diagnosis", "Gastritis")
    assert best(scores) == (actual if right else None)
    assert (scores[actual], scores[guess]) == {
        "ex2": (Fraction(3, 32), Fraction(1, 18)),
        "ex3": (Fraction(1, 7), Fraction(1, 7)),
    }[key]


METRICS = GOLDEN["derived"]["metrics"]


@pytest.mark.parametrize("key", list(METRICS))
def test_metrics(key):
    example = EXAMPLES[key] if key in EXAMPLES else EXAMPLES["ex2"]
    shown = published(example)
    names = ("Indigestion", "Chest Pain", "Palpitation", "Diagnosis")
    if key in EXAMPLES:
        for change in example["changes"]:
            shown.show([change["row"] - 1], change["column"], 0)
    elif key == "NRD of row 2":
        for name in names:
            shown.show([1], name, 0)
    found, golden = costs(shown, names), METRICS[key]
    assert found.direct_distance == golden["direct_distance"]
    assert found.divergence.bits == pytest.approx(golden["skld_known"], abs=1e-11)
    assert found.divergence_of_rows.bits == pytest.approx(golden["skld_mass"], abs=1e-11)
    assert found.information.ratio == pytest.approx(golden["acmi_i_less_j"], abs=1e-11)
    assert found.information_as_printed == pytest.approx(golden["acmi_as_printed"], abs=1e-11)
    assert found.information.difference == pytest.approx(golden["mean_abs_mi_change"], abs=1e-11)
    assert found.uncertainty == pytest.approx(golden["sce"], abs=1e-11)


def test_e_decp_of_two_rows():
    golden = GOLDEN["derived"]["e-DECP"]
    shown = published(EXAMPLES["ex2"])
    forced = Forced(node(shown, "Diagnosis", "Gastritis"))
    rows = [row - 1 for row in golden["targets"]]
    secrets = [secret_at(shown, row, "Diagnosis", forced) for row in rows]
    model, order, hide = golden["steps"]

    def check_scores(step):
        for secret in secrets:
            scores = BayesAdversary().scores(shown, secret.row, "Diagnosis")
            named = {label(shown, "Diagnosis", value): score for value, score in scores.items()}
            assert named == exact(step["scores"][str(secret.row + 1)])

    check_scores(model)
    impacts = JointDecP().impacts(secrets)
    found = [[i.attribute, label(shown, i.attribute, i.climb.low), i.primary, i.climb.here] for i in impacts]
    assert found == order["miv"]
    assert JointDecP().hide_all(secrets) == [Status.HIDDEN, Status.HIDDEN]
    check_scores(hide)
    changed = [(row + 1, name) for row, name in shown.touched()]
    assert changed == [(change["row"], change["column"]) for change in golden["changes"]]
    assert all(shown.node(row - 1, name) == 0 for row, name in changed)


def test_hid3_and_dropp_in_turn():
    golden, example = GOLDEN["derived"]["HID3+DROPP"], EXAMPLES["ex5"]
    shown = published(example)
    secret = secret_at(shown, example["row"] - 1, "Diagnosis", Forced())
    assert Hybrid(Hid3(), DropP()).hide(secret) is Status.HIDDEN
    scores = BayesAdversary().scores(shown, secret.row, "Diagnosis")
    assert {label(shown, "Diagnosis", value): score for value, score in scores.items()} == exact(
        golden["after_HID3_score"]
    )
    assert golden["needs_DROPP"] is False
    check_end(example, shown)
