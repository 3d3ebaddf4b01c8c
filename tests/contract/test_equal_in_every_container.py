"""One definition of equal: the same table in any container has the same groups of rows that look alike."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from incrowd.releases.recount import verify

NUMBERS = [0.0, -0.0, 1.5, -1.5, None, float("nan"), 1e300, 0.0, -0.0, None]
TEXTS = ["x", "", " ", None, "*", "?", "NA", "None", "null", "-0", "0", "1", "1.0", "01", "#x", "%x", " x", "X", "ä"]
COLUMNS = [["number"], ["text"], ["whole"], ["number", "text"], ["text", "whole", "number"]]


def table() -> pl.DataFrame:
    rows = [(number, text) for number in NUMBERS for text in TEXTS for _ in range(1 + TEXTS.index(text) % 3)]
    return pl.DataFrame(
        {
            "number": pl.Series([number for number, _ in rows], dtype=pl.Float64),
            "text": [text for _, text in rows],
            "whole": [None if place % 11 == 0 else place % 5 for place in range(len(rows))],
        }
    )


def text_of(frame: pl.DataFrame, delimiter: str = ",") -> str:
    return frame.write_csv(separator=delimiter)


def arff_of(frame: pl.DataFrame) -> str:
    def cell(value: Any) -> str:
        return "?" if value is None or value != value else f"'{value}'" if isinstance(value, str) else repr(value)

    rows = "\n".join(",".join(map(cell, row)) for row in frame.rows())
    return f"@relation r\n@attribute number real\n@attribute text string\n@attribute whole integer\n@data\n{rows}\n"


def packed(path: Path, text: str) -> Path:
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(text.encode())
    return path


def written(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def excel(path: Path, frame: pl.DataFrame) -> Path:
    frame.with_columns(pl.col("number").fill_nan(None)).write_excel(path, autofit=False)
    return path


def ipc(path: Path, frame: pl.DataFrame) -> Path:
    frame.write_ipc(path, compat_level=pl.CompatLevel.oldest())
    return path


def parquet(path: Path, frame: pl.DataFrame) -> Path:
    frame.write_parquet(path)
    return path


def folder(path: Path, frame: pl.DataFrame) -> Path:
    path.mkdir()
    parquet(path / "0.parquet", frame[:100])
    parquet(path / "1.parquet", frame[100:])
    return path


CONTAINERS = {
    "csv": lambda at, f: written(at / "t.csv", text_of(f)),
    "csv, all quoted": lambda at, f: written(at / "t.csv", f.write_csv(quote_style="non_numeric")),
    "csv, both line ends": lambda at, f: written(at / "t.csv", text_of(f).replace("\n", "\r\n")),
    "csv, carriage returns": lambda at, f: written(at / "t.csv", text_of(f).replace("\n", "\r")),
    "csv, byte order mark": lambda at, f: written(at / "t.csv", b"\xef\xbb\xbf" + text_of(f).encode()),
    "csv, utf-16": lambda at, f: written(at / "t.csv", text_of(f).encode("utf-16")),
    "csv, semicolons": lambda at, f: written(at / "t.csv", text_of(f, ";")),
    "csv, NaN empty": lambda at, f: written(at / "t.csv", text_of(f.with_columns(pl.col("number").fill_nan(None)))),
    "csv.gz": lambda at, f: written(at / "t.csv.gz", gzip.compress(text_of(f).encode())),
    "csv.zst": lambda at, f: packed(at / "t.csv.zst", text_of(f)),
    "csv.gz, carriage returns": lambda at, f: written(
        at / "t.csv.gz", gzip.compress(text_of(f).replace("\n", "\r").encode())
    ),
    "tsv": lambda at, f: written(at / "t.tsv", text_of(f, "\t")),
    "arff": lambda at, f: written(at / "t.arff", arff_of(f)),
    "parquet": lambda at, f: parquet(at / "t.parquet", f),
    "parquet, texts": lambda at, f: parquet(at / "t.parquet", f.cast(pl.String)),
    "parquet, categories": lambda at, f: parquet(at / "t.parquet", f.with_columns(pl.col("text").cast(pl.Categorical))),
    "folder": lambda at, f: folder(at / "t", f),
    "arrow": lambda at, f: ipc(at / "t.arrow", f),
    "excel": lambda at, f: excel(at / "t.xlsx", f),
    "polars": lambda _, f: f,
    "pandas": lambda _, f: f.to_pandas(),
    "pyarrow": lambda _, f: f.to_arrow(),
}


def by_hand(frame: pl.DataFrame, columns: list[str]) -> list[tuple[int, int]]:
    """The sizes of the groups, in plain Python."""

    def value(cell: Any) -> Any:
        if isinstance(cell, str):
            return None if cell.strip() in ("", "?", "*") else "0" if cell == "-0" else cell
        return None if cell is None or cell != cell else cell

    sizes: dict[tuple[Any, ...], int] = {}
    for row in frame.select(columns).rows():
        key = tuple(map(value, row))
        sizes[key] = sizes.get(key, 0) + 1
    found = list(sizes.values())
    return sorted((size, found.count(size)) for size in set(found))


@pytest.mark.each(6)
@pytest.mark.parametrize("columns", COLUMNS, ids=",".join)
@pytest.mark.parametrize("container", CONTAINERS)
def test_groups_do_not_depend_on_the_container(tmp_path, container, columns):
    frame = table()
    verdict = verify(CONTAINERS[container](tmp_path, frame), k=2, quasi_identifiers=columns)
    assert list(verdict.sizes.histogram) == by_hand(frame, columns)


@pytest.mark.parametrize("container", CONTAINERS)
def test_markers_that_are_named_replace_the_usual_ones(tmp_path, container):
    frame = table()
    if container == "arff":
        frame = frame.filter(pl.col("text").is_null() | (pl.col("text") != "?"))
    verdict = verify(CONTAINERS[container](tmp_path, frame), k=1, quasi_identifiers=["text"], missing=["NA"])
    named = frame.with_columns(
        pl.col("text").replace({"?": "question", "*": "star", "NA": None}),
    )
    assert list(verdict.sizes.histogram) == by_hand(named, ["text"])
