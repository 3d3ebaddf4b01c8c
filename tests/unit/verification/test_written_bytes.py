"""What lies in a file beside the released cells is found, in every format."""

import datetime as dt
import gzip

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.tables.publishing.serialise import write_table
from incrowd.verification.written_bytes import bytes_check
from incrowd.vocabulary.forms import FileForm

FRAME = pl.DataFrame(
    {
        "job": ["cook", "nurse", None, "=1+2"] * 50,
        "age": [31, 42, None, 50] * 50,
        "pay": [1.5, None, 2.5, 3.5] * 50,
        "ill": [True, False, None, True] * 50,
        "day": [dt.date(2020, 1, 1), None] * 100,
    }
)
ENDINGS = ["csv", "tsv", "csv.gz", "csv.zst", "parquet", "arrow", "arff"]


def written(tmp_path, ending, frame=FRAME):
    path = tmp_path / f"release.{ending}"
    write_table(frame, path, FileForm.of(path))
    return path


def check(path):
    return bytes_check(path, FileForm.of(path))


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_has_nothing_beside_its_cells(tmp_path, ending):
    for frame in (FRAME, FRAME.head(1), FRAME.clear()):
        found = check(written(tmp_path, ending, frame))
        assert found.passed, found


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda data: b"\xef\xbb\xbf" + data, "byte order mark"),
        (lambda data: data + b"\n", "does not end"),
        (lambda data: data.rstrip(b"\n"), "does not end"),
        (lambda data: data.replace(b"cook", b"co\0k", 1), "NUL"),
    ],
)
def test_text(tmp_path, change, fault):
    path = written(tmp_path, "csv")
    path.write_bytes(change(path.read_bytes()))
    assert fault in check(path).found


def test_gzip(tmp_path):
    path = written(tmp_path, "csv.gz")
    text = gzip.decompress(path.read_bytes())
    for damaged, fault in (
        (gzip.compress(text), "a name, a time"),  # with the time of its making
        (path.read_bytes() + b"more", "follow the end"),
        (path.read_bytes() + gzip.compress(b"x\n", mtime=0), "follow the end"),
    ):
        path.write_bytes(damaged)
        assert fault in check(path).found
    with path.open("wb") as raw, gzip.GzipFile("people.csv", "wb", fileobj=raw, mtime=0) as packed:
        packed.write(text)
    assert "a name, a time" in check(path).found


def test_zstd(tmp_path):
    path = written(tmp_path, "csv.zst")
    skippable = b"\x50\x2a\x4d\x18" + (6).to_bytes(4, "little") + b"secret"
    for damaged in (path.read_bytes() + skippable, skippable + path.read_bytes()):
        path.write_bytes(damaged)
        assert "no data" in check(path).found
        path = written(tmp_path, "csv.zst")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.replace("@data\n", "@data\n% made of people.csv\n"), "comments or blank lines"),
        (lambda text: text.replace("@data\n", "@data\n\n"), "comments or blank lines"),
        (lambda text: text + "\n", "comments or blank lines"),
        (lambda text: text.replace("@relation release", "@relation people"), "not those of a release"),
        (lambda text: text.replace("@attribute", "% note\n@attribute", 1), "comments stand"),
        (lambda text: text.replace("{", "{spy,", 1), "declares values of no row"),
    ],
)
def test_arff(tmp_path, change, fault):
    path = written(tmp_path, "arff")
    path.write_text(change(path.read_text()))
    assert fault in check(path).found


def table():
    return FRAME.with_columns(pl.col("job").cast(pl.String)).to_arrow(compat_level=pl.CompatLevel.oldest())


def with_unused_word():
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0] * 50, pa.int32()), ["cook", "nurse", "spy"])
    return table().set_column(0, "job", words)


def with_words_of_another_order():
    words = pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 1] * 50, pa.int32()), ["nurse", "cook"])
    return table().set_column(0, "job", words)


PLAIN = {"store_schema": False, "write_statistics": False, "use_dictionary": ["job"]}


@pytest.mark.parametrize(
    ("write", "fault"),
    [
        (
            lambda path: pq.write_table(table().replace_schema_metadata({"k": "v"}), path, write_statistics=False),
            "meta",
        ),
        (lambda path: pq.write_table(table(), path, store_schema=False), "least and the greatest"),
        (lambda path: pq.write_table(with_unused_word(), path, **PLAIN), "job has a dictionary with values of no row"),
        (lambda path: pq.write_table(with_words_of_another_order(), path, **PLAIN), "neither that of its rows"),
        (lambda path: pq.write_table(table(), path, **{**PLAIN, "use_dictionary": True}), "numbers have a dictionary"),
        (
            lambda path: pq.write_table(table(), path, sorting_columns=[pq.SortingColumn(0)], **PLAIN),
            "an order of the rows",
        ),
    ],
)
def test_parquet(tmp_path, write, fault):
    path = tmp_path / "release.parquet"
    write(path)
    assert fault in check(path).found


def test_bytes_before_the_footer_of_parquet(tmp_path):
    path = written(tmp_path, "parquet")
    data = path.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little") + 8
    path.write_bytes(data[:-footer] + b"secret" + data[-footer:])
    assert pq.read_table(path).num_rows == FRAME.height  # readers do not mind
    assert "before the footer" in check(path).found


def arrow(path, columns, **options):
    found = pa.table(columns) if isinstance(columns, dict) else columns
    with pa.ipc.new_file(str(path), found.schema, **options) as writer:
        writer.write_table(found)


def under_a_null(values, kind):
    """An array whose second cell is missing, with its value still in the buffer."""
    whole = pa.array(values, kind)
    mask = pa.array([True, False, True]).buffers()[1]
    return pa.Array.from_buffers(whole.type, len(whole), [mask, *whole.buffers()[1:]], 1)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3], pa.int64()),
        ([1.0, 2.0, 3.0], pa.float64()),
        (["a", "secret", "c"], pa.string()),
        ([False, True, False], pa.bool_()),
    ],
)
def test_values_under_missing_cells_of_arrow(tmp_path, values, kind):
    path = tmp_path / "release.arrow"
    arrow(path, {"x": under_a_null(values, kind)})
    assert "under missing cells" in check(path).found


def test_arrow_that_keeps_more_than_it_shows(tmp_path):
    path = tmp_path / "release.arrow"
    arrow(path, table().replace_schema_metadata({"made": "of people.csv"}))
    assert "metadata" in check(path).found
    arrow(path, with_unused_word())
    assert "values of no row" in check(path).found
    cut = pa.array(["a", "secret"]).slice(0, 1)
    arrow(path, {"x": cut})
    found = check(path)
    assert found.passed or "no cell shows" in found.found  # writers may cut what is beyond a slice


def test_rows_that_the_footer_of_arrow_does_not_list(tmp_path):
    path = tmp_path / "release.arrow"
    one, two = (pa.table({"x": np.arange(n)}) for n in (3, 4))
    arrow(path, one)
    short = path.read_bytes()
    with pa.ipc.new_file(str(path), one.schema) as writer:
        writer.write_table(one)
        writer.write_table(two)
    long = path.read_bytes()
    size = int.from_bytes(short[-10:-6], "little") + 10
    longer = int.from_bytes(long[-10:-6], "little") + 10
    path.write_bytes(long[:-longer] + short[-size:])
    assert pa.ipc.open_file(str(path)).num_record_batches == 1
    assert "does not list" in check(path).found
    path.write_bytes(short[:-size] + b"secret!!" + short[-size:])
    assert "before the footer" in check(path).found
