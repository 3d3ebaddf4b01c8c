"""The experiments on cell hiding measure what they say."""

import numpy as np
import polars as pl
import pytest

from experiments.inference.attackers import attack_all
from experiments.inference.experiment import measure
from experiments.inference.page import exact_goals, targets_of
from experiments.inference.scale import enlarged
from experiments.inference.sets import QUICK, by_degree, cells_of_rows, curves, curves_told, degrees_told
from experiments.inference.success import BLANK, CLAIMS, SUCCESS, Claim, Trial, Trials, against, try_all
from experiments.inference.tables import CANCER, cancer_data, car_data
from incrowd.hiding.secret import Status
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType
from support.made_tables import made_cancer, made_car


@pytest.fixture(scope="module")
def quick():
    return [data.sample(150, 1) for data in (cancer_data(made_cancer()), car_data(made_car()))]


@pytest.fixture(scope="module")
def people():
    generator = np.random.default_rng(2)
    widths = {"occupation": 14, "age": 30, "sex": 2}
    return EncodedTable.of(
        EncodedColumn(
            name,
            ColumnType.CATEGORICAL,
            generator.integers(0, width, 400).astype(np.int32),
            pl.Series([f"{name} {value}" for value in range(width)]),
        )
        for name, width in widths.items()
    )


def test_confidential_cells_are_known_and_of_wide_attributes(quick):
    for data in quick:
        cells = data.cells(20, 1)
        assert len({cell.row for cell in cells}) == len(cells) == 20
        assert all(cell.attribute in data.wide and data.known(cell.row, cell.attribute) for cell in cells)
        assert cells == data.cells(20, 1) != data.cells(20, 2)
    cancer, car = quick
    assert (cancer.wide, cancer.generalizes, car.generalizes) == (CANCER, True, False)
    assert "class" in car.wide
    assert {cell.attribute for cell in car.cells(5, 1, ("safety",))} == {"safety"}


def test_a_sample_keeps_rows_as_they_are(quick):
    car = quick[1]
    sample = car.sample(12, 3)
    rows = set(zip(*(column.codes.tolist() for column in car.table.columns.values()), strict=True))
    assert sample.table.height == 12
    assert set(zip(*(column.codes.tolist() for column in sample.table.columns.values()), strict=True)) <= rows


def test_success_needs_a_row_that_stays_and_a_wrong_adversary(quick):
    trials = Trials(quick[1], 4)
    for status, right, common in (
        (Status.HIDDEN, set(), False),
        (Status.HIDDEN, {"nb"}, False),
        (Status.DELETED, set(), True),
        (Status.COIN, {"nb"}, True),
    ):
        trials.all.append(Trial("dropp", status, 3, 0.5, frozenset(right), common))
    assert (trials.success("dropp", "nb"), trials.success("dropp", "nb", rare=True)) == (25.0, 50.0)
    assert (trials.share("dropp", Status.COIN), trials.changed("dropp")) == (25.0, 3)
    kept, *_ = exact_goals([trials])
    assert (kept.met, kept.measured) == (False, "1 of 2")


def test_every_method_is_tried_on_every_cell_and_the_table_comes_back(quick):
    car = quick[1]
    before = {name: column.codes.copy() for name, column in car.table.columns.items()}
    trials = try_all(car, 3, 1)
    assert {len(trials.of(method)) for method in (BLANK, "decp", "hid3+incp", "generic", "quiet", "nrd")} == {3}
    assert all(np.array_equal(before[name], column.codes) for name, column in car.table.columns.items())
    assert {trial.changed for trial in trials.of("nrd")} == {len(before)}
    assert all(goal.met for goal in exact_goals([trials])[:2])


def test_orders_count_pairs_and_name_those_that_differ():
    claim = Claim("1", "cost", [[["a"], ["b", "c"], ["d"]]])
    assert against(claim, {"a": 1.0, "b": 2.0, "c": 0.0, "d": 2.0}) == (5, ["a > c"])
    assert against(claim, {"a": 1.0, "d": 0.0}) == (1, ["a > d"])
    assert [claim.figure for claim in CLAIMS] == ["5.1", "5.2", "5.3", "5.4", "5.5", "5.6"]
    assert SUCCESS["breast cancer"]["svm"]["dropp"] == 89
    assert targets_of("hid3-g+decp-g") == ("id3", "nb-shared")


def test_patterns_of_what_never_looks_at_the_value_tell_nothing(quick):
    told = {each.method: each for each in attack_all(quick[1], 30, 2, 1)}
    assert {told[name].lift for name in ("quiet", "nrd")} == {1.0}
    assert told["decp"].posterior >= told["decp"].prior


def test_a_table_is_enlarged_by_variations_of_itself(people):
    large = enlarged(people, 2_000, 5)
    assert (large.height, list(large.columns)) == (2_000, ["occupation", "age", "sex", "occupation 2", "age 2"])
    same = np.mean(large["occupation"].codes == large["occupation 2"].codes)
    assert 0.55 < same < 0.8  # both keep four fifths of the drawn cells, and some redrawn ones agree
    assert np.array_equal(np.unique(large["sex"].codes), [0, 1])


@pytest.mark.slow
def test_everything_is_measured_and_drawn(quick, people):
    section = measure(quick, people, quick=True)
    drawn = {f"hiding_{data}_{metric}" for data in ("breast", "car") for metric in ("direct", "skld", "acmi", "sce")}
    assert {picture.name for picture in section.pictures} == drawn
    for heading in ("Table 5.2", "Table 5.3, Car", "Figure 5.7", "Suppression pattern, breast cancer", "Many cells"):
        assert f"**{heading}" in section.text(pictures=False)


def test_sets_of_cells_are_counted_by_their_number_and_judged_by_half(quick):
    cancer = quick[0]
    rows = cells_of_rows(cancer, 9, 0)
    assert [sum(cell.row == row for cell in rows) for row in dict.fromkeys(cell.row for cell in rows)] == [3, 3, 3]
    lines = curves(cancer, QUICK, lambda _: None)
    assert all(line[3] >= 3 and line[6] >= 6 for line in lines.values())
    halved = {name: dict.fromkeys(QUICK.steps, 5.0 if name.startswith("e-") else 10.0) for name in lines}
    assert curves_told("x", halved, QUICK)[-1].met
    assert not curves_told("x", {name: {3: 1.0, 6: 1.0} for name in lines}, QUICK)[-1].met


def test_a_degree_is_told_for_each_method(quick):
    found = {degree: by_degree(quick[1], degree, 2, lambda _: None) for degree in (2, 3, 5, 7)}
    assert all(0 <= one.hidden + one.deleted <= 100 for each in found.values() for one in each)
    assert [row[:3] for row in degrees_told({"Car": found}, QUICK)[1].rows][::3] == [
        ("Car", method, "hidden, %") for method in ("decp", "incp", "dropp")
    ]
