"""The checker of published trees, against spans enumerated completion by completion."""

import itertools
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.errors import ParameterError, PlanError, SchemaError
from incrowd.models.pipeline import publish_model
from incrowd.verification.spans import verify_spans
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType

WORDS = ("u", "v", "w")


def attribute(name, public, numeric, missing=False, fill=None):
    domain = None if numeric else list(WORDS)
    kind = "integer" if numeric else "categorical"
    return {"name": name, "public": public, "type": kind, "domain": domain, "missing": missing, "fill": fill}


@st.composite
def attributes(draw):
    found = []
    for i in range(draw(st.integers(1, 4))):
        numeric = draw(st.booleans())
        fill = draw(st.sampled_from([None, 2 if numeric else "v"]))
        found.append(attribute(f"a{i}", draw(st.booleans()), numeric, draw(st.booleans()), fill))
    return found


@st.composite
def branches(draw, asked):
    """Tests of one attribute that do not overlap; some values may have none."""
    tests = []
    if asked["domain"] is None:
        cut = draw(st.integers(0, 4)) + draw(st.sampled_from([0, 0.5]))
        tests = [{"is": "le", "threshold": cut}, {"is": "gt", "threshold": cut}]
        tests = tests[: draw(st.integers(1, 2))]
    else:
        left = draw(st.permutations(WORDS))
        while left:
            size = draw(st.integers(1, len(left)))
            part, left = left[:size], left[size:]
            if draw(st.integers(0, 5)):
                tests.append({"is": "eq", "value": part[0]} if size == 1 else {"is": "in", "values": list(part)})
    if draw(st.booleans()) or not tests:
        tests.append({"is": "missing"})
    return [{**test, "attribute": asked["name"]} for test in tests]


@st.composite
def models(draw):
    """Trees that nobody grew: repeated tests of one attribute on a path, unreachable leaves, uncovered values."""
    known = draw(attributes())
    nodes, open_nodes = [{"label": 0}], [0]
    for _ in range(draw(st.integers(0, 7))):
        number = open_nodes.pop(draw(st.integers(0, len(open_nodes) - 1)))
        asked = draw(st.sampled_from(known))
        tests = draw(branches(asked))
        sons = range(len(nodes), len(nodes) + len(tests))
        ways = [{"if": test, "go": son} for test, son in zip(tests, sons, strict=True)]
        nodes[number] = {"label": 0, "attribute": asked["name"], "branches": ways}
        nodes += [{"label": 0} for _ in tests]
        open_nodes += sons
        if not open_nodes:
            break
    return {
        "incrowd_model": 1,
        "target": "class",
        "classes": ["x", "y"],
        "class_private": draw(st.booleans()),
        "attributes": known,
        "requirement": {"is": "k-anonymity of spans", "k": 2, "l": None, "max_confidence": None},
        "smallest_span": 1,
        "spans": 1,
        "nodes": nodes,
    }


@st.composite
def cases(draw):
    model = draw(models())
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        row = {"class": draw(st.sampled_from(["x", "y"]))}
        for asked in model["attributes"]:
            values = [None, *(range(6) if asked["domain"] is None else WORDS)]
            row[asked["name"]] = draw(st.sampled_from(values))
        rows.append(row)
    return model, rows


def encoded(rows, model):
    types = {each["name"]: ColumnType(each["type"]) for each in model["attributes"]}
    columns = []
    for name in rows[0]:
        values = [row[name] for row in rows]
        known = sorted({value for value in values if value is not None})
        kind = types.get(name, ColumnType.CATEGORICAL)
        codes = np.array([len(known) if value is None else known.index(value) for value in values], np.int32)
        dictionary = pl.Series(known, dtype=pl.Int64 if kind.is_numeric else pl.String)
        columns.append(EncodedColumn(name, kind, codes, dictionary))
    return EncodedTable.of(columns)


def passes(test, value):
    match test["is"]:
        case "missing":
            return value is None
        case "eq":
            return value == test["value"]
        case "in":
            return value in test["values"]
        case "le":
            return value is not None and value <= test["threshold"]
        case "gt":
            return value is not None and value > test["threshold"]
    raise AssertionError


def rests(model, row):
    """Where one row rests."""
    number = 0
    while True:
        node = model["nodes"][number]
        going = [way["go"] for way in node.get("branches", []) if passes(way["if"], row[node["attribute"]])]
        if not going:
            return number
        (number,) = going


def brute_spans(model, rows):
    """The definition: every private completion of every row, one by one."""
    private = [each for each in model["attributes"] if not each["public"]]
    domains = [[*(WORDS if each["domain"] else range(-1, 9)), *([None] if each["missing"] else [])] for each in private]
    spans = {}
    for row in rows:
        filled = {each["name"]: each["fill"] for each in model["attributes"]}
        row = {name: filled.get(name) if value is None else value for name, value in row.items()}
        reached = frozenset(
            rests(model, {**row, **dict(zip([each["name"] for each in private], chosen, strict=True))})
            for chosen in itertools.product(*domains)
        )
        key = reached if model["class_private"] else (reached, row["class"])
        spans[key] = spans.get(key, 0) + 1
    return sorted(spans.values())


@settings(max_examples=400, deadline=None)
@given(cases())
def test_spans_are_those_of_the_definition(case):
    model, rows = case
    sizes = verify_spans(model, encoded(rows, model)).sizes
    found = sorted(size for size, spans in sizes.histogram for _ in range(spans))
    assert found == brute_spans(model, rows)
    assert (sizes.rows, sizes.smallest, sizes.classes) == (len(rows), found[0], len(found))


@settings(max_examples=150, deadline=None)
@given(cases())
def test_labels_counts_and_domains_are_recounted(case):
    model, rows = case
    filled = {each["name"]: each["fill"] for each in model["attributes"]}
    full = [{n: filled.get(n) if v is None else v for n, v in row.items()} for row in rows]
    at_rest = [rests(model, row) for row in full]
    leaves = [i for i, node in enumerate(model["nodes"]) if "branches" not in node]
    for leaf in leaves:
        counts = [sum(r == leaf and row["class"] == c for r, row in zip(at_rest, full, strict=True)) for c in "xy"]
        if (sum(counts) if model["class_private"] else min((c for c in counts if c), default=0)) >= 2:
            model["nodes"][leaf]["counts"] = counts
    checks = {check.name: check for check in verify_spans(model, encoded(rows, model)).checks}
    assert checks["counts as recounted"].passed
    outside = any(
        row[each["name"]] is None and not each["missing"]
        for row in full
        for each in model["attributes"]
        if not each["public"] and any(node.get("attribute") == each["name"] for node in model["nodes"])
    )
    assert checks["private domains"].passed == (not outside)
    shown = [leaf for leaf in leaves if "counts" in model["nodes"][leaf]]
    if shown:
        model["nodes"][shown[0]]["counts"][0] += 1
        checks = {check.name: check for check in verify_spans(model, encoded(rows, model)).checks}
        assert not checks["counts as recounted"].passed
        assert "1 of them not as recounted" in checks["counts as recounted"].finding


MORTGAGE = pl.DataFrame(
    {
        "married": ["n", "y", "y", "y", "n", "n"],
        "car": ["y", "y", "n", "n", "y", "n"],
        "risk": ["good", "good", "bad", "bad", "bad", "bad"],
    }
)


def mortgage(**changes):
    made = publish_model(
        MORTGAGE, target="risk", public=["married"], private=["car"], **{"k": 3, "score": "id3", **changes}
    )
    rows = MORTGAGE.rename({"risk": "class"}).to_dicts()
    data = json.loads(json.dumps(made.model.to_json())) | {"target": "class"}
    return data, encoded(rows, data)


def test_the_mortgage_tree():
    data, table = mortgage()
    verdict = verify_spans(data, table)
    assert verdict.passed
    assert verdict.sizes.histogram == ((3, 2),)
    assert [check.name for check in verdict.checks] == [
        "3-anonymity of spans",
        "spans as published",
        "counts as recounted",
        "labels are majorities",
        "private domains",
    ]
    data["requirement"]["k"] = 4
    failed = verify_spans(data, table)
    assert [check.passed for check in failed.checks] == [False, True, False, True, True]
    assert failed.checks[0].finding == "smallest of 2 spans: 3 rows; 6 rows are in 2 spans below 4"


def test_a_private_attribute_that_is_public_after_all():
    """The same tree, but an attacker knows the car: its leaves are spans then."""
    data, table = mortgage()
    for each in data["attributes"]:
        each["public"] = True
    assert verify_spans(data, table).sizes.histogram == ((1, 1), (2, 1), (3, 1))


@pytest.mark.parametrize(("asked", "holds"), [({"l": 1.88}, True), ({"l": 1.89}, False)])
def test_entropy_of_the_classes(asked, holds):
    data, table = mortgage()  # spans of 3: one good, two bad; 2^0.9183 = 1.8899
    data["requirement"] |= asked
    check = verify_spans(data, table).checks[1]
    assert check.name == f"entropy {asked['l']}-diversity of spans"
    assert (check.passed, check.finding) == (holds, "smallest of all: 1.8899")


@pytest.mark.parametrize(("cap", "holds"), [(0.67, True), (0.6666666666666667, True), (2 / 3, False), (0.66, False)])
def test_confidence_in_a_class(cap, holds):
    data, table = mortgage()
    data["requirement"]["max_confidence"] = cap
    check = verify_spans(data, table).checks[1]
    assert (check.passed, check.finding) == (holds, "largest share: 0.6667")


def test_counts_that_are_too_few_to_be_shown_fail_although_they_are_right():
    data, table = mortgage()
    small = next(node for node in data["nodes"] if "branches" not in node and "counts" not in node)
    small["counts"] = [0, 1]
    check = verify_spans(data, table).checks[2]
    assert not check.passed
    assert "too small or too uneven" in check.finding


def test_a_label_that_is_no_majority_fails():
    data, table = mortgage()
    data["nodes"][0]["label"] = 1 - data["nodes"][0]["label"]
    assert [check.name for check in verify_spans(data, table).checks if not check.passed] == ["labels are majorities"]


def test_too_many_visits_are_refused():
    data, table = mortgage()
    with pytest.raises(ParameterError, match="more than 5 visits"):
        verify_spans(data, table, most_visits=5)
    assert verify_spans(data, table, most_visits=9).passed


def test_large_whole_numbers_are_compared_exactly():
    big = 2**53
    model = {
        "incrowd_model": 1,
        "target": "class",
        "classes": ["x", "y"],
        "class_private": True,
        "attributes": [attribute("n", True, True)],
        "requirement": {"k": 1, "l": None, "max_confidence": None},
        "smallest_span": 1,
        "spans": 2,
        "nodes": [
            {
                "label": 0,
                "attribute": "n",
                "branches": [
                    {"if": {"is": "le", "attribute": "n", "threshold": big}, "go": 1},
                    {"if": {"is": "gt", "attribute": "n", "threshold": big}, "go": 2},
                ],
            },
            {"label": 0},
            {"label": 1},
        ],
    }
    rows = [{"n": big, "class": "x"}, {"n": big + 1, "class": "y"}]
    assert verify_spans(model, encoded(rows, model)).passed


def test_branches_that_overlap_and_tables_that_do_not_fit_are_refused():
    data, table = mortgage()
    node = next(node for node in data["nodes"] if "branches" in node)
    before = node["branches"][0]["if"]["value"]
    node["branches"][0]["if"]["value"] = node["branches"][1]["if"]["value"]
    with pytest.raises(PlanError, match="branches that overlap"):
        verify_spans(data, table)
    node["branches"][0]["if"]["value"] = before
    data["classes"] = ["bad", "other"]
    with pytest.raises(SchemaError, match="2 rows have a class"):
        verify_spans(data, table)
    with pytest.raises(SchemaError, match="no rows"):
        verify_spans(data, table.take(np.arange(0)))
