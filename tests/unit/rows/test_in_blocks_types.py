"""What a release in blocks shows has the types that a release in memory has."""

import numpy as np
import polars as pl
import pytest

from incrowd.api import release
from incrowd.rows import one_machine


@pytest.fixture
def table(tmp_path):
    draw = np.random.default_rng(0)
    path = tmp_path / "people.parquet"
    pl.DataFrame(
        {
            "smoker": draw.random(400) < 0.4,
            "age": draw.integers(20, 60, 400),
            "flag": draw.random(400) < 0.5,
            "ill": draw.choice(["y", "n"], 400),
        }
    ).write_parquet(path)
    return path


@pytest.mark.parametrize("method", ["kactus", "mondrian", "tdr"])
def test_truth_values_stay_truth_values(table, tmp_path, monkeypatch, method):
    asked = {"quasi_identifiers": ["smoker", "age"], "target": "ill", "k": 5, "method": method}
    whole = release(table, **asked, to=tmp_path / "whole.parquet").table.schema
    monkeypatch.setattr(one_machine, "_CELLS", 0)
    told = []
    in_blocks = release(table, **asked, to=tmp_path / "blocks.parquet", progress=told.append).table.schema
    assert in_blocks == whole
    assert whole["flag"] == pl.Boolean
    assert any(line.startswith("writing: 400 of 400 rows") for line in told)
