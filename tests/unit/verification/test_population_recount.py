"""``incrowd verify --population``: k-map and delta-presence of a file, recounted against the people it is from."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from incrowd.api import release
from incrowd.cli.main import app
from incrowd.errors import HeaderError, ParameterError
from incrowd.releases.recount import verify as recount
from incrowd.tables.hierarchies.read import hierarchies_in

KNOWN = ["age", "job", "since"]
JOBS = ["=cook", "-nurse", "smith|welder", "@home"]


def everybody(rows: int = 400) -> pl.DataFrame:
    generator = np.random.default_rng(5)
    days = [datetime.date(2000, 1, 1) + datetime.timedelta(int(day)) for day in generator.integers(0, 3000, rows)]
    return pl.DataFrame(
        {
            "age": [None if i % 17 == 0 else int(age) for i, age in enumerate(generator.integers(20, 70, rows))],
            "job": generator.choice(JOBS, rows),
            "since": days,
            "ill": generator.choice(["no", "yes"], rows),
        }
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    everybody().drop("ill").write_csv(tmp_path / "people.csv")
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "job.csv").write_text("=cook,out,*\n-nurse,out,*\nsmith|welder,in,*\n@home,in,*\n")
    return tmp_path


def released(folder: Path, ending: str, method: str = "mondrian", k: int = 3, **more: object) -> Path:
    path = folder / f"out.{ending}"
    some = everybody().sample(200, seed=2)
    require = f"k={k}, k-map=9, delta-presence=0.1..0.9"
    people = everybody().drop("ill")
    release(
        some,
        quasi_identifiers=KNOWN,
        target="ill",
        method=method,
        require=require,
        population=people,
        to=path,
        **more,
    )
    return path


@pytest.mark.each(3)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("method", ["kactus", "tdr", "iack", "mondrian"])
def test_a_file_is_recounted_against_its_population(folder: Path, ending: str, method: str) -> None:
    path = released(folder, ending, method)
    asked = {"quasi_identifiers": KNOWN, "population": folder / "people.csv"}
    found = recount(path, **asked, require="k=3, k-map=9, delta-presence=0.1..0.9")
    assert found.passed, str(found)
    worse = recount(path, **asked, require="k-map=401")
    assert not worse.passed
    assert "fewest people" in str(worse)


def test_groups_of_a_hierarchy_need_it(folder: Path) -> None:
    trees = hierarchies_in(folder / "trees")
    path = released(folder, "csv", "tdr", k=60, hierarchies=trees)
    shown = set(pl.read_csv(path)["job"])
    assert shown & {"in", "out"}
    asked = {"quasi_identifiers": KNOWN, "population": folder / "people.csv", "require": "k-map=9"}
    assert recount(path, **asked, hierarchies=trees).passed
    lost = recount(path, **asked)
    assert not lost.passed
    assert "combinations fit nobody" in str(lost)


def test_the_command(folder: Path) -> None:
    path, runner = released(folder, "csv", hierarchies=hierarchies_in(folder / "trees")), CliRunner()
    base = ["verify", str(path), "-q", ",".join(KNOWN), "--require", "k=3, k-map=9"]
    known = ["--population", str(folder / "people.csv"), "--hierarchies", str(folder / "trees")]
    done = runner.invoke(app, [*base, *known])
    assert done.exit_code == 0, done.output
    assert "9-map" in done.output
    refused = runner.invoke(app, base)
    assert refused.exit_code != 0


def test_what_cannot_be_recounted_is_said(folder: Path) -> None:
    path = released(folder, "csv")
    with pytest.raises(ParameterError, match="needs a population"):
        recount(path, quasi_identifiers=KNOWN, require="k-map=9")
    with pytest.raises(ParameterError, match="population lacks a quasi-identifier"):
        recount(path, quasi_identifiers=KNOWN, require="k-map=9", population=everybody().drop("age"))
    with pytest.raises(ParameterError, match="known together"):
        recount(
            path,
            quasi_identifiers=[],
            known_together=[(["age"], 2), (["job"], 2)],
            require="k-map=9",
            population=everybody(),
        )
    with pytest.raises(HeaderError):
        recount(path, quasi_identifiers=["height"], require="k-map=9", population=everybody().rename({"age": "height"}))


@pytest.mark.parametrize("text", ["[a, b]", "[1, 2, 3]", "(5, 3]", "old", "["])
def test_what_nobody_understands_fits_nobody(text: str) -> None:
    shown = pl.DataFrame({"age": [text] * 3})
    found = recount(shown, quasi_identifiers=["age"], require="k-map=1", population=everybody())
    assert not found.passed
    assert "1 combinations fit nobody" in str(found)
