"""Requirements on a population, on the class of a model, and on the whole way from a file to its recount."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import support.oracle_requirements as oracle
from incrowd.api import release
from incrowd.errors import ParameterError, RequirementError, SchemaError, VerificationError
from incrowd.methods.catalog import METHODS
from incrowd.models.kadet import KAdet
from incrowd.models.pipeline import publish_model
from incrowd.releases.recount import verify
from incrowd.tables.hierarchies.intervals import from_edges
from incrowd.tables.options import Measuring, Outputs
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.verification.spans import verify_spans
from incrowd.vocabulary.hierarchy import Hierarchy
from support.covering import in_turn
from support.strategies import TARGET, cases

FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
SOME = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def population(rng, size):
    ages = rng.integers(20, 60, size)
    return pl.DataFrame(
        {
            "age": [None if i % 11 == 0 else int(age) for i, age in enumerate(ages)],
            "job": [None if i % 7 == 0 else f"j{rng.integers(0, 4)}" for i in range(size)],
            "ill": [f"c{i % 2}" for i in range(size)],
        }
    )


def fits(cell, value, groups):
    """Whether a person with a value may be behind a cell, read by hand."""
    if cell is None:
        return True
    if value is None:
        return False
    if isinstance(value, str):
        return value in str(cell).split("|") or value in groups.get(cell, ())
    if not str(cell).startswith("("):
        return float(cell) == value
    low, high = str(cell)[1:-1].split(", ")
    return float(low) < value <= float(high)


@pytest.mark.each(4)
@pytest.mark.parametrize("name", [name for name, entry in METHODS.items() if not entry.counts])
@FEW
@given(st.data())
def test_enough_people_fit_every_combination(name, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    size = data.draw(st.integers(12, 60))
    people = population(rng, size)
    table = people.sample(data.draw(st.integers(8, size)), seed=1)
    share = table.height / size
    asked = data.draw(st.sampled_from(["k-map", "delta-presence"]))
    low, high = round(share * data.draw(st.sampled_from([0, 0.5, 0.9])), 3), min(1, round(share * 1.3 + 0.001, 3))
    k = data.draw(st.integers(1, size))
    require = f"k=2, k-map={k}" if asked == "k-map" else f"k=2, delta-presence={low}..{high}"
    groups = {"low": ("j0", "j1"), "high": ("j2", "j3")}
    jobs = Hierarchy.from_paths("job", [[job, group, "*"] for group, jobs in groups.items() for job in jobs])
    made = release(
        table,
        quasi_identifiers=["age", "job"],
        target="ill",
        method=name,
        require=require,
        population=people.drop("ill"),
        hierarchies={"job": jobs} if METHODS[name].generalizes else None,
    )
    classes = Counter(made.table.select("age", "job").rows())
    assert min(classes.values()) >= 2
    met = set()
    for (age, job), rows in classes.items():
        fitting = [
            i
            for i, (a, j) in enumerate(people.select("age", "job").rows())
            if fits(age, a, {}) and fits(job, j, groups)
        ]
        met |= set(fitting)
        if asked == "k-map":
            assert len(fitting) >= k
        else:
            assert low - 1e-12 <= rows / len(fitting) <= high + 1e-12
    assert asked == "k-map" or not low or len(met) == size


def test_a_population_is_needed_and_must_be_large_enough():
    people = population(np.random.default_rng(1), 20)
    asked = {"quasi_identifiers": ["age", "job"], "target": "ill", "k": 2}
    with pytest.raises(ParameterError, match="needs a population"):
        release(people, **asked, require="k-map=3")
    with pytest.raises(RequirementError, match="k-map=30 is impossible: the population table has 20 rows"):
        release(people, **asked, require="k-map=30", population=people)
    with pytest.raises(RequirementError, match=r"delta-presence=0..0.5 is impossible"):
        release(people, **asked, require="delta-presence=0..0.5", population=people)
    with pytest.raises(ParameterError, match="population lacks"):
        release(people, **asked, require="k-map=3", population=people.drop("age"))
    with pytest.raises(ParameterError, match="nobody fits a mean"):
        release(people, **asked, require="k-map=3", population=people, parameters={"numeric": "mean"})


WORDS = {
    "distinct-l=2": lambda g, w: oracle.distinct(g, w, 2),
    "entropy-l=1.5": lambda g, w: oracle.entropy(g, w, oracle.Fraction(3, 2)),
    "recursive-l=2 c=2": lambda g, w: oracle.recursive(g, w, 2, 2),
    "alpha=0.75": lambda g, w: oracle.confidence(g, w, oracle.Fraction(3, 4)),
    "t=0.2": lambda g, w: oracle.equal_distance(g, w) <= oracle.Fraction(1, 5),
    "beta=0.5": lambda g, w: oracle.likeness(g, w, oracle.Fraction(1, 2)),
    "enhanced-beta=0.5": lambda g, w: oracle.enhanced(g, w, oracle.Fraction(1, 2)),
    "delta-disclosure=1": lambda g, w: oracle.disclosure(g, w, oracle.Fraction(1)),
}


@pytest.mark.slow
@SOME
@given(st.data())
def test_every_span_of_a_model_keeps_what_is_required(data):
    case = data.draw(cases(max_rows=40))
    words = data.draw(st.lists(st.sampled_from(list(WORDS)), min_size=1, max_size=2, unique=True))
    private = data.draw(st.lists(st.sampled_from(case.names), unique=True))
    method = KAdet(data.draw(st.integers(1, 8)), tuple(private), require=", ".join(words), fill="mode")
    labels = [row[TARGET] for row in case.rows]
    classes = sorted(set(labels))
    whole = [labels.count(one) for one in classes]
    possible = method.k <= len(labels) and all(WORDS[word](whole, whole) for word in words)
    try:
        found = method.induce(case.table, case.schema)
    except (RequirementError, ValueError) as error:
        assert not possible or "missing" in str(error)  # noqa: PT017, columns without any value cannot be filled
        return
    assert (found.model is not None) == possible
    for span in found.spans:
        members = [labels[row] for row in span.rows]
        counts = [members.count(one) for one in classes]
        assert all(WORDS[word](counts, whole) for word in words)
    if found.model is not None:
        assert verify_spans(json.loads(json.dumps(found.model.to_json())), case.table).passed


def test_a_model_that_does_not_keep_its_word_is_not_verified():
    people = pl.DataFrame({"age": [30, 41] * 20, "ill": (["n", "n", "n", "y"] * 10)})
    made = publish_model(people, target="ill", public=["age"], k=5, prune=False, require="t=0.6")
    assert [check.name for check in made.verdict.checks][1] == "0.6-closeness of the class"
    assert made.certificate["requirement_asked"]["further"][0]["t"] == "0.6"
    assert publish_model(people, target="ill", public=["age"], k=5, prune=False, require="t=0.1").model.spans == 1
    data = made.model.to_json()
    data["requirement"]["further"][0]["t"] = "0.1"
    source = read(people)
    table, _ = encode(source, draft_schema(source, target="ill"), ["age", "ill"])
    checks = {check.name: check.passed for check in verify_spans(data, table).checks}
    assert checks["0.1-closeness of the class"] is False
    with pytest.raises(SchemaError, match="shows nothing of a column"):
        publish_model(people, target="ill", public=["age"], k=5, require="t=0.1 on pay")
    with pytest.raises(ParameterError, match="A model shows no rows"):
        publish_model(people, target="ill", public=["age"], k=5, require="k-map=5")


def patients():
    rng = np.random.default_rng(5)
    size = 400
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, size),
            "job": rng.choice(["cook", "nurse", "smith"], size),
            "pay": rng.integers(10, 50, size) * 100,
            "diagnosis": [
                None if i % 50 == 0 else d for i, d in enumerate(rng.choice(["flu", " flu", "=hiv", "cold"], size))
            ],
            "ill": rng.choice(["y", "n"], size),
        }
    )


ROLES = {"quasi_identifiers": ["age", "job"], "target": "ill"}
ASKED = "k=6, entropy-l=1.8 on diagnosis, t=0.2 on pay, distinct-l=2"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ending"), in_turn(METHODS, ["csv", "parquet", "arff"]))
def test_the_written_file_keeps_it_and_says_so(tmp_path, name, ending):
    path = tmp_path / f"out.{ending}"
    made = release(
        patients(),
        **ROLES,
        method=name,
        require=ASKED,
        class_sensitive=True,
        to=path,
        outputs=Outputs(plan=tmp_path / "p.json"),
    )
    names = [check.name for check in made.verdict.checks if check.passed]
    for promise in made.plan.requirement.promises:
        assert promise in names
    assert made.certificate["class_sensitive"] == "yes"
    assert made.certificate["requirement_asked"].startswith("6-anonymity; entropy 1.8-diversity of diagnosis; 0.2-")
    if ending != "arff":
        again = verify(path, quasi_identifiers=["age", "job"], require="k=6, entropy-l=1.8 on diagnosis, t=0.2 on pay")
        assert again.passed, str(again)
        worse = verify(path, quasi_identifiers=["age", "job"], require="k=6, t=0 on pay")
        assert worse.passed == (made.verdict.sizes.classes == 1)


def test_a_method_that_forgets_a_requirement_is_caught(tmp_path, monkeypatch):
    from incrowd.releases import pipeline
    from incrowd.vocabulary.requirement import KAnonymity

    make = pipeline.make_method

    class Forgetful:
        def __init__(self, method):
            self.name, self.parameters, self._decide = method.name, method.parameters, method.decide

        def decide(self, population, requirement, randomness, preferences):
            return self._decide(population, KAnonymity(requirement.smallest_group), randomness, preferences)

    monkeypatch.setattr(pipeline, "make_method", lambda *asked: Forgetful(make(*asked)))
    with pytest.raises(VerificationError, match=r"0\.05-closeness of pay: largest distance"):
        release(patients(), **ROLES, method="mondrian", require="k=6, t=0.05 on pay", to=tmp_path / "out.csv")
    assert not list(tmp_path.glob("*out*"))


def test_the_class_is_not_said_to_be_sensitive():
    made = release(patients(), **ROLES, k=5)
    assert made.certificate["class_sensitive"] == "not said"
    assert "class-not-said" in [notice.code for notice in made.report.notices]
    assert release(patients(), **ROLES, k=5, class_sensitive=False).certificate["class_sensitive"] == "no"


def test_distances_by_hierarchy_and_sets_known_together():
    pay = from_edges("pay", [2000, 3000, 4000], [3000])
    made = release(patients(), **ROLES, k=6, method="tdr", require="t=0.15 on pay", hierarchies={"pay": pay})
    assert made.verdict.passed
    sets = [(["age"], 4), (["job"], 30)]
    made = release(patients(), target="ill", known_together=sets, method="tdr", require="t=0.15 on pay")
    assert [check.name for check in made.verdict.checks][1:4] == [
        "4-anonymity of age",
        "30-anonymity of job",
        "0.15-closeness of pay",
    ]


@pytest.mark.slow
def test_accuracy_is_measured_under_the_requirement():
    assert (
        release(
            patients(), **ROLES, require=ASKED, measuring=Measuring(accuracy=True), method="mondrian"
        ).report.accuracy
        is not None
    )
