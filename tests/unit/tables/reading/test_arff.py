from __future__ import annotations

import pytest

from incrowd.errors import FileFormatError, HeaderError, InputError, ValuesError
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.vocabulary.schema import ColumnType

CANARY = "Zx9Canary"
WHOLE = """% a comment
@RELATION 'some people'

@attribute age NUMERIC
@attribute 'blood pressure' real
@attribute "job" { nurse, 'head nurse', "it\\'s complicated" }
@attribute note string
@attribute seen date "yyyy-MM-dd"
@attribute grade integer
@DATA
39, 120.5, nurse, 'likes, commas', 2020-01-01, 3
% another comment
?, 110, 'head nurse', "a \\"quote\\"", 2020-02-29, 1

50,?,'it\\'s complicated',?,?,?
"""


@pytest.fixture
def put(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "t.arff"
        path.write_bytes(text.encode(encoding))
        return path

    return write


def test_reads_all_kinds_of_attributes(put):
    source = read(put(WHOLE))
    assert source.frame.rows() == [
        ("39", "120.5", "nurse", "likes, commas", "2020-01-01", "3"),
        (None, "110", "head nurse", 'a "quote"', "2020-02-29", "1"),
        ("50", None, "it's complicated", None, None, None),
    ]
    assert [column.name for column in source.declared] == list(source.frame.columns)
    assert [column.type for column in source.declared] == [
        ColumnType.INTEGER,
        ColumnType.REAL,
        ColumnType.CATEGORICAL,
        ColumnType.TEXT,
        ColumnType.DATE,
        ColumnType.INTEGER,
    ]
    assert source.origin.form == "arff"
    assert [notice.code for notice in source.notices] == ["missing-marker"]


def test_declared_types_reach_draft_and_codes(put):
    source = read(put("@relation r\n@attribute size {1,2}\n@attribute y {a,b}\n@data\n1,a\n2,b\n1,b\n"))
    schema = draft_schema(source)
    assert schema["size"].type is ColumnType.CATEGORICAL
    assert "declared nominal" in schema["size"].reason
    table, _ = encode(source, schema, schema.names)
    assert table["size"].dictionary.to_list() == ["1", "2"]


def test_other_encodings(put):
    text = "@relation r\n@attribute n string\n@data\nJosé\n"
    assert read(put(text, "latin-1"), encoding="latin-1").frame.rows() == [("José",)]
    assert read(put(text, "utf-8-sig")).frame.rows() == [("José",)]
    with pytest.raises(FileFormatError, match="Line 4 is not valid utf-8"):
        read(put(text, "latin-1"))


HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n"
REFUSED = {
    "no-data": (HEAD, FileFormatError, "no @data"),
    "no-rows": (HEAD + "@data\n% nothing\n", FileFormatError, "no rows"),
    "no-attributes": ("@relation r\n@data\n1\n", HeaderError, "no attribute"),
    "short-row": (HEAD + f"@data\n1,x\n{CANARY}\n", FileFormatError, "Line 6 has 1 "),
    "long-row": (HEAD + f"@data\n1,x,{CANARY}\n", FileFormatError, "Line 5 has 3 "),
    "sparse": (HEAD + "@data\n{0 1, 1 x}\n", FileFormatError, "Line 5 is a sparse row"),
    "unclosed-quote": (HEAD + f"@data\n1,'{CANARY}\n", FileFormatError, "Line 5 has a quote"),
    "undeclared-value": (HEAD + f"@data\n1,{CANARY}\n", ValuesError, "'b': 1 row"),
    "relational": (
        "@relation r\n@attribute a relational\n@data\n1\n",
        FileFormatError,
        "Line 2: .*not supported",
    ),
    "open-brace": ("@relation r\n@attribute a {x,y\n@data\nx\n", FileFormatError, "Line 2: .*brace"),
    "no-type": ("@relation r\n@attribute a\n@data\nx\n", FileFormatError, "Line 2: .*name and a type"),
    "not-arff": (f"a,b\n{CANARY},2\n", FileFormatError, "Line 1 is neither"),
    "duplicate": (
        "@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n",
        HeaderError,
        "same name",
    ),
    "nul": (HEAD + "@data\n1,\0\n", FileFormatError, "Line 5 has a NUL"),
}


@pytest.mark.parametrize(("text", "error", "told"), REFUSED.values(), ids=REFUSED)
def test_refused(put, text, error, told):
    with pytest.raises(InputError, match=told) as caught:
        read(put(text))
    assert type(caught.value) is error
    assert CANARY not in str(caught.value)
