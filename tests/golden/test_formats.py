"""Files of every published version, and of this one, are read: recipes, plans, certificates, ledgers and models."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import incrowd
from incrowd.cli.main import app
from support.format_examples import ASKED, write_examples

FORMATS = Path(__file__).parent / "formats"
VERSIONS = sorted(folder.name for folder in FORMATS.iterdir())


@pytest.fixture(scope="module", params=VERSIONS)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the files of a version, private as they were when they were made."""
    folder = tmp_path_factory.mktemp("formats") / "files"
    shutil.copytree(FORMATS / request.param, folder)
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return folder


def stated(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def test_this_version_has_files_and_each_states_its_format(tmp_path: Path) -> None:
    assert version("incrowd") in VERSIONS
    write_examples(tmp_path / "now")
    kept, now = FORMATS / version("incrowd"), tmp_path / "now"
    assert {path.relative_to(now) for path in now.rglob("*")} == {path.relative_to(kept) for path in kept.rglob("*")}
    words = {
        "plan.json": "incrowd_plan",
        "release.csv.certificate.json": "incrowd_certificate",
        "tree.json": "incrowd_model",
        "tree.json.certificate.json": "incrowd_model_certificate",
    }
    again = "the format changed; until it is published: python tests/support/format_examples.py FOLDER"
    for name, word in words.items():
        assert stated(kept / name)[word] == stated(now / name)[word], again
        assert sorted(stated(kept / name)) == sorted(stated(now / name)), again
    drafts = [(folder / "recipe.yaml").read_text(encoding="utf-8") for folder in (kept, now)]
    assert all("incrowd_recipe: 1" in draft for draft in drafts)


def test_the_recipe_is_read_and_released_by(files: Path) -> None:
    recipe = incrowd.read_recipe(files / "recipe.yaml")
    assert recipe.target == "ill"
    assert incrowd.release(files / "people.csv", recipe=recipe, class_sensitive=False).verdict.passed


def test_the_certificate_is_recounted(files: Path) -> None:
    assert incrowd.verify(files / "release.csv").passed
    assert len(incrowd.open_release(files / "release.csv").y) == 60


@pytest.mark.parametrize("name", ["plan.json", "plan.parquet"])
def test_the_plan_is_read_and_applied(files: Path, name: str) -> None:
    plan = incrowd.read_plan(files / name)
    assert (plan.method, plan.rows) == ("kactus-plus", 60)
    shown = incrowd.transform(plan, pl.read_csv(files / "people.csv"))
    assert shown.height == 60


def test_the_ledger_knows_its_people_again(files: Path) -> None:
    book = files / "ledger"
    listed = CliRunner().invoke(app, ["ledger", "list", str(book), "--json"])
    assert listed.exit_code == 0, listed.output
    again = incrowd.release(files / "people.csv", **ASKED, ledger=book)
    assert again.certificate["earlier_releases"]["people"] == {"table": 60, "shared": 60}


def test_the_model_is_recounted(files: Path) -> None:
    checked = CliRunner().invoke(
        app, ["verify", str(files / "tree.json"), "--against", str(files / "people.csv"), "--json"]
    )
    assert checked.exit_code == 0, checked.output
