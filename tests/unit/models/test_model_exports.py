"""What is made of a published tree: text, drawing, PMML, an equivalent table."""

import datetime as dt
import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import polars as pl
import pytest

from incrowd.errors import OutputError, ParameterError, RequirementError
from incrowd.models.exports import export_text, plot_tree, to_pmml, to_table
from incrowd.models.pipeline import publish_model
from incrowd.models.published_tree import PublishedAttribute, PublishedTree
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.trees.tree import Branch, Eq, In, Node, Tree
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.randomness import SeededRandomness, permutation
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

SVG = "{http://www.w3.org/2000/svg}"
PMML = "{http://www.dmg.org/PMML-4_4}"
MORTGAGE = pl.DataFrame(
    {
        "marital": ["Unmarried", "Married", "Married", "Married", "Unmarried", "Unmarried"],
        "sports car": ["Yes", "Yes", "No", "No", "Yes", "No"],
        "loan risk": ["good", "good", "bad", "bad", "bad", "bad"],
    }
)
JOBS = Hierarchy.from_paths(
    "job",
    [["nurse", "care", "*"], ["doctor", "care", "*"], ["smith", "craft", "*"], ["cook", "craft", "*"]],
)


def people(rows=900, seed=5, missing=0.0):
    rng = np.random.default_rng(seed)
    job = rng.choice(["nurse", "doctor", "smith", "cook"], rows, p=[0.5, 0.02, 0.46, 0.02])
    age = rng.integers(18, 80, rows)
    born = [dt.date(2024, 1, 1) - dt.timedelta(days=int(days)) for days in rng.integers(0, 9000, rows)]
    bmi = rng.normal(26, 4, rows).round(1)
    pet = rng.choice(["dog", "cat", 'a "big" fish', "none | at all"], rows)
    score = (age > 50).astype(int) + np.isin(job, ["nurse", "doctor"]) + (bmi > 27) + (pet == "dog")
    ill = np.where(score + rng.normal(0, 0.5, rows) > 1.7, "yes", "no")
    frame = pl.DataFrame({"age": age, "job": job, "born": born, "bmi": bmi, "pet": pet, "ill": ill})
    holes = {name: pl.Series(rng.random(rows) < missing) for name in ("age", "job", "pet")}
    return frame.with_columns(pl.when(~hole).then(pl.col(name)).alias(name) for name, hole in holes.items())


def publish(frame, **changes):
    asked = {"target": "ill", "public": ["age", "job", "born"], "private": ["bmi", "pet"], "k": 20}
    return publish_model(frame, **{**asked, "hierarchies": {"job": JOBS}, **changes}).model


CASES = {
    "private inputs": {},
    "public class": {"public_class": True},
    "all public": {"public": ["age", "job", "born", "bmi", "pet"], "private": [], "k": 30},
    "id3": {"public": ["job"], "private": ["pet"], "score": "id3"},
    "filled": {"fill": "mode"},
    "missing is a value": {"fill": "value", "public": ["job", "born"], "private": ["pet", "bmi"], "prune": False},
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    frame = people(missing=0.05 if "fill" in CASES[request.param] else 0.0)
    return frame, publish(frame, **CASES[request.param])


def encoded(frame, model):
    columns = [Column(each.name, Role.OTHER, each.type) for each in model.attributes]
    schema = Schema((*columns, Column(model.target, Role.OTHER)))
    return encode(read(frame), schema, schema.names)[0]


def mortgage(k=3):
    return publish_model(
        MORTGAGE, target="loan risk", public=["marital"], private=["sports car"], k=k, score="id3"
    ).model


def test_text_of_the_mortgage_tree():
    assert export_text(mortgage()) == (
        "sports car\n"
        "├─ = No: bad  [bad: 3]\n"
        "└─ = Yes: marital\n"
        "   ├─ = Married: good\n"
        "   └─ = Unmarried: bad\n"
        "loan risk: every span has at least 3 rows; 2 spans, the smallest of 3 rows"
    )
    assert export_text(mortgage(), max_depth=1).splitlines()[2] == "└─ = Yes: marital … 2 nodes below"
    assert "1 span, of 6 rows" in export_text(mortgage(4))


def test_groups_have_names_and_dates_are_dates():
    frame = people()
    text = export_text(publish(frame, public=["job"], private=["pet"], score="id3", k=25))
    assert "= care" in text
    assert "nurse" not in text
    frame = frame.with_columns(
        ill=pl.when(pl.col("born") > dt.date(2010, 5, 5)).then(pl.lit("yes")).otherwise(pl.lit("no"))
    )
    text = export_text(publish(frame, public=["born"], private=[]))
    assert any(f"<= {year}-" in text for year in (2009, 2010, 2011))


def test_counts_stand_where_the_model_shows_them(case):
    _, model = case
    lines = dict(zip(model.tree.preorder(), export_text(model).splitlines(), strict=False))
    for node, counts in enumerate(model.safe_counts):
        assert lines[node].endswith("]") == (counts is not None)
        if counts is not None:
            assert all(
                f"{name}: {count:,}" in lines[node] for name, count in zip(model.classes, counts, strict=True) if count
            )


def test_the_drawing_shows_every_node_and_no_hidden_count(case):
    _, model = case
    root = ElementTree.fromstring(plot_tree(model).svg)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    shown = [f"n = {sum(counts):,}" for counts in model.safe_counts if counts is not None]
    assert sorted(text for text in texts if text and text.startswith("n = ")) == sorted(shown)
    frames = [box for box in root.iter(f"{SVG}rect") if box.get("rx") == "6"]
    assert len(frames) == len(model.tree.nodes)
    dashed = sum(node.attribute in model.private for node in model.tree.nodes)
    assert len([box for box in frames if "dashed" in box.get("class").split()]) == dashed
    assert any(f"at least {model.requirement['k']} rows" in (text or "") for text in texts)
    assert any(f"{model.smallest_span:,} rows." in (text or "") for text in texts)
    width = float(root.get("width"))
    assert all(float(box.get("x") or 0) < width for box in root.iter(f"{SVG}rect"))


def test_a_drawing_may_end_early_and_takes_names_as_text():
    model = publish(people())
    short = plot_tree(model, max_depth=1).svg
    assert short.count("…") >= 1
    assert len(short) < len(plot_tree(model).svg)
    evil = pl.DataFrame({"<script>": ["a&b", "c"] * 20, "ill": ["<b>", "ok"] * 20})
    drawn = plot_tree(publish_model(evil, target="ill", public=["<script>"], k=5).model).svg
    assert "<script>" not in drawn
    assert "<b>" not in drawn
    assert "= a&b" in {note.tail for note in ElementTree.fromstring(drawn).iter(f"{SVG}title")}


# --- PMML, read by an interpreter of its own ---------------------------------------------------------------------


def truth(predicate, row):
    """True, False, or None for unknown, by the PMML standard."""
    kind = predicate.tag.removeprefix(PMML)
    if kind == "True":
        return True
    value = row[predicate.get("field")]
    if kind == "SimplePredicate" and predicate.get("operator") == "isMissing":
        return value is None
    if value is None:
        return None
    if kind == "SimpleSetPredicate":
        array = predicate.find(f"{PMML}Array")
        words = json.loads("[" + array.text.replace('" "', '", "') + "]")
        assert len(words) == int(array.get("n"))
        return value in words
    wanted = predicate.get("value")
    match predicate.get("operator"):
        case "equal":
            return value == wanted
        case "lessOrEqual":
            return value <= float(wanted)
        case "greaterThan":
            return value > float(wanted)
    raise AssertionError


def evaluate(document, row):
    """The node that gives the prediction."""
    tree = document.find(f"{PMML}TreeModel")
    assert tree.get("missingValueStrategy") == "lastPrediction"
    assert tree.get("noTrueChildStrategy") == "returnLastPrediction"
    row = dict(row)
    for field in tree.find(f"{PMML}MiningSchema"):
        if row.get(field.get("name")) is None and field.get("missingValueReplacement") is not None:
            text = field.get("missingValueReplacement")
            kinds = {one.get("name"): one.get("dataType") for one in document.find(f"{PMML}DataDictionary")}
            row[field.get("name")] = text if kinds[field.get("name")] == "string" else float(text)
    node = tree.find(f"{PMML}Node")
    assert truth(node[0], row) is True
    while True:
        for child in node.findall(f"{PMML}Node"):
            answer = truth(child[0], row)
            if answer is None:
                return node
            if answer:
                node = child
                break
        else:
            return node


def as_pmml(value):
    if isinstance(value, dt.date):
        return float((value - dt.date(1970, 1, 1)).days)
    return float(value) if isinstance(value, int) else value


def test_pmml_sends_every_row_to_the_same_node(case):
    frame, model = case
    odd = people(60, seed=9, missing=0.3)
    strange = pl.Series(["astronaut"] * 60)
    odd = odd.with_columns(job=pl.when(pl.int_range(60) % 7 == 0).then(strange).otherwise(pl.col("job")))
    rows = pl.concat([frame.head(150), odd])
    document = ElementTree.fromstring(to_pmml(model))
    names = [each.name for each in model.attributes]
    nodes = model.leaf_of(encoded(rows, model)).tolist()
    for row, node in zip(rows.select(names).rows(named=True), nodes, strict=True):
        found = evaluate(document, {name: as_pmml(value) for name, value in row.items()})
        assert int(found.get("id")) == node
        assert found.get("score") == model.classes[model.labels[node]]


def test_pmml_is_as_the_standard_orders_it_and_shows_safe_counts_only(case):
    _, model = case
    document = ElementTree.fromstring(to_pmml(model))
    assert document.get("version") == "4.4"
    assert [part.tag.removeprefix(PMML) for part in document] == ["Header", "DataDictionary", "TreeModel"]
    fields = document.find(f"{PMML}DataDictionary")
    assert {field.get("name") for field in fields} == {*model.tree.attributes, model.target}
    assert int(fields.get("numberOfFields")) == len(fields)
    assert [value.get("value") for value in fields[-1]] == list(model.classes)
    for node in document.iter(f"{PMML}Node"):
        order = [part.tag.removeprefix(PMML) for part in node]
        assert order[0] in ("True", "SimplePredicate", "SimpleSetPredicate")
        assert order[1:] == sorted(order[1:], reverse=True)  # ScoreDistribution before Node
        counts = model.safe_counts[int(node.get("id"))]
        shown = tuple(int(each.get("recordCount")) for each in node.findall(f"{PMML}ScoreDistribution"))
        assert shown == (counts or ())
        assert node.get("recordCount") == (str(sum(counts)) if counts else None)


def test_pmml_refuses_what_xml_cannot_hold():
    frame = pl.DataFrame({"job": ["a\x01", "b"] * 20, "ill": ["y", "n"] * 20})
    model = publish_model(frame, target="ill", public=["job"], k=5).model
    with pytest.raises(OutputError, match="XML cannot hold"):
        to_pmml(model)


# --- the equivalent table ----------------------------------------------------------------------------------------


def covers(cell, value):
    """Whether a released cell is true of a value."""
    if cell is None or cell == value:
        return True
    if isinstance(value, int | float) or cell.startswith("("):
        low, high = cell[1:-1].split(", ")
        if isinstance(value, dt.date):
            low, high = ("0001-01-01" if low == "-inf" else low), ("9999-01-01" if high == "inf" else high)
            return low < value.isoformat() <= high
        return float(low) < value <= float(high)
    group = [*JOBS.leaves_below(JOBS.labels.index(cell))] if cell in JOBS.labels else []
    named = {JOBS.labels[JOBS.leaves[place]] for place in group}
    return value in named | {part.replace("%7C", "|").replace("%25", "%") for part in cell.split("|")}


def test_the_table_is_k_anonymous_true_and_tells_the_leaves_apart(case):
    frame, model = case
    table = encoded(frame, model)
    order = permutation(frame.height, SeededRandomness(4))
    shown = to_table(model, table, private="untouched", randomness=SeededRandomness(4))
    assert shown.columns == [*(each.name for each in model.attributes), "ill"]
    known = [*model.public, *([] if model.class_private else ["ill"])]
    groups = shown.group_by(known).len()
    assert groups["len"].min() >= model.requirement["k"]
    assert groups.height <= model.spans
    fills = {each.name: each.fill for each in model.attributes}
    original = frame[order]
    for name in model.public:
        for cell, value in zip(shown[name].to_list(), original[name].to_list(), strict=True):
            value = fills[name] if value is None else value
            assert value is None or covers(cell, value)
    for name in (*model.private, "ill"):
        kept = original[name] if fills.get(name) is None else original[name].fill_null(fills[name])
        assert shown[name].to_list() == kept.to_list()
    leaves = pl.Series("its leaf", model.leaf_of(table)[order])
    together = shown.with_columns(leaves).group_by([*model.public, *model.private]).agg(pl.col("its leaf").n_unique())
    assert together["its leaf"].max() == 1


def test_private_attributes_show_the_way_to_the_leaf_or_nothing(case):
    frame, model = case
    table = encoded(frame, model)
    order = permutation(frame.height, SeededRandomness(4))
    shown = to_table(model, table, randomness=SeededRandomness(4))
    leaves = pl.Series("its leaf", model.leaf_of(table)[order])
    together = shown.with_columns(leaves).group_by([*model.public, *model.private]).agg(pl.col("its leaf").n_unique())
    assert together["its leaf"].max() == 1
    fills = {each.name: each.fill for each in model.attributes}
    for name in model.private:
        for cell, value in zip(shown[name].to_list(), frame[order][name].to_list(), strict=True):
            value = fills[name] if value is None else value
            assert (cell is None) if value is None else covers(cell, value)
    assert to_table(model, table, private="left out").columns == [*model.public, "ill"]


def test_the_mortgage_table():
    model = mortgage()
    shown = to_table(model, encoded(MORTGAGE, model)).sort("marital", "sports car", "loan risk")
    assert shown.rows() == [
        ("Married", "No", "bad"),
        ("Married", "No", "bad"),
        ("Married", "Yes", "good"),
        ("Unmarried", "No", "bad"),
        ("Unmarried", "Yes", "bad"),
        ("Unmarried", "Yes", "good"),
    ]


def test_the_rows_are_shuffled_and_others_are_refused():
    frame = people()
    model = publish(frame)
    table = encoded(frame, model)
    assert to_table(model, table).rows() != to_table(model, table).rows()
    with pytest.raises(RequirementError, match="rows the model was grown on"):
        to_table(model, table.take(np.arange(300)))
    with pytest.raises(ParameterError, match="private must be one of"):
        to_table(model, table, private="shown")


def test_a_set_of_values_that_is_no_group_is_written_as_a_set():
    tests = (Branch(In("colour", frozenset({"red", "a|b"})), 1), Branch(Eq("colour", "blue"), 2))
    leaf = Node(None, (), (0, 0))
    tree = Tree((Node("colour", tests, (0, 0)), leaf, leaf), "sold", ("n", "y"))
    colour = PublishedAttribute("colour", True, ColumnType.CATEGORICAL, ("blue", "red", "a|b"))
    asked = {"is": "k-anonymity of spans", "k": 2, "l": None, "max_confidence": None}
    model = PublishedTree("sold", ("n", "y"), True, (colour,), tree, (0, 0, 0), (None,) * 3, asked, (None,) * 3, 2, 2)
    frame = pl.DataFrame({"colour": ["red", "a|b", "blue", "blue"], "sold": ["n", "y", "n", "n"]})
    shown = to_table(model, encoded(frame, model))
    assert sorted(shown["colour"].to_list()) == ["blue", "blue", "red|a%7Cb", "red|a%7Cb"]
