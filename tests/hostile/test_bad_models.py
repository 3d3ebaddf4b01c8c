"""Models that were tampered with, and tables that cannot have one: refused or failed, never passed, never quoted."""

import copy
import json

import numpy as np
import polars as pl
import pytest

from incrowd.errors import (
    IncrowdError,
    OutputError,
    ParameterError,
    PlanError,
    RequirementError,
    ValuesError,
    VerificationError,
)
from incrowd.models.pipeline import publish_model, verify_model
from incrowd.models.published_tree import PublishedTree
from incrowd.verification.spans import verify_spans

SECRET = "xyzzy"


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(11)
    rows = 600
    age, pet = rng.integers(18, 80, rows), rng.choice(["dog", "cat", SECRET], rows)
    job = rng.choice(["nurse", "smith"], rows)
    ill = np.where((age > 50).astype(int) + (pet == "dog") + (job == "nurse") + rng.random(rows) > 1.9, "y", "n")
    return pl.DataFrame({"age": age, "job": job, "pet": pet, "ill": ill})


@pytest.fixture(scope="module")
def written(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    people.write_csv(folder / "people.csv")
    publish_model(people, target="ill", public=["age", "job"], private=["pet"], k=25, to=folder / "tree.json")
    return folder


def judge(written, data):
    """Whether the recount accepts it; anything that is refused is not accepted, and quotes no value."""
    file = written / "tampered.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    try:
        passed, said = (verdict := verify_model(file, written / "people.csv")).passed, str(verdict)
    except IncrowdError as error:
        passed, said = False, str(error)
    assert SECRET not in said
    return passed


@pytest.fixture
def model(written):
    return json.loads((written / "tree.json").read_text(encoding="utf-8"))


def test_the_untouched_model_passes(written, model):
    assert judge(written, model)


def thresholds(model):
    return [way["if"] for node in model["nodes"] for way in node.get("branches", []) if "threshold" in way["if"]]


def change_count(model):
    next(node for node in model["nodes"] if "counts" in node)["counts"][0] += 1


def change_threshold(model):
    moved = thresholds(model)[0]["threshold"]
    for test in thresholds(model):
        if test["threshold"] == moved:
            test["threshold"] = 60


def gap_between_thresholds(model):
    next(test for test in thresholds(model) if test["is"] == "gt")["threshold"] += 10


def overlap_of_thresholds(model):
    next(test for test in thresholds(model) if test["is"] == "gt")["threshold"] -= 10


def make_public(model):
    next(each for each in model["attributes"] if each["name"] == "pet")["public"] = True


def forget_a_private_value(model):
    next(each for each in model["attributes"] if each["name"] == "pet")["domain"].remove(SECRET)


def promise_more(model):
    model["requirement"]["k"] = model["smallest_span"] + 1


def promise_diversity(model):
    model["requirement"]["l"] = 1.999


def swap_labels(model):
    model["nodes"][0]["label"] = 1 - model["nodes"][0]["label"]


def claim_fewer_spans(model):
    model["spans"] -= 1


def claim_larger_spans(model):
    model["smallest_span"] += 1


def show_counts_of_an_inner_node(model):
    model["nodes"][0]["counts"] = [300, 300]


def make_the_class_public(model):
    model["class_private"] = False
    model["requirement"]["k"] = model["smallest_span"]


TAMPERING = [
    change_count,
    change_threshold,
    gap_between_thresholds,
    overlap_of_thresholds,
    make_public,
    forget_a_private_value,
    promise_more,
    promise_diversity,
    swap_labels,
    claim_fewer_spans,
    claim_larger_spans,
    show_counts_of_an_inner_node,
    make_the_class_public,
]


@pytest.mark.parametrize("tamper", TAMPERING, ids=lambda tamper: tamper.__name__)
def test_a_tampered_model_does_not_pass(written, model, tamper):
    before = copy.deepcopy(model)
    tamper(model)
    assert model != before
    assert not judge(written, model)


@pytest.mark.parametrize("key", ["target", "classes", "class_private", "attributes", "requirement", "nodes", "spans"])
def test_a_part_that_is_gone_is_refused(written, model, key):
    del model[key]
    assert not judge(written, model)
    with pytest.raises(PlanError):
        PublishedTree.from_json(model)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("nodes", 0, "label"), 7),
        (("nodes", 0, "label"), -1),
        (("nodes", 0, "label"), True),
        (("nodes", 0, "attribute"), "nowhere"),
        (("nodes", 0, "branches"), []),
        (("nodes", 0, "branches", 0, "go"), 0),
        (("nodes", 0, "branches", 0, "go"), 10**6),
        (("nodes", 0, "branches", 0, "if"), {"is": "regex", "attribute": "age"}),
        (("nodes", 0, "branches", 0, "if"), None),
        (("requirement", "k"), 0),
        (("requirement", "k"), "25"),
        (("requirement", "l"), 0.5),
        (("requirement", "max_confidence"), 2),
        (("attributes", 0, "type"), "complex"),
        (("attributes", 1, "type"), "complex"),
        (("attributes", 0, "domain"), [SECRET]),
        (("classes",), ["y", "y"]),
        (("classes",), []),
        (("nodes",), []),
        (("incrowd_model",), 2),
    ],
)
def test_malformed_parts_are_refused(written, model, where, value):
    inner = model
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    assert not judge(written, model)


@pytest.mark.parametrize("text", ["", "[]", "null", "3", '{"incrowd_model": 1}', "{" * 5000, '"' + SECRET])
def test_what_is_no_model_is_refused(written, text):
    file = written / "nonsense.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PlanError) as refused:
        verify_model(file, written / "people.csv")
    assert SECRET not in str(refused.value)


def test_too_many_completions_are_refused(written):
    with pytest.raises(ParameterError, match="Too many private completions"):
        verify_model(written / "tree.json", written / "people.csv", most_visits=3)


def test_what_cannot_be_counted_is_not_published(people, tmp_path, monkeypatch):
    def impatient(data, table, owners):
        return verify_spans(data, table, owners, most_visits=3)

    monkeypatch.setattr("incrowd.models.pipeline.verify_spans", impatient)
    with pytest.raises(ParameterError, match="Nothing is known about this model"):
        publish_model(people, target="ill", public=["age"], private=["pet"], k=25, to=tmp_path / "tree.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "lie",
    [
        lambda data: data["requirement"].update(k=2),
        lambda data: data.update(class_private=False),
        lambda data: data["attributes"][0].update(public=not data["attributes"][0]["public"]),
    ],
)
def test_a_model_that_promises_less_than_was_asked_is_not_published(people, tmp_path, monkeypatch, lie):
    """An induction that took a public attribute for a private one could not vouch for itself."""
    honest = PublishedTree.to_json

    def lying(model):
        data = honest(model)
        lie(data)
        return data

    monkeypatch.setattr(PublishedTree, "to_json", lying)
    with pytest.raises(VerificationError, match="something else than was requested"):
        publish_model(people, target="ill", public=["age", "job"], private=["pet"], k=25, to=tmp_path / "tree.json")
    assert list(tmp_path.iterdir()) == []


def test_impossible_requests_are_refused(people):
    asked = {"target": "ill", "public": ["age", "job"]}
    with pytest.raises(RequirementError, match="600 rows, fewer than k=601"):
        publish_model(people, **asked, k=601)
    with pytest.raises(RequirementError, match="most frequent class"):
        publish_model(people, **asked, k=5, max_confidence=0.2)
    with pytest.raises(ParameterError, match="k must be a whole number"):
        publish_model(people, **asked, k=0)
    rare = people.with_columns(ill=pl.when(pl.int_range(600) == 0).then(pl.lit("rare")).otherwise(pl.col("ill")))
    with pytest.raises(RequirementError, match="a public class needs k"):
        publish_model(rare, **asked, k=5, public_class=True)


def test_missing_values_are_refused_with_their_columns(people):
    holes = people.with_columns(job=pl.when(pl.int_range(600) > 6).then(pl.col("job")))
    with pytest.raises(ValuesError, match=r"'job' \(7 rows\)") as refused:
        publish_model(holes, target="ill", public=["age", "job"], k=25)
    assert SECRET not in str(refused.value)
    assert publish_model(holes, target="ill", public=["age", "job"], k=25, fill="mode").verdict.passed


def test_files_that_cannot_be_targets_are_refused_before_any_work(people, tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "elsewhere.json")
    (tmp_path / "folder.json").mkdir()
    for name in ("link.json", "folder.json", "tree.csv", "nowhere/tree.json"):
        with pytest.raises(OutputError):
            publish_model(people, target="ill", public=["age"], k=25, to=tmp_path / name)
    with pytest.raises(OutputError, match="different file names"):
        publish_model(people, target="ill", public=["age"], k=25, to=tmp_path / "a.json", plot=tmp_path / "a.json")


def test_nothing_of_a_single_person_is_in_the_file(people, tmp_path):
    """A value that only one person has is public: it must not be named, nor the number of rows."""
    names = [SECRET, *["other"] * 599]
    made = publish_model(
        people.with_columns(town=pl.Series(names)),
        target="ill",
        public=["age", "town"],
        private=["pet"],
        k=25,
        to=tmp_path / "tree.json",
        plot=tmp_path / "tree.svg",
        pmml=tmp_path / "tree.pmml",
    )
    town = next(each for each in made.model.attributes if each.name == "town")
    assert town.domain == ("other",)
    for file in tmp_path.iterdir():
        text = file.read_text(encoding="utf-8")
        assert "600" not in text.replace('"sha256"', "") or file.suffix == ".svg"
