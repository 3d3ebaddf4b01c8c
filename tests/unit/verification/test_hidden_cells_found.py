"""What the checker of hidden cells tells, check by check and with its numbers, in one piece and in several."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import FileFormatError
from incrowd.verification import hidden_cells
from incrowd.verification.hidden_cells import HiddenPieces, Withheld, verify_hidden_cells
from incrowd.verification.inference import Inference
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.resources import Resources

FINE = {
    "confidential cells": "{}, none shows its value",
    "other cells": "{} withheld, all others as they were",
    "list of changes": "{}, as listed",
    "deleted rows": "{}, blank throughout",
}
FAULTS = {
    "confidential cells": "{} show their value",
    "other cells": "{} show what is not true",
    "list of changes": "{} differ from the list",
    "deleted rows": "{} still show something",
}


def written(tmp_path, shown):
    """A release: a text is a CSV file, a table a Parquet file."""
    if isinstance(shown, str):
        (tmp_path / "out.csv").write_text(shown)
        return tmp_path / "out.csv", FileForm("csv")
    pq.write_table(shown, tmp_path / "out.parquet")
    return tmp_path / "out.parquet", FileForm("parquet")


def pieces(tmp_path, original, sizes, told=None):
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    tables = [original.slice(start, size) for start, size in zip(starts, sizes, strict=True)]
    return HiddenPieces(original.num_rows, lambda: iter(tables), Resources(2 * 10**9, 1, scratch), told)


def judged(tmp_path, original, shown, told, sizes=()):
    """The checks by name."""
    path, form = written(tmp_path, shown)
    whole = verify_hidden_cells(path, form, original, told)
    if sizes:
        assert verify_hidden_cells(path, form, pieces(tmp_path, original, sizes), told) == whole
    assert (whole.sizes.rows, whole.sizes.classes, whole.sizes.smallest, whole.sizes.histogram)[1:] == (0, 0, ())
    return {check.name: (check.passed, check.finding) for check in whole.checks}


def fine(**numbers):
    """Checks that passed: c, o, l and d are the numbers of the four checks of cells."""
    return {name: (True, text.format(numbers[name[0]])) for name, text in FINE.items()}


JOB = Hierarchy("job", ("*", "care", "nurse", "medic", "cook"), (-1, 0, 1, 1, 0))
AGE = Hierarchy("age", ("*", "(20, 40]", "(40, 70]", "(70, 90]"), (-1, 0, 0, 0), Leaves.NUMBERS)
DAY = Hierarchy("day", ("*", "2020-01", "2020-02"), (-1, 0, 0), Leaves.DATES)
TABLE = pa.table({"age": [31, 40, 62, 41], "job": ["nurse", "cook", None, "medic"], "ill": ["flu", "no", "flu", "no"]})
HEADS = "age,job,ill\n"
ALL = {"age": AGE, "job": JOB}


def said(confidential=(), changes=None, **more):
    return Withheld(["age", "job", "ill"], list(confidential), changes or {}, hierarchies=ALL, **more)


@pytest.mark.parametrize("sizes", [(), (4,), (2, 2), (1, 3), (1, 1, 1, 1)])
@pytest.mark.parametrize(
    ("rows", "told", "numbers"),
    [
        ("31,nurse,flu\n40,cook,no\n62,,flu\n41,medic,no\n", said(), {"c": 0, "o": 0, "l": 0, "d": 0}),
        (
            "31,nurse,flu\n40,cook,\n62,,flu\n41,care,\n",
            said([(1, "ill"), (3, "ill"), (3, "ill")], {(1, "ill"): None, (3, "job"): "care", (3, "ill"): None}),
            {"c": 2, "o": 1, "l": 3, "d": 0},
        ),
        (
            '"(20, 40]",*,flu\n40,cook,no\n,,\n41,medic,no\n',
            said(
                [(0, "age")],
                {(0, "age"): "(20, 40]", (0, "job"): "*", (2, "age"): None, (2, "ill"): None},
                deleted=[2, 2],
            ),
            {"c": 1, "o": 3, "l": 4, "d": 1},
        ),
    ],
)
def test_what_is_true_is_told_with_its_numbers(tmp_path, rows, told, numbers, sizes):
    checks = judged(tmp_path, TABLE, HEADS + rows, told, sizes)
    assert checks.pop("columns") == (True, "3 columns, all those of the table")
    assert checks.pop("rows") == (True, "4 rows; the table has 4")
    assert checks == fine(**numbers)


@pytest.mark.parametrize("sizes", [(), (2, 2)])
@pytest.mark.parametrize(
    ("rows", "told", "faults"),
    [
        # both confidential cells are shown
        (
            "31,nurse,flu\n40,cook,no\n62,,flu\n41,medic,no\n",
            said([(0, "ill"), (3, "job")]),
            {"confidential cells": 2},
        ),
        # two cells are untrue, one of them was told otherwise, one not at all
        (
            "31,nurse,no\n40,cook,yes\n62,,flu\n41,medic,no\n",
            said([], {(0, "ill"): None}),
            {"other cells": 2, "list of changes": 2},
        ),
        # told, and not done
        (
            "31,nurse,flu\n40,cook,no\n62,,flu\n41,medic,no\n",
            said([], {(0, "ill"): None, (3, "age"): None, (3, "job"): "care"}),
            {"list of changes": 3},
        ),
        # told and not done, done and not told
        ("31,,flu\n40,cook,no\n62,,flu\n41,medic,no\n", said([], {(1, "job"): None}), {"list of changes": 2}),
        # two rows of three that were told to be blank are not
        (
            ",,\n40,,\n,,flu\n41,medic,no\n",
            said(
                [],
                {(0, n): None for n in ("age", "job", "ill")} | {(1, "job"): None, (1, "ill"): None, (2, "age"): None},
                deleted=[2, 1, 0, 2],
            ),
            {"deleted rows": 2},
        ),
    ],
)
def test_faults_are_counted(tmp_path, rows, told, faults, sizes):
    checks = judged(tmp_path, TABLE, HEADS + rows, told, sizes)
    wrong = {name: found for name, (passed, found) in checks.items() if not passed}
    assert wrong == {name: FAULTS[name].format(count) for name, count in faults.items()}


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        (HEADS, "rows", "0 rows; the table has 4"),
        (HEADS + "31,nurse,flu\n" * 5, "rows", "5 rows; the table has 4"),
        ("age,ill,job\n" + "31,flu,nurse\n" * 4, "columns", "3 columns, not those of the table"),
        ("age,job\n" + "31,nurse\n" * 4, "columns", "2 columns, not those of the table"),
    ],
)
@pytest.mark.parametrize("in_pieces", [False, True])
def test_another_table_is_not_compared(tmp_path, text, name, found, in_pieces):
    path, form = written(tmp_path, text)
    original = pieces(tmp_path, TABLE, (2, 2)) if in_pieces else TABLE
    verdict = verify_hidden_cells(path, form, original, said())
    assert {check.name for check in verdict.checks} == {"columns", "rows"}
    assert [(check.name, check.finding) for check in verdict.checks if not check.passed] == [(name, found)]
    assert verdict.sizes.rows == text.count("\n") - 1


def cell(tmp_path, own, shown, hierarchy, *, confidential=False, others=()):
    """Whether a table of one column may show a cell, and those that are as they were."""
    values = pa.array([own, *others])
    texts = [None if value is None else str(value) for value in others]
    original = pa.table({"x": values, "row": [str(i) for i in range(len(values))]})
    release = pa.table({"x": pa.array([shown, *texts], pa.string()), "row": original["row"]})
    hierarchies = {} if hierarchy is None else {"x": hierarchy}
    told = Withheld(["x", "row"], [(0, "x")] if confidential else [], {(0, "x"): shown}, hierarchies=hierarchies)
    checks = judged(tmp_path, original, release, told)
    assert checks.pop("list of changes") == (True, "1, as listed")
    return all(passed for passed, _ in checks.values())


NUMBERS = Hierarchy("x", ("*", "few", "1", "2.0", "many", "100"), (-1, 0, 1, 1, 0, 4))
OPEN = Hierarchy("x", ("*", "(-inf, 40]", "(40, inf)"), (-1, 0, 0), Leaves.NUMBERS)
DEEP = Hierarchy("x", ("*", "young", "(0, 20]", "(20, 30]", "(30, 60]"), (-1, 0, 1, 1, 0), Leaves.NUMBERS)
JANUARY = datetime.date(2020, 1, 31)


@pytest.mark.parametrize(
    ("own", "shown", "hierarchy", "true"),
    [
        ("nurse", None, JOB, True),
        ("nurse", "care", JOB, True),
        ("nurse", "*", JOB, True),
        ("cook", "care", JOB, False),
        ("nurse", "nothing", JOB, False),
        ("nurse", "care", None, False),
        ("smith", "*", JOB, False),
        (None, "care", JOB, False),
        (1, "few", NUMBERS, True),
        (2, "few", NUMBERS, True),
        (100, "few", NUMBERS, False),
        ("01", "few", NUMBERS, True),  # as the number it writes
        ("one", "few", NUMBERS, False),
        (20, "(20, 40]", AGE, False),
        (21, "(20, 40]", AGE, True),
        (40, "(20, 40]", AGE, True),
        (41, "(20, 40]", AGE, False),
        (41, "*", AGE, True),
        (95, "*", AGE, False),
        (-5, "(-inf, 40]", OPEN, True),
        (40, "(-inf, 40]", OPEN, True),
        (40.5, "(-inf, 40]", OPEN, False),
        (40, "(40, inf)", OPEN, False),
        (41, "(40, inf)", OPEN, True),
        (20, "young", DEEP, True),
        (21, "young", DEEP, True),
        (31, "young", DEEP, False),
        ("old", "(40, inf)", OPEN, False),
        (JANUARY, "2020-01", DAY, True),
        (JANUARY + datetime.timedelta(1), "2020-01", DAY, False),
        (JANUARY + datetime.timedelta(1), "2020-02", DAY, True),
        (datetime.datetime(2020, 1, 31, 23, 59), "2020-01", DAY, True),
        ("soon", "2020-01", DAY, False),
    ],
)
def test_a_cell_shows_nothing_or_a_group_that_holds_its_value(tmp_path, own, shown, hierarchy, true):
    assert cell(tmp_path, own, shown, hierarchy) == true


@pytest.mark.parametrize(
    ("own", "shown", "hierarchy", "others", "concealed"),
    [
        ("nurse", None, JOB, (), True),
        ("nurse", "care", JOB, (), True),  # two values, whether they occur or not
        ("cook", "care", JOB, (), False),
        (100, "many", NUMBERS, (1,), False),  # a group of one value
        (1, "few", NUMBERS, (), True),
        (31, "(20, 40]", AGE, (), False),  # no other value lies in the interval
        (31, "(20, 40]", AGE, (31, 41), False),
        (31, "(20, 40]", AGE, (40,), True),
        (31, "(20, 40]", AGE, (None, 20), False),
        (31, "(20, 40]", AGE, (21, 22, 23), True),
        ("31", "(20, 40]", AGE, ("31.0",), False),  # the same number
        ("31", "(20, 40]", AGE, ("31.5",), True),
        ("0", "(-inf, 40]", OPEN, ("0.0", "-0"), False),
        (datetime.datetime(2020, 1, 31, 8), "2020-01", DAY, (datetime.datetime(2020, 1, 31, 9),), False),
        (JANUARY, "2020-01", DAY, (JANUARY - datetime.timedelta(1),), True),
        (JANUARY, "2020-01", DAY, (JANUARY + datetime.timedelta(1),), False),
    ],
)
def test_a_confidential_cell_shows_nothing_or_a_group_of_several_values(
    tmp_path, own, shown, hierarchy, others, concealed
):
    assert cell(tmp_path, own, shown, hierarchy, confidential=True, others=others) == concealed


@pytest.mark.parametrize("in_pieces", [False, True])
def test_values_of_other_pieces_are_in_the_interval_too(tmp_path, in_pieces):
    original = pa.table({"age": [31, 62, 40]})
    told = Withheld(["age"], [(0, "age")], {(0, "age"): "(20, 40]"}, hierarchies={"age": AGE})
    sizes = (1, 1, 1) if in_pieces else ()
    checks = judged(tmp_path, original, 'age\n"(20, 40]"\n62\n40\n', told, sizes)
    assert all(passed for passed, _ in checks.values())


@pytest.mark.parametrize(
    ("own", "text", "same"),
    [
        ("=1+2", "'=1+2", True),
        ("=1+2", "=1+2", True),
        ("+a", "'+a", True),
        ("@a", "'@a", True),
        ("-a", "'-a", True),
        ("-", "-", True),
        ("-", "'-", False),  # nothing follows: no formula
        ("-3", "-3", True),
        ("-3", "'-3", False),  # a number is no formula
        ("a", "'a", False),
        ("a", "b", False),
        ("'=1", "'=1", True),
        ("a", "", False),
    ],
)
def test_an_apostrophe_before_a_formula_is_not_a_difference(tmp_path, own, text, same):
    original = pa.table({"x": [own, "other"], "y": ["1", "2"]})
    told = Withheld(["x", "y"], [], {})
    checks = judged(tmp_path, original, f"x,y\n{text},1\nother,2\n", told)
    assert checks["list of changes"] == ((True, "0, as listed") if same else (False, "1 differ from the list"))
    parquet = pa.table({"x": pa.array([text or None, "other"], pa.string()), "y": ["1", "2"]})
    # no formulas in other files
    assert judged(tmp_path, original, parquet, told)["list of changes"][0] == (own == text)


def test_a_group_may_have_got_an_apostrophe(tmp_path):
    tree = Hierarchy("x", ("*", "-low", "a", "b"), (-1, 0, 1, 1))
    told = Withheld(["x", "y"], [(0, "x")], {(0, "x"): "-low"}, hierarchies={"x": tree})
    original = pa.table({"x": ["a", "b"], "y": ["1", "2"]})
    checks = judged(tmp_path, original, "x,y\n'-low,1\nb,2\n", told)
    assert all(passed for passed, _ in checks.values())
    parquet = pa.table({"x": ["'-low", "b"], "y": ["1", "2"]})
    assert not judged(tmp_path, original, parquet, told)["confidential cells"][0]


@pytest.mark.parametrize(
    ("own", "shown", "same"),
    [
        (pa.array([1, 2]), pa.array(["1", "2"]), True),
        (pa.array([1, 2]), pa.array(["1.0", "02"]), True),
        (pa.array([1, 2]), pa.array(["1", "3"]), False),
        (pa.array([1, None]), pa.array(["1", "2"]), False),
        (pa.array([1, None]), pa.array(["1", "x"]), False),
        (pa.array([1, 2]), pa.array(["1", None]), False),
        (pa.array([1.5, 2]), pa.array(["1.50", "2"]), True),
        (pa.array(["1", "2"]), pa.array([1, 2]), True),
        (pa.array(["1", "2"]), pa.array([1, 3]), False),
        (pa.array(["1", "x"]), pa.array([1, 2]), False),
        (pa.array(["1", "x"]), pa.array([1, None]), False),
        (pa.array([1, 2]), pa.array([1, 2]), True),
        (pa.array([1, 2]), pa.array([1.0, 2.5]), False),
        (pa.array(["1", "2"]), pa.array(["1", "02"]), False),
        (pa.array(["1", None]), pa.array(["1", None]), True),
    ],
)
def test_a_text_is_read_in_the_type_of_the_other_side(tmp_path, own, shown, same):
    rows = pa.array(["a", "b"])
    told = Withheld(["x", "row"], [], {})
    checks = judged(tmp_path, pa.table({"x": own, "row": rows}), pa.table({"x": shown, "row": rows}), told)
    assert checks["list of changes"] == ((True, "0, as listed") if same else (False, "1 differ from the list"))


def test_a_file_whose_rows_cannot_be_read(tmp_path):
    path, form = written(tmp_path, TABLE)
    spoiled = bytearray(path.read_bytes())
    spoiled[4:60] = b"\xff" * 56  # the first page; what the file says of itself stays sound
    path.write_bytes(bytes(spoiled))
    with pytest.raises(FileFormatError, match=r"out\.parquet cannot be read back by the verification"):
        verify_hidden_cells(path, form, pieces(tmp_path, TABLE, (2, 2)), said())


def test_every_piece_is_told(tmp_path):
    heard = []
    path, form = written(tmp_path, HEADS + "31,nurse,flu\n40,cook,no\n62,,flu\n41,medic,no\n")
    original = pieces(tmp_path, TABLE, (1, 2, 1), lambda done, all_rows: heard.append((done, all_rows)))
    assert verify_hidden_cells(path, form, original, said()).passed
    assert heard == [(1, 4), (3, 4), (4, 4)]


def test_a_quarter_of_the_memory_and_the_scratch_folder_are_used(tmp_path, monkeypatch):
    asked, connect = [], hidden_cells.connect
    monkeypatch.setattr(hidden_cells, "connect", lambda *limits: asked.append(limits) or connect(*limits))
    path, form = written(tmp_path, HEADS + "31,nurse,flu\n40,cook,no\n62,,flu\n41,medic,no\n")
    assert verify_hidden_cells(path, form, pieces(tmp_path, TABLE, (4,)), said()).passed
    assert asked == [(500_000_000, None, tmp_path / "scratch")] * 2


def test_faults_beyond_a_hundred_thousand_are_not_counted(tmp_path):
    numbers = pa.array(range(100_002))
    original = pa.table({"x": numbers, "y": numbers})
    release = pa.table({"x": pa.array(range(1, 100_003)), "y": numbers})
    told = Withheld(["x", "y"], [], {})
    path, form = written(tmp_path, release)
    verdict = verify_hidden_cells(path, form, pieces(tmp_path, original, (2, 100_000)), told)
    found = {check.name: check.finding for check in verdict.checks}
    assert found["other cells"] == "100,000 show what is not true"


@pytest.mark.parametrize(
    ("told", "passed", "found"),
    [
        ({(0, "y"): True}, True, "naive Bayes guesses 1 of 1 confidential cells, as stated"),
        ({(0, "y"): False}, False, "1 are not as stated about naive Bayes"),
        ({(0, "y"): True, (4, "y"): False}, True, "naive Bayes guesses 1 of 2 confidential cells, as stated"),
        ({(0, "y"): False, (4, "y"): True}, False, "2 are not as stated about naive Bayes"),
    ],
)
def test_the_adversary_is_recounted_if_all_else_is_right(tmp_path, told, passed, found):
    values = pa.table({"a": [0, 0, 0, 1, 0, 1], "y": [0, 0, 0, 0, 1, 1]})
    shown = pa.table(
        {"a": values["a"], "y": [None if (row, "y") in told else y for row, y in enumerate([0, 0, 0, 0, 1, 1])]}
    )
    said = Withheld(["a", "y"], list(told), dict.fromkeys(told), inference=Inference(values, ["a"], told))
    assert judged(tmp_path, values, shown, said)["inference"] == (passed, found)
    lying = Withheld(["a", "y"], list(told), {}, inference=Inference(values, ["a"], told))
    assert "inference" not in judged(tmp_path, values, shown, lying)
