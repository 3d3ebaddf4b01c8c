"""Text files as people have them: without a header, in other encodings, with other numbers and dates."""

from __future__ import annotations

import gzip
import itertools

import polars as pl
import pytest

from incrowd.api import release
from incrowd.attacks.run import attack_release
from incrowd.errors import (
    HeaderError,
    InputError,
    ParameterError,
    VerificationError,
    named_option,
    option_name,
    reading_option,
    speak_as_command,
)
from incrowd.releases.recount import verify
from incrowd.risk.assessment import measure_risk
from incrowd.tables.reading.dialect import Dialect, guess_encoding, plain_cells
from incrowd.tables.reading.read import read
from incrowd.tables.streams.stream import open_stream

ROWS = [
    ("39", "Köchin", "1.254,62", "01.03.1980"),
    ("50", "Bäcker", "310,5", "2.11.1971"),
    ("41", "Köchin", "99", "k.A."),
]
NAMES = ("alter", "beruf", "lohn", "geboren")
PLAIN = [("39", "Köchin", "1254.62"), ("50", "Bäcker", "310.5"), ("41", "Köchin", "99")]


def written(folder, *, delimiter=";", encoding="utf-8", header=True, end="\n", packed=False, rows=ROWS):
    lines = [*([NAMES] if header else []), *rows]
    quoted = [[f'"{cell}"' if delimiter in cell else cell for cell in line] for line in lines]
    data = "".join(delimiter.join(line) + end for line in quoted).encode(encoding)
    path = folder / ("people.csv.gz" if packed else "people.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


DIALECTS = list(
    itertools.product(
        [";", "\t", "|", ","],
        ["utf-8", "utf-8-sig", "cp1252", "latin-1", "utf-16"],
        [True, False],
        ["\n", "\r\n"],
    )
)


@pytest.mark.parametrize(("delimiter", "encoding", "header", "end"), DIALECTS)
def test_eighty_dialects_are_read_alike_whole_and_in_pieces(tmp_path, delimiter, encoding, header, end):
    path = written(tmp_path, delimiter=delimiter, encoding=encoding, header=header, end=end)
    said = {} if header else {"names": NAMES}
    said |= {"decimal": "comma"} if delimiter == "," else {}
    source = read(path, **said)
    assert source.frame.columns == list(NAMES)
    assert source.frame.rows() == [(*plain, row[3]) for plain, row in zip(PLAIN, ROWS, strict=True)]
    stream = open_stream(path, **said)
    assert pl.concat(stream.frames()).rows() == source.frame.rows()
    assert stream.origin == source.origin
    guessed = [notice for notice in source.notices if notice.code == "reading-guessed"]
    assert len(guessed) == (delimiter != "," or encoding in ("cp1252", "latin-1"))
    assert source.origin.names == (() if header else NAMES)
    assert source.origin.encoding == {"utf-8-sig": "utf-8", "latin-1": "cp1252"}.get(encoding, encoding)


@pytest.mark.parametrize("packed", [False, True])
def test_names_are_made_where_there_are_none(tmp_path, packed):
    path = written(tmp_path, header=False, packed=packed)
    assert read(path, header=False).frame.columns == ["c1", "c2", "c3", "c4"]
    assert list(open_stream(path, header=False).schema) == ["c1", "c2", "c3", "c4"]
    with pytest.raises(HeaderError, match="4 fields, and 2 names"):
        read(path, names=["a", "b"])


HEADLESS = {
    "numbers": "39,cook,1.5\n50,baker,2\n41,cook,9\n",
    "dates": "2020-01-02,f\n2020-01-03,m\n2021-05-06,f\n",
    "values that occur again": "f,cook\nm,cook\nf,baker\nm,cook\n",
    "names that repeat": "1,1,x\n2,3,y\n3,3,x\n",
    "an empty first cell": ",12,x\n4,13,y\n5,14,x\n",
}
HEADED = {
    "words": "age,job\n39,cook\n50,baker\n",
    "years": "name,2019,2020\ncook,1,2\nbaker,3,4\nage,1,5\n".replace("name,", "wage,", 1)
    .replace("cook", "1")
    .replace("baker", "2")
    .replace("age,1", "3,1"),
    "one row": "39,cook\n50,baker\n",
    "text throughout": "job,town\ncook,Rome\nbaker,Oslo\n",
    "codes": "q1,q2\n1,2\n3,4\n5,5\n",
}


@pytest.mark.parametrize("text", HEADLESS.values(), ids=HEADLESS)
def test_a_first_row_is_not_taken_for_names(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    for opened in (read, open_stream):
        with pytest.raises(HeaderError, match=r"looks like a row.*'header': False.*'header': True"):
            opened(path)
    assert read(path, header=False).frame.height == text.count("\n")


@pytest.mark.parametrize("text", HEADED.values(), ids=HEADED)
def test_names_are_taken_for_names(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert read(path).frame.height == text.count("\n") - 1


def test_a_header_of_numbers_is_one_if_it_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("2019,2020\n1,2\n3,4\n5,6\n")
    assert read(path, header=True).frame.columns == ["2019", "2020"]


def test_faults_are_told_by_the_lines_of_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("39,cook\n50\n")
    with pytest.raises(ValueError, match="Line 2 has 1 field"):
        read(path, header=False)
    with pytest.raises(ValueError, match="Line 2 has 1 field"):
        open_stream(path, header=False)


@pytest.mark.parametrize(
    ("order", "cell", "plain"),
    [
        ("dmy", "1/2/2003", "2003-02-01"),
        ("mdy", "1/2/2003", "2003-01-02"),
        ("ymd", "2003.1.2", "2003-01-02"),
        ("dmy", "13-12-1999", "1999-12-13"),
        ("mdy", "13-12-1999", "13-12-1999"),
        ("dmy", "1.2.03", "1.2.03"),
        ("dmy", "x", "x"),
    ],
)
def test_dates_are_written_plainly(order, cell, plain):
    assert plain_cells(pl.DataFrame({"d": [cell, None]}), None, order)["d"].to_list() == [plain, None]


@pytest.mark.parametrize(
    ("mark", "cell", "plain"),
    [
        ("comma", "1.254,62", "1254.62"),
        ("comma", "-12,5 ", "-12.5"),
        ("comma", "1.254", "1254"),
        ("comma", "12.5", "12.5"),
        ("comma", "12", "12"),
        ("point", "1,254.62", "1254.62"),
        ("point", "12,5", "12,5"),
        ("point", "1,254,300", "1254300"),
    ],
)
def test_numbers_are_written_plainly(mark, cell, plain):
    assert plain_cells(pl.DataFrame({"n": [cell]}), mark, None)["n"].to_list() == [plain]


def test_what_is_said_must_fit():
    for said in ({"decimal": "dot"}, {"dates": "day first"}, {"header": True, "names": ["a"]}):
        with pytest.raises(ParameterError):
            Dialect(**said)


def test_options_are_named_as_the_user_writes_them():
    assert reading_option(names=["a", "b"]) == "reading={'names': ['a', 'b']}"
    speak_as_command()
    try:
        assert reading_option(header=False) == "--no-header"
        assert reading_option(header=True) == "--header"
        assert reading_option(names=["a", "b"]) == "--names a,b"
        assert reading_option(delimiter=";") == "--delimiter ';'"
        speak_as_command(desk=True)
        assert reading_option(header=False, header_row=4) == "“Header: no”, “Header row: 4”"
        assert named_option(k=5) == "“k: 5”"
        assert option_name("key_column='COLUMN'", "--key COLUMN") == "“Key column”"
    finally:
        speak_as_command(command=False)


@pytest.mark.each(5)
@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-16"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("blocks", [False, True])
def test_a_messy_file_is_released_and_verified(tmp_path, monkeypatch, encoding, header, blocks):
    rows = [
        (
            str(20 + at % 40),
            ["Köchin", "Bäcker", "Maler"][at % 3],
            f"{1 + at % 9}.{at % 7}00,5{at % 4}",
            f"{1 + at % 28}/{1 + at % 12}/1980",
        )
        for at in range(600)
    ]
    path = written(tmp_path, encoding=encoding, header=header, rows=rows)
    if blocks:
        monkeypatch.setattr("incrowd.rows.one_machine.in_blocks", lambda *_: True)
    reading = {"dates": "dmy", **({} if header else {"names": NAMES})}
    made = release(
        path,
        quasi_identifiers=["alter", "lohn", "geboren"],
        target="beruf",
        class_sensitive=False,
        k=5,
        method="mondrian",
        reading=reading,
        to=tmp_path / "out.csv",
    )
    assert made.verdict.passed
    assert made.verdict.sizes.rows == 600
    assert str(made.plan.schema["lohn"].type) == "real"
    assert str(made.plan.schema["geboren"].type) == "date"


@pytest.mark.parametrize("header", [True, False])
def test_a_reader_that_miscounts_the_header_is_refused(tmp_path, monkeypatch, header):
    rows = [(str(20 + at % 40), ["cook", "baker"][at % 2], str(at % 9), "x") for at in range(200)]
    path = written(tmp_path, header=header, rows=rows)
    names = ["c1", "c2"] if header else list(rows[0])
    monkeypatch.setattr(Dialect, "headless", property(lambda _: header))
    with pytest.raises(VerificationError):
        release(
            path,
            quasi_identifiers=names[:1],
            target=names[1],
            class_sensitive=False,
            k=5,
            method="mondrian",
            reading={"header": header},
            to=tmp_path / "out.csv",
        )
    assert [path] == list(tmp_path.iterdir())


def test_names_that_are_numbers_stay_names_on_the_whole_way(tmp_path):
    path = tmp_path / "years.csv"
    path.write_text("2019,2020,2021\n" + "".join(f"{at % 7},{at % 5},{at % 2}\n" for at in range(200)))
    columns = {"quasi_identifiers": ["2019", "2020"], "target": "2021"}
    with pytest.raises(HeaderError):
        release(path, **columns, class_sensitive=False, k=5, to=tmp_path / "out.csv")
    reading = {"header": True}
    made = release(
        path, **columns, class_sensitive=False, k=9, reading=reading, method="mondrian", to=tmp_path / "out.csv"
    )
    assert made.table.columns == ["2019", "2020", "2021"]
    risk = measure_risk(path, quasi_identifiers=["2019", "2020"], after=tmp_path / "out.csv", header=True)
    assert risk.after.prosecutor.maximum < risk.prosecutor.maximum
    attacked = attack_release(tmp_path / "out.csv", path, **columns, reading=reading, only=["homogeneity"], seed=1)
    assert attacked["homogeneity"].verdict != "not run"
    assert verify(tmp_path / "out.csv", quasi_identifiers=["2019", "2020"], k=9).passed


def test_a_headless_file_is_verified_as_it_is(tmp_path):
    path = written(tmp_path, header=False, rows=[("39", "cook", "1", "x")] * 5 + [("40", "cook", "1", "x")] * 4)
    assert not verify(path, quasi_identifiers=["c1"], k=5, header=False).passed
    assert verify(path, quasi_identifiers=["c1"], k=4, header=False).passed


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "M\u00fcller;Stra\u00dfe;Jos\u00e9;ni\u00f1o"),
        ("cp1250", "\u0141\u00f3d\u017a;Krak\u00f3w;\u017c\u00f3\u0142ty;Wroc\u0142aw"),
        ("cp850", "M\u00fcller;Stra\u00dfe;gr\u00f6\u00dfer"),
        (
            "cp1252",
            "M\u00fcller;38 \u00b0C;10\u00b3/\u00b5l;5 m\u00b3;\u201em\u00fcde\u201c \u2013 gestern;\u00a712;9 \u20ac",
        ),
        ("cp1252", "Jos\u00e9;\u00bfQu\u00e9?;\u00a1No!;1\u00aa planta;n\u00ba 3;ni\u00f1o"),
        ("cp1250", "\u201eKsi\u0105\u017cka\u201d \u2013 \u0142adna;30 \u00b0C;s\u0105;\u017ce"),
        (
            "cp1251",
            "\u0418\u0432\u0430\u043d\u043e\u0432;\u041c\u043e\u0441\u043a\u0432\u0430;\u0431\u043e\u043b\u044c\u043d\u0438\u0446\u0430",
        ),
        (
            "cp1253",
            "\u0391\u03b8\u03ae\u03bd\u03b1;\u03b3\u03b9\u03b1\u03c4\u03c1\u03cc\u03c2;\u03bd\u03bf\u03c3\u03bf\u03ba\u03bf\u03bc\u03b5\u03af\u03bf",
        ),
        ("shift_jis", "\u6771\u4eac;\u533b\u8005;\u75c5\u9662;\u770b\u8b77\u5e2b"),
    ],
)
def test_encodings_are_guessed(encoding, text):
    data = f"{text}\n".encode(encoding) * 20
    assert data.decode(guess_encoding(data) or "ascii", "replace") == f"{text}\n" * 20


def test_what_is_no_text_in_any_encoding_is_refused(tmp_path):
    assert guess_encoding(b"") is None
    assert guess_encoding(b"3,x\xff\n") is None
    assert guess_encoding("Jos\u00e9,M\u00fcller\n".encode() + b"x\xff\n") is None
    (tmp_path / "t.csv").write_bytes(b"age,job\n39,caf\xe9\n")
    with pytest.raises(ValueError, match="Line 2 is not valid utf-8"):
        read(tmp_path / "t.csv", encoding="utf-8")


@pytest.mark.parametrize(
    ("above", "line"),
    [("Clinic of Ward 7;;\n;;\n", 3), ("Clinic;Ward\n", 2), ("As of 3 May;;\n", 2)],
)
def test_titles_above_the_names_are_told_with_the_line_of_the_names(tmp_path, above, line):
    rows = "".join(f"{20 + number};{'fm'[number % 2]};a\n" for number in range(30))
    (tmp_path / "t.csv").write_text(f"{above}age;sex;ward\n{rows}", encoding="utf-8")
    with pytest.raises(InputError, match=f"If line {line} has the names of the columns, take out the lines above it"):
        read(tmp_path / "t.csv")


def test_a_name_that_is_lacking_is_not_looked_for_among_persons(tmp_path):
    (tmp_path / "t.csv").write_text("age;sex;\n39;f;a\n41;m;b\n", encoding="utf-8")
    with pytest.raises(HeaderError, match="Column 3 has no name"):
        read(tmp_path / "t.csv")
