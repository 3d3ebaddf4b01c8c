"""The page that says what requirements cost: measured on a small made-up table."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import polars as pl

from experiments.requirements import LEVELS, Cost, measure, unprotected, write_page
from incrowd.comparisons.subject import understand_table


def test_costs_are_measured_and_written(tmp_path):
    rng = np.random.default_rng(4)
    age = rng.integers(20, 70, 240)
    ill = np.where((age > 45) ^ (rng.random(240) < 0.15), "yes", "no")
    frame = pl.DataFrame({"age": age, "sex": rng.choice(["f", "m"], 240), "ill": ill})
    subject = understand_table(frame, target="ill", quasi_identifiers=["age", "sex"], name="made up")
    told = []
    costs = measure(subject, 1, ["mondrian", "kadet"], told.append)
    assert told == ["mondrian: measured", "kadet: measured"]
    alone = {cost.method: cost.accuracy for cost in costs if cost.level == "1"}
    assert min(alone.values()) > 0.7
    strict = [cost for cost in costs if (cost.method, cost.word, cost.level) == ("mondrian", "t-equal", "0.1")]
    assert strict[0].accuracy < alone["mondrian"]
    learned, guessed = unprotected(subject, 1)
    assert learned > guessed
    write_page(tmp_path / "page.md", subject, 1, [*costs, Cost("tdr", "entropy-l", "1", 0.5, 0.5, 0.25)])
    text = (tmp_path / "page.md").read_text()
    assert "| tdr | 50.0; 0.50; 25 | impossible | impossible | impossible |" in text
    assert len(list((tmp_path / "plots").iterdir())) == len(LEVELS)
    for picture in (tmp_path / "plots").iterdir():
        ElementTree.parse(picture)
