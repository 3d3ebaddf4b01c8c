"""The certificate keeps its schema, says what was not done, and holds no cell of the table."""

from __future__ import annotations

import copy
import datetime as dt
import json
import re
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from incrowd.api import release
from incrowd.methods.catalog import METHODS
from incrowd.report.attack_facts import Earlier, EarlierRelease, attacks_of
from incrowd.report.certificate import certificate, faults, schema
from incrowd.report.facts import Facts
from incrowd.report.outcome import Release
from incrowd.report.utility_facts import AttributeLoss, Utility, utility_of
from incrowd.risk.assessment import measure_risk as measure
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.verification.joint import Figures, Joint
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.schema import Role
from support.covering import in_turn
from support.report_examples import example, sizes

DIGEST = "0f" * 32
ATTACKS = {
    "findings": [
        {"attack": "row order", "verdict": "no leak found", "words": "x", "measured": 0.01, "control": 0.0,
         "interval": [-0.1, 0.1], "goal": 0.3, "unit": "rho", "details": {"rows": 7.0}, "seconds": 0.1},
        {"attack": "skewness", "verdict": "leak", "words": "x", "measured": 0.9, "control": float("nan"),
         "interval": [0.8, 0.95], "goal": None, "unit": "distance", "details": {}, "seconds": 0.1},
        {"attack": "minimality", "verdict": "not run", "words": "The plan is not known.", "measured": None,
         "control": None, "interval": None, "goal": None, "unit": "", "details": {}, "seconds": 0.0},
    ]
}  # fmt: skip


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


def people(rows: int = 120) -> pl.DataFrame:
    """A table every cell of which can be found again in a text."""
    return pl.DataFrame(
        {
            "person": [f"canary-p{i}" for i in range(rows)],
            "age": [700_001 + 37 * (i * 7 % 60) for i in range(rows)],
            "job": [f"canary-job{i % 5}" for i in range(rows)],
            "born": [dt.date(1903, 1, 3) + dt.timedelta(days=31 * (i % 40)) for i in range(rows)],
            "secret": [f"canary-s{i % 4}" for i in range(rows)],
            "ill": [f"canary-{'yes' if i % 3 else 'no'}" for i in range(rows)],
        }
    )


ROLES = {"quasi_identifiers": ["age", "job", "born"], "target": "ill", "identifiers": ["person"]}


def issued(facts: Facts) -> dict[str, object]:
    """A certificate as it is read from its file."""
    columns = [
        {"name": column.name, "from": column.name, "role": str(column.role), "as": "value"}
        for column in facts.schema.columns
        if column.role is not Role.IDENTIFIER
    ]
    output = {"file": facts.output, "sha256": DIGEST, "form": asdict(FileForm("csv"))}
    written = {"output": output, "columns": columns, "requirement": {"is": "k-anonymity", "k": 10}}
    made = certificate(replace(facts, responsible="Data office"), **written, recipe_sha256=DIGEST, input_hmac=None)
    return json.loads(json.dumps(made, allow_nan=False))


@cache
def full() -> Facts:
    """Facts of a release of which everything was measured."""
    table = people()
    coarse = table.drop("person").with_columns(pl.lit("(-inf, inf)").alias("age"), pl.lit(None).alias("born"))
    risk = measure(table, quasi_identifiers=["age", "job", "born"], sensitive=["secret"], population=5000, after=coarse)
    losses = Utility((AttributeLoss("age", 12, 0.25, 0.3),), 100, 1234, 1.5)
    return example(
        risk=risk,
        attacks=attacks_of(ATTACKS, ATTACKS),
        utility=losses,
        class_sensitive=True,
        earlier=Earlier(
            (EarlierRelease(DIGEST, "2026-01-02", "10-anonymity", relation="partial", shared=200),),
            Joint(10, 300, 200, Figures(6, 1, 0), Figures(3, 9, None), 20),
            people=300,
            shared=200,
            vouched=({"entry": 0, "what": "other people", "by": "Ada"},),
            despite=True,
            entry=3,
            mac=DIGEST,
        ),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("method", "form"), in_turn(METHODS, ["csv", "parquet"]))
def test_the_certificate_of_every_method_keeps_the_schema_and_holds_no_cell(method, form, tmp_path):
    source, target = tmp_path / "people.csv", tmp_path / f"release.{form}"
    people().write_csv(source)
    made = release(source, k=4, method=method, sensitive=["secret"], class_sensitive=False, to=target, **ROLES)
    written = Path(f"{target}.certificate.json").read_text(encoding="utf-8")
    data = json.loads(written)
    assert data == made.certificate
    assert list(faults(data, schema())) == []
    assert values_in(people(), written) == set()
    measured = issued(measured_facts(made, source, target))
    assert measured["utility"] != "not measured"
    assert measured["risk"] != "not measured"
    assert list(faults(measured, schema())) == []
    assert values_in(people(), json.dumps(measured)) == set()


def measured_facts(made: Release, source: Path, target: Path) -> Facts:
    """The facts of a release with its losses and its risk."""
    names = ROLES["quasi_identifiers"]
    table, _ = encode(read(source), made.plan.schema, names)
    return replace(
        made.report,
        utility=utility_of(made.plan, table, made.verdict.sizes),
        risk=measure(source, quasi_identifiers=names, sensitive=["secret"], after=target),
    )


def test_requirements_beyond_k_are_recounted_in_it(tmp_path):
    source, target = tmp_path / "people.csv", tmp_path / "release.csv"
    people().write_csv(source)
    asked = "k=4, distinct-l=2 on secret, t=0.5 on secret"
    made = release(source, require=asked, method="mondrian", class_sensitive=True, to=target, **ROLES)
    data = json.loads(json.dumps(made.certificate))
    assert list(faults(data, schema())) == []
    told = {one["promise"]: one["passed"] for one in data["requirement_recounted"]}
    assert {"4-anonymity", "distinct 2-diversity of secret", "0.5-closeness of secret"} <= set(told)
    assert all(told.values())
    assert set(told) == set(made.report.promises)


def values_in(table: pl.DataFrame, text: str) -> set[str]:
    """The cells of a table that stand in a text."""
    cells = {str(value) for column in table.get_columns() for value in column.to_list()}
    return {cell for cell in cells if re.search(rf"(?<![\w.-]){re.escape(cell)}(?![\w.-])", text)}


def test_the_search_for_cells_finds_them():
    assert values_in(people(), '{"largest": 700001, "s": "canary-s0"}') == {"700001", "canary-s0"}


@pytest.mark.parametrize("described", [example, full])
def test_described_releases_keep_the_schema(described):
    assert list(faults(issued(described()), schema())) == []


def test_everything_that_was_measured_is_in_it_and_no_cell():
    data = issued(full())
    assert data["class_sensitive"] == "yes"
    assert data["responsible"] == "Data office"
    assert data["risk"]["before"]["uniques"]["in_sample"] > 0
    assert data["risk"]["after"]["uniques"]["in_sample"] == 0
    assert set(data["risk"]["after"]["wp216"]) == {"singling_out", "linkability", "inference"}
    assert len(data["risk"]["safe_harbor"]) == 18
    rows = sizes().rows
    assert data["quasi_identifier_cells"] == {"input": 2 * (rows + 4), "released": 2 * rows, "empty": 7}
    assert data["attributes"]["age"] == {"empty": 7, "interval": rows - 7}
    assert data["earlier_releases"] == {
        "entry": 3,
        "mac": DIGEST,
        "compared": [{"sha256": DIGEST, "by": "identifier", "relation": "partial", "shared": 200}],
        "people": {"table": 300, "shared": 200},
        "same_groups": False,
        "k": 10,
        "below_k": {"shared": 6, "new": 1, "left": 0},
        "smallest": {"shared": 3, "new": 9, "left": None},
        "said": [{"entry": 0, "what": "other people", "by": "Ada"}],
        "despite": True,
        "not_counted": [],
    }
    assert values_in(people(), json.dumps(data)) == set()


def test_of_the_table_itself_only_totals_are_told():
    before = issued(full())["risk"]["before"]
    assert not {"classes", "special_uniques", "edges", "table", "notices", "safe_harbor"} & set(before)


def test_what_was_not_done_is_said():
    data = issued(example())
    said = {name: data[name] for name in ("utility", "risk", "attacks", "earlier_releases", "class_sensitive")}
    assert said == {
        "utility": "not measured",
        "risk": "not measured",
        "attacks": "not run",
        "earlier_releases": "not tracked",
        "class_sensitive": "not said",
    }
    none = issued(example(earlier=Earlier(mac=DIGEST)))["earlier_releases"]
    assert (none["compared"], none["k"], none["below_k"], none["despite"]) == ([], None, None, False)


def test_an_attack_that_did_not_run_says_why_and_shows_no_number():
    found = issued(full())["attacks"]
    assert (found["leaks"], found["no_leak_found"], found["not_run"]) == (1, 1, 1)
    assert found["after"][2] == {"attack": "minimality", "verdict": "not run", "reason": "The plan is not known."}
    assert found["after"][1]["control"] is None
    assert issued(example(attacks=attacks_of(ATTACKS)))["attacks"]["before"] == "not run"


def test_what_was_asked_stands_beside_what_was_recounted():
    [found] = issued(example())["requirement_recounted"]
    assert found == {"promise": "10-anonymity", "passed": True, "found": "smallest of 300 classes: 10 rows"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("incrowd_certificate",), 1),
        (("seed",), 17),
        (("output", "sha256"), "guessable"),
        (("quasi_identifier_cells", "empty"), -1),
        (("attributes", "age", "mean"), 3),
        (("released_columns", 0, "role"), "identifier"),
        (("output", "form", "delimiter"), ",\n"),
        (("output", "form", "compression"), "rar"),
        (("signature",), {"algorithm": "none"}),
        (("class_sensitive",), True),
        (("attacks",), "low risk"),
        (("attacks", "after", 0, "verdict"), "fine"),
        (("attacks", "after", 0, "details"), {"rows": 7}),
        (("risk", "before", "classes"), {"1": 3}),
        (("verification", "class_size_histogram", 0), [10]),
        (("rows", "input"), True),
        (("earlier_releases",), []),
        (("earlier_releases", "smallest", "shared"), "enough"),
        (("earlier_releases", "mac"), "short"),
        (("earlier_releases", "compared", 0, "relation"), "same"),
        (("columns", 0, "smallest"), 17),
    ],
)
def test_the_schema_refuses(path, value):
    data = copy.deepcopy(issued(full()))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert list(faults(data, schema())) != []


@pytest.mark.parametrize("name", schema()["required"])
def test_nothing_may_be_missing(name):
    data = issued(full())
    del data[name]
    assert f"$: {name} is missing" in list(faults(data, schema()))
