"""Tables of the shape of breast cancer and Car."""

from itertools import product

import numpy as np
import polars as pl

from experiments.inference.tables import CANCER, CAR

ROWS = 699


def made_cancer() -> pl.DataFrame:
    """Scores that follow one hidden severity."""
    generator = np.random.default_rng(6)
    ill = generator.random(ROWS) < 0.35
    severity = np.where(ill, generator.normal(7, 2, ROWS), generator.normal(1.5, 1, ROWS))
    scores = {name: np.clip(np.round(severity + generator.normal(0, 1, ROWS)), 1, 10).astype(int) for name in CANCER}
    return pl.DataFrame({**scores, "class": np.where(ill, 4, 2)}).cast(pl.String)


def made_car() -> pl.DataFrame:
    """Every combination once; the class follows a sum of points."""
    rows = [dict(zip(CAR, values, strict=True)) for values in product(*CAR.values())]
    for row in rows:
        points = sum(CAR[name].index(value) for name, value in row.items())
        poor = row["safety"] == "low" or row["persons"] == "2"
        row["class"] = "unacc" if poor or points < 6 else "acc" if points < 10 else "good" if points < 13 else "vgood"
    return pl.DataFrame(rows)
