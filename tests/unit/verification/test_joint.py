"""Groups that releases make together: small tables, counted by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from incrowd.verification.asked import Original
from incrowd.verification.joint import Joint, Pair, classes_of_rows, recount_joint, recount_pair
from incrowd.vocabulary.file_form import FileForm


def classes(*numbers: int | None) -> pa.Array:
    return pa.array(numbers, pa.int32())


HERE = classes(1, 1, 1, 2, 2, 2)
THERE = classes(1, 1, 2, 2, 2, 2)


def test_the_same_groups_again_tell_nothing_new():
    assert recount_joint(HERE, [HERE], 3) == Joint(3, rows=6, smallest=3, below=0, closer=0, broken=0)
    assert recount_pair(HERE, HERE) == Pair(3, same=True)


def test_groups_with_other_numbers_are_the_same_groups():
    assert recount_pair(HERE, classes(2, 2, 2, 1, 1, 1)).same


def test_other_groups_cross():
    # {0, 1}, {2}, {3, 4, 5}: the last three were in company of four before, the third too
    assert recount_joint(HERE, [THERE], 3) == Joint(3, rows=6, smallest=1, below=3, closer=4, broken=1)
    assert recount_pair(HERE, THERE) == Pair(1, same=False)


def test_what_earlier_releases_did_is_not_done_by_this_one():
    found = recount_joint(HERE, [HERE, THERE], 3)
    assert (found.below, found.closer, found.broken) == (3, 0, 0)


def test_coarser_groups_tell_nothing_new_and_finer_ones_do():
    whole = classes(1, 1, 1, 1, 1, 1)
    assert recount_joint(whole, [HERE], 6) == Joint(6, rows=6, smallest=3, below=6, closer=0, broken=0)
    assert recount_joint(HERE, [whole], 3) == Joint(3, rows=6, smallest=3, below=0, closer=6, broken=0)
    assert recount_joint(HERE, [whole], 4).broken == 6


def test_rows_left_out_show_nothing_and_that_is_a_value():
    assert recount_joint(classes(1, 1, 1, None), [classes(1, 1, 1, None)], 3) == Joint(3, 3, 3, 0, 0, 0)
    found = recount_joint(classes(1, 1, 1, 1), [classes(1, 1, 1, None)], 3)
    assert found == Joint(3, rows=4, smallest=1, below=1, closer=1, broken=1)
    assert recount_joint(classes(1, 1, 1, None), [classes(1, 1, 1, 1)], 3).broken == 1
    assert not recount_pair(classes(1, 1, 1, 1), classes(1, 1, 1, None)).same


def test_a_column_that_one_release_shows_as_it_is_is_known():
    town = pa.array(["a", "a", "b", "b", None, None])
    shown_now = recount_joint(HERE, [HERE], 2, bare={"town": town})
    assert (shown_now.smallest, shown_now.broken) == (1, 2)
    shown_before = recount_joint(HERE, [HERE], 2, bare={"town": town}, bare_before=["town"])
    assert (shown_before.below, shown_before.broken) == (2, 0)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow", "out.csv.gz"])
def test_classes_are_those_of_the_written_cells_at_the_place_of_their_row(tmp_path, name):
    from incrowd.publishing.serialise import write_table

    frame = pl.DataFrame({"a": ["x", None, "x", None], "b": ["1", "1", "1", "2"], "c": ["p", "q", "r", "s"]})
    path, form = tmp_path / name, FileForm.of(name)
    write_table(frame, path, form)
    origin = np.array([3, 0, 4, 1])
    found = classes_of_rows(path, form, ["a", "b"], Original(None, origin, 5)).to_pylist()
    assert found[2] is None
    assert found[3] == found[4] != found[0] != found[1]
    assert len({found[place] for place in origin}) == 3
