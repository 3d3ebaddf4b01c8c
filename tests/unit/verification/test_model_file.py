"""The file of a published tree as the verification reads it: what is sound, and everything that is not."""

from __future__ import annotations

import copy
import math

import numpy as np
import polars as pl
import pytest

from incrowd.errors import PlanError
from incrowd.verification.model_file import ModelAttribute, ModelFile, ModelNode, Test, recount_spans, unsafe_nodes
from incrowd.verification.verdict import Check
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.requirements.closeness import TCloseness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from incrowd.vocabulary.schema import ColumnType

GONE = object()
MOST = 2**62
DISTINCT = {"is": "distinct l-diversity", "l": 2, "on": None}


def attribute(name, kind, domain=None, **more):
    base = {"name": name, "public": True, "type": kind, "domain": domain, "missing": False, "fill": None}
    return base | more


def branch(go, name, **condition):
    return {"go": go, "if": {"attribute": name, **condition}}


MODEL = {
    "incrowd_model": 1,
    "target": "ill",
    "classes": ["no", "yes"],
    "class_private": True,
    "attributes": [
        attribute("age", "integer"),
        attribute("pet", "categorical", ["dog", "cat", "eel"], public=False, missing=True, fill="dog"),
    ],
    "nodes": [
        {
            "label": 0,
            "attribute": "age",
            "branches": [
                branch(1, "age", **{"is": "le", "threshold": 30}),
                branch(2, "age", **{"is": "gt", "threshold": 30}),
            ],
        },
        {
            "label": 1,
            "attribute": "pet",
            "branches": [
                branch(3, "pet", **{"is": "eq", "value": "dog"}),
                branch(4, "pet", **{"is": "in", "values": ["cat", "eel"]}),
                branch(5, "pet", **{"is": "missing"}),
            ],
        },
        {"label": 0, "counts": [3, 4]},
        {"label": 1},
        {"label": 0, "counts": [0, 9]},
        {"label": 0},
    ],
    "requirement": {"k": 5, "l": None, "max_confidence": None},
    "smallest_span": 7,
    "spans": 4,
}


def changed(*changes):
    """The model with the values at some paths changed."""
    data = copy.deepcopy(MODEL)
    for path, value in changes:
        *way, last = path.split("/")
        place = data
        for step in way:
            place = place[int(step) if step.isdecimal() else step]
        if value is GONE:
            del place[last]
        else:
            place[int(last) if isinstance(place, list) else last] = value
    return data


def test_a_sound_file_is_read_as_it_is():
    model = ModelFile.of(MODEL)
    assert (model.target, model.classes, model.class_private) == ("ill", ("no", "yes"), True)
    assert dict(model.attributes) == {
        "age": ModelAttribute(True, "integer", None, False, None),
        "pet": ModelAttribute(False, "categorical", ("dog", "cat", "eel"), True, "dog"),
    }
    le, gt = Test("le", frozenset(), 30, 1), Test("gt", frozenset(), 30, 2)
    dog, rest = Test("in", frozenset({"dog"}), 0.0, 3), Test("in", frozenset({"cat", "eel"}), 0.0, 4)
    missing = Test("missing", frozenset(), 0.0, 5)
    assert model.nodes == (
        ModelNode(0, "age", (le, gt), None),
        ModelNode(1, "pet", (dog, rest, missing), None),
        ModelNode(0, None, (), (3, 4)),
        ModelNode(1, None, (), None),
        ModelNode(0, None, (), (0, 9)),
        ModelNode(0, None, (), None),
    )
    assert (model.k, model.l, model.cap, model.smallest, model.spans, model.further) == (5, None, None, 7, 4, ())
    assert model.tested == ("age", "pet")
    assert list(model.tests_of("age")) == [(0, le), (0, gt)]
    assert list(model.tests_of("pet")) == [(1, dog), (1, rest), (1, missing)]
    assert list(model.tests_of("other")) == []


@pytest.mark.parametrize(
    ("kind", "numeric"),
    [("integer", True), ("real", True), ("date", True), ("categorical", False), ("ordered", False), ("boolean", False)],
)
def test_numbers_and_dates_are_tested_by_thresholds(kind, numeric):
    added = attribute("x", kind, None if numeric else ["a"])
    data = changed(("attributes", [*MODEL["attributes"], added]))
    assert ModelFile.of(data).attributes["x"].numeric == numeric
    added["domain"] = ["a"] if numeric else None
    with pytest.raises(PlanError):
        ModelFile.of(data)


FURTHER = "requirement/further"
LEAF = [("nodes", [{"label": 0}])]
SOUND = [
    ("k", [("requirement/k", 1)], 1),
    ("k", [("requirement/k", MOST - 1)], MOST - 1),
    ("l", [("requirement/l", 1)], 1.0),
    ("l", [("requirement/l", 1.5)], 1.5),
    ("cap", [("requirement/max_confidence", 0)], 0.0),
    ("cap", [("requirement/max_confidence", 1)], 1.0),
    ("cap", [("requirement/max_confidence", 0.85)], 0.85),
    ("smallest", [("smallest_span", 0)], 0),
    ("spans", [("spans", 0)], 0),
    ("class_private", [("class_private", False)], False),
    ("classes", [("classes", [1, 2, 3]), ("nodes/2/counts", [1, 2, 3]), ("nodes/4/counts", [0, 0, 0])], (1, 2, 3)),
    ("classes", [("classes", ["no"]), *LEAF], ("no",)),
    ("nodes", LEAF, (ModelNode(0, None, (), None),)),
    ("further", [(FURTHER, [])], ()),
    ("further", [(FURTHER, [DISTINCT])], (DistinctDiversity(2),)),
    ("further", [(FURTHER, [DISTINCT | {"on": "ill"}])], (DistinctDiversity(2, "ill"),)),
]


@pytest.mark.parametrize(("name", "changes", "value"), SOUND)
def test_what_is_still_sound(name, changes, value):
    found = getattr(ModelFile.of(changed(*changes)), name)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("fill", "numeric", "sound"),
    [
        (None, True, True),
        (3, True, True),
        (3.5, True, True),
        (-MOST + 1, True, True),
        (MOST - 1, True, True),
        (MOST, True, False),
        (-MOST, True, False),
        (math.inf, True, False),
        (math.nan, True, False),
        (True, True, False),
        ("3", True, False),
        ("cat", False, True),
        (None, False, True),
        (3, False, False),
        ([], False, False),
    ],
)
def test_what_fills_a_missing_value(fill, numeric, sound):
    data = changed((f"attributes/{0 if numeric else 1}/fill", fill))
    if sound:
        assert ModelFile.of(data).attributes["age" if numeric else "pet"].fill == fill
    else:
        with pytest.raises(PlanError):
            ModelFile.of(data)


THRESHOLD = "nodes/0/branches/0/if/threshold"
REFUSED = [
    [("incrowd_model", 2)],
    [("incrowd_model", 0)],
    [("incrowd_model", GONE)],
    [("target", GONE)],
    [("classes", ["no", "no"])],
    [("classes", []), *LEAF],
    [("classes", ["no"])],
    [("classes", 3)],
    [("class_private", 1)],
    [("class_private", None)],
    [("class_private", False), ("requirement/l", 2)],
    [("class_private", False), ("requirement/max_confidence", 0.5)],
    [("class_private", False), (FURTHER, [DISTINCT])],
    [("requirement/k", 0)],
    [("requirement/k", True)],
    [("requirement/k", 5.0)],
    [("requirement/k", MOST)],
    [("requirement/k", "5")],
    [("requirement/k", GONE)],
    [("requirement", [])],
    [("requirement/l", 0.99)],
    [("requirement/l", math.inf)],
    [("requirement/l", math.nan)],
    [("requirement/l", True)],
    [("requirement/l", "2")],
    [("requirement/l", GONE)],
    [("requirement/max_confidence", 1.01)],
    [("requirement/max_confidence", -0.01)],
    [("requirement/max_confidence", GONE)],
    [("smallest_span", -1)],
    [("smallest_span", None)],
    [("spans", -1)],
    [("spans", GONE)],
    [(FURTHER, [DISTINCT | {"on": "pet"}])],
    [(FURTHER, [{"is": "k-map", "k": 3}])],
    [(FURTHER, [{"is": "nothing"}])],
    [(FURTHER, 3)],
    [("attributes/0/public", 1)],
    [("attributes/0/public", GONE)],
    [("attributes/0/missing", 0)],
    [("attributes/0/fill", GONE)],
    [("attributes/0/type", "text")],
    [("attributes/0/name", GONE)],
    [("attributes/1/domain", ["dog", 3])],
    [("attributes/0/name", "size")],
    [("nodes", [])],
    [("nodes", 3)],
    [("nodes/0/label", 2)],
    [("nodes/0/label", -1)],
    [("nodes/0/label", True)],
    [("nodes/0/label", GONE)],
    [("nodes/3", {"label": 0, "attribute": "pet"})],
    [("nodes/0/attribute", GONE)],
    [("nodes/0/attribute", "pet")],
    [("nodes/0/branches/0/if/attribute", "pet")],
    [("nodes/0/branches/0/if/is", "lt")],
    [("nodes/0/branches/0/if", {"attribute": "age", "is": "eq", "value": "30"})],
    [("nodes/0/branches/0/if", {"attribute": "age", "is": "in", "values": ["30"]})],
    [("nodes/1/branches/0/if", {"attribute": "pet", "is": "le", "threshold": 3})],
    [("nodes/1/branches/0/if/value", 3)],
    [("nodes/1/branches/0/if/value", GONE)],
    [("nodes/1/branches/1/if/values", [3])],
    [("nodes/1/branches/1/if/values", 3)],
    [(THRESHOLD, "30")],
    [(THRESHOLD, True)],
    [(THRESHOLD, math.inf)],
    [(THRESHOLD, MOST)],
    [(THRESHOLD, GONE)],
    [("nodes/0/branches/0/go", 0)],
    [("nodes/0/branches/0/go", 2)],
    [("nodes/0/branches/0/go", 6)],
    [("nodes/0/branches/0/go", -1)],
    [("nodes/0/branches/0/go", 1.0)],
    [("nodes/0/branches/0/go", GONE)],
    [("nodes/0/branches/0/go", 3), ("nodes/1/branches/0/go", 1)],  # its own child
    [("nodes/0/counts", [1, 1])],
    [("nodes/2/counts", [1])],
    [("nodes/2/counts", [1, 2, 3])],
    [("nodes/2/counts", [1, -1])],
    [("nodes/2/counts", [1, 1.0])],
    [("nodes/2/counts", None)],
    [("nodes", [*MODEL["nodes"], {"label": 0}])],  # a node without a parent
]


@pytest.mark.parametrize("changes", REFUSED)
def test_what_is_malformed_is_refused(changes):
    with pytest.raises(PlanError, match="a part is gone or malformed"):
        ModelFile.of(changed(*changes))


def test_a_child_comes_after_its_parent():
    missing = [{"attribute": "age", "is": "missing"}]
    nodes = [
        {"label": 0, "attribute": "age", "branches": [{"go": 2, "if": missing[0]}]},
        {"label": 0},
        {"label": 0, "attribute": "age", "branches": [{"go": 1, "if": missing[0]}]},
    ]
    with pytest.raises(PlanError):
        ModelFile.of(changed(("nodes", nodes)))
    nodes[0]["branches"][0]["go"], nodes[1], nodes[2] = 1, nodes[2], nodes[1]
    nodes[1]["branches"][0]["go"] = 2
    assert ModelFile.of(changed(("nodes", nodes))).tested == ("age",)


@pytest.mark.parametrize("data", [None, [], {}, "model", 3])
def test_what_is_no_model_at_all(data):
    with pytest.raises(PlanError):
        ModelFile.of(data)


def table(kind, cells):
    values = sorted(set(cells))
    codes = np.array([values.index(cell) for cell in cells], np.int32)
    return EncodedTable.of([EncodedColumn("ill", kind, codes, pl.Series(values))])


def with_further(*parts):
    return ModelFile.of(changed((FURTHER, [part.to_json() for part in parts])))


CATEGORICAL, ORDERED, INTEGER = ColumnType.CATEGORICAL, ColumnType.ORDERED, ColumnType.INTEGER


def test_without_further_requirements_nothing_is_recounted():
    people = table(CATEGORICAL, ["no", "yes"])
    assert recount_spans(ModelFile.of(MODEL), people, np.array([1, 1])) == ()
    assert unsafe_nodes(ModelFile.of(MODEL), people, np.zeros(2, np.int64)) == set()


def test_the_classes_of_every_span_are_recounted():
    people = table(CATEGORICAL, ["no", "yes", "no", "no", "yes"])
    model = with_further(DistinctDiversity(2), DistinctDiversity(3))
    found = "fewest values in one of 2 classes: 2"
    assert recount_spans(model, people, np.array([1, 1, 9, 1, 9])) == (
        Check("distinct 2-diversity of the class", True, found),
        Check("distinct 3-diversity of the class", False, f"{found}; 2 classes break it"),
    )
    assert not recount_spans(model, people, np.array([1, 9, 1, 1, 9]))[0].passed


@pytest.mark.parametrize(("kind", "distance"), [(CATEGORICAL, "0.5000"), (INTEGER, "0.2500"), (ORDERED, "0.2500")])
def test_the_order_of_the_classes_counts_where_there_is_one(kind, distance):
    cells = [1, 2, 3, 2] if kind is INTEGER else ["a", "b", "c", "b"]
    (check,) = recount_spans(with_further(TCloseness("0.5")), table(kind, cells), np.array([1, 2, 1, 2]))
    assert check == Check("0.5-closeness of the class", True, f"largest distance of 2 classes: {distance}")


@pytest.mark.parametrize(
    ("resting", "unsafe"),
    [
        ({2: [3, 4], 3: [1, 1]}, set()),
        ({2: [3, 0], 3: [1, 1], 5: [0, 2]}, {2, 5}),
        ({0: [0, 1], 1: [1, 1], 4: [2, 2]}, {0}),  # rows that no test of a node takes rest there
        ({1: [0, 5], 3: [1, 0], 4: [2, 1]}, {1, 3}),
    ],
)
def test_nodes_whose_own_rows_break_a_requirement_are_unsafe(resting, unsafe):
    rows = [(node, word) for node, (no, yes) in resting.items() for word in [*["no"] * no, *["yes"] * yes]]
    people, at = table(CATEGORICAL, [word for _, word in rows]), np.array([node for node, _ in rows], np.int64)
    assert unsafe_nodes(with_further(DistinctDiversity(2)), people, at) == unsafe
    assert unsafe_nodes(with_further(DistinctDiversity(1), DistinctDiversity(2)), people, at) == unsafe
    everybody = np.arange(len(rows), dtype=np.int64)
    assert unsafe_nodes(with_further(DistinctDiversity(2)), people, at, everybody) == unsafe
    assert unsafe_nodes(with_further(DistinctDiversity(2)), people, at, 0 * everybody) == set(resting)
