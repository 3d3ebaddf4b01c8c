"""Counts as two tables: rows with the number of their group, and what the groups have."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

from incrowd.tables.publishing.serialise import split_pair, write_pair
from incrowd.vocabulary.counts_text import read_counts, write_counts
from incrowd.vocabulary.forms import FileForm, groups_path
from incrowd.vocabulary.randomness import SeededRandomness, SystemRandomness, permutation

FRAME = pl.DataFrame(
    {
        "ill": ["y", "n", None, "y", "n"],
        "job": ["cook:2|?:1", "cook:2", "cook:2|?:1", "*", "cook:2"],
        "age": ["(1, 9]:3"] * 3 + ["(1, 9]:1", "(1, 9]:3"],
    }
)


def test_rows_keep_their_order_and_their_other_cells():
    rows, _ = split_pair(FRAME, ["job", "age"], SystemRandomness())
    assert rows.columns == ["group", "ill"]
    assert rows["ill"].to_list() == FRAME["ill"].to_list()
    numbers = rows["group"].to_list()
    assert sorted(set(numbers)) == [1, 2, 3]
    assert (numbers[0], numbers[1]) == (numbers[2], numbers[4])
    assert len({numbers[0], numbers[1], numbers[3]}) == 3


def test_groups_tell_every_value_with_its_count():
    rows, groups = split_pair(FRAME, ["job", "age"], SystemRandomness())
    assert groups.columns == ["group", "attribute", "value", "count"]
    assert groups.dtypes == [pl.Int64, pl.String, pl.String, pl.Int64]
    numbers = rows["group"].to_list()
    expected = []
    for number in (1, 2, 3):
        place = numbers.index(number)
        for name in ("job", "age"):
            expected += [(number, name, *member) for member in read_counts(FRAME[name][place])]
    assert groups.rows() == expected


def test_groups_are_numbered_by_chance():
    looks = pl.DataFrame({"job": [write_counts([(f"{n}", 1)]) for n in range(6)]})
    first = Counter(split_pair(looks, ["job"], SeededRandomness(seed))[0]["group"][0] for seed in range(200))
    assert set(first) == {1, 2, 3, 4, 5, 6}


def test_a_seed_numbers_groups_as_they_come():
    looks = [write_counts([(f"{n}", 1)]) for n in range(50)]
    rows, _ = split_pair(pl.DataFrame({"job": looks * 2}), ["job"], SeededRandomness(5))
    assert rows["group"].to_list() == (permutation(50, SeededRandomness(5)) + 1).tolist() * 2


def test_cells_that_show_nothing_are_a_look_of_their_own():
    frame = pl.DataFrame({"job": ["*", "cook:1", "*"], "group": ["x", "y", "z"]})
    rows, groups = split_pair(frame, ["job"], SystemRandomness())
    assert rows.columns == ["group_", "group"]
    assert rows["group_"][0] == rows["group_"][2] != rows["group_"][1]
    assert groups.rows() == [(rows["group_"][1], "job", "cook", 1)]


def test_a_text_that_is_no_counts_tells_nothing():
    _, groups = split_pair(pl.DataFrame({"job": ["cook", "cook:1"]}), ["job"], SystemRandomness())
    assert [row[1:] for row in groups.rows()] == [("job", "cook", 1)]


@pytest.mark.parametrize(("ending", "name"), [("csv", "'=job"), ("parquet", "=job")])
def test_both_are_written_side_by_side(tmp_path, ending, name):
    path = tmp_path / f"t.{ending}"
    form = FileForm.of(path)
    write_pair([FRAME.rename({"job": "=job"}).to_arrow()], path, form, ["=job", "age"], SystemRandomness())
    read = pl.read_csv if ending == "csv" else pl.read_parquet
    assert read(path).columns == ["group", "ill"]
    told = read(groups_path(path))
    assert set(told["attribute"]) == {name, "age"}
    assert told.height == 6
