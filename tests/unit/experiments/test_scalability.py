"""Table 6 of the kACTUS paper: how rows are expanded, and what the page tells."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from experiments.papers import printed
from experiments.scalability import KEPT, POWER, SEVEN, Timed, expanded, power, section, timed
from incrowd.comparisons.subject import understand_table


@pytest.fixture(scope="module")
def subject():
    random = np.random.default_rng(3)
    columns = {name: [f"{name} {code}" for code in random.integers(0, 40, 2_000)] for name in SEVEN}
    frame = pl.DataFrame({**columns, "class": random.choice(["high", "low"], 2_000)})
    return understand_table(frame, target="class", quasi_identifiers=SEVEN, name="people")


def test_a_variation_keeps_three_attributes_and_the_class(subject):
    frame = expanded(subject, 4)
    assert (frame.columns, frame.height) == ([*SEVEN, "class"], 8_000)
    first, second = frame.head(2_000), frame.slice(2_000, 2_000)
    assert first.equals(expanded(subject, 1))
    assert first["class"].to_list() == second["class"].to_list()
    same = np.sum([(first[name] == second[name]).to_numpy() for name in SEVEN], axis=0)
    assert same.min() >= KEPT
    assert same.mean() == pytest.approx(KEPT + (len(SEVEN) - KEPT) / 40, abs=0.1)


def test_a_release_is_timed_and_keeps_k(subject, tmp_path):
    found = timed(expanded(subject, 2), tmp_path)
    assert found.rows == 4_000
    assert found.smallest >= 150
    assert 0 < found.deciding < found.wall
    assert (tmp_path / "release.parquet").exists()
    several = timed(expanded(subject, 1), tmp_path, "tdr", known_together=[(list(SEVEN[:2]), 9), (list(SEVEN[2:]), 9)])
    assert several.smallest >= 9


def test_the_printed_seconds_grow_as_we_say():
    table = printed("kactus_table6")
    points = list(zip(table["records"], table["kanon_seconds"], strict=True))
    assert round(power(points), 2) == POWER


def test_the_table_has_the_ratio_and_judges_the_power():
    table = printed("kactus_table6")
    even = {factor: Timed(factor * 45_222, factor * 1.0, 9.0, 1.0, 0.5, 150) for factor in table["scale_factor"]}
    text = section(table, even).text(pictures=False)
    assert "|      5 |   226,110 |            6.88 |                  44.32 |        5.00 |" in text
    assert "|           10.2 |" in text
    assert "**Met**: seconds grow" in text
    steep = {factor: Timed(factor * 45_222, factor**1.5, 9.0, 1.0, 0.5, 150) for factor in table["scale_factor"]}
    assert "**Missed**: seconds grow" in section(table, steep).text(pictures=False)
