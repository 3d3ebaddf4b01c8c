"""What cells show by their text alone, and published counts next to their rows: exact numbers, by hand."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from incrowd.verification.comparison import CellComparison
from incrowd.verification.opening import connect, register
from incrowd.verification.request import Expected
from incrowd.verification.shown import count_shown
from support.comparing import compared, wrong

CELLS = [None, "*", "*", "a", "a", "b", "a|b", "(1, 2]", "(1, 2]", "[1, 2]", "(1, 2]|(3, 4]", "(1, 2", "1, 2]"]


def test_forms_are_told_by_the_text():
    forms = {"empty": 1, "single": 7, "set": 2, "interval": 3}
    counts = {"empty": 3, "counts": 10}
    with connect(threads=1) as connection:
        register(connection, pa.table({"no": pa.array([None] * 13, pa.int64()), "a": CELLS, "b": CELLS}), "released")
        names = ["no", "a", "b"]
        assert count_shown(connection, names, ["a"]) == {"a": forms}
        assert count_shown(connection, names, ["b", "a"], ["b"]) == {"b": counts, "a": forms}
        assert count_shown(connection, names, ["no"], ["no"]) == {"no": {"empty": 13}}
        assert list(count_shown(connection, names, ["a"])["a"]) == ["empty", "single", "set", "interval"]


TEXTS = {
    "right counts": (["a:1|b:2"] * 3, ["a", "b", "b"], 0),
    "a hidden attribute": (["*"] * 3, ["a", "b", "b"], 0),
    "a hidden class beside another": (["*", "*", "a:2", "a:2"], ["a", "b", "a", "a"], 0),
    "a count too high": (["a:1|b:3"] * 3, ["a", "b", "b"], 3),
    "a count too low": (["a:1|b:1"] * 3, ["a", "b", "b"], 3),
    "two counts exchanged": (["a:2|b:1"] * 3, ["a", "b", "b"], 3),
    "one of two classes": (["a:2", "a:2", "b:1"], ["a", "a", "a"], 1),
    "a value left out": (["a:1"] * 3, ["a", "b", "b"], 3),
    "a value that nobody has": (["a:1|b:2|c:1"] * 3, ["a", "b", "b"], 3),
    "a value in two parts": (["a:1|a:1"] * 2, ["a", "a"], 3),
    "a value twice": (["a:2|a:2"] * 2, ["a", "a"], 3),
    "a missing value": (["a:1|?:2"] * 3, ["a", None, None], 0),
    "a missing value first": (["?:2|a:1"] * 3, ["a", None, None], 1),
    "a missing value left out": (["a:1"] * 2, ["a", None], 2),
    "a question mark": (["%3F:1|?:1"] * 2, ["?", None], 0),
    "a question mark for a missing value": (["%3F:1|?:1"] * 2, ["a", None], 2),
    "an empty cell": ([None, None, "a:1"], ["a", "b", "a"], 2),
    "letters that are encoded": (["a%7Cb:1|c%3Ad:1|e%25:1"] * 3, ["a|b", "c:d", "e%"], 0),
    "letters that are not encoded": (["a|b:1"], ["a|b"], 1),
    "signs that begin formulas": (["%2B1:1|%2D1:1|%3D1:1|%401:1|%09a:1"] * 5, ["+1", "-1", "=1", "@1", "\ta"], 0),
    "a count of nothing": (["a:2|b:0"] * 2, ["a", "a"], 2),
    "a plain value": (["a"], ["a"], 1),
    "a fraction": (["a:1.0"], ["a"], 1),
    "a count with a sign": (["a:+1"], ["a"], 1),
    "a count with a zero before it": (["a:01"], ["a"], 1),
    "one order": (["a:1|b:1"] * 2 + ["b:1|c:1"] * 2 + ["a:1|c:1"] * 2, list("abbcac"), 0),
    "two orders": (["a:1|b:1"] * 2 + ["b:2|a:1"] * 3, ["a", "b", "b", "a", "b"], 1),
    "two orders of two pairs": (["a:1|b:1|c:1"] * 3 + ["c:2|b:1|a:1"] * 4, list("abcccba"), 1),
    "one pair in two orders, twice": (["a:1|b:1|c:1"] * 3 + ["a:1|b:2"] * 3 + ["b:3|a:1"] * 4, list("abcabbbbba"), 1),
    "a pair in two orders, with another between": (["a:1|b:1|c:1"] * 3 + ["c:1|a:1"] * 2, list("abcac"), 1),
    "orders that go round": (["a:1|b:1"] * 2 + ["b:1|c:1"] * 2 + ["c:1|a:1"] * 2, list("abbcca"), 1),
    "a text in brackets": (["(none):1|a:1"] * 2, ["(none)", "a"], 0),
    "texts that read like intervals": (["(10, 20]:1|(5, 9]:2"] * 3, ["(10, 20]", "(5, 9]", "(5, 9]"], 0),
}


@pytest.mark.each(3)
@pytest.mark.parametrize(("shown", "own", "rows"), TEXTS.values(), ids=TEXTS)
def test_counts_of_a_class_are_those_of_its_rows(shown, own, rows):
    """Beside the counts stands a column that has nothing in it; rows come in one piece or in several."""
    first = pa.array([None] * len(own), pa.int64())
    tables = {"no": first, "x": pa.array(shown, pa.string())}, {"no": first, "x": pa.array(own, pa.string())}
    assert compared(*tables, (1,), keys=["x"], counts=["x"])[0] == {"no": 0, "x": rows}


NUMBERS = {
    "right counts": (["(-inf, 5]:2|(5, inf):1"] * 3, [5, -7, 6], 0),
    "a number in two classes": (["(0, 5]:2"] * 2 + ["(0, 5]:1|(5, 9]:1"] * 2, [3, 4, 3, 9], 0),
    "a hidden class": (["*"] * 2 + ["(0, 5]:2"] * 2, [3, 9, 3, 4], 0),
    "a missing number": (["(0, 5]:1|?:2"] * 3, [3, None, None], 0),
    "a number at the low end": (["(3, 5]:2"] * 2, [3, 4], 2),
    "a number at the high end": (["(3, 5]:2"] * 2, [5, 4], 0),
    "a number at a high end that is open": (["(3, 5):2"] * 2, [5, 4], 2),
    "a number outside": (["(3, 5]:1"] * 2, [7, 4], 2),
    "a number outside that is counted": (["(3, 5]:2"] * 2, [7, 4], 2),
    "bins that touch": (["(0, 5]:1|(5, 9]:1|(20, 30]:1"] * 3, [1, 6, 21], 0),
    "bins that overlap": (["(0, 5]:1|(4, 9]:1"] * 2, [1, 6], 1),
    "bins of two classes that overlap": (["(0, 5]:1", "(4, 9]:1"], [1, 6], 1),
    "bins that begin at one number": (["(0, 5]:1|(0, 9]:1"] * 2, [1, 8], 3),
    "a bin in a bin": (["(0, 9]:1|(2, 3]:1|(20, 30]:1"] * 3, [1, 8, 21], 4),
    "a bin that is none": (["(5, 5]:1"], [5], 2),
    "a bin that ends before it begins": (["(5, 4]:1"], [5], 2),
    "a number instead of a bin": (["5:1"], [5], 2),
    "bins that descend": (["(5, 9]:1|(0, 5]:1"] * 2, [1, 6], 1),
    "three bins that descend": (["(20, 30]:1|(5, 9]:1|(0, 5]:1"] * 3, [1, 6, 21], 2),
    "a missing number first": (["?:1|(0, 5]:1"] * 2, [1, None], 1),
    "everything is missing": (["?:2"] * 2, [None, None], 0),
    "counts too high": (["(0, 5]:1|(5, 9]:2"] * 2, [1, 6], 2),
}


@pytest.mark.each(3)
@pytest.mark.parametrize(("shown", "own", "rows"), NUMBERS.values(), ids=NUMBERS)
def test_counts_of_numbers_are_those_of_bins_that_lie_apart(shown, own, rows):
    assert wrong(shown, pa.array(own, pa.int64()), counts=["x"]) == rows
    assert wrong(shown, pa.array(own, pa.int64()), range(1, len(own)), counts=["x"]) == rows


def test_bins_of_days():
    days = [dt.date(2020, 2, 28), dt.date(2020, 3, 1)]
    assert wrong(["(-inf, 2020-02-28]:1|(2020-02-28, inf):1"] * 2, days, counts=["x"]) == 0
    assert wrong(["(-inf, 2020-02-28]:2"] * 2, days, counts=["x"]) == 2


def test_a_class_is_told_by_all_quasi_identifiers():
    own = {"x": ["a", "b", "a", "a"], "y": ["p", "p", "q", "q"]}
    shown = {"x": ["a:1|b:1"] * 2 + ["a:2"] * 2, "y": own["y"]}
    same = {"x": ["a:3|b:1"] * 4, "y": own["y"]}
    assert compared(shown, own, counts=["x"])[0] == {"x": 0, "y": 0}
    assert compared(same, own, counts=["x"])[0] == {"x": 4, "y": 0}
    assert compared(same, own, keys=["x"], counts=["x"])[0] == {"x": 0, "y": 0}


def test_where_there_are_no_pieces_no_count_is_wrong():
    with connect(threads=1) as connection:
        asked = Expected([], ["x", "y"], ["x"], 0, counts=["x"])
        assert CellComparison(connection, asked, escapes=False).added([]).wrong == {"x": 0, "y": 0}
