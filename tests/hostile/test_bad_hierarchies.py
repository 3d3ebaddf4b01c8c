"""Bad hierarchies, 75 to 83 of the list of bad input. No message shows a value."""

import os
import pickle

import polars as pl
import pytest

from incrowd.errors import FileFormatError, InputError, ValuesError
from incrowd.tables.hierarchies.draft import encoded_columns
from incrowd.tables.hierarchies.read import read_hierarchy
from incrowd.vocabulary.hierarchy import Hierarchy

CANARY = "canary-5bd1e995"


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text.replace("CANARY", CANARY), encoding="utf-8")
        return tmp_path / name

    return write


def refused(make, told, kind=InputError):
    with pytest.raises(kind, match=told) as raised:
        make()
    assert CANARY not in str(raised.value)
    assert raised.value.exit_status == 2


def test_75_a_gap_is_an_error_with_a_count(file):
    hierarchy = read_hierarchy(file("job.csv", "cook;*\nnurse;*\n"))
    (job,) = encoded_columns(pl.DataFrame({"job": ["cook", CANARY, CANARY, f"{CANARY}2", None]}), "job")
    refused(lambda: hierarchy.encode(job), r"2 of 3 distinct values of column 'job' \(3 rows\)", ValuesError)


def test_75_a_missing_value_is_no_gap(file):
    hierarchy = read_hierarchy(file("job.csv", "cook;*\nnurse;*\n"))
    (job,) = encoded_columns(pl.DataFrame({"job": ["cook", None]}), "job")
    assert hierarchy.encode(job).tolist() == [0, 2]


@pytest.mark.parametrize("text", ["CANARY;a;CANARY;*\nb;c;c;*\n", "b;CANARY;a;CANARY;*\n"])
def test_76_a_cycle_is_an_error(file, text):
    refused(lambda: read_hierarchy(file("job.csv", text)), "cycle")


def test_76_a_cycle_of_parents_is_an_error():
    refused(lambda: Hierarchy("job", ("*", "a", CANARY, "b"), (-1, 0, 3, 2)), "cycle: 2 nodes")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("job.csv", "CANARY;a;*\nCANARY;b;*\n"),
        ("job.csv", "x;CANARY;a;*\ny;CANARY;b;*\n"),
        ("job.txt", "job\n  a: CANARY\n  b: CANARY\n"),
        ("job.yaml", "tree: {a: [CANARY], b: [CANARY]}"),
        ("job.json", '{"tree": {"a": ["CANARY"], "b": ["CANARY"]}}'),
    ],
)
def test_77_two_parents_are_an_error(file, name, text):
    refused(lambda: read_hierarchy(file(name, text)), "1 labels have two parents")


def test_77_a_value_that_is_a_group_is_an_error(file):
    refused(lambda: read_hierarchy(file("job.csv", "CANARY;CANARY;*\nx;CANARY;*\n")), "both a value and a group")


def test_78_unequal_depth_is_padded_and_said(file):
    hierarchy = read_hierarchy(file("job.txt", "job\n  health: nurse, doctor\n  CANARY\n"))
    assert [hierarchy.labels[node] for node in hierarchy.at_level(2)] == ["health", "health", CANARY]
    assert [hierarchy.labels[node] for node in hierarchy.at_level(3)] == ["nurse", "doctor", CANARY]
    (notice,) = hierarchy.notices
    assert notice.code == "padded"
    assert CANARY not in str(notice)


@pytest.mark.parametrize(("name", "text"), [("job.csv", "a;x\nCANARY;CANARY2\n"), ("job.txt", "a: b\nCANARY: c\n")])
def test_79_no_single_root_is_an_error(file, name, text):
    refused(lambda: read_hierarchy(file(name, text)), "no single root")


@pytest.mark.parametrize("text", ["(0, 20];*\n(10, 30];*\n", "(0, 10];a;*\n(10, 20];b;*\n(20, 30];a;*\n"])
def test_80_overlapping_intervals_are_an_error(file, text):
    refused(lambda: read_hierarchy(file("n.csv", text)), "overlap")


def test_81_a_boundary_value_belongs_to_the_lower_interval(file):
    hierarchy = read_hierarchy(file("n.csv", "(0, 10];*\n(10, 20];*\n"))
    (numbers,) = encoded_columns(pl.DataFrame({"n": [10, 20, 11, 1]}), "n")
    assert hierarchy.encode(numbers).tolist() == [0, 0, 1, 1, 2]
    (zero,) = encoded_columns(pl.DataFrame({"n": [0, 5]}), "n")
    refused(lambda: hierarchy.encode(zero), "has a gap: 1 of 2", ValuesError)


def test_82_an_unused_leaf_is_a_notice(file):
    hierarchy = read_hierarchy(file("job.csv", "cook;*\nCANARY;*\n"))
    (job,) = encoded_columns(pl.DataFrame({"job": ["cook", "cook"]}), "job")
    (notice,) = hierarchy.unused(job)
    assert notice.code == "unused-leaves"
    assert CANARY not in str(notice)


class _Trap:
    """Unpickling this makes a folder."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (self.folder,)


@pytest.mark.parametrize("name", ["job.pkl", "job.pickle", "job.csv", "job.yaml", "job.odd"])
def test_83_a_pickle_is_refused_and_not_opened(tmp_path, name):
    trap = tmp_path / "sprung"
    (tmp_path / name).write_bytes(pickle.dumps(_Trap(str(trap))))
    refused(lambda: read_hierarchy(tmp_path / name), "pickle", FileFormatError)
    assert not trap.exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("job.csv", "CANARY;a;*\nb;*\n"),
        ("job.txt", "job\n  CANARY: a: b\n"),
        ("job.txt", 'job\n  "CANARY\n'),
        ("job.txt", "job\n\tCANARY\n"),
        ("job.yaml", "tree: [CANARY"),
        ("job.yaml", "tree: {CANARY: &CANARY [a], b: *CANARY}"),
        ("job.yaml", "CANARY: [a]"),
        ("job.json", '{"tree": [CANARY]}'),
        ("job.json", '{"CANARY": ["a"]}'),
        ("job.yaml", "tree: [CANARY]\nleaves: numbers"),
        ("job.txt", "job [dates]: CANARY"),
        ("job.csv", "CANARY; ;*\n"),
    ],
)
def test_no_message_shows_a_value(file, name, text):
    refused(lambda: read_hierarchy(file(name, text)), "ierarchy 'job'")
