"""The catalog is all a method needs: one more, in one file and entered once, passes the contract and has a face."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SUITE = [
    "contract/test_methods_on_engines.py",
    "contract/test_release_forms.py",
    "contract/test_whole_way.py",
    "contract/test_requirements_on_engines.py",
    "contract/test_requirements_of_people_and_models.py",
    "unit/estimators/test_estimators.py",
]
CHOSEN = "(one-attribute or OneAttribute) and not scikit_learn_checks"


@pytest.mark.slow
def test_one_more_method_passes_the_contract(tmp_path: Path) -> None:
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "support.one_more_method", "-k", CHOSEN]
    words += ["--hypothesis-profile", "dev"]  # the contract is what is tried here, not the method
    paths = os.pathsep.join([str(TESTS), *sys.path])
    done = subprocess.run(
        [sys.executable, *words, *(str(TESTS / name) for name in SUITE)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:]
