"""Faults of writing: the file tells more than the released cells, or something else."""

from __future__ import annotations

import gzip
import json
import struct
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from faults.planting import BLOCKS, BOTH, MEMORY, SPARK, as_if, plant
from incrowd.vocabulary.randomness import SeededRandomness

WRITE = {
    MEMORY: "incrowd.tables.publishing.serialise:write_table",
    BLOCKS: "incrowd.tables.publishing.serialise:write_pieces",
    SPARK: "incrowd.rows.spark.writing:write_pieces",
}
EVERYWHERE = (*BOTH, SPARK)
PERMUTATION, SYSTEM = "incrowd.vocabulary.randomness:permutation", "incrowd.vocabulary.randomness:SystemRandomness"


def rewritten(engines: tuple[str, ...] = (MEMORY,), **asked: Any) -> Callable[[Any], Any]:
    """Enter a fault that changes a file when it was written."""

    def enter(change: Callable[[Path], None]) -> Callable[[Path], None]:
        def faulty(original: Any, rows: Any, path: Any, form: Any) -> Any:
            written = original(rows, path, form)
            for file in [path] if isinstance(path, Path) else folder_of_spark(form).glob("*.parquet"):
                change(file)
            return written

        plant({engine: WRITE[engine] for engine in engines}, **asked)(as_if(faulty, change))
        return change

    return enter


def folder_of_spark(name: str) -> Path:
    """A local folder that has a name of Hadoop."""
    return Path("/" + name.removeprefix("file:").lstrip("/"))


# ---------------------------------------------------------------- order and chance


@plant(PERMUTATION, BOTH, written=("csv", "parquet"))
def rows_keep_their_order(original, count, randomness):
    """Rows are written in the order of the input."""
    return np.arange(count)


@plant(PERMUTATION, (MEMORY,))
def rows_are_reversed(original, count, randomness):
    """Rows are written from the last to the first."""
    return np.arange(count)[::-1]


@plant(PERMUTATION, (MEMORY,))
def rows_are_shuffled_in_short_stretches(original, count, randomness):
    """Only rows that are near each other change places."""
    order = np.arange(count)
    for start in range(0, count, 8):
        part = order[start : start + 8]
        order[start : start + 8] = part[original(len(part), randomness)]
    return order


@plant(PERMUTATION, (MEMORY,))
def rows_are_rotated(original, count, randomness):
    """The second half is written before the first."""
    return np.roll(np.arange(count), count // 2)


@plant("incrowd.rows.memory.held:permutation", (MEMORY,), written=("csv", "parquet"))
def rows_are_sorted_by_a_hidden_column(original, count, randomness):
    """Rows are written in the order of their age, which is hidden: the draw sorts, and the order tells."""
    from faults.people import people

    return np.argsort(people()["age"].to_numpy()[:count], kind="stable")


@plant("incrowd.rows.memory.held:EmbeddedEngine.draft", (MEMORY,), method=("mondrian", "kactus"))
def rows_of_a_group_are_sorted_by_a_hidden_column(original, self, plan, population, source, randomness):
    """Rows that look alike come in the order of their job, wherever they stand in the file."""
    draft = original(self, plan, population, source, randomness)
    alike = draft.frame.select(pl.struct(plan.names).rank("dense")).to_series().to_numpy()
    jobs = source["job"].gather(draft.origin).fill_null("").rank("ordinal").to_numpy()
    order = np.empty(len(alike), np.int64)
    for group in np.unique(alike):
        places = np.flatnonzero(alike == group)
        order[places] = places[np.argsort(jobs[places])]
    return replace(draft, frame=draft.frame[order], origin=draft.origin[order])


@plant("incrowd.vocabulary.randomness:SystemRandomness.words", BOTH)
def the_system_gives_the_same_words_again(original, self, count):
    """What should be chance begins anew at each call."""
    return SeededRandomness(7).words(count)


@plant("incrowd.vocabulary.randomness:SystemRandomness.words", BOTH)
def the_system_gives_zeros(original, self, count):
    """What should be chance is zero."""
    return np.zeros(count, np.uint64)


@plant("incrowd.vocabulary.randomness:SystemRandomness.words", (MEMORY,))
def the_system_counts(original, self, count):
    """What should be chance is a number that grows by one."""
    return np.arange(count, dtype=np.uint64)


@plant(SYSTEM, BOTH)
def a_seed_is_left_in_the_program(original):
    """A seed that somebody tried is used for every release."""
    return SeededRandomness(1)


@plant("incrowd.tables.publishing.serialise:permutation", (MEMORY,), form="pair")
def groups_are_numbered_in_the_order_of_rows(original, count, randomness):
    """The groups of a pair of tables are numbered as they come."""
    return np.arange(count)


@plant("incrowd.tables.publishing.serialise:split_pair", (MEMORY,), form="pair")
def groups_are_listed_in_the_order_of_rows(original, frame, counted, randomness):
    """The table of groups lists them in the order in which rows have them, not by their numbers."""
    rows, groups = original(frame, counted, randomness)
    key = groups.columns[0]
    return rows, rows.select(key).unique(maintain_order=True).join(groups, on=key, maintain_order="left_right")


@plant("incrowd.tables.publishing.serialise:split_pair", (MEMORY,), form="pair", written=("csv", "parquet"))
def values_of_a_group_are_listed_in_another_order(original, frame, counted, randomness):
    """The table of groups lists the values of some groups the other way round: an order that may be that of rows."""
    rows, groups = original(frame, counted, randomness)
    line = pl.int_range(pl.len())
    backwards = pl.when(pl.col(groups.columns[0]) % 2 == 0).then(-line).otherwise(line)
    return rows, groups.sort(groups.columns[0], pl.col("attribute").rle_id(), backwards)


@plant("incrowd.tables.publishing.serialise:split_pair", (MEMORY,), form="pair")
def attributes_of_a_group_are_listed_in_another_order(original, frame, counted, randomness):
    """The table of groups lists the attributes of some groups from the last to the first."""
    rows, groups = original(frame, counted, randomness)
    key, place = groups.columns[0], pl.col("attribute").replace_strict(counted, range(len(counted)))
    return rows, groups.sort(key, pl.when(pl.col(key) % 2 == 0).then(-place).otherwise(place), maintain_order=True)


# ---------------------------------------------------------------- delimited text


@plant("incrowd.tables.publishing.serialise:spreadsheet_safe", BOTH)
def formulas_are_not_escaped(original, frame):
    """A text that a spreadsheet would run is written as it is."""
    return frame


@plant("incrowd.tables.publishing.serialise:spreadsheet_safe", (MEMORY,))
def texts_are_escaped_that_are_no_formula(original, frame):
    """An apostrophe is written before texts that need none."""
    return original(frame).with_columns("'" + pl.col("diagnosis"))


@rewritten(BOTH)
def a_comment_is_appended(path):
    """A line that begins with # follows the last row."""
    path.write_bytes(path.read_bytes() + b"# p00017 was here\n")


@rewritten()
def a_comment_comes_first(path):
    """A line that begins with # comes before the header."""
    path.write_bytes(b"# written by a tool\n" + path.read_bytes())


@rewritten()
def a_blank_line_is_appended(path):
    """An empty line follows the last row."""
    path.write_bytes(path.read_bytes() + b"\n")


@rewritten()
def a_mark_of_byte_order_comes_first(path):
    """The file begins with a mark of its byte order."""
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


@rewritten(BOTH)
def the_header_is_written_twice(path):
    """The header is written once more, as with the second of two pieces."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines]))


@rewritten()
def zeros_are_appended(path):
    """Bytes that no reader shows follow the last row."""
    path.write_bytes(path.read_bytes() + b"\0" * 16)


@rewritten()
def a_row_of_blanks_is_appended(path):
    """A line of blanks, which readers pass over, follows the last row."""
    path.write_bytes(path.read_bytes() + b"   \t  \n")


@rewritten(written=("csv", "jsonl"))
def the_last_row_is_cut(path):
    """The last line is lost when the file is closed."""
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


@rewritten()
def missing_is_written_as_a_word(path):
    """Missing cells at the end of nothing are written as NA."""
    path.write_bytes(path.read_bytes().replace(b",,", b",NA,"))


@rewritten()
def cells_have_blanks_around_them(path):
    """Cells are written with a blank before them: how many tells something."""
    path.write_bytes(path.read_bytes().replace(b",flu", b", flu"))


@rewritten()
def some_cells_are_quoted_without_need(path):
    """Cells of some rows are quoted, which no reader shows."""
    head, _, body = path.read_bytes().partition(b"\n")
    path.write_bytes(head + b"\n" + body.replace(b",flu,", b',"flu",', 5))


@rewritten()
def lines_end_in_two_ways(path):
    """Some lines end with a carriage return, which no reader shows."""
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n", 40))


def respelled(path: Path, name: str, change: Callable[[str], str]) -> None:
    """Write some cells of a column in another way."""
    frame = pl.read_csv(path, infer_schema=False)
    some = pl.when(pl.int_range(pl.len()) < 90).then(pl.col(name).map_elements(change, pl.String))
    frame.with_columns(some.otherwise(pl.col(name))).write_csv(path)


@rewritten(given="parquet")
def numbers_are_spelled_in_two_ways(path):
    """Some whole numbers are written with a zero after the point: which ones tells something."""
    respelled(path, "visits", lambda cell: f"{cell}.0")


@rewritten(given="parquet")
def numbers_have_blanks_before_them(path):
    """Some whole numbers are written with a blank before them."""
    respelled(path, "visits", lambda cell: f" {cell}")


@rewritten(given="arrow")
def numbers_have_decimals_that_were_not_there(path):
    """Some whole numbers are written with decimals, which a reader of whole numbers rounds away."""
    respelled(path, "visits", lambda cell: f"{cell}.17")


# ---------------------------------------------------------------- JSON Lines


def changed_lines(path: Path, change: Callable[[bytes], bytes], lines: int = 40) -> None:
    """Write some lines of a file in another way."""
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*map(change, rows[:lines]), *rows[lines:]]))


@rewritten(BOTH, written="jsonl", given="jsonl")
def a_line_of_json_has_one_name_more(path):
    """The first line has a name that the others lack."""
    changed_lines(path, lambda line: line.replace(b"{", b'{"patient":"p00017",', 1), 1)


@rewritten(written="jsonl")
def a_line_of_json_has_a_name_twice(path):
    """A name stands twice in some lines, and readers show the last."""
    changed_lines(path, lambda line: line.replace(b"{", b'{"ill":"yes",', 1))


@rewritten(written="jsonl")
def lines_of_json_have_spaces(path):
    """Some lines have spaces that no reader shows."""
    changed_lines(path, lambda line: line.replace(b",", b", "))


@rewritten(written="jsonl")
def letters_of_json_are_escaped_without_need(path):
    """Some letters are written by their numbers, which no reader shows."""
    changed_lines(path, lambda line: line.replace(b'"flu"', b'"\\u0066lu"'))


@rewritten(written="jsonl", given="parquet")
def numbers_of_json_are_spelled_in_two_ways(path):
    """Some whole numbers are written with a power of ten."""
    changed_lines(path, lambda line: line.replace(b'"visits":4', b'"visits":0.4e1'))


@rewritten(BOTH, written="jsonl")
def a_cell_of_json_is_another(path):
    """The diagnosis of some rows is another one."""
    changed_lines(path, lambda line: line.replace(b'"flu"', b'"gout"'))


@rewritten(written="jsonl")
def names_of_json_are_in_another_order(path):
    """Some lines have their names in another order."""
    changed_lines(path, lambda line: json.dumps(dict(reversed(json.loads(line).items()))).encode() + b"\n")


@rewritten(written="jsonl")
def a_blank_line_follows_the_json(path):
    """An empty line follows the last row, and readers pass over it."""
    path.write_bytes(path.read_bytes() + b"\n")


# ---------------------------------------------------------------- workbooks


def workbook_again(path: Path, change: Callable[[dict[str, bytes]], None], comment: bytes = b"") -> None:
    """Write the parts of a workbook once more, changed, as a release writes them."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = comment
        for name, data in parts.items():
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.create_system, member.compress_type = 3, zipfile.ZIP_DEFLATED
            archive.writestr(member, data)


def in_sheet(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Write the sheet of a workbook otherwise."""
    sheet = "xl/worksheets/sheet1.xml"
    workbook_again(path, lambda parts: parts.update({sheet: change(parts[sheet])}))


@rewritten(written="xlsx")
def a_cell_of_a_workbook_is_another(path):
    """The diagnosis of some rows is another one."""
    in_sheet(path, lambda sheet: sheet.replace(b">flu<", b">gout<", 3))


@rewritten(written="xlsx")
def a_row_of_a_workbook_is_lost(path):
    """The last row is not written."""
    in_sheet(path, lambda sheet: sheet[: sheet.rindex(b"<row ")] + b"</sheetData></worksheet>")


@rewritten(written="xlsx")
def a_row_of_a_workbook_is_hidden(path):
    """A row is there but not shown."""
    in_sheet(path, lambda sheet: sheet.replace(b'<row r="9"', b'<row r="9" hidden="1"'))


@rewritten(written="xlsx")
def some_cells_of_a_workbook_have_a_style(path):
    """Some texts have a style of their own."""
    in_sheet(
        path,
        lambda sheet: sheet.replace(
            b' t="inlineStr"><is><t xml:space="preserve">flu',
            b' s="1" t="inlineStr"><is><t xml:space="preserve">flu',
            9,
        ),
    )


@rewritten(written="xlsx", given="parquet")
def numbers_of_a_workbook_are_spelled_in_two_ways(path):
    """Some whole numbers are written with decimals."""
    in_sheet(path, lambda sheet: sheet.replace(b"<v>4</v>", b"<v>4.0</v>", 9))


@rewritten(written="xlsx")
def a_workbook_has_a_comment_in_its_sheet(path):
    """A comment of XML stands among the rows."""
    in_sheet(path, lambda sheet: sheet.replace(b"</row>", b"</row><!-- p00017 -->", 1))


@rewritten(written="xlsx")
def a_workbook_has_a_second_sheet(path):
    """A hidden sheet has the patients."""
    import openpyxl

    book = openpyxl.load_workbook(path)
    book.create_sheet("patients")["A1"] = "p00017"
    book["patients"].sheet_state = "hidden"
    book.save(path)


@rewritten(written="xlsx")
def a_workbook_has_properties(path):
    """The workbook says who made it, and from what."""
    workbook_again(path, lambda parts: parts.update({"docProps/core.xml": b"<title>patients of ward 7</title>"}))


@rewritten(written="xlsx")
def a_workbook_names_its_source(path):
    """The sheet has the name of the file it comes from."""
    name = "xl/workbook.xml"
    workbook_again(path, lambda parts: parts.update({name: parts[name].replace(b'name="release"', b'name="ward 7"')}))


@rewritten(written="xlsx")
def the_archive_of_a_workbook_has_a_comment(path):
    """The archive ends with a comment."""
    workbook_again(path, lambda parts: None, b"p00017")


@rewritten(written="xlsx")
def bytes_lie_in_the_archive_of_a_workbook(path):
    """Bytes that no reader looks at come before the directory."""
    data = path.read_bytes()
    at = data.index(b"PK\x01\x02")
    end = data[:-6] + struct.pack("<I", at + 6) + data[-2:]
    path.write_bytes(end[:at] + b"p00017" + end[at:])


@rewritten(written="xlsx")
def the_archive_of_a_workbook_tells_the_time(path):
    """The files of the archive have the time at which they were written."""
    data = path.read_bytes()
    path.write_bytes(data.replace(b"\0\0\x21\0", b"\0\0\x21\x5a", 2))


# ---------------------------------------------------------------- packed text


@rewritten(BOTH, written="csv.gz")
def a_packed_file_names_its_source(path):
    """The header of gzip has the name of a file and the time it was changed."""
    text = gzip.decompress(path.read_bytes())
    with path.open("wb") as file, gzip.GzipFile("patients-of-ward-7.csv", "wb", fileobj=file, mtime=1234567890) as out:
        out.write(text)


@rewritten(written="csv.gz")
def bytes_follow_a_packed_file(path):
    """Zeros follow the last byte of gzip, and readers pass over them."""
    path.write_bytes(path.read_bytes() + b"\0" * 64)


@rewritten(written="csv.gz")
def a_packed_file_has_a_second_part(path):
    """An empty second part with a comment follows the first."""
    header = b"\x1f\x8b\x08\x10" + b"\0" * 4 + b"\0\xff" + b"p00017\0"  # a comment, then an empty body
    path.write_bytes(path.read_bytes() + header + gzip.compress(b"", mtime=0)[10:])


@rewritten(written="csv.zst")
def a_packed_file_has_a_frame_to_skip(path):
    """A frame of bytes that readers skip follows the last frame of zstandard."""
    path.write_bytes(path.read_bytes() + b"\x50\x2a\x4d\x18" + struct.pack("<I", 6) + b"p00017")


# ---------------------------------------------------------------- Parquet


def parquet_again(path: Path, change: Callable[[pa.Table], pa.Table] = lambda table: table, **options: Any) -> None:
    """Write the table of a file once more, changed; but for the change and the options it is written as it was."""
    table = change(pq.read_table(path))
    texts = [field.name for field in table.schema if "string" in str(field.type)]
    usual = {"compression": "zstd", "store_schema": False, "write_statistics": False, "use_dictionary": texts}
    pq.write_table(table, path, **{**usual, **options})


@rewritten(EVERYWHERE, written="parquet")
def parquet_has_metadata(path):
    """The file carries a key with a value."""
    noted = {"source": "patients-of-ward-7.csv"}
    parquet_again(path, lambda table: table.replace_schema_metadata(noted), store_schema=True)


@rewritten(written="parquet")
def parquet_has_the_schema_of_arrow(path):
    """The file carries the schema of Arrow, with what it knows of the columns."""
    parquet_again(path, store_schema=True)


@rewritten(written="parquet")
def parquet_has_an_index_of_pandas(path):
    """The file carries the row numbers of a shuffled data frame."""
    frame = pq.read_table(path).to_pandas()
    frame.index = np.arange(len(frame))[::-1]
    frame.to_parquet(path)


@rewritten(EVERYWHERE, written="parquet")
def bytes_lie_before_the_footer_of_parquet(path):
    """Bytes that no reader looks at lie before the footer."""
    data = path.read_bytes()
    at = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]
    path.write_bytes(data[:at] + b"p00017 p00018" + data[at:])


@rewritten(written="parquet")
def statistics_tell_originals(path):
    """The largest value of a column is told as it was, not as it is released."""
    largest, told = struct.pack("<q", 4), struct.pack("<q", 9)
    table = pq.read_table(path)
    table = table.set_column(table.column_names.index("visits"), "visits", table["visits"].cast(pa.int64()))
    pq.write_table(table, path, compression="zstd", store_schema=False)
    data = path.read_bytes()
    at = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]
    path.write_bytes(data[:at] + data[at:].replace(largest, told))


@rewritten(EVERYWHERE, written="parquet")
def a_removed_value_is_in_a_dictionary_of_parquet(path):
    """A dictionary page holds a value that no row shows any more."""
    parquet_again(path, lambda table: with_removed(table, "diagnosis"))


@rewritten(written="parquet")
def a_dictionary_of_parquet_is_in_an_order_of_its_own(path):
    """A dictionary page lists values in the order of the input, not in that of the written rows."""
    parquet_again(path, with_words_turned)


@rewritten(given="parquet", written="parquet")
def a_removed_number_is_in_a_dictionary_of_parquet(path):
    """A dictionary page of numbers holds one that no row shows; no reader shows it either."""

    def change(table: pa.Table) -> pa.Table:
        visits = table["visits"].combine_chunks().dictionary_encode()
        words = pa.concat_arrays([visits.dictionary, pa.array([77], visits.dictionary.type)])
        codes = pa.DictionaryArray.from_arrays(visits.indices, words)
        return table.set_column(table.column_names.index("visits"), "visits", codes)

    parquet_again(path, change, use_dictionary=["visits"])


@rewritten(written="parquet")
def parquet_tells_an_order(path):
    """The footer says by which column the rows were sorted once."""
    parquet_again(path, sorting_columns=[pq.SortingColumn(1)])


@rewritten(EVERYWHERE, written="parquet")
def parquet_has_an_index_of_its_pages(path):
    """The least and the greatest value of every page are told before the footer."""
    parquet_again(path, write_page_index=True)


@rewritten(written="parquet")
def columns_of_parquet_carry_notes(path):
    """A field of the schema carries a key with a value."""
    parquet_again(path, lambda table: noted(table, "ill"), store_schema=True)


def with_removed(table: pa.Table, name: str) -> pa.Table:
    """The table with a column as a dictionary that has a value too much."""
    column = table[name].combine_chunks().cast(pa.string()).dictionary_encode()
    words = pa.concat_arrays([column.dictionary, pa.array(["removed"], pa.string())])
    codes = pa.DictionaryArray.from_arrays(column.indices, words)
    return table.set_column(table.column_names.index(name), name, codes)


def with_words(table: pa.Table, name: str, words: list[str]) -> pa.Table:
    """The table with a column as a dictionary that lists its values so; one that is listed twice is used by turns."""
    cells = table[name].combine_chunks().cast(pa.string())
    codes = np.array([words.index(cell) for cell in cells.to_pylist()], np.int32)
    again = len(words) - 1
    if words.index(words[again]) != again:
        codes[np.flatnonzero(codes == words.index(words[again]))[::2]] = again
    coded = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(words))
    return table.set_column(table.column_names.index(name), name, coded)


def with_words_turned(table: pa.Table) -> pa.Table:
    """The table with the diagnoses in a dictionary that lists them in the opposite of the order of the rows."""
    met = table["diagnosis"].combine_chunks().cast(pa.string()).unique().drop_null()
    return with_words(table, "diagnosis", met.to_pylist()[::-1])


def noted(table: pa.Table, name: str) -> pa.Table:
    """The table with something noted beside a column."""
    field = table.schema.field(name).with_metadata({"source": "p00017"})
    return table.set_column(table.column_names.index(name), field, table[name])


# ---------------------------------------------------------------- Arrow


def arrow_again(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Write the table of a file once more, changed."""
    with pa.memory_map(str(path)) as file:
        table = change(pa.ipc.open_file(file).read_all().combine_chunks())
    data = pa.BufferOutputStream()
    with pa.ipc.new_file(data, table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(data.getvalue().to_pybytes())


@rewritten(written="arrow")
def arrow_has_metadata(path):
    """The schema carries a key with a value."""
    arrow_again(path, lambda table: table.replace_schema_metadata({"source": "patients-of-ward-7.csv"}))


@rewritten(written="arrow")
def columns_of_arrow_carry_notes(path):
    """A field of the schema carries a key with a value."""
    arrow_again(path, lambda table: noted(table, "ill"))


@rewritten(BOTH, written="arrow")
def a_removed_value_is_in_a_dictionary_of_arrow(path):
    """A dictionary holds a value that no row shows any more."""
    arrow_again(path, lambda table: with_removed(table, "diagnosis"))


@rewritten(written="arrow")
def a_dictionary_of_arrow_is_in_an_order_of_its_own(path):
    """A dictionary lists values in the order of the input, not in that of the written rows."""
    arrow_again(path, with_words_turned)


@rewritten(written="arrow")
def a_dictionary_of_arrow_lists_a_value_twice(path):
    """Rows with the same value use two words for it, which tells them apart."""
    arrow_again(path, lambda table: with_words(table, "diagnosis", ["asthma", "flu", "gout", "none", "flu"]))


@rewritten(written="arrow")
def a_code_lies_under_a_null(path):
    """A cell is null, and the code of its value is still in the buffer."""

    def change(table: pa.Table) -> pa.Table:
        jobs = table["job"].combine_chunks().cast(pa.string()).dictionary_encode()
        known = jobs.is_valid()
        codes = jobs.indices.fill_null(1).buffers()[1]
        indices = pa.Array.from_buffers(pa.int32(), len(jobs), [known.buffers()[1], codes], jobs.null_count)
        coded = pa.DictionaryArray.from_arrays(indices, jobs.dictionary)
        return table.set_column(table.column_names.index("job"), "job", coded)

    arrow_again(path, change)


@rewritten(BOTH, written="arrow")
def a_number_lies_under_a_null(path):
    """A cell is null, and its value is still in the buffer."""

    def change(table: pa.Table) -> pa.Table:
        visits = table["visits"].cast(pa.int64()).to_numpy(zero_copy_only=False)
        kept, gone = np.where(np.isnan(visits), 77, visits).astype(np.int64), np.isnan(visits)
        column = pa.Array.from_buffers(
            pa.int64(), len(kept), [pa.array(~gone).buffers()[1], pa.py_buffer(kept.tobytes())], int(gone.sum())
        )
        return table.set_column(table.column_names.index("visits"), "visits", column)

    arrow_again(path, change)


@rewritten(written="arrow")
def a_text_lies_under_a_null(path):
    """A cell is null, and its letters are still in the buffer."""

    def change(table: pa.Table) -> pa.Table:
        texts = ["hidden" if each is None else str(each) for each in table["job"].to_pylist()]
        gone = np.array([each is None for each in table["job"].to_pylist()])
        full = pa.array(texts, pa.large_string())
        mask = pa.array(~gone).buffers()[1]
        column = pa.Array.from_buffers(pa.large_string(), len(texts), [mask, *full.buffers()[1:]], int(gone.sum()))
        return table.set_column(table.column_names.index("job"), "job", column)

    arrow_again(path, change)


@rewritten(written="arrow")
def a_batch_lies_before_the_footer_of_arrow(path):
    """A batch of rows lies in the file, and the footer does not list it."""
    data = path.read_bytes()
    at = len(data) - 10 - struct.unpack("<i", data[-10:-6])[0]
    path.write_bytes(data[:at] + b"p00017 p00018   " + data[at:])


# ---------------------------------------------------------------- ARFF


@rewritten(written="arff")
def arff_declares_removed_values(path):
    """The declaration of a column lists a value that no row shows any more."""
    text = path.read_text()
    path.write_text(text.replace("{asthma,", "{asthma,removed,", 1))


@rewritten(written="arff")
def arff_has_a_comment(path):
    """The file has a line of comment."""
    path.write_text("% from patients-of-ward-7.csv\n" + path.read_text())


@rewritten(written="arff")
def arff_names_its_source(path):
    """The relation is called as the input was."""
    path.write_text(path.read_text().replace("@relation release", "@relation 'patients of ward 7'", 1))
