"""The lab as a whole: what it reads, what it tells, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from incrowd.api import release
from incrowd.attacks.catalog import ATTACKS, find_attacks
from incrowd.attacks.opening import AttackRequest, open_scene
from incrowd.attacks.run import attack_release, report_page
from incrowd.cli.trust import attack
from incrowd.errors import IncrowdError, ParameterError, SchemaError
from incrowd.tables.options import Outputs, Run
from incrowd.trees.c45 import C45

app = typer.Typer()
app.command()(attack)
QUICK = ["homogeneity", "row-order", "membership by box", "tree reconstruction"]


def people(rows: int = 300, seed: int = 3) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    age, sex = generator.integers(20, 80, rows), generator.choice(["f", "m"], rows)
    ill = np.where(age + generator.normal(0, 15, rows) > 50, "yes", "no")
    canary = [f"canary{number % 7}" for number in range(rows)]
    return pl.DataFrame({"age": age, "sex": sex, "ill": ill, "diagnosis": canary})


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attacked")
    people().write_csv(folder / "people.csv")
    people(seed=4).write_csv(folder / "others.csv")
    release(
        folder / "people.csv",
        quasi_identifiers=["age", "sex"],
        target="ill",
        sensitive=["diagnosis"],
        k=5,
        method="mondrian",
        to=folder / "release.csv",
        outputs=Outputs(plan=folder / "plan.json"),
    )
    return folder


def test_the_certificate_says_roles_and_method(files: Path) -> None:
    scene = open_scene(AttackRequest(files / "release.csv", files / "people.csv"))
    assert scene.schema.quasi_identifiers == ("age", "sex")
    assert scene.sensitive == ("diagnosis",)
    assert scene.promised.k == 5
    assert scene.again is not None
    assert scene.again.method == "mondrian"


@pytest.mark.slow
def test_every_attack_answers(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incrowd.attacks.minimality.ROWS", 4)  # 330 small tables instead of 1,716
    told: list[str] = []
    found = attack_release(files / "release.csv", files / "people.csv", seed=1, progress=told.append)
    assert [one.attack for one in found.findings] == list(ATTACKS)
    gone = {one.attack for one in found.findings if one.verdict == "not run"}
    of_persons = {name for name, one in ATTACKS.items() if "whose row it is" in one.needs}
    needing = {"mean of a group", "tree reconstruction", "suppression pattern", "reconstruction from counts"}
    assert gone == needing | {"decoded rows"} | of_persons
    assert "Fewer than 20 people" in found["decoded rows"].words
    assert {found[name].words for name in of_persons} == {
        "Every row is a person here: no column was named that says whose row it is."
    }
    assert len(told) == len(ATTACKS) + 1
    for one in found.findings:
        if one.attack not in gone:
            assert one.interval is not None
            assert one.control is not None
            assert one.measured is not None
            assert np.isfinite([one.measured, one.control, *one.interval, *one.details.values()]).all()
    assert "canary" not in json.dumps(found.to_json()) + report_page(found, "release.csv") + str(found)


def test_without_certificate_and_plan_what_releases_again_does_not_run() -> None:
    table = people()
    made = release(table, quasi_identifiers=["age", "sex"], target="ill", k=5, method="mondrian")
    found = attack_release(made.table, table, quasi_identifiers=["age", "sex"], target="ill", only=QUICK)
    assert found["membership by box"].verdict == "not run"
    assert "plan" in found["membership by box"].words
    assert found["homogeneity"].verdict != "not run"
    assert "says nothing about the risk" in found.summary


def test_a_release_object_brings_its_plan_along() -> None:
    table = people()
    made = release(table, quasi_identifiers=["age", "sex"], target="ill", k=5, method="mondrian")
    found = attack_release(made, table, only=QUICK)
    assert found["membership by box"].verdict != "not run"


def test_control_rows_take_the_place_of_a_half(files: Path) -> None:
    control = files / "others.csv"
    found = attack_release(files / "release.csv", files / "people.csv", control=control, only=["membership by box"])
    assert "control rows supplied with it" in found["membership by box"].words


def test_the_plan_says_it_all(files: Path) -> None:
    scene = open_scene(
        AttackRequest(files / "release.csv", files / "people.csv", plan=files / "plan.json", certificate={})
    )
    assert scene.again is not None
    assert scene.promised.k == 5


@pytest.mark.slow
def test_seeded_releases_are_recognised() -> None:
    table = people()
    made = release(table, quasi_identifiers=["age", "sex"], target="ill", k=5, method="mondrian", run=Run(seed=42))
    assert attack_release(made, table, only=["seed re-run"])["seed re-run"].verdict == "leak"
    fair = release(table, quasi_identifiers=["age", "sex"], target="ill", k=5, method="mondrian")
    assert attack_release(fair, table, only=["seed re-run"], seed=1)["seed re-run"].measured < 0.5


def test_the_default_inducer_is_known_and_anothers_is_not() -> None:
    table, roles = people(), {"quasi_identifiers": ["age", "sex"], "target": "ill"}
    made = release(table, **roles, k=5, method="kactus")
    assert open_scene(AttackRequest(made, table)).again is not None
    own = release(table, **roles, k=5, method="kactus", parameters={"inducer": C45(min_node=9)})
    assert open_scene(AttackRequest(own, table)).again is None


def test_released_means_are_solved() -> None:
    table = people()
    made = release(table, quasi_identifiers=["age", "sex"], target="ill", k=5, parameters={"numeric": "mean"})
    found = attack_release(made, table, only=["mean of a group"])["mean of a group"]
    assert found.verdict == "leak"
    assert found.details["with 0 decimals"] < found.measured


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, SchemaError),
        ({"quasi_identifiers": ["age"], "sensitive": ["age"]}, SchemaError),
        ({"quasi_identifiers": ["height"]}, IncrowdError),
        ({"quasi_identifiers": ["age"], "only": ["rows"]}, ParameterError),
        ({"quasi_identifiers": ["age"], "model": "nowhere.json"}, IncrowdError),
    ],
)
def test_bad_requests_are_refused(given: dict, error: type[Exception]) -> None:
    with pytest.raises(error):
        attack_release(people(), people(), **given)


def test_names_are_forgiving() -> None:
    assert [one.name for one in find_attacks(["Row-Order", "definetti", "row order"])] == ["row order", "deFinetti"]
    with pytest.raises(ParameterError, match="Did you mean 'homogeneity'"):
        find_attacks(["homogenity"])


def test_every_attack_says_what_it_does_and_needs() -> None:
    for name, one in ATTACKS.items():
        assert one.name == name
        assert one.asks.endswith(".")
        assert one.needs


def test_the_command(files: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    base = [str(files / "release.csv"), "--original", str(files / "people.csv")]
    done = runner.invoke(app, [*base, "--only", "row-order", "--json"])
    assert done.exit_code in (0, 1)
    assert json.loads(done.stdout)["findings"][0]["attack"] == "row order"
    page = tmp_path / "attacks.html"
    done = runner.invoke(app, [*base, "--only", "homogeneity,tree reconstruction", "--report", str(page)])
    assert "? not run" in done.stdout
    assert "<script" not in page.read_text(encoding="utf-8")
    assert runner.invoke(app, [*base, "--only", "tree-reconstruction"]).exit_code == 2


def test_the_command_lists_and_refuses() -> None:
    runner = CliRunner()
    told = runner.invoke(app, ["--list"])
    assert told.exit_code == 0
    assert all(name in told.stdout for name in ATTACKS)
    assert len(json.loads(runner.invoke(app, ["--list", "--json"]).stdout)) == len(ATTACKS)
    assert isinstance(runner.invoke(app, []).exception, ParameterError)


def test_importing_the_command_is_cheap() -> None:
    import subprocess
    import sys

    code = "import sys, incrowd.cli.trust; print([m for m in ('numpy', 'polars', 'sklearn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
