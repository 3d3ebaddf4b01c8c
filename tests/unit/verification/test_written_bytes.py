"""What lies in a file beside the released cells is found, in every format."""

import datetime as dt

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.tables.publishing.serialise import write_table
from incrowd.verification.verdict import Check
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
FINE = "nothing but the released cells"
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


# ARFF

HEAD = "@relation release\n\n@attribute job {cook,'a, b','it\\'s'}\n@attribute age numeric\n\n@data\n"
BODY = "cook,1\n'a, b',2\n'it\\'s',?\n?,4\n"
DECLARED = "the declarations are not those of a release"
REMARK = "comments stand among the declarations"
BLANK = "comments or blank lines stand among the rows"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (HEAD + BODY, FINE),
        (HEAD, "job declares values of no row"),
        (HEAD.replace("{cook,'a, b','it\\'s'}", "{}"), FINE),
        (HEAD.replace("{cook,'a, b','it\\'s'}", "{}") + "?,1\n", FINE),
        (HEAD.replace("cook,", "cook,spy,") + BODY, "job declares values of no row"),
        (HEAD.replace("cook,", r"cook,'\'',") + BODY, "job declares values of no row"),
        (HEAD.replace("cook,", r"cook,'\'',") + BODY + "'\\'',3\n", FINE),
        (HEAD + BODY + BODY, FINE),
        (HEAD.replace("numeric", "{1,2,4,5}") + BODY, "age declares values of no row"),
        (HEAD.replace("numeric", "{1,2,4}") + BODY, FINE),
        (HEAD.replace("release", "people") + BODY, DECLARED),
        (HEAD.replace("release\n\n", "release\n") + BODY, DECLARED),
        (HEAD.replace("release\n\n", "release\n% of people\n") + BODY, DECLARED),
        ("% of people\n" + HEAD + BODY, DECLARED),
        (HEAD.replace("\n\n@data", "\n@data") + BODY, DECLARED),
        (HEAD.replace("\n\n@data", "\n% of people\n@data") + BODY, DECLARED),
        (HEAD.replace("@data", "@DATA") + BODY, DECLARED),
        (HEAD.replace("@data\n", "@data"), DECLARED),
        (HEAD.replace("\n\n@data", "\n\n\n@data") + BODY, REMARK),
        (HEAD.replace("\n@attribute job", "\n% of people\n@attribute job") + BODY, REMARK),
        (HEAD.replace("\n@attribute age", "\n% of people\n@attribute age") + BODY, REMARK),
        (HEAD.replace("\n\n@data", "\n% of people\n\n@data") + BODY, REMARK),
        (HEAD + "% of people\n" + BODY, BLANK),
        (HEAD + BODY + "% of people\n", BLANK),
        (HEAD + "\n" + BODY, BLANK),
        (HEAD + BODY + "\n", BLANK),
        (HEAD + BODY[:-1], BLANK),
        (HEAD + BODY + "% of people", BLANK),
    ],
)
def test_arff(tmp_path, text, fault):
    path = tmp_path / "release.arff"
    path.write_text(text)
    assert check(path).finding == fault


def test_arff_with_several_faults_tells_all(tmp_path):
    path = tmp_path / "release.arff"
    text = HEAD.replace("cook,", "cook,spy,") + BODY + "\n"
    path.write_text(text)
    assert check(path) == Check("bytes", False, f"{BLANK}; job declares values of no row")


# Parquet


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
        (lambda path: pq.write_table(table(), path, store_schema=False), "smallest and largest"),
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
    assert fault in check(path).finding


def parquet(path, columns, **options):
    table = pa.table(columns) if isinstance(columns, dict) else columns
    pq.write_table(table, path, **{**PLAIN, "use_dictionary": False, **options})
    return check(path).finding


def test_every_column_of_every_part_is_looked_at(tmp_path):
    path = tmp_path / "release.parquet"
    columns = {"a": ["x", "y", "x", "y"], "b": [1, 2, 3, 4], "c": [1.5, 2.5, 3.5, 4.5]}
    assert parquet(path, columns, row_group_size=2) == FINE
    assert parquet(path, columns, use_dictionary=["a"], row_group_size=2) == FINE
    for name in ("b", "c"):
        told = "numbers have a dictionary, which no reader shows"
        assert parquet(path, columns, use_dictionary=["a", name], row_group_size=2) == told
        told = "the footer holds the smallest and largest values"
        assert parquet(path, columns, write_statistics=[name], row_group_size=2) == told


def test_statistics_without_ends_tell_nothing(tmp_path):
    path = tmp_path / "release.parquet"
    nothing = {"a": pa.array([None, None], pa.string()), "b": pa.array([None, None], pa.int64())}
    assert parquet(path, nothing, write_statistics=True) == FINE
    half = {"a": pa.array([None, None, "x", None], pa.string())}
    told = "the footer holds the smallest and largest values"
    assert parquet(path, half, write_statistics=True, row_group_size=2) == told


@pytest.mark.parametrize("frame", [FRAME, FRAME.clear()], ids=["rows", "no rows"])
def test_bytes_before_the_footer_of_parquet(tmp_path, frame):
    path = written(tmp_path, "parquet", frame)
    data = path.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little") + 8
    for more in (b"s", b"secret"):
        path.write_bytes(data[:-footer] + more + data[-footer:])
        assert pq.read_table(path).num_rows == frame.height  # readers do not mind
        assert check(path).finding == "bytes lie before the footer"


def varint(number):
    """A number as Thrift writes it: twice itself, seven bits a byte."""
    left, found = 2 * number, b""
    while left > 127:
        left, found = left >> 7, found + bytes([left & 127 | 128])
    return found + bytes([left])


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("place", [0, 1])
def test_bytes_between_the_columns_of_parquet(tmp_path, part, place):
    """All that comes after some place is moved, and the footer knows."""
    path = tmp_path / "release.parquet"
    texts = [f"{number:064}" for number in range(8)]  # so long that no place takes another number of bytes
    assert parquet(path, {"a": texts, "b": texts}, row_group_size=4, compression=None) == FINE
    data, known = path.read_bytes(), pq.read_metadata(path)
    size = int.from_bytes(data[-8:-4], "little") + 8
    body, footer = data[:-size], data[-size:]
    starts = sorted(known.row_group(g).column(c).data_page_offset for g in range(2) for c in range(2))
    at = starts[2 * part + place]
    if at == starts[0]:
        at, starts = starts[1], starts[1:]
    for start in starts:
        if start >= at:
            assert b"\x26" + varint(start) in footer
            footer = footer.replace(b"\x26" + varint(start), b"\x26" + varint(start + 6))
    path.write_bytes(body[:at] + b"secret" + body[at:] + footer)
    assert pq.read_table(path).to_pydict() == {"a": texts, "b": texts}
    assert check(path).finding == "bytes lie between the columns"


def test_all_files_of_a_folder_of_parquet(tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    for name in ("1", "2", "3"):
        pq.write_table(pa.table({"job": ["x", "y"]}), folder / f"{name}.parquet", **PLAIN)
    assert bytes_check(folder, FileForm("parquet")).finding == FINE
    for name in ("2", "3"):
        pq.write_table(pa.table({"job": words([0, 0], ["x", "spy"])}), folder / f"{name}.parquet", **PLAIN)
    told = "job has a dictionary with values of no row"
    assert bytes_check(folder, FileForm("parquet")).finding == f"{told}; {told}"


def words(codes, listed):
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(listed, pa.string()))


@pytest.mark.parametrize(
    ("codes", "listed", "fault"),
    [
        ([0, 1, None, 0], ["x", "y"], FINE),
        ([1, 0, 1, 0], ["x", "y"], FINE),
        ([0, 1, 0, 0], ["y", "x"], FINE),
        ([1, 0, 0, 0], ["y", "x"], "has a dictionary in an order that is neither that of its rows nor its own"),
        ([0, 1, None, 0], ["x", "y", "spy"], "has a dictionary with values of no row"),
    ],
)
def test_dictionaries_of_parquet(tmp_path, codes, listed, fault):
    """Of numbers and of other columns nothing is said; of a column once, however many of its parts are at fault."""
    path = tmp_path / "release.parquet"
    columns = {"n": [1, 2, 3, 4], "a": ["p", "q", "p", "q"], "job": words(codes, listed), "z": ["p", "p", "q", "q"]}
    told = fault if fault == FINE else f"job {fault}"
    assert parquet(path, columns, use_dictionary=["a", "job"]) == told
    doubled = {name: pa.chunked_array([pa.array(cells)] * 2) for name, cells in columns.items()}
    both = fault if fault == FINE else f"job {fault}; job {fault}"
    assert parquet(path, pa.table(doubled), use_dictionary=["a", "job"], row_group_size=4) == both


def test_parquet_without_rows_or_parts(tmp_path):
    path = tmp_path / "release.parquet"
    for pieces in (0, 1):
        with pq.ParquetWriter(path, pa.schema({"job": pa.string(), "n": pa.int64()}), **PLAIN) as writer:
            for _ in range(pieces):
                writer.write_table(pa.table({"job": pa.array([], pa.string()), "n": pa.array([], pa.int64())}))
        assert check(path).finding == FINE


def test_parquet_without_texts(tmp_path):
    assert parquet(tmp_path / "release.parquet", {"n": [1, 2], "x": [0.5, None]}) == FINE
