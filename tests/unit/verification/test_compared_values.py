"""One spelling for each value, and one order for all sets."""

from __future__ import annotations

from itertools import pairwise

import pytest

from incrowd.verification.compared_values import is_held, is_one_order, is_spelled
from incrowd.verification.opening import connect, text

WHOLE = ["0", "7", "-7", "10", "123456789012345678"], ["", "07", "+7", "7.", "7.0", " 7", "1e3", "-", "x", "00"]
REAL = (
    ["0.0", "7.0", "-7.25", "0.001", "1e300", "1.5e-7", "1e16", "inf", "-inf", "NaN"],
    [
        "7",
        "07.0",
        "7.",
        ".5",
        "7.10",
        "+7.0",
        "1.0e5x",
        "1e05",
        "Inf",
        "nan",
        "1.50e9",
        "1.0e16",
        "12.5e16",
        "0.5e-7",
        "7.00",
        "",
    ],
)
SPELLED = {
    **dict.fromkeys(["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UBIGINT", "UINTEGER"], WHOLE),
    **dict.fromkeys(["FLOAT", "DOUBLE"], REAL),
    "BOOLEAN": (["true", "false"], ["True", "t", "1", ""]),
    "DATE": (
        ["2020-02-29", "-0044-03-15", "10000-01-01", "2020-02-29T00:00:00.000000"],
        ["2020-2-29", "20-02-29", "2020-02-29 00:00:00", "2020-02-29T10:00:00.0", "29.02.2020"],
    ),
    "DECIMAL(9,0)": (["7", "-7"], ["7.", "7.0", "07"]),
    "DECIMAL(9,2)": (["7.00", "-0.50"], ["7", "7.0", "7.000", "07.00", ".50"]),
    "TIMESTAMP": (["2020-02-29 10:00:00", "x"], []),
    "VARCHAR": (["x", "07"], []),
}
HELD = {
    "BIGINT": (["0", "7", "-7", "+7"], ["07", "7.0", "1e3", "", "x"]),
    "DOUBLE": (
        [
            "7",
            "007.50",
            "12345678901234567",
            "0.12345678901234567",
            "-1234567890.1234567e-300",
            "inf",
            "-Infinity",
            "nan",
        ],
        ["123456789012345678", "0.123456789012345678", "1e999", "x", "123456789012345678e5"],
    ),
    "INTEGER": (["x"], []),
    "DATE": (["x"], []),
}


def holds(condition, cells):
    """Whether each cell fulfils a condition."""
    with connect(threads=1) as connection:
        listed = ", ".join(f"({place}, {text(cell)})" for place, cell in enumerate(cells))
        query = f"SELECT coalesce({condition}, false) FROM (VALUES {listed}) AS v(place, t) ORDER BY place"
        return [row[0] for row in connection.execute(query).fetchall()]


@pytest.mark.parametrize("kind", SPELLED)
def test_a_value_has_one_spelling(kind):
    right, other = SPELLED[kind]
    assert holds(is_spelled("t", kind), right + other) == [True] * len(right) + [False] * len(other)


@pytest.mark.parametrize("kind", HELD)
def test_a_number_holds_all_that_its_text_says(kind):
    right, other = HELD[kind]
    assert holds(is_held("t", kind), right + other) == [True] * len(right) + [False] * len(other)


@pytest.mark.parametrize(
    ("sets", "one"),
    [
        ([], True),
        (["a"], True),
        (["abc", "bcd", "ad", "cd"], True),
        (["ab", "ba"], False),
        (["ab", "bc", "ca"], False),
        (["aa"], False),
        (["aba"], False),
        (["abc", "acb"], False),
        (["ba", "cb", "ca"], True),
        (["ad", "bd", "cd", "ab", "ac"], True),
    ],
)
def test_one_order_fits_all_sets(sets, one):
    neighbours = [pair for letters in sets for pair in pairwise(letters)]
    assert is_one_order(neighbours) is one
    assert is_one_order(neighbours[::-1]) is one
