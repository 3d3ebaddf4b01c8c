"""The originals of a release are kept as they came, in memory or in files."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from incrowd.errors import FileFormatError, OutputError
from incrowd.holding.held import Drafted
from incrowd.holding.keeping import Kept
from incrowd.publishing.serialise import safe_name
from incrowd.verification.asked import Original, Originals


def piece(start, height, claims=True):
    """A piece of an original: categories, numbers, dates, nulls, and what its rows claim."""
    numbers = np.arange(start, start + height)
    jobs = pa.array([None if i % 3 == 0 else f"j{i % 4}" for i in numbers], pa.string()).dictionary_encode()
    days = pa.array([dt.date(2020, 1, 1) + dt.timedelta(int(i)) for i in numbers], pa.date32())
    table = pa.table({"=job": jobs, "day": days, "age": pa.array(numbers, pa.int64())})
    ends = {"age": (numbers - 0.5, np.where(numbers % 2, np.inf, numbers + 0.5))} if claims else {}
    return Original(table, numbers[::-1].astype(np.intp), 100, ends)


def keep(pieces, folder, rename=str):
    kept = Kept(rename, folder)
    drafts = [Drafted(pa.table({"n": [len(each.origin)]}), lambda each=each: each) for each in pieces]
    return kept, [table["n"][0].as_py() for table in kept.pieces(drafts)]


def same(one, other):
    assert one.table.column_names == other.table.column_names
    assert [column.to_pylist() for column in one.table] == [column.to_pylist() for column in other.table]
    assert one.origin.tolist() == other.origin.tolist()
    assert one.rows == other.rows
    assert one.claims.keys() == other.claims.keys()
    for name, ends in one.claims.items():
        assert [end.tolist() for end in ends] == [end.tolist() for end in other.claims[name]]


@pytest.mark.parametrize("claims", [True, False])
def test_pieces_come_back_from_files_as_they_were(tmp_path, claims):
    given = [piece(0, 5, claims), piece(5, 0, claims), piece(5, 8, claims)]
    kept, tables = keep(given, tmp_path)
    assert tables == [5, 0, 8]
    found = kept.originals
    assert isinstance(found, Originals)
    assert (found.rows, tuple(found.sizes)) == (100, (5, 0, 8))
    for place in (2, 0, 1, 2):
        same(found.piece(place), given[place])


def test_one_piece_in_memory_is_the_piece(tmp_path):
    kept, _ = keep([piece(0, 5)], None)
    assert isinstance(kept.originals, Original)
    same(kept.originals, piece(0, 5))
    assert not list(tmp_path.iterdir())


def test_names_are_those_of_the_written_file(tmp_path):
    for folder in (None, tmp_path):
        kept, _ = keep([piece(0, 3)], folder, safe_name)
        found = kept.originals
        table = found.table if isinstance(found, Original) else found.piece(0).table
        assert table.column_names == ["'=job", "day", "age"]


def test_the_original_is_asked_for_after_the_piece_was_written(tmp_path):
    """So that a release and its original need not be in memory together."""
    order = []

    def original():
        order.append("original")
        return piece(0, 3)

    for table in Kept(str, tmp_path).pieces([Drafted(pa.table({"n": [1]}), original)]):
        order.append(table.num_rows)
    assert order == [1, "original"]


def test_columns_may_be_named_like_those_that_are_kept_beside_them(tmp_path):
    names = ["#origin", "#low age", "#high age"]
    given = piece(0, 3)
    given = Original(given.table.rename_columns(names), given.origin, 100, {"#low age": given.claims["age"]})
    kept, _ = keep([given], tmp_path)
    same(kept.originals.piece(0), given)


def test_a_full_or_missing_folder_and_a_lost_file_are_told(tmp_path):
    with pytest.raises(OutputError, match="scratch folder"):
        keep([piece(0, 3)], tmp_path / "gone")
    kept, _ = keep([piece(0, 3)], tmp_path)
    next(tmp_path.iterdir()).write_bytes(b"something else")
    with pytest.raises(FileFormatError, match="changed or removed"):
        kept.originals.piece(0)
    next(tmp_path.iterdir()).unlink()
    with pytest.raises(FileFormatError, match="changed or removed"):
        kept.originals.piece(0)
