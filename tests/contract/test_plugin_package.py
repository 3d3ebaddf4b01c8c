"""A package with one of everything is built, installed and used: by the command line, in processes of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parents[1] / "support" / "plugin_package"
ROLES = ["-q", "age,job", "--target", "ill", "--class-sensitive", "no"]


class Place:
    """A folder with the package installed beside incrowd, and a table."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "imports.log"
        source = shutil.copytree(PACKAGE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
        pip = ["-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", "--quiet"]
        self.run(*pip, "--target", str(folder / "installed"), str(source))
        rows = [f"{20 + i % 40} {('cook', 'cleric', 'nurse')[i % 3]} {('yes', 'no')[i % 7 > 3]}" for i in range(90)]
        (folder / "people.spaced").write_text("\n".join(["age job ill", *rows]), encoding="utf-8")
        (folder / "people.csv").write_text("\n".join(["age job ill", *rows]).replace(" ", ","), encoding="utf-8")

    def run(self, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """What Python answers there; the suite's own path comes last."""
        path = os.pathsep.join([str(self.folder / "installed"), *sys.path])
        environment = {**os.environ, "PYTHONPATH": path, "CROWD_EXTRAS_LOG": str(self.log)}
        done = subprocess.run(
            [sys.executable, *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def incrowd(self, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """What a command answers."""
        return self.run("-m", "incrowd", *words, status=status)

    def imports(self) -> list[str]:
        """Who has imported the package since this was last called."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines

    def certificate(self, release: str) -> dict[str, Any]:
        """Of a release that was made there."""
        certificate: dict[str, Any] = json.loads((self.folder / f"{release}.certificate.json").read_text("utf-8"))
        return certificate


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("plugins"))


@pytest.mark.slow
def test_lists_name_the_package_and_say_what_is_broken(place: Place) -> None:
    listed = place.incrowd("methods", "--json")
    packages = {entry["name"]: entry["package"] for entry in json.loads(listed.stdout)}
    assert (packages["hide-all"], packages["kactus"]) == ("crowd-extras 1.2", "incrowd")
    assert "broken" not in packages
    assert "The method 'broken' of crowd-extras 1.2 cannot be loaded (AttributeError)." in listed.stderr
    assert "The method 'kactus' of crowd-extras 1.2 is not used: incrowd has its own of that name." in listed.stderr
    assert "stump          A decision tree of one split [crowd-extras 1.2]" in place.incrowd("learners").stdout
    attacks = json.loads(place.incrowd("attack", "--list", "--json").stdout)
    assert {attack["name"]: attack["package"] for attack in attacks}["smallest class"] == "crowd-extras 1.2"


def test_a_release_by_their_method_of_their_file_with_their_requirement(place: Place) -> None:
    place.imports()
    words = ["release", "people.spaced", *ROLES, "-k", "5", "--method", "hide-all", "--to", "out.csv"]
    place.incrowd(*words, "--require", "collision-l=1.5")
    processes = place.imports()
    assert processes
    assert not [line for line in processes if "verification" in line], "the verification loads nothing of others"
    certificate = place.certificate("out.csv")
    assert certificate["method"] == {"name": "hide-all", "parameters": {}, "package": "crowd-extras 1.2"}
    assert {"code": "converted", "where": "crowd-extras 1.2"} in certificate["notices"]
    promise = "share^2 summed over the values of the class of at most 2/3"
    assert [one["promise"] for one in certificate["requirement_recounted"]] == ["5-anonymity", promise]
    place.incrowd("verify", "out.csv")
    assert not place.imports(), "a recipient needs nothing of the package"
    report = place.incrowd(
        *("attack", "out.csv", "--original", "people.spaced", "--only", "smallest-class,row-order", "--json")
    )
    assert json.loads(report.stdout)["findings"][0]["verdict"] == "no leak found"


@pytest.mark.slow
def test_what_is_ours_looks_for_no_plug_in(place: Place) -> None:
    place.imports()
    place.incrowd("release", "people.csv", *ROLES, "-k", "5", "--method", "kactus", "--to", "ours.csv")
    assert not place.imports()
    assert "package" not in place.certificate("ours.csv")["method"]


@pytest.mark.slow
def test_their_learner_learns_from_their_method_in_processes_of_its_own(place: Place) -> None:
    words = ["compare", "people.csv", "--target", "ill", "-q", "age,job", "--methods", "hide-all,mondrian", "-k", "5"]
    place.incrowd(*words, "--learners", "stump,nb", "--jobs", "2", "--protocol", "holdout", "--to", "compared")
    lines = (place.folder / "compared" / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    results = {(one["method"], one["learner"]): one["status"] for one in map(json.loads, lines)}
    assert results["hide-all", "stump"] == results["mondrian", "stump"] == "done"


@pytest.mark.slow
def test_their_hierarchy_and_what_is_refused(place: Place) -> None:
    drafted = place.incrowd("hierarchy", "draft", "people.csv", "--column", "job", "--kind", "initials", "--json")
    assert json.loads(drafted.stdout)["levels"] == [1, 2, 3]
    refused = place.incrowd("release", "people.csv", *ROLES, "--method", "broken", "--to", "no.csv", status=2)
    assert "crowd-extras 1.2" in refused.stderr
    refused = place.incrowd("release", "people.csv", *ROLES, "--method", "hide-all", "--to", "no.spaced", status=2)
    assert "no.spaced" in refused.stderr
    assert not list(place.folder.glob("no.*"))
