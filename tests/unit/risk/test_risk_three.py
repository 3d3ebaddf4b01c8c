"""Singling out, linkability and inference on tables small enough to see."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.risk.attackers import excess, excess_interval, inference, linkability, paired, singling_out, wilson
from incrowd.risk.classes import classes_of, coded, edges_of, numbers_of


def classes(frame):
    return classes_of(coded(frame, frame.columns))


def test_everybody_alone_is_singled_out_and_the_control_never():
    found = singling_out(classes(pl.DataFrame({"a": range(50)})))
    assert (found.attack.estimate, found.control.estimate, found.excess.estimate) == (1.0, 0.0, 1.0)
    assert found.attack.low < 1


def test_a_table_of_pairs_isolates_only_those_who_are_left_out():
    found = singling_out(classes(pl.DataFrame({"a": [0, 0, 1, 1]})))
    assert (found.attack.estimate, found.control.estimate) == (0.0, 1.0)
    assert found.excess.estimate == 0.0


def test_the_chance_of_singling_out_is_one_over_e():
    found = singling_out(classes(pl.DataFrame({"a": [1] * 10_000})))
    assert found.chance == pytest.approx(1 / np.e, abs=1e-4)


def test_two_keys_link_every_row():
    frame = pl.DataFrame({"card": range(20), "sex": ["f", "m"] * 10, "phone": range(20), "job": ["a"] * 20})
    found = linkability(coded(frame, frame.columns), frame.columns)
    assert found.attack.estimate == found.chance == 1.0
    assert found.control.estimate == 0.0
    halves = found.about.split(" each fit")[0].split(" and ")
    assert [("card" in half) + ("phone" in half) for half in halves] == [1, 1]


def test_a_control_needs_both_halves_to_lead_to_the_same_other():
    frame = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    assert linkability(coded(frame, ["a", "b"]), ["a", "b"]).control.estimate == 1.0
    crossed = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})
    assert linkability(coded(crossed, ["a", "b"]), ["a", "b"]).control.estimate == 0.0


def test_one_column_cannot_be_halved_and_many_are_halved_once():
    frame = pl.DataFrame({"a": range(3)})
    assert linkability(coded(frame, ["a"]), ["a"]) is None
    wide = pl.DataFrame({f"c{i}": [0, 1, 1] for i in range(9)})
    assert "in the original order only" in linkability(coded(wide, wide.columns), wide.columns).about


def test_a_class_of_one_value_is_inferred_and_so_is_its_control():
    frame = pl.DataFrame({"a": [0] * 5 + [1] * 5})
    secret = coded(pl.DataFrame({"s": ["y"] * 5 + ["n"] * 5}), ["s"])[0]
    found = inference(classes(frame), secret, "s")
    assert (found.attack.estimate, found.control.estimate, found.chance) == (1.0, 1.0, 0.5)
    assert found.column == "s"


def test_unique_rows_are_inferred_but_their_control_guesses_from_all_others():
    secret = coded(pl.DataFrame({"s": ["y", "y", "y", "n"]}), ["s"])[0]
    found = inference(classes(pl.DataFrame({"a": range(4)})), secret, "s")
    assert (found.attack.estimate, found.control.estimate) == (1.0, 0.75)


def test_excess_has_the_sign_of_the_difference():
    assert excess(0.2, 0.5) == pytest.approx(-0.6)
    rng = np.random.default_rng(0)
    hits, control = (rng.random((2, 2000)) < [[0.6], [0.2]]).astype(float)
    found = excess_interval(paired(hits, control))
    assert found.low < found.estimate < found.high
    assert found.low < 0.5 < found.high
    assert found == excess_interval(paired(hits, control))


def test_the_bootstrap_covers_as_often_as_it_says():
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(200):
        hits, control = (rng.random((2, 300)) < [[0.5], [0.2]]).astype(float)
        found = excess_interval(paired(hits, control))
        inside += found.low <= (0.5 - 0.2) / 0.8 <= found.high
    assert 180 <= inside <= 199


def test_wilson_is_the_interval_whose_ends_are_z_away():
    for share, rows in ((0.0, 7), (0.3, 40), (1.0, 12)):
        found = wilson(share, rows)
        for end in (found.low, found.high):
            if 0 < end < 1:
                assert abs(share - end) / np.sqrt(end * (1 - end) / rows) == pytest.approx(1.959964, abs=1e-5)


def test_ends_of_numbers_dates_and_texts():
    frame = pl.DataFrame(
        {
            "age": ["30", "30", "41", None],
            "born": ["1990-01-01", "1980-02-02", "1990-01-01", "1985-01-01"],
            "shown": ["(1, 2]", "(1, 2]", "(2, 3]", "*"],
            "pay": [1.5, float("nan"), 1.5, 2.0],
            "none": pl.Series([None] * 4, dtype=pl.String),
        }
    )
    found = edges_of(frame, tuple(frame.columns))
    assert found.columns == ("age", "born", "pay")
    assert [str(edge) for edge in found.alone] == ["the largest age", "the smallest born", "the largest pay"]


def test_dates_that_can_be_read_twice_have_no_ends():
    assert numbers_of(pl.Series(["01/02/2003", "03/04/2005"])) is None
    assert numbers_of(pl.Series([True, False])) is None
