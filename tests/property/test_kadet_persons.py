"""kADET where persons have several rows: spans of persons by the definition, a file that is recounted by persons."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from test_kadet import asked, possible, reached_nodes, with_split

from incrowd.errors import ParameterError, RequirementError
from incrowd.models.exports import to_table
from incrowd.models.growing import Growth
from incrowd.models.kadet import publish
from incrowd.models.pipeline import publish_model, verify_model
from incrowd.models.spans import InductionTable, SpanOwners
from incrowd.verification.spans import verify_spans
from incrowd.vocabulary.encoded_table import OwnedTable
from incrowd.vocabulary.persons import Persons
from support.kernels import compiled_kernels, plain_kernels
from support.oracle_kadet import rest
from support.oracle_persons import Row, keeps

MANY = settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
SOME = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
FURTHER = {
    "t=0.3": ("t-equal", Fraction(3, 10)),
    "distinct-l=2": ("distinct-l", 2),
    "beta=1": ("beta", 1),
    "recursive-l=2,2": None,
}


@st.composite
def owned(draw, **what):
    """A request, and whose row each is."""
    case = draw(asked(**what))
    number = st.integers(0, draw(st.integers(0, len(case.rows) - 1)))
    drawn = draw(st.lists(number, min_size=len(case.rows), max_size=len(case.rows)))
    return case, np.unique(drawn, return_inverse=True)[1].astype(np.int32)


def holds(case, owners, members, words=()):
    """Whether the persons of these rows may be a span."""
    method = case.method
    whole = [Row(owner, (), row["class"]) for owner, row in zip(owners.tolist(), case.rows, strict=True)]
    part = [whole[row] for row in members]
    words = list(words)
    if method.l is not None:
        words.append(("entropy-l", Fraction(repr(method.l))))
    if method.max_confidence is not None:
        words.append(("alpha", Fraction(repr(method.max_confidence))))
    return len({row.person for row in part}) >= method.k and all(keeps(part, whole, *word) for word in words)


def roots(case):
    """The spans of a tree without tests."""
    if case.method.class_private:
        return [list(range(len(case.rows)))]
    return [[r for r, label in enumerate(case.labels) if label == value] for value in set(case.labels)]


def induced(case, owners):
    """The outcome; without a tree if that is impossible."""
    try:
        return case.method.induce(case.table, case.schema, owners)
    except RequirementError:
        return None


@MANY
@given(owned())
def test_spans_of_persons_are_those_of_the_definition(request):
    case, owners = request
    found = induced(case, owners)
    allowed = all(holds(case, owners, root) for root in roots(case))
    assert (found is not None and found.model is not None) == allowed
    if not allowed:
        return
    brute = case.brute(found.model.tree)
    tracked = {tuple(span.rows.tolist()): span.leaves for span in found.spans}
    assert tracked == {tuple(rows): frozenset(leaf for leaf, _ in bins) for bins, rows in brute.items()}
    assert all(holds(case, owners, rows) for rows in brute.values())
    assert found.model.smallest_span == min(len(set(owners[rows].tolist())) for rows in brute.values())
    assert found.model.requirement["of"] == "persons"


@FEW
@given(owned(), st.sampled_from(["t=0.3", "distinct-l=2", "beta=1"]))
def test_requirements_on_spans_of_persons(request, word):
    case, owners = request
    assume(case.method.class_private)
    case = replace(case, method=replace(case.method, require=word))
    found = induced(case, owners)
    words = [FURTHER[word]]
    assert (found is not None and found.model is not None) == all(holds(case, owners, r, words) for r in roots(case))
    if found is None or found.model is None:
        return
    assert all(holds(case, owners, rows, words) for rows in case.brute(found.model.tree).values())
    data = json.loads(json.dumps(found.model.to_json()))
    assert verify_spans(data, case.table, owners.astype(np.int64)).passed


def grown(case, owners, steps):
    """The tree after so many candidates."""
    method, names = case.method, list(case.domains)
    attributes = [method._attribute(i, case.table[name], case.schema) for i, name in enumerate(names)]
    public = [name not in method.private for name in names]
    who = method._owners(case.table["class"], owners)
    training = InductionTable.of(attributes, public, case.table["class"], method.class_private, who)
    growth = Growth(training, method.requirement, method.score == "gain_ratio")
    for _ in range(steps):
        growth.step()
    return growth


@SOME
@given(owned(), st.integers(0, 12), st.integers(0, 2**16))
def test_a_breach_is_a_part_with_rows_of_fewer_than_k_persons(request, steps, chosen):
    case, owners = request
    case = replace(case, method=replace(case.method, l=None, max_confidence=None))
    assume(np.bincount(owners).max() > 1)
    found = induced(case, owners)
    if found is None or found.model is None:
        return
    growth = grown(case, owners, steps)
    split = np.array([node.division is not None for node in growth.nodes])
    model, _ = publish(growth, split, replace(case.method.requirement, persons=True), case.table, {})
    number = np.flatnonzero(~split)[chosen % (~split).sum()]
    leaf = reached_nodes(growth.nodes, split).index(number)
    territory = growth.nodes[number].territory
    growth.spans.survey(territory)
    for a, attribute in enumerate(growth.training.attributes):
        growth.spans.refresh(territory, a)
        for slot, division in possible(attribute):
            tree = with_split(model.tree, leaf, attribute.name, division.parts)
            broken = not all(holds(case, owners, rows) for rows in case.brute(tree).values())
            assert bool(territory.bad[growth.training.inputs.slot[a] + slot]) == broken


@MANY
@given(owned())
def test_what_is_published_of_persons_is_true_and_safe(request):
    case, owners = request
    with compiled_kernels():
        found = induced(case, owners)
    model = None if found is None else found.model
    with plain_kernels():
        again = induced(case, owners)
    assert (None if again is None else again.model) == model
    if model is None:
        return
    leaves = np.array([rest(model.tree, row) for row in case.rows])
    for leaf in model.tree.leaves:
        there = np.flatnonzero(leaves == leaf).tolist()
        counts = tuple(sum(case.rows[row]["class"] == value for row in there) for value in model.classes)
        if model.safe_counts[leaf] is not None:
            assert model.safe_counts[leaf] == counts
            parts = [there] if case.method.class_private else by_class(case, there)
            assert all(holds(case, owners, part) for part in parts)
    for attribute in model.attributes:
        column = case.schema[attribute.name]
        if attribute.public and attribute.domain is not None and column.hierarchy is None and not column.order:
            for value in attribute.domain:
                have = {o for o, row in zip(owners.tolist(), case.rows, strict=True) if row[attribute.name] == value}
                assert len(have) >= case.method.k
    assert verify_spans(json.loads(json.dumps(model.to_json())), case.table, owners.astype(np.int64)).passed
    if not case.method.l and case.method.max_confidence is None:
        table = OwnedTable(case.table.columns, case.table.height, owners)
        assert to_table(model, table).height == len(case.rows)
        with pytest.raises(ParameterError, match="whose rows"):
            to_table(model, case.table) if model.public or not case.method.class_private else refuse()


def refuse():
    raise ParameterError("whose rows")


def by_class(case, rows):
    return [[row for row in rows if case.labels[row] == value] for value in {case.labels[row] for row in rows}]


@SOME
@given(asked(), st.randoms(use_true_random=False))
def test_persons_with_one_row_each_change_only_the_words(case, random):
    owners = np.array(random.sample(range(len(case.rows)), len(case.rows)), np.int32)
    plain = case.method.induce(case.table, case.schema)
    found = case.method.induce(case.table, case.schema, owners)
    assert (plain.model is None) == (found.model is None)
    if plain.model is not None:
        assert plain.trace == found.trace
        assert plain.model == replace(found.model, requirement=plain.model.requirement)


def test_owners_count_persons_of_classes():
    from incrowd.models.induction import SpanRequirement

    labels = np.array([0, 0, 1, 1], np.int32)
    owners = SpanOwners.of(SpanRequirement(2), np.array([7, 7, 7, 8]), labels, classes=2, ordered=False)
    assert owners.of_classes(np.arange(4)).tolist() == [1, 2]
    assert owners.size(np.arange(3)) == 1
    assert owners.holds(np.arange(4), np.array([0, 0, 1, 1]), 2).tolist() == [False, True]


# --- the whole way, and planted faults --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def visits():
    """Visits of 60 persons: five of them have a hundred visits, nobody else comes from the north, and all are ill."""
    rng = np.random.default_rng(7)
    heavy = [(f"p{i % 5}", "north", 20 + i % 40, "ill") for i in range(100)]
    others = [(f"p{5 + i % 55}", str(rng.choice(["south", "west"])), int(rng.integers(20, 60))) for i in range(200)]
    rows = [*heavy, *((*row, "well" if row[2] < 40 or row[1] == "west" else "ill") for row in others)]
    return pl.DataFrame(rows, schema=["patient", "region", "age", "state"], orient="row")


def test_a_model_of_persons_has_no_span_of_a_few_persons_with_many_rows(visits, tmp_path):
    request = {"target": "state", "public": ["region", "age"], "k": 10, "prune": False}
    plain = publish_model(visits.drop("patient"), **request)
    assert any(node.attribute == "region" or node.attribute == "age" for node in plain.model.tree.nodes)
    made = publish_model(visits, person="patient", to=tmp_path / "model.json", **request)
    assert made.model.smallest_span >= 10
    assert made.verdict.passed
    assert made.verdict.sizes.persons.smallest == made.model.smallest_span
    assert made.verdict.checks[0].name == "10-anonymity of spans by persons"
    assert made.certificate["requirement_asked"]["of"] == "persons"
    assert "patient" not in (tmp_path / "model.json").read_text()
    assert verify_model(tmp_path / "model.json", visits, persons=Persons("patient")).passed
    with pytest.raises(ParameterError, match="persons"):
        verify_model(tmp_path / "model.json", visits)


def test_a_plain_model_fails_the_recount_of_persons(visits):
    """Planted: k rows of fewer persons, with a file that says persons."""
    request = {"target": "state", "public": ["region", "age"], "k": 10, "prune": False}
    data = publish_model(visits.drop("patient"), **request).model.to_json()
    data["requirement"]["of"] = "persons"
    table, owners = encoded(visits)
    failed = {check.name for check in verify_spans(data, table, owners).checks if not check.passed}
    assert "10-anonymity of spans by persons" in failed
    assert "spans as published" in failed
    assert "counts as recounted" in failed


def test_a_file_that_says_rows_is_not_one_of_persons(visits):
    made = publish_model(visits, person="patient", target="state", public=["age"], k=10)
    data = made.model.to_json()
    del data["requirement"]["of"]
    table, owners = encoded(visits)
    assert [c.name for c in verify_spans(data, table, owners).checks if not c.passed] == ["spans as published"]
    data["requirement"]["of"] = "households"
    with pytest.raises(Exception, match="malformed"):
        verify_spans(data, table, owners)


def test_a_smallest_span_in_rows_is_found(visits):
    data = publish_model(visits, person="patient", target="state", public=["age"], k=10).model.to_json()
    table, owners = encoded(visits)
    assert verify_spans(data, table, owners).passed
    data["smallest_span"] = verify_spans(data, table, owners).sizes.smallest
    assert [c.name for c in verify_spans(data, table, owners).checks if not c.passed] == ["spans as published"]


def test_counts_of_few_persons_are_found(visits):
    """Planted: a leaf that shows its counts, with rows of five persons."""
    made = publish_model(
        visits, person="patient", target="state", public=["age"], private=["region"], k=10, prune=False
    )
    data = made.model.to_json()
    table, owners = encoded(visits)
    leaves = [i for i, node in enumerate(data["nodes"]) if "branches" not in node]
    resting = made.model.leaf_of(table)
    small = [leaf for leaf in leaves if 0 < len(set(owners[resting == leaf].tolist())) < 10]
    assert small
    assert all("counts" not in data["nodes"][leaf] for leaf in small)
    codes, classes = table["state"].codes, len(data["classes"])
    data["nodes"][small[0]]["counts"] = np.bincount(codes[resting == small[0]], minlength=classes).tolist()[:classes]
    failed = [check for check in verify_spans(data, table, owners).checks if not check.passed]
    assert [check.name for check in failed] == ["counts as recounted"]


def encoded(frame):
    from incrowd.tables.reading.encode import encode
    from incrowd.tables.reading.persons import owners_of
    from incrowd.tables.reading.read import read
    from incrowd.tables.recipe import recipe_of
    from incrowd.tables.roles import settle_schema

    source = read(frame)
    recipe = recipe_of({"quasi_identifiers": ["region", "age"], "target": "state", "person": "patient"})
    schema, _ = settle_schema(source, recipe)
    table, _ = encode(source, schema, ["region", "age", "state"])
    return table, owners_of(source, Persons("patient")).codes.astype(np.int64)


def test_rows_without_a_person(visits):
    request = {"target": "state", "public": ["age"], "k": 10, "person": "patient"}
    gone = visits.with_columns(pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise("patient").alias("patient"))
    with pytest.raises(Exception, match="7 rows have no person"):
        publish_model(gone, **request)
    gone = visits.with_columns(patient=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise(pl.col("patient")))
    for missing in ("drop", "together"):
        assert publish_model(gone, missing_persons=missing, **request).verdict.passed


def test_a_recipe_names_the_person(visits, tmp_path):
    (tmp_path / "r.yaml").write_text(
        "columns:\n  patient: {role: person}\n  age: {role: quasi-identifier}\n  state: {role: target}\n"
        "k: 10\nclass_sensitive: no\nmissing_persons: drop\n"
    )
    made = publish_model(visits, recipe=tmp_path / "r.yaml")
    assert made.model.requirement["of"] == "persons"


def test_fewer_persons_than_k(visits):
    with pytest.raises(RequirementError, match="rows of 60 persons, fewer than k=61"):
        publish_model(visits, person="patient", target="state", public=["age"], k=61)


@pytest.mark.slow
def test_a_cut_that_replaces_another_is_judged_by_itself():
    """Two cuts may do the same to the rows of a node and not to all rows that spans hold: one person, three classes."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        table = pl.DataFrame(
            {
                "region": [f"r{i}" for i in rng.integers(0, 9, 25)],
                "weight": rng.choice([1.5, 3.5, 6.5, 9.5, 13.5, 18.5], 25),
                "patient": ["p"] * 25,
                "state": rng.choice(["x", "y", "z"], 25),
            }
        )
        order = [f"r{i}" for i in range(9)]
        made = publish_model(
            table.with_columns(region=pl.col("region").cast(pl.Enum(order))),
            target="state",
            public=["region"],
            private=["weight"],
            person="patient",
            k=1,
            require="t=0.3",
            prune=False,
        )
        assert made.verdict.passed
