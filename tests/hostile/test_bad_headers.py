"""Column names that cannot be told apart, or only by a careful eye: trust list 25 to 29 and 32 to 34."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import HeaderError
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.read import read

REFUSED = {
    "25-duplicate": (["age", "sex", "age"], "Columns 1 and 3 .*same name"),
    "26-empty": (["age", "", "sex"], "Column 2 has no name"),
    "26-only-spaces": (["age", "  "], "Column 2 has no name"),
    "26-only-invisible": (["age", "\u200b"], "Column 2 has no name"),
    "26-several": (["", "age", ""], "Columns 1, 3 have no name"),
    "27-trailing-space": (["age", "age "], "differ only by spaces"),
    "27-inner-space": (["zipcode", "zip code"], "differ only by spaces"),
    "27-no-break-space": (["zip code", "zip\u00a0code"], "differ only by spaces"),
    "28-nfc-nfd": (["caf\u00e9", "cafe\u0301"], "look the same"),
    "28-zero-width": (["age", "a\u200bge"], "look the same"),
}


def write_csv(folder, names):
    path = folder / "t.csv"
    path.write_text(",".join(f'"{name}"' for name in names) + "\n" + ",".join("1" for _ in names) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(("names", "told"), REFUSED.values(), ids=REFUSED)
def test_refused_in_a_file(tmp_path, names, told):
    with pytest.raises(HeaderError, match=told) as caught:
        read(write_csv(tmp_path, names))
    assert caught.value.exit_status == 2


@pytest.mark.parametrize(("names", "told"), REFUSED.values(), ids=REFUSED)
def test_refused_in_a_pandas_frame(names, told):
    with pytest.raises(HeaderError, match=told):
        read(pd.DataFrame([[1] * len(names)], columns=names))


@pytest.mark.parametrize(("names", "told"), REFUSED.values(), ids=REFUSED)
def test_refused_in_an_arrow_table(names, told):
    with pytest.raises(HeaderError, match=told):
        read(pa.Table.from_arrays([pa.array([1])] * len(names), names=names))


CONFUSABLE = {
    "29-cyrillic-twin": ["age", "аge"],
    "29-cyrillic-alone": ["sех"],
    "29-greek-twin": ["AGE", "ΑGE"],
}


@pytest.mark.parametrize("names", CONFUSABLE.values(), ids=CONFUSABLE)
def test_confusable_is_told(tmp_path, names):
    source = read(write_csv(tmp_path, names))
    assert source.frame.columns == names
    assert [notice.code for notice in source.notices] == ["confusable-header"]


def test_29_one_alphabet_is_no_confusion(tmp_path):
    assert read(write_csv(tmp_path, ["возраст", "ηλικία", "âge"])).notices == ()


PLAIN = {
    "32-spaces": "zip code",
    "32-parentheses": "height (cm)",
    "32-comma": "last, first",
    "32-unicode": "年齢",
}


@pytest.mark.parametrize("name", PLAIN.values(), ids=PLAIN)
def test_plain_is_kept(tmp_path, name):
    source = read(write_csv(tmp_path, [name, "b"]))
    assert source.frame.columns == [name, "b"]
    assert source.notices == ()


@pytest.mark.parametrize("form", ["csv", "parquet", "polars", "pandas"])
def test_33_pandas_index_is_dropped(tmp_path, form):
    table = pl.DataFrame({"age": [39, 50], "__index_level_0__": [7, 3]})
    path = tmp_path / f"t.{form}"
    if form == "csv":
        table.write_csv(path)
    elif form == "parquet":
        table.write_parquet(path)
    source = read({"polars": table, "pandas": table.to_pandas()}.get(form, path))
    assert source.frame.columns == ["age"]
    assert [notice.code for notice in source.notices] == ["index-dropped"]


def test_33_named_pandas_index_is_told():
    frame = pd.DataFrame({"age": [39, 50]}, index=pd.Index(["ann", "bob"], name="who"))
    source = read(frame)
    assert source.frame.columns == ["age"]
    assert [notice.code for notice in source.notices] == ["index-dropped"]
    assert "ann" not in str(source.notices[0])


def test_33_names_that_are_not_text():
    with pytest.raises(HeaderError, match="must be text"):
        read(pd.DataFrame([[1, 2]]))


@pytest.mark.slow
def test_34_ten_thousand_columns(tmp_path):
    names = [f"column {i}" for i in range(10_000)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), *[",".join(str(i % 7) for i in range(10_000))] * 3]) + "\n")
    source = read(path)
    assert source.frame.shape == (3, 10_000)
    assert list(draft_schema(source).names) == names
