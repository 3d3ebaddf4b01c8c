"""A random order for more rows than fit into memory: nothing lost, every order as likely, no file left."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import polars as pl
import pytest

from incrowd.errors import OutputError
from incrowd.rows.blocks.drafting import MOST_BUCKETS, Buckets
from incrowd.vocabulary.randomness import SeededRandomness


def shuffled(folder, frames, chance, rows, total=None):
    height = sum(frame.height for frame in frames)
    buckets = Buckets(folder, chance, rows=rows, total=height if total is None else total)
    for frame in frames:
        buckets.add(frame)
    return list(buckets.shuffled())


def people(start, height):
    return pl.DataFrame(
        {
            "number": pl.Series(range(start, start + height), dtype=pl.Int64),
            "name": pl.Series([None if i % 5 == 0 else f"p{i}" for i in range(start, start + height)], dtype=pl.String),
            "small": pl.Series([i % 7 for i in range(start, start + height)], dtype=pl.UInt8),
        }
    )


@pytest.mark.parametrize("rows", [1, 3, 40, 1000])
@pytest.mark.parametrize("heights", [(1,), (0, 5), (17, 1, 0, 33), (100,)])
def test_rows_are_kept_whole_and_all(tmp_path, rows, heights):
    starts = np.concatenate([[0], np.cumsum(heights)[:-1]]).tolist()
    frames = [people(start, height) for start, height in zip(starts, heights, strict=True)]
    found = shuffled(tmp_path, frames, SeededRandomness(1), rows)
    assert Counter(row for frame in found for row in frame.rows()) == Counter(pl.concat(frames).rows())
    assert {tuple(frame.schema.items()) for frame in found} == {tuple(frames[0].schema.items())}
    assert not list(tmp_path.iterdir())


@pytest.mark.each(2)
@pytest.mark.parametrize(("rows", "cuts"), [(1, ([0], [1, 2])), (2, ([0, 1, 2],)), (3, ([0, 1, 2],))])
def test_every_order_is_equally_likely(tmp_path, rows, cuts):
    """Three rows, in one, two or four buckets, added together or apart."""
    draws, chance = 600, SeededRandomness(7)
    frames = [pl.DataFrame({"a": values}) for values in cuts]
    found = Counter()
    for _ in range(draws):
        found[tuple(value for frame in shuffled(tmp_path, frames, chance, rows) for value in frame["a"])] += 1
    expected = draws / 6
    assert set(found) == set(permutations(range(3)))
    assert all(abs(times - expected) < 4.5 * math.sqrt(expected) for times in found.values())


def test_buckets_are_about_as_large_as_asked_for(tmp_path):
    found = shuffled(tmp_path, [people(0, 4000)], SeededRandomness(1), 500)
    assert len(found) == 8
    assert all(350 < frame.height < 650 for frame in found)


def test_there_are_no_more_files_than_a_process_may_open(tmp_path):
    found = shuffled(tmp_path, [people(0, 3000)], SeededRandomness(1), 1, total=10**9)
    assert len(found) == MOST_BUCKETS <= 256
    assert sum(frame.height for frame in found) == 3000


def test_a_bucket_goes_when_it_was_read(tmp_path):
    buckets = Buckets(tmp_path, SeededRandomness(1), rows=10, total=40)
    buckets.add(people(0, 40))
    left = [len(list(tmp_path.iterdir())) for _ in buckets.shuffled()]
    assert left == [3, 2, 1, 0]


def test_nothing_added_is_nothing_given_back(tmp_path):
    assert list(Buckets(tmp_path, SeededRandomness(1), rows=10, total=40).shuffled()) == []


def test_a_folder_that_takes_nothing_is_told(tmp_path):
    buckets = Buckets(tmp_path / "gone", SeededRandomness(1), rows=10, total=40)
    with pytest.raises(OutputError, match="scratch folder"):
        buckets.add(people(0, 40))


def test_the_same_seed_gives_the_same_order(tmp_path):
    orders = [shuffled(tmp_path, [people(0, 50)], SeededRandomness(5), 10) for _ in range(2)]
    assert pl.concat(orders[0]).equals(pl.concat(orders[1]))
    other = shuffled(tmp_path, [people(0, 50)], SeededRandomness(6), 10)
    assert not pl.concat(orders[0]).equals(pl.concat(other))
