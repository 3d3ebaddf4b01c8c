"""The second opinion on counts can say no: every kind of damage is planted in a written file, and found by name."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from incrowd.tables.publishing.serialise import write_table
from incrowd.verification.faithfulness import verify_release
from incrowd.verification.request import Expected, Original, Originals
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.resources import Resources

NAMES = ["job", "age", "day", "city"]
JOBS = ["cook", "a|b:c", "a|b:c", None, "?", "=1+2", "smith", "smith", "smith"]
AGES = [30, 31, 40, None, 55, 70, 30, 30, 30]
DAYS = [dt.date(2020, 2, 28), dt.date(2020, 3, 1), None, *[dt.date(2021, 1, 1)] * 6]
CITIES = ["x"] * 9
SHOWN = {
    "job": ["a%7Cb%3Ac:2|cook:1", "%3D1+2:1|%3F:1|?:1", "smith:3"],
    "age": ["(-inf, 30]:1|(30, 60]:2", "(30, 60]:1|(60, inf):1|?:1", "(-inf, 30]:3"],
    "day": ["(-inf, 2020-02-28]:1|(2020-02-28, inf):1|?:1", "(2020-02-28, inf):3", "(2020-02-28, inf):3"],
    "city": ["*", "*", "*"],
}
ASKED = Expected([("3-anonymity", NAMES, 3)], [*NAMES, "ill"], NAMES, 0, counts=NAMES)


def original():
    columns = {"job": JOBS, "age": pa.array(AGES, pa.int64()), "day": pa.array(DAYS, pa.date32()), "city": CITIES}
    table = pa.table({**columns, "ill": ["y", "n", "y"] * 3})
    return Original(table.set_column(0, "job", pa.array(JOBS).dictionary_encode()), np.arange(9), 9)


def frame(**changes):
    shown = {name: list(changes.get(name, cells)) for name, cells in SHOWN.items()}
    columns = {name: [cell for cell in cells for _ in range(3)] for name, cells in shown.items()}
    return pl.DataFrame({**columns, "ill": ["y", "n", "y"] * 3}, schema_overrides=dict.fromkeys(NAMES, pl.String))


def failed(folder, released, ending="csv", given=None):
    path, form = folder / f"release.{ending}", FileForm.of(f"release.{ending}")
    write_table(released, path, form)
    resources = None if given is None else Resources(scratch=folder)
    verdict = verify_release(path, form, ASKED, given or original(), resources)
    return {check.name for check in verdict.checks if not check.passed}


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "arrow", "arff"])
def test_counts_that_are_right_pass(tmp_path, ending):
    assert failed(tmp_path, frame(), ending) == set()


DAMAGE = {
    "a count is too high": ("job", 2, "smith:4"),
    "a count is too low": ("age", 0, "(-inf, 30]:1|(30, 60]:1"),
    "counts are exchanged, their sum is right": ("age", 0, "(-inf, 30]:2|(30, 60]:1"),
    "a value is missing": ("job", 1, "%3D1+2:1|%3F:1"),
    "a value that nobody has": ("job", 2, "cook:1|smith:2"),
    "a value is named twice": ("job", 2, "smith:1|smith:2"),
    "a value is counted twice": ("job", 2, "smith:3|smith:3"),
    "missing comes first": ("job", 1, "?:1|%3D1+2:1|%3F:1"),
    "numbers descend": ("age", 1, "(60, inf):1|(30, 60]:1|?:1"),
    "a count of nothing": ("job", 2, "cook:0|smith:3"),
    "a plain value": ("job", 2, "smith"),
    "an escape is missing": ("job", 1, "=1+2:1|%3F:1|?:1"),
    "missing is taken for a question mark": ("job", 1, "%3D1+2:1|%3F:2"),
    "missing is left out": ("day", 0, "(-inf, 2020-02-28]:1|(2020-02-28, inf):1"),
    "a bin that is none": ("age", 2, "(30, 30]:3"),
    "bins overlap": ("age", 2, "(20, 35]:3"),
    "an exact number": ("age", 2, "30:3"),
    "a cell is empty": ("job", 2, None),
    "a fraction": ("job", 2, "smith:3.0"),
    "a number larger than any count": ("job", 2, "smith:99999999999999999999999"),
}


@pytest.mark.each(3)
@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_damage_is_found(tmp_path, damage, ending):
    name, place, text = DAMAGE[damage]
    cells = [text if i == place else cell for i, cell in enumerate(SHOWN[name])]
    assert f"{name} faithful" in failed(tmp_path, frame(**{name: cells}), ending)


def test_values_have_one_order(tmp_path):
    table = pa.table({"job": ["a", "b", "a", "b", "b"]})
    for texts in (["a:1|b:1", "a:1|b:2"], ["b:1|a:1", "b:2|a:1"], ["a:1|b:1", "b:2|a:1"]):
        released = pl.DataFrame({"job": [texts[0]] * 2 + [texts[1]] * 3})
        write_table(released, tmp_path / "a.csv", FileForm("csv"))
        asked = Expected([("2-anonymity", ["job"], 2)], ["job"], ["job"], 0, counts=["job"])
        verdict = verify_release(tmp_path / "a.csv", FileForm("csv"), asked, Original(table, np.arange(5), 5))
        assert verdict.passed == (texts[0][0] == texts[1][0])


def test_rows_that_carry_another_text_are_a_class_that_is_too_small(tmp_path):
    released = frame()
    released[8, "job"] = "smith:2"
    assert failed(tmp_path, released) >= {"3-anonymity", "job faithful"}


def test_rows_exchanged_between_groups_are_found(tmp_path):
    released = frame()
    order = [6, 1, 2, 3, 4, 5, 0, 7, 8]
    moved = released.select(pl.col(NAMES).gather(order), pl.col("ill"))
    assert failed(tmp_path, moved) == {"job faithful", "day faithful"}  # both are 30


@pytest.mark.each(3)
@pytest.mark.parametrize("damage", [None, *DAMAGE])
def test_pieces_find_the_same(tmp_path, damage):
    cells = dict(SHOWN)
    if damage:
        name, place, text = DAMAGE[damage]
        cells[name] = [text if i == place else cell for i, cell in enumerate(SHOWN[name])]
    order = np.array([0, 3, 6, 8, 5, 2, 1, 7, 4])
    whole = Original(original().table.take(order), order, 9)
    starts, sizes = [0, 2, 2], (2, 0, 7)
    pieces = Originals(
        9, sizes, lambda i: Original(whole.table.slice(starts[i], sizes[i]), order[starts[i] :][: sizes[i]], 9), order
    )
    found = failed(tmp_path, frame(**cells)[order], "parquet", pieces)
    assert found == failed(tmp_path, frame(**cells)[order], "parquet", whole)
    assert bool(found) == bool(damage)
