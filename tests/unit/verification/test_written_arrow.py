"""Arrow files: buffers hold what their cells show, dictionaries what occurs, and the footer lists everything."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from incrowd.verification.written_bytes import bytes_check
from incrowd.vocabulary.forms import FileForm

FINE = "nothing but the released cells"
UNDER = "keeps values under missing cells"
BEHIND = "keeps text that no cell shows"
UNUSED = "has a dictionary with values of no row"
TWICE = "has a dictionary that lists a value twice"
ORDER = "has a dictionary in an order that is neither that of its rows nor its own"
METADATA = "the file holds metadata"
TEXT = pa.string()


def write(path, *tables, metadata=None, compression=None):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(str(path), tables[0].schema, options=options, metadata=metadata) as writer:
        for table in tables:
            writer.write_table(table)
    return path


def told(path):
    return bytes_check(path, FileForm("arrow")).finding


def found(folder, columns, **options):
    table = pa.table(columns) if isinstance(columns, dict) else columns
    return told(write(folder / "release.arrow", table, **options))


def under_nulls(values, kind, shown):
    """An array of these values of which only some are shown; the others are still in the buffer."""
    whole = pa.array(values, kind)
    mask = pa.array(shown).buffers()[1]
    return pa.Array.from_buffers(whole.type, len(whole), [mask, *whole.buffers()[1:]])


@pytest.mark.parametrize("compression", [None, "zstd"])
@pytest.mark.parametrize(
    ("values", "kind", "fault"),
    [
        ([1, 2, 3], pa.int64(), UNDER),
        ([1, 0, 3], pa.int64(), FINE),
        ([1, 1 << 56, 3], pa.int64(), UNDER),
        ([1, 2, 3], pa.int8(), UNDER),
        ([1, 2, 3], pa.uint16(), UNDER),
        ([1.0, 2.0, 3.0], pa.float64(), UNDER),
        ([1.0, -0.0, 3.0], pa.float64(), UNDER),
        ([1.0, 2.0, 3.0], pa.float32(), UNDER),
        (["a", "secret", "c"], pa.string(), UNDER),
        (["a", "secret", "c"], pa.large_string(), UNDER),
        (["a", "", "c"], pa.string(), FINE),
        (["a", "", "c"], pa.large_string(), FINE),
        ([False, True, False], pa.bool_(), UNDER),
        ([True, False, True], pa.bool_(), FINE),
        ([dt.date(2020, 1, 1)] * 3, pa.date32(), UNDER),
        ([dt.datetime(2020, 1, 1)] * 3, pa.timestamp("us"), UNDER),
        ([Decimal("1.5")] * 3, pa.decimal128(5, 1), UNDER),
    ],
)
def test_values_under_missing_cells(tmp_path, values, kind, fault, compression):
    cells = under_nulls(values, kind, [True, False, True])
    expected = fault if fault == FINE else f"x {fault}"
    assert found(tmp_path, {"x": cells}, compression=compression) == expected


@pytest.mark.parametrize("shown", [0, 1, 7, 8, 9])
@pytest.mark.parametrize("kind", [pa.bool_(), pa.int16(), pa.string()])
def test_one_hidden_value_among_ten(tmp_path, shown, kind):
    """Nine cells are empty or missing for good; the place of the one that is not makes no difference."""
    values = [place == shown for place in range(10)]
    cells = pa.array(values).cast(kind) if kind != pa.string() else pa.array(["x" if one else "" for one in values])
    assert found(tmp_path, {"x": cells}) == FINE
    hidden = under_nulls(cells.to_pylist(), kind, [not one for one in values])
    assert found(tmp_path, {"x": hidden}) == f"x {UNDER}"
    others = under_nulls(cells.to_pylist(), kind, values)
    assert found(tmp_path, {"x": others}) == FINE


@pytest.mark.parametrize("rows", [3, 2, 1, 0])
def test_cells_of_every_kind_that_hide_nothing(tmp_path, rows):
    columns = {
        "whole": pa.array([1, None, 3][:rows], pa.int64()),
        "real": pa.array([1.5, None, 0.0][:rows], pa.float64()),
        "truth": pa.array([True, None, True][:rows], pa.bool_()),
        "text": pa.array(["a", None, ""][:rows], pa.string()),
        "long": pa.array(["a", None, "\0"][:rows], pa.large_string()),
        "day": pa.array([dt.date(2020, 1, 1), None, None][:rows], pa.date32()),
        "none": pa.nulls(rows),
        "words": pa.array(["a", None, "b"][:rows], pa.string()).dictionary_encode(),
        "no words": words([None] * rows, []),
    }
    for compression in (None, "zstd"):
        assert found(tmp_path, columns, compression=compression) == FINE


@pytest.mark.parametrize("kind", [TEXT, pa.large_string()])
def test_no_rows_of_a_longer_table(tmp_path, kind):
    batch = pa.record_batch({"x": pa.array(["a", "bc"], kind)})
    with pa.ipc.new_file(str(tmp_path / "t.arrow"), batch.schema) as writer:
        writer.write_batch(batch.slice(0, 0))
        writer.write_batch(batch.slice(1, 1))
    assert told(tmp_path / "t.arrow") == FINE


def test_batches_are_looked_at_one_and_all(tmp_path):
    sound, hidden = pa.table({"a": [1], "x": [2]}), pa.table({"a": [1], "x": under_nulls([1], pa.int64(), [False])})
    for tables in ((hidden, sound), (sound, hidden), (sound, sound, hidden)):
        assert told(write(tmp_path / "t.arrow", *tables)) == f"x {UNDER}"
    assert told(write(tmp_path / "t.arrow", sound, sound, sound)) == FINE


# texts


def patched(folder, before, after, kind=TEXT, cells=("a", "bc", "d")):
    """A file of texts whose offsets were changed afterwards."""
    path = write(folder / "release.arrow", pa.table({"x": pa.array(cells, kind)}))
    letter = "q" if kind == pa.large_string() else "i"
    packed, other = (struct.pack(f"<{len(each)}{letter}", *each) for each in (before, after))
    data = path.read_bytes()
    assert data.count(packed) == 1
    path.write_bytes(data.replace(packed, other))
    return told(path)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    ("offsets", "fault"),
    [
        ((0, 1, 3, 4), FINE),
        ((0, 0, 3, 4), FINE),  # other cells, but all letters are theirs
        ((0, 1, 3, 3), f"x {BEHIND}"),
        ((1, 1, 3, 4), f"x {BEHIND}"),
        ((0, 0, 0, 0), f"x {BEHIND}"),
        ((4, 4, 4, 4), f"x {BEHIND}"),
        ((0, 1, 1, 1), f"x {BEHIND}"),
    ],
)
def test_text_that_no_cell_shows(tmp_path, kind, offsets, fault):
    assert patched(tmp_path, (0, 1, 3, 4), offsets, kind) == fault


def test_one_letter_that_no_cell_shows(tmp_path):
    assert patched(tmp_path, (0, 0, 0, 1, 1), (0, 0, 0, 0, 0), cells=("", "", "a", "")) == f"x {BEHIND}"
    assert patched(tmp_path, (0, 0, 0, 2, 2), (0, 0, 0, 1, 1), cells=("", "", "ab", "")) == f"x {BEHIND}"


def test_a_text_of_nul_letters_shows_what_it_holds(tmp_path):
    assert found(tmp_path, {"x": ["a\0\0", "\0"]}) == FINE


@pytest.mark.parametrize("offsets", [(0, 1 << 30, 3, 4), (0, 3, 1, 4), (0, 1, 3, 1 << 30)])
def test_offsets_that_lead_nowhere_are_an_error(tmp_path, offsets):
    with pytest.raises(pa.ArrowInvalid):
        patched(tmp_path, (0, 1, 3, 4), offsets)


# dictionaries


def words(codes, listed, kind=TEXT, index=None):
    return pa.DictionaryArray.from_arrays(pa.array(codes, index or pa.int32()), pa.array(listed, kind))


@pytest.mark.parametrize(
    ("codes", "listed", "fault"),
    [
        ([0, 1, 0], ["a", "b"], FINE),
        ([0, None, 1], ["a", "b"], FINE),
        ([1, 0], ["a", "b"], FINE),  # sorted
        ([2, 1, 0], ["a", "b", "c"], FINE),
        ([0, 1], ["b", "a"], FINE),  # as the rows come
        ([0, 1, 2, 1, 0], ["c", "a", "b"], FINE),
        ([1, 0], ["b", "a"], ORDER),
        ([0, 2, 1], ["b", "c", "a"], ORDER),
        ([1, 0, 2], ["b", "a", "c"], ORDER),
        ([1, 2, 0], ["a", "c", "b"], ORDER),
        ([0, 0], ["a", "b"], UNUSED),
        ([1, 1], ["a", "b"], UNUSED),
        ([None, None], ["a"], UNUSED),
        ([0, 1], ["a", "a"], TWICE),
        ([1, 0, 2], ["a", "b", "a"], TWICE),
        ([0, 1, 2], [None, "a", None], TWICE),
        ([1, 0], ["a", None], FINE),
        ([0, 1], ["a", None], FINE),
        ([0], ["a"], FINE),
    ],
)
def test_dictionaries(tmp_path, codes, listed, fault):
    for kind in (pa.string(), pa.large_string()):
        expected = fault if fault == FINE else f"x {fault}"
        assert found(tmp_path, {"x": words(codes, listed, kind)}) == expected
        assert found(tmp_path, {"x": words(codes, listed, kind, pa.uint8())}) == expected


def test_codes_and_words_under_missing_cells_of_a_dictionary(tmp_path):
    codes = under_nulls([0, 1, 1], pa.int32(), [True, False, True])
    coded = pa.DictionaryArray.from_arrays(codes, ["a", "b"])
    assert found(tmp_path, {"x": coded}) == f"x {UNDER}"
    listed = under_nulls(["a", "secret"], pa.string(), [True, False])
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), listed)
    assert found(tmp_path, {"x": coded}) == f"x {UNDER}"


# what is beside the columns


def test_metadata(tmp_path):
    table = pa.table({"a": [1], "b": [2]})
    assert found(tmp_path, table) == FINE
    assert found(tmp_path, table, metadata={"made": "of people.csv"}) == METADATA
    assert found(tmp_path, table.replace_schema_metadata({"made": "of people.csv"})) == METADATA
    for place in range(2):
        fields = [field.with_metadata({"k": "v"}) if at == place else field for at, field in enumerate(table.schema)]
        assert found(tmp_path, table.cast(pa.schema(fields))) == METADATA


def parts(path):
    """What comes before the footer of a file, and the footer to the end."""
    data = path.read_bytes()
    size = int.from_bytes(data[-10:-6], "little") + 10
    return data[:-size], data[-size:]


def test_what_the_footer_does_not_list(tmp_path):
    path = tmp_path / "release.arrow"
    one, two = (pa.table({"x": np.arange(n)}) for n in (3, 4))
    before, footer = parts(write(path, one))
    longer, _ = parts(write(path, one, two))
    path.write_bytes(longer + footer)
    assert pa.ipc.open_file(str(path)).num_record_batches == 1  # readers do not mind
    assert told(path) == "the file holds rows that its footer does not list"
    for more in (b"\0", b"secret!!"):
        path.write_bytes(before + more + footer)
        assert told(path) == "bytes lie before the footer"
    path.write_bytes(before + footer)
    assert told(path) == FINE
