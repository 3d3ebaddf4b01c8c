"""The four forms of a hierarchy file."""

import pickle

import pytest

from incrowd.errors import FileFormatError, InputError, OutputError
from incrowd.tables.hierarchies.read import (
    format_arx,
    format_compact,
    format_json,
    format_yaml,
    parse_arx,
    parse_compact,
    parse_json,
    parse_yaml,
    read_hierarchy,
    write_hierarchy,
)
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves

JOB = Hierarchy.from_paths("job", [["cook", "service", "*"], ["waiter", "service", "*"], ["judge", "*"]])


@pytest.mark.parametrize(
    "text",
    [
        "cook;service;*\nwaiter;service;*\njudge;judge;*\n",
        "cook,service,*\r\nwaiter,service,*\r\njudge,judge,*\r\n",
        'cook;service;*\n"waiter";"service";"*"\njudge;*;*',
        "cook\tservice\tAny\nwaiter\tservice\tAny\n\njudge\tjudge\tAny\n",
        "*;*;*\ncook;service;*\nwaiter;service;*\njudge;judge;*\n",
    ],
)
def test_arx_files_of_all_kinds(text):
    assert parse_arx(text, "job") == JOB


def test_arx_leaves_that_are_intervals_or_days():
    assert parse_arx("(-inf, 3];*\n(3, inf);*\n", "n").kind is Leaves.NUMBERS
    assert parse_arx('"(-inf, 3]",*\n"(3, inf)",*\n', "n").kind is Leaves.NUMBERS
    assert parse_arx("2024-01-05;2024-01;*\n2024-01-09;2024-01;*\n", "d").kind is Leaves.DATES
    week = "2024-01-05;weekday;*\n2024-01-06;weekend;*\n2024-01-08;weekday;*\n"
    assert parse_arx(week, "d").kind is Leaves.VALUES
    assert parse_arx("2023;*\n2024;*\n", "d").kind is Leaves.VALUES


def test_csv_does_not_write_what_it_could_not_read_back():
    with pytest.raises(OutputError, match="look like values"):
        format_arx(Hierarchy.from_paths("born", [["2023", "*"], ["2024", "*"]], Leaves.DATES))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("a;b;*\nc;*\n", "entry 2 has 2 fields, the first has 3"),
        ("a\nb\n", "cannot be split"),
        ('a;"b\n', "close every quote"),
    ],
)
def test_arx_files_that_cannot_be(text, told):
    with pytest.raises(InputError, match=told):
        parse_arx(text, "job")


def test_nested_forms_keep_text_as_it_is_written():
    text = "name: answer\ntree:\n  sure: [yes, 1.0, 007]\n  unsure:\n  - null\n  - no\n  none: null\n"
    assert parse_yaml(text, "x") == Hierarchy.from_paths(
        "answer",
        [
            ["yes", "sure", "*"],
            ["1.0", "sure", "*"],
            ["007", "sure", "*"],
            ["null", "unsure", "*"],
            ["no", "unsure", "*"],
            ["none", "*"],
        ],
    )
    text = '{"tree": {"sure": [1.0, 12345678901234567890], "unsure": null}}'
    assert parse_json(text, "x").labels == ("*", "sure", "1.0", "12345678901234567890", "unsure")
    assert parse_json('{"tree": [{"a": ["b"]}, "c"]}', "x") == parse_yaml("tree: [{a: [b]}, c]", "x")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [b, c]", "has a tree"),
        ("tree: [a]\nother: 1", "nothing else"),
        ("tree: [a]\ntree: [b]", "nothing twice"),
        ("tree: {a: [b], a: [c]}", "occur twice"),
        ("tree: {a: [a]}", "occur twice"),
        ("tree: &x [a, *x]", "aliases"),
        ("tree: [a", "not YAML near line"),
        ("tree: {? [a] : b}", "not a plain text"),
        ("tree: [a]\nleaves: odd", "leaves must be one of"),
        ("tree: [a]\nname: [x, y]", "single words"),
        ("tree: !!python/object/apply:os.system [echo]", None),
        ("", "has a tree"),
    ],
)
def test_yaml_that_cannot_be(text, told):
    if told is None:
        assert parse_yaml(text, "job").labels == ("*", "echo")
        return
    with pytest.raises(InputError, match=told):
        parse_yaml(text, "job")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"tree": {"a": ["b"], "a": ["c"]}}', "occur twice"),
        ('{"tree": [true]}', "no labels"),
        ('{"tree": [', "line 1"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_json_that_cannot_be(text, told):
    with pytest.raises(InputError, match=told):
        parse_json(text, "job")


def test_the_compact_form_as_people_write_it():
    text = """
# a comment
education
  Secondary:
      Junior: 9th, 10th
      11th, 12th

  "University, all": Bachelors, "Master: of arts"
  # another
  None
"""
    found = parse_compact(text, "x")
    assert found.name == "education"
    assert found.labels == (
        "*", "Secondary", "Junior", "9th", "10th", "11th", "12th",
        "University, all", "Bachelors", "Master: of arts", "None",
    )  # fmt: skip
    assert found.height == 4


def test_the_compact_form_on_one_line_with_intervals():
    age = parse_compact("age [numbers]: (-inf, 30], (30, 50.5],(50.5, inf)\r\n", "x")
    assert (age.kind, age.leaf_of(50.5)) == (Leaves.NUMBERS, 1)
    odd = Hierarchy.from_paths("a [dates]: b [numbers]", [["x", "*"]])
    assert parse_compact(format_compact(odd), "x") == odd


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("  job\n    cook", "not indented"),
        ("job\n  cook\nhealth\n  nurse", "no single root: line 3"),
        ("job\n\tcook", "spaces only"),
        ("job\n  cook, waiter\n    nurse", "line 3: it is indented below a line of several"),
        ("job\n  a: b: c", "line 2: it cannot be read"),
        ("job\n  a, b: c", "line 2: it cannot be read"),
        ("job\n  a,", "comma at the end"),
        ('job\n  "a', "line 2: it cannot be read"),
        ('job\n  "\\x"', "line 2: a quoted label cannot be read"),
        ("job, work\n  a", "names one attribute"),
        ("job", "no leaves"),
    ],
)
def test_compact_text_that_cannot_be(text, told):
    with pytest.raises(InputError, match=told):
        parse_compact(text, "job")


@pytest.mark.parametrize("ending", ["csv", "txt", "yaml", "yml", "json"])
def test_every_ending_is_written_and_read(ending, tmp_path):
    file = tmp_path / f"job.{ending}"
    write_hierarchy(JOB, file)
    assert read_hierarchy(file) == JOB
    assert read_hierarchy(file, "work").name == "work"


def test_a_byte_order_mark_is_no_part_of_a_label(tmp_path):
    (tmp_path / "sex.csv").write_bytes(b"\xef\xbb\xbff;*\nm;*\n")
    assert read_hierarchy(tmp_path / "sex.csv").covers("f")


def test_files_that_cannot_be(tmp_path):
    with pytest.raises(FileFormatError, match="not a file"):
        read_hierarchy(tmp_path / "none.csv")
    (tmp_path / "job.odd").write_text("a")
    with pytest.raises(FileFormatError, match="Known endings"):
        read_hierarchy(tmp_path / "job.odd")
    (tmp_path / "job.csv").write_bytes(b"a;*\n\xff;*\n")
    with pytest.raises(FileFormatError, match="line 2"):
        read_hierarchy(tmp_path / "job.csv")
    for name in ("job.pkl", "job.csv"):
        (tmp_path / name).write_bytes(pickle.dumps(["a"]))
        with pytest.raises(FileFormatError, match="pickle"):
            read_hierarchy(tmp_path / name)
    with pytest.raises(OutputError, match="one of"):
        write_hierarchy(JOB, tmp_path / "job.pkl")
    with pytest.raises(OutputError, match="cannot be written"):
        write_hierarchy(JOB, tmp_path / "none" / "job.csv")


def test_the_nested_forms_are_readable():
    assert format_yaml(JOB) == "name: job\nleaves: values\ntree:\n  service:\n  - cook\n  - waiter\n  judge: null\n"
    assert parse_json(format_json(JOB), "x") == JOB
