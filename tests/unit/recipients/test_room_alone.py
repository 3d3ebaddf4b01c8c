"""The recipient's room needs little: nothing of the program's engines is imported to open a release and to learn."""

from __future__ import annotations

import subprocess
import sys

import polars as pl

import incrowd

OPEN = """
import sys
import incrowd
import incrowd.recipients
received = incrowd.open_release(sys.argv[1])
received.describe()
received.dealing.dealt(__import__("numpy").random.default_rng(0))
print("sklearn" in sys.modules)
from sklearn.linear_model import LogisticRegression
received.classifier(LogisticRegression()).predict([{"age": 30, "job": "cook"}])
print(*sorted({"polars", "duckdb", "numba"} & set(sys.modules)))
"""


def test_opening_and_learning_import_no_engine(tmp_path):
    rows = [(20 + i % 40, ("cook", "nurse")[i % 3 == 0], "yn"[i % 2]) for i in range(90)]
    people = pl.DataFrame(rows, ["age", "job", "ill"], orient="row")
    for ending in ("csv", "parquet"):
        path = tmp_path / f"out.{ending}"
        incrowd.release(people, quasi_identifiers=["age", "job"], target="ill", class_sensitive=False, k=5, to=path)
        done = subprocess.run([sys.executable, "-c", OPEN, str(path)], capture_output=True, text=True, check=True)
        assert done.stdout.split("\n") == ["False", "", ""]
