"""Files beside the data that are named like modules of Python are not run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PEOPLE = "age,sex\n" + "30,f\n41,m\n" * 50
RELEASE = [
    "release",
    "people.csv",
    "-q",
    "age",
    "--target",
    "sex",
    "-k",
    "9",
    "--class-sensitive",
    "no",
    "--to",
    "o.csv",
]


@pytest.mark.each(3)
@pytest.mark.parametrize("name", ["dis", "duckdb", "incrowd"])
def test_the_verification_runs_nothing_of_the_folder_it_is_started_in(name: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit(0)\n", encoding="utf-8")
    command = [str(Path(sys.executable).with_name("incrowd")), *RELEASE]
    done = subprocess.run(command, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()
