"""A tree that may be given away: what is in it, and what comes back from its file."""

import datetime
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from incrowd.errors import OutputError, PlanError, SchemaError
from incrowd.models.published_tree import PublishedAttribute, PublishedTree, filled, read_model, write_model
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Node, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType

NONE = (0, 0)
ASKED = {"is": "k-anonymity of spans", "k": 3, "l": None, "max_confidence": None}


def column(name, kind, values, dictionary):
    return EncodedColumn(name, kind, np.array(values, np.int32), pl.Series(dictionary))


def model_of(**changes):
    nodes = (
        Node("job", (Branch(In("job", frozenset({"cook", "waiter"})), 1), Branch(Eq("job", "nurse"), 2)), NONE),
        Node("age", (Branch(Le("age", 30), 3), Branch(Gt("age", 30), 4)), NONE),
        *(Node(None, (), NONE),) * 3,
    )
    job = PublishedAttribute("job", True, ColumnType.CATEGORICAL, ("cook", "nurse", "waiter"))
    age = PublishedAttribute("age", False, ColumnType.INTEGER, fill=31)
    parts = {
        "target": "ill",
        "classes": ("no", "yes"),
        "class_private": True,
        "attributes": (job, age),
        "tree": Tree(nodes, "ill", ("no", "yes")),
        "labels": (0, 0, 1, 0, 1),
        "groups": (None, "service", None, None, None),
        "requirement": ASKED,
        "safe_counts": (None, None, (1, 4), None, None),
        "smallest_span": 5,
        "spans": 2,
    }
    return PublishedTree(**(parts | changes))


def test_prediction_stops_where_a_value_is_unknown():
    job = column("job", ColumnType.CATEGORICAL, [0, 1, 2, 3, 0, 0], ["cook", "nurse", "pilot"])
    age = column("age", ColumnType.INTEGER, [0, 0, 0, 0, 1, 2], [20, 60])
    table = EncodedTable.of([job, age])
    model = model_of()
    assert model.leaf_of(table).tolist() == [3, 2, 0, 0, 4, 4]
    assert model.predict(table).tolist() == [0, 1, 0, 0, 1, 1]
    unfilled = replace(model, attributes=(model.attributes[0], replace(model.attributes[1], fill=None)))
    assert unfilled.leaf_of(table).tolist() == [3, 2, 0, 0, 4, 1]


def test_public_and_private():
    assert (model_of().public, model_of().private) == (("job",), ("age",))


def test_json_round_trip(tmp_path):
    model = model_of()
    assert PublishedTree.from_json(json.loads(json.dumps(model.to_json()))) == model
    write_model(model, tmp_path / "tree.json")
    assert read_model(tmp_path / "tree.json") == model
    assert [path.name for path in tmp_path.iterdir()] == ["tree.json"]
    assert json.loads((tmp_path / "tree.json").read_text("utf-8"))["incrowd_model"] == 1


def test_json_has_counts_of_safe_leaves_only():
    nodes = model_of().to_json()["nodes"]
    assert [node.get("counts") for node in nodes] == [None, None, [1, 4], None, None]


@pytest.mark.parametrize(
    "changes",
    [
        {"safe_counts": (None, None, (1, 1), None, None)},
        {"safe_counts": ((1, 4), None, None, None, None)},
        {"safe_counts": (None, None, (1, 4, 1), None, None)},
        {"class_private": False},
        {"labels": (0, 0, 2, 0, 1)},
        {"labels": (0,)},
        {"target": "well"},
        {"tree": Tree((Node(None, (), (1, 2)),), "ill", ("no", "yes"))},
    ],
)
def test_parts_that_do_not_fit_or_are_not_safe(changes):
    with pytest.raises(PlanError, match="do not fit together"):
        model_of(**changes)


def test_a_test_of_an_undeclared_attribute_is_refused():
    with pytest.raises(SchemaError, match="which it may not use"):
        model_of(attributes=model_of().attributes[:1])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("target"),
        lambda data: data.update(incrowd_model=2),
        lambda data: data.update(requirement=[]),
        lambda data: data["requirement"].pop("k"),
        lambda data: data["nodes"][0].pop("attribute"),
        lambda data: data["nodes"][0].update(label=-1),
        lambda data: data["nodes"][2].update(counts=[1.5, 4]),
        lambda data: data["nodes"][0]["branches"][0].update(go=0),
        lambda data: data["nodes"][0]["branches"][0]["if"].update({"is": "like"}),
        lambda data: data["attributes"][0].update(type="colour"),
        lambda data: data.update(nodes=[]),
    ],
)
def test_spoiled_files_are_refused(spoil, tmp_path):
    data = model_of().to_json()
    spoil(data)
    (tmp_path / "tree.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(PlanError):
        read_model(tmp_path / "tree.json")


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(PlanError, match=r"no file gone\.json"):
        read_model(tmp_path / "gone.json")
    (tmp_path / "text.json").write_text("{", "utf-8")
    with pytest.raises(PlanError, match="not a model"):
        read_model(tmp_path / "text.json")
    with pytest.raises(PlanError, match="not a model"):
        PublishedTree.from_json([])


def test_where_a_model_cannot_be_written(tmp_path):
    model = model_of()
    with pytest.raises(OutputError, match=r"ends in \.json"):
        write_model(model, tmp_path / "tree.txt")
    (tmp_path / "link.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="not a plain file"):
        write_model(model, tmp_path / "link.json")
    with pytest.raises(OutputError, match="cannot be written"):
        write_model(model, tmp_path / "nowhere" / "tree.json")


def test_filling_keeps_the_order_of_the_type():
    dates = column("day", ColumnType.DATE, [0, 2, 1], [datetime.date(1970, 1, 2), datetime.date(1970, 1, 9)])
    full = filled(dates, 4)
    assert full.numbers.tolist() == [1, 4, 8]
    assert full.codes.tolist() == [0, 1, 2]
    job = column("job", ColumnType.CATEGORICAL, [0, 1], ["cook"])
    assert filled(job, "cook").codes.tolist() == [0, 0]
    assert filled(job, "nurse").dictionary.to_list() == ["cook", "nurse"]
    assert filled(job, "nurse").codes.tolist() == [0, 1]
    assert filled(job, None) is job
