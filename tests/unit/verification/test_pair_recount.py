"""Two tables, rows and groups, opened as one: what each row shows then, and every way in which they do not fit."""

from __future__ import annotations

import re

import polars as pl
import pytest

from incrowd.verification.faithfulness import open_pair
from incrowd.verification.opening import connect
from incrowd.vocabulary.forms import FileForm

COLUMNS = ["ill", "job", "no", "age"]
GROUPS = [
    (1, "job", "cook", 1),
    (1, "job", "a|b", 1),
    (1, "age", "(0, 5]", 2),
    (2, "age", "(0, 5]", 1),
    (2, "age", None, 1),
]
ROWS = [(2, "y", "p"), (1, "n", "q"), (1, "y", "r"), (2, None, "s")]
SHOWN = [
    ("y", "*", "p", "(0, 5]:1|?:1"),
    ("n", "cook:1|a%7Cb:1", "q", "(0, 5]:2"),
    ("y", "cook:1|a%7Cb:1", "r", "(0, 5]:2"),
    (None, "*", "s", "(0, 5]:1|?:1"),
]


HEADS = {"rows": ["group", "ill", "no"], "groups": ["group", "attribute", "value", "count"]}


def opened(folder, rows, groups, /, ending="parquet", **names):
    """The columns that were found, the table as it was opened, and the check."""
    heads, paths = (HEADS | names).values(), []
    for table, head, name in zip((rows, groups), heads, "rg", strict=True):
        frame = pl.DataFrame(table, dict.fromkeys(head, pl.String) | {head[0]: pl.Int64}, orient="row", strict=False)
        paths.append(folder / f"{name}.{ending}")
        frame.write_csv(paths[-1]) if ending == "csv" else frame.write_parquet(paths[-1])
    with connect(threads=1) as connection:
        found, check = open_pair(connection, *paths, FileForm.of(paths[0]), COLUMNS, ["job", "age"])  # type: ignore[call-arg]
        return found, connection.execute("SELECT * FROM released").fetchall(), check


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_each_row_shows_the_counts_of_its_group(tmp_path, ending):
    found, table, check = opened(tmp_path, ROWS, GROUPS, ending)
    assert (found, table) == (COLUMNS, SHOWN)
    assert (check.name, check.passed, check.finding) == ("groups", True, "2 groups, the same in both tables")


WRONG = {  # groups, different things, groups without rows, foreign lines, rows without group, lines out of order
    "two groups tell the same": (
        [*ROWS, (3, "y", "t")],
        [*GROUPS, *((3, *line) for _, *line in GROUPS[3:])],
        (3, 2, 0, 0, 0, 0),
    ),
    "two groups have no row": (ROWS, [*GROUPS, *((n, "age", v, 1) for n in (3, 4) for v in "xy")], (2, 2, 2, 0, 0, 0)),
    "an attribute is none": (ROWS, [*GROUPS, (2, "ill", "y", 1)], (2, 2, 0, 1, 0, 0)),
    "an attribute is missing": (ROWS, [*GROUPS, (2, None, "y", 1)], (2, 2, 0, 1, 0, 0)),
    "a number is missing": (ROWS, [*GROUPS, (None, "age", "y", 1)], (2, 2, 0, 1, 0, 0)),
    "three lines of nothing": (
        ROWS,
        [*GROUPS, (2, "x", "y", 1), (2, None, "y", 1), (None, "age", "y", 1)],
        (2, 2, 0, 3, 0, 0),
    ),
    "rows are in no group": (
        [*ROWS, (None, "y", "t"), (None, "y", "u"), (3, "y", "v")],
        GROUPS,
        (3, 3, 0, 0, 2, 0),
    ),
    "a group and rows have nobody": (
        [*ROWS, (None, "y", "t"), (3, "y", "v")],
        [*GROUPS, (4, "age", "x", 1)],
        (3, 3, 1, 0, 1, 0),
    ),
    "groups are out of order": (ROWS, [*GROUPS[3:], *GROUPS[:3]], (2, 2, 0, 0, 0, 1)),
    "attributes are out of order": (ROWS, [GROUPS[2], *GROUPS[:2], *GROUPS[3:]], (2, 2, 0, 0, 0, 1)),
    "lines go to and fro": (ROWS, [GROUPS[2], GROUPS[0], GROUPS[3], GROUPS[1], GROUPS[4]], (2, 2, 0, 0, 0, 2)),
}


@pytest.mark.parametrize(("rows", "groups", "numbers"), WRONG.values(), ids=WRONG)
def test_tables_that_do_not_fit_are_told_by_how_they_do_not(tmp_path, rows, groups, numbers):
    found, table, check = opened(tmp_path, rows, groups)
    assert (found, len(table), check.name, check.passed) == (COLUMNS, len(rows), "groups", False)
    assert tuple(int(number) for number in re.findall(r"\d+", check.finding)) == numbers


@pytest.mark.parametrize(
    ("which", "names"),
    [
        ("groups", ["group", "attribute", "value", "number"]),
        ("groups", ["group", "value", "attribute", "count"]),
        ("groups", ["group", "attribute", "value", "count", "more"]),
        ("groups", ["attribute", "value", "count"]),
        ("groups", ["group", "more", "attribute", "value", "count"]),
        ("rows", ["number", "ill", "no"]),
        ("rows", ["group", "no", "ill"]),
        ("rows", ["group", "ill"]),
        ("rows", ["group", "ill", "no", "job"]),
        ("rows", ["count", "ill", "no"]),
        ("rows", ["attribute", "ill", "no"]),
    ],
)
def test_other_columns_are_told(tmp_path, which, names):
    tables = {"rows": ROWS, "groups": GROUPS} | {which: [(1, *"xxxx"[: len(names) - 1])]}
    found, _, check = opened(tmp_path, *tables.values(), **{which: names})
    assert found == names
    assert (check.name, check.passed, check.finding) == ("groups", False, f"the table of {which} has other columns")
