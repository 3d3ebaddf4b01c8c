"""The input by the verification's own road: every form, every cell by what it means, every row in its place."""

from __future__ import annotations

import datetime as dt
import gzip
import random
import sys

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import FileFormatError, MissingPackageError, VerificationError
from incrowd.verification import input_table
from incrowd.verification.input_table import (
    ColumnOrigin,
    InputTable,
    all_rows,
    checked_origin,
    encoded,
    originals,
    understood,
)
from incrowd.verification.meaning import CellMeaning
from incrowd.verification.opening import connect
from incrowd.verification.request import Hint, InputFile
from incrowd.vocabulary.schema import Column, ColumnType, Role

QUASI, OTHER = Role.QUASI_IDENTIFIER, Role.OTHER


@pytest.fixture
def database():
    with connect(threads=1) as connection:
        yield connection


def csv(folder, text, **options):
    path = folder / "input.csv"
    path.write_bytes(text.encode(options.get("encoding", "utf-8")))
    return InputFile(path, "csv", **options)


def source(name, type_=ColumnType.CATEGORICAL, role=QUASI, order=(), shown=None):
    return ColumnOrigin(shown or name, Column(name, role, type_, order))


# opening


@pytest.mark.parametrize("copy", [True, False])
def test_a_text_file(tmp_path, database, copy):
    file = csv(tmp_path, "a,B,b\n1,x,\n2,?,y\n", missing=("?",))
    table = InputTable.open(database, file, tmp_path, frozenset({"a"}), copy=copy)
    assert (table.names, table.rows, table.missing, table.drafts) == (["a", "B", "b"], 2, ("?",), True)
    assert (table.typed, table.copied) == (frozenset({"a"}), copy)
    assert [table.at(name) for name in table.names] == ["c0", "c1", "c2"]
    assert [table.kind(name) for name in ("b", "a")] == ["VARCHAR", "VARCHAR"]
    table.close()
    left = database.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'input'").fetchall()
    assert left == [(0,)]


def test_a_file_is_copied_unless_told_otherwise(tmp_path, database):
    assert InputTable.open(database, csv(tmp_path, "a\n1\n"), None).copied


def parquet(path):
    pq.write_table(pa.table({"n": [1, None], "x": [0.5, 1.5], "t": ["?", None]}), path)


def arrow(path):
    table = pa.table({"n": [1, None], "x": [0.5, 1.5], "t": ["?", None]})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def arff(path):
    path.write_text(
        "@relation r\n@attribute n numeric\n@attribute x numeric\n@attribute t string\n@data\n1,0.5,'?'\n?,1.5,?\n"
    )


@pytest.mark.parametrize(
    ("kind", "write", "kinds"),
    [
        ("parquet", parquet, ["BIGINT", "DOUBLE", "VARCHAR"]),
        ("arrow", arrow, ["BIGINT", "DOUBLE", "VARCHAR"]),
        ("arff", arff, ["VARCHAR", "VARCHAR", "VARCHAR"]),
    ],
)
def test_other_files_declare_their_types(tmp_path, database, kind, write, kinds):
    path = tmp_path / "t"
    write(path)
    table = InputTable.open(database, InputFile(path, kind), None)
    assert (table.names, table.rows, table.drafts, table.copied) == (["n", "x", "t"], 2, False, True)
    assert [table.kind(name) for name in table.names] == kinds
    rows = database.execute("FROM input").fetchall()
    assert [tuple(cell if cell is None else str(cell) for cell in row) for row in rows] == [
        ("1", "0.5", "?"),
        (None, "1.5", None),
    ]


def workbook(path, *rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    book.create_sheet("another").append(["z"])
    book.save(path)
    return InputFile(path, "excel")


def test_a_workbook(tmp_path, database):
    day = dt.datetime(2020, 1, 2, 3)
    file = workbook(
        tmp_path / "t.xlsx",
        ["n", None, "day", "truth", "text", "mixed"],
        [1, 0.5, day, True, "x", "x"],
        [None, 2, None, None, None, None],
        [3, 1, day, False, "y", "z"],
    )
    table = InputTable.open(database, file, None)
    assert (table.names, table.rows) == (["n", "", "day", "truth", "text", "mixed"], 3)
    assert not table.copied
    assert not table.drafts
    assert database.execute("FROM input").fetchall() == [
        (1.0, 0.5, day, True, "x", "x"),
        (None, 2.0, None, None, None, None),
        (3.0, 1.0, day, False, "y", "z"),
    ]
    assert [table.kind(name) for name in table.names[:4]] == ["BIGINT", "DOUBLE", "TIMESTAMP", "BOOLEAN"]
    table.close()
    assert len(database.execute("FROM input").fetchall()) == 3  # nothing was read into the database


def test_columns_of_a_workbook_without_cells(tmp_path, database):
    table = InputTable.open(database, workbook(tmp_path / "t.xlsx", ["n", "m"], [None, 1]), None)
    assert database.execute("FROM input").fetchall() == [(None, 1.0)]
    assert table.kind("n") == "BIGINT"


def test_formulas_of_a_workbook_are_what_they_came_to(tmp_path, database):
    InputTable.open(database, workbook(tmp_path / "t.xlsx", ["n", "m"], [1, "=A2+1"], [2, 3]), None)
    assert database.execute("FROM input").fetchall() == [(1.0, None), (2.0, 3.0)]  # nobody has worked it out


def test_a_workbook_needs_a_package(tmp_path, database, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingPackageError, match=r"incrowd\[excel\]"):
        InputTable.open(database, InputFile(tmp_path / "t.xlsx", "excel"), None)


@pytest.mark.parametrize("step", [1, 3, 1000])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "shift_jis"])
def test_other_encodings_are_read_letter_by_letter(tmp_path, database, monkeypatch, encoding, packed, step):
    monkeypatch.setattr(input_table, "STEP", step)
    word = "日本" if encoding == "shift_jis" else "Köchin"
    file = csv(tmp_path, f'a;b\n{word};"x\r\ny"\n', delimiter=";", encoding=encoding)
    if packed:
        file.path.write_bytes(gzip.compress(file.path.read_bytes()))
        file = InputFile(file.path, "csv", ";", encoding, "gzip")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    InputTable.open(database, file, scratch)
    assert database.execute("FROM input").fetchall() == [(word, "x\r\ny")]


@pytest.mark.parametrize(
    ("data", "encoding"), [(b"a\n\x81\n", "cp1252"), (b"\xff\xfea\0\n", "utf-16"), (b"a\n\x93", "shift_jis")]
)
def test_what_is_not_in_its_encoding_is_refused(tmp_path, database, data, encoding):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(FileFormatError, match=f"not text in {encoding}"):
        InputTable.open(database, InputFile(tmp_path / "t.csv", "csv", encoding=encoding), scratch)


# cells

CELLS = "n,x,day,truth,word,note\n1, 0.5,2020-01-02,Yes, a , a \n02,1e1,?,no,?,?\n,-0,2020-02-01,,b,\n"
TYPES = [
    ColumnType.INTEGER,
    ColumnType.REAL,
    ColumnType.DATE,
    ColumnType.BOOLEAN,
    ColumnType.CATEGORICAL,
    ColumnType.TEXT,
]
MEANT = {
    "n": [1, 2, None],
    "x": [0.5, 10.0, 0.0],
    "day": [dt.date(2020, 1, 2), None, dt.date(2020, 2, 1)],
    "truth": ["yes", "no", None],
    "word": ["a", None, "b"],
    "note": [" a ", None, None],
}


def typed(folder, database, text=CELLS, **options):
    return InputTable.open(database, csv(folder, text, missing=("?",), **options), None, frozenset({"n"}))


def sources():
    *quasi, note = zip(MEANT, TYPES, strict=True)
    return [*(source(name, type_) for name, type_ in quasi), source(*note, role=OTHER)]


def test_quasi_identifiers_alone_are_understood():
    assert [one.understood for one in sources()] == [True] * 5 + [False]


def test_quasi_identifiers_are_what_they_mean_and_others_what_they_are(tmp_path, database):
    assert all_rows(typed(tmp_path, database), sources()).to_pydict() == MEANT


def test_columns_come_under_the_names_of_the_release(tmp_path, database):
    shown = [
        source("word", shown="z"),
        source("n", ColumnType.INTEGER, shown="n_low"),
        source("n", ColumnType.INTEGER, shown="n_high"),
    ]
    found = all_rows(typed(tmp_path, database), shown)
    assert found.to_pydict() == {"z": MEANT["word"], "n_low": MEANT["n"], "n_high": MEANT["n"]}


@pytest.mark.parametrize(
    ("cells", "type_", "meant"),
    [
        (["1,5", "2"], ColumnType.REAL, [1.5, 2.0]),
        (["31/12/2020", "01/02/2020"], ColumnType.DATE, [dt.date(2020, 12, 31), dt.date(2020, 2, 1)]),
        (["12/31/2020", "01/02/2020"], ColumnType.DATE, [dt.date(2020, 12, 31), dt.date(2020, 1, 2)]),
        (["Y", "no"], ColumnType.BOOLEAN, ["true", "false"]),
        (["Y", "n"], ColumnType.BOOLEAN, ["y", "n"]),
    ],
)
def test_some_rules_look_at_the_whole_column(tmp_path, database, cells, type_, meant):
    table = InputTable.open(database, csv(tmp_path, "a\n" + "".join(f'"{cell}"\n' for cell in cells)), None)
    assert all_rows(table, [source("a", type_)])["a"].to_pylist() == meant


@pytest.mark.parametrize(("kind", "whole"), [(pa.float64(), True), (pa.float32(), True), (pa.float64(), False)])
def test_numbers_that_are_categories_are_whole_if_all_are(tmp_path, database, kind, whole):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": pa.array([1.0, 2.0 if whole else 2.5], kind)}), path)
    table = InputTable.open(database, InputFile(path, "parquet"), None)
    assert all_rows(table, [source("a")])["a"].to_pylist() == (["1", "2"] if whole else ["1.0", "2.5"])


@pytest.mark.parametrize(("typed_by_user", "kind"), [(True, "csv"), (False, "arff"), (False, "csv")])
def test_digits_with_a_zero_before_them_are_codes_where_types_were_drafted(tmp_path, database, typed_by_user, kind):
    path = tmp_path / "t"
    path.write_text("n\n020\n" if kind == "csv" else "@relation r\n@attribute n numeric\n@data\n020\n")
    table = InputTable.open(database, InputFile(path, kind), None, frozenset({"n"} if typed_by_user else ()))
    if typed_by_user or kind == "arff":
        assert all_rows(table, [source("n", ColumnType.INTEGER)]).to_pydict() == {"n": [20]}
        return
    with pytest.raises(VerificationError, match="cells that are no integer"):
        all_rows(table, [source("n", ColumnType.INTEGER)])


def test_a_strange_cell_of_a_column_that_is_not_understood_is_a_cell(tmp_path, database):
    table = InputTable.open(database, csv(tmp_path, "n,m\n1,2\nx,3\n"), None)
    with pytest.raises(VerificationError, match="no integer"):
        all_rows(table, [source("n", ColumnType.INTEGER)])
    assert all_rows(table, [source("n", ColumnType.INTEGER, OTHER)]).to_pydict() == {"n": ["1", "x"]}


TEXTS = [["b", "a", None, "b"], ["c", "b", None]]


@pytest.mark.parametrize(
    "cells",
    [
        pa.chunked_array(TEXTS, pa.string()),
        pa.chunked_array(TEXTS, pa.large_string()),
        pa.chunked_array(TEXTS, pa.string()).dictionary_encode().unify_dictionaries(),
    ],
    ids=["text", "long text", "coded"],
)
@pytest.mark.parametrize("role", [QUASI, OTHER])
def test_texts_in_several_pieces(cells, role):
    meaning = {"a": CellMeaning(ColumnType.CATEGORICAL, "VARCHAR", ("c",))}
    found = understood(pa.table({"c0": cells}), [source("a", role=role)], meaning)
    assert found["a"].to_pylist() == ["b", "a", None, "b", None, "b", None]
    assert pa.types.is_dictionary(found["a"].type)
    assert found["a"].chunk(0).dictionary.to_pylist() == list(dict.fromkeys(found["a"].drop_null().to_pylist()))


def test_no_rows(tmp_path, database):
    raw = pa.table({"c0": pa.chunked_array([], pa.string()), "c1": pa.chunked_array([], pa.int64())})
    meanings = {"a": CellMeaning(ColumnType.TEXT), "n": CellMeaning(ColumnType.INTEGER, "BIGINT")}
    found = understood(raw, [source("a"), source("n", ColumnType.INTEGER)], meanings, database)
    assert found.to_pydict() == {"a": [], "n": []}


def test_moments_are_those_of_utc(tmp_path, database):
    database.execute("SET TimeZone = 'Asia/Tokyo'")
    cells = pa.table({"c0": pa.array([dt.datetime(2020, 1, 1, 20)], pa.timestamp("us", "UTC"))})
    meaning = {"a": CellMeaning(ColumnType.DATE, "TIMESTAMP WITH TIME ZONE")}
    for given in (database, None):
        found = understood(cells, [source("a", ColumnType.DATE)], meaning, given)
        assert found.to_pydict() == {"a": [dt.date(2020, 1, 1)]}
    pq.write_table(cells, tmp_path / "t.parquet")
    database.execute("SET TimeZone = 'Asia/Tokyo'")
    table = InputTable.open(database, InputFile(tmp_path / "t.parquet", "parquet"), None)
    assert database.execute("SELECT c0::DATE FROM input").fetchall() == [(dt.date(2020, 1, 1),)]
    assert table.rows == 1


# codes


def test_columns_as_codes(tmp_path, database):
    columns = [one.column for one in sources()[:5]] + [Column("note", OTHER, ColumnType.TEXT)]
    found = encoded(typed(tmp_path, database), columns)
    assert found.height == 3
    for name, meant in {**MEANT, "note": ["a", None, None]}.items():
        values = sorted({cell for cell in meant if cell is not None})  # type: ignore[attr-defined]
        assert found[name].dictionary.to_list() == values
        assert found[name].codes.tolist() == [len(values) if cell is None else values.index(cell) for cell in meant]  # type: ignore[attr-defined]
        assert (found[name].name, found[name].codes.dtype) == (name, np.int32)
    assert [found[name].type for name in MEANT] == TYPES


def test_a_column_of_nothing_as_codes(tmp_path, database):
    table = InputTable.open(database, csv(tmp_path, "a,n\n,\n,\n"), None)
    found = encoded(table, [Column("a", QUASI), Column("n", QUASI, ColumnType.INTEGER)])
    for name in ("a", "n"):
        assert (found[name].dictionary.to_list(), found[name].codes.tolist()) == ([], [0, 0])


def test_codes_in_a_declared_order(tmp_path, database):
    table = InputTable.open(database, csv(tmp_path, "a\nhigh\nlow\nodd\n\nlow\n"), None)
    column = Column("a", QUASI, ColumnType.ORDERED, ("low", "middle", "high"))
    found = encoded(table, [column])["a"]
    assert found.dictionary.to_list() == ["low", "high"]
    assert found.codes.tolist() == [1, 0, 2, 2, 0]  # what the order does not name counts as missing


def test_truth_in_a_typed_file_as_codes(tmp_path, database):
    pq.write_table(pa.table({"a": [True, None, False, True]}), tmp_path / "t.parquet")
    table = InputTable.open(database, InputFile(tmp_path / "t.parquet", "parquet"), None)
    found = encoded(table, [Column("a", QUASI, ColumnType.BOOLEAN)])["a"]
    assert (found.dictionary.to_list(), found.codes.tolist()) == (["false", "true"], [1, 2, 0, 1])


# rows


@pytest.mark.parametrize(
    ("origin", "rows", "released", "fault"),
    [
        ([0, 1, 2], 3, 3, None),
        ([2, 0], 3, 2, None),
        ([], 3, 0, None),
        ([], 0, 0, None),
        ([0], 1, 1, None),
        ([0, 1], 3, 3, "not the rows of the input"),
        ([0, 1, 2], 3, 2, "not the rows of the input"),
        ([0, 3], 3, 2, "not the rows of the input"),
        ([-1, 0], 3, 2, "not the rows of the input"),
        ([0], 0, 1, "not the rows of the input"),
        ([], 3, 1, "not the rows of the input"),
        ([1, 1], 3, 2, "more than once"),
        ([0, 2, 0], 3, 3, "more than once"),
    ],
)
def test_a_hint_names_rows_of_the_input_once(origin, rows, released, fault):
    given = np.array(origin, np.int64)
    if fault is None:
        assert checked_origin(given, rows, released) is given
        return
    with pytest.raises(VerificationError, match=fault):
        checked_origin(given, rows, released)


def numbered(folder, rows):
    text = "n,t\n" + "".join(f"{n},t{n}\n" for n in range(rows))
    return csv(folder, text)


def test_cells_of_some_rows_come_in_their_order(tmp_path, database):
    table = InputTable.open(database, numbered(tmp_path, 9), None)
    found = table.rows_at(["t", "n"], np.array([7, 0, 8, 3]))
    assert list(zip(*found.to_pydict().values(), strict=True)) == [("t7", "7"), ("t0", "0"), ("t8", "8"), ("t3", "3")]
    assert table.rows_at(["n"], np.array([], np.int64)).num_rows == 0


@pytest.mark.each(3)
@pytest.mark.parametrize("batch", [1, 2, 5, 100])
@pytest.mark.parametrize("sizes", [(7,), (3, 4), (1, 1, 5), (4, 0, 3), (0, 7), (7, 0), (2, 2, 2, 1)])
def test_originals_are_the_rows_of_the_input_in_the_order_of_the_release(tmp_path, database, monkeypatch, sizes, batch):
    monkeypatch.setattr(input_table, "_BATCH", batch)
    origin = np.array(random.Random(str(sizes)).sample(range(10), 7))
    low = origin / 2
    np.save(tmp_path / "origin.npy", origin)
    np.save(tmp_path / "low.npy", low)
    np.save(tmp_path / "high.npy", low + 1)
    hint = Hint(tmp_path / "origin.npy", sizes, {"n": (tmp_path / "low.npy", tmp_path / "high.npy")})
    table = InputTable.open(database, numbered(tmp_path, 10), None, copy=len(sizes) == 1)
    found = originals(table, [source("t"), source("n", ColumnType.INTEGER)], hint, tmp_path)
    assert (found.rows, found.origin.tolist()) == (10, origin.tolist())
    pieces = [found] if len(sizes) == 1 else [found.piece(number) for number in range(len(sizes))]
    assert len(sizes) == 1 or found.sizes == sizes
    assert [piece.table.num_rows for piece in pieces] == list(sizes)
    assert [n for piece in pieces for n in piece.table["n"].to_pylist()] == origin.tolist()
    assert [t for piece in pieces for t in piece.table["t"].to_pylist()] == [f"t{n}" for n in origin]
    for piece in pieces:
        assert piece.rows == 10
        assert piece.origin.tolist() == piece.table["n"].to_pylist()
        ends = piece.claims["n"]
        assert [each.tolist() for each in ends] == [[n / 2 for n in piece.origin], [n / 2 + 1 for n in piece.origin]]


def test_no_rows_in_several_pieces(tmp_path, database):
    np.save(tmp_path / "origin.npy", np.array([], np.int64))
    table = InputTable.open(database, numbered(tmp_path, 0), None, copy=False)
    found = originals(table, [source("t")], Hint(tmp_path / "origin.npy", (0, 0)), tmp_path)
    assert [found.piece(number).table.to_pydict() for number in range(2)] == [{"t": []}] * 2


def test_originals_of_a_wrong_hint_are_refused(tmp_path, database):
    np.save(tmp_path / "origin.npy", np.array([0, 1, 1]))
    table = InputTable.open(database, numbered(tmp_path, 3), None)
    for sizes, fault in (((3,), "more than once"), ((2,), "not the rows"), ((1, 1), "not the rows")):
        with pytest.raises(VerificationError, match=fault):
            originals(table, [source("t")], Hint(tmp_path / "origin.npy", sizes), tmp_path)
