"""One spelling for each value of a column that is released unchanged: a second one could tell something.

Numbers, dates and truth values that come from a typed file are written to text in one way; text that becomes numbers
must be all there is in the number.

Nor may the order of values in a set tell the order of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from incrowd.verification.opening import text

_WHOLE = r"-?(0|[1-9][0-9]*)"
_REAL = r"NaN|-?(inf|(0|[1-9][0-9]*)\.(0|[0-9]*[1-9])|[1-9](\.[0-9]*[1-9])?e[+-]?[1-9][0-9]*)"
_SHAPES = {
    "FLOAT": _REAL,
    "DOUBLE": _REAL,
    "BOOLEAN": "true|false",
    "DATE": r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}(T00:00:00\.0+)?",
}
_DIGITS = 17  # a 64-bit number is told apart from all others by so many


def is_spelled(cell: str, kind: str) -> str:
    """SQL: whether a cell of text writes a value of the type in the one way that values of it are written.

    Examples
    --------
    >>> is_spelled("t", "BOOLEAN")
    "regexp_full_match(t, 'true|false')"
    """
    shape = _WHOLE if kind.endswith(("INT", "INTEGER")) else _SHAPES.get(kind)
    if decimal := re.fullmatch(r"DECIMAL\([0-9]+,([0-9]+)\)", kind):
        places = int(decimal[1])
        shape = _WHOLE + (rf"\.[0-9]{{{places}}}" if places else "")
    return "true" if shape is None else f"regexp_full_match({cell}, {text(shape)})"


def is_held(cell: str, kind: str) -> str:
    """SQL: whether a number of the type holds all that a cell of text says."""
    if kind == "BIGINT":
        return f"regexp_full_match({cell}, '[+-]?(0|[1-9][0-9]*)')"
    if kind != "DOUBLE":
        return "true"
    digits = rf"ltrim(regexp_replace(regexp_replace({cell}, '[eE].*$', ''), '[^0-9]', '', 'g'), '0')"
    finite = f"(isfinite(TRY_CAST({cell} AS DOUBLE)) OR regexp_matches({cell}, '^[+-]?[iInN]'))"
    return f"({finite} AND (length({cell}) <= {_DIGITS} OR length({digits}) <= {_DIGITS}))"


def is_one_order(neighbours: Iterable[tuple[str, str]]) -> bool:
    """Whether one order of all values fits: in no set does a value come first that comes later in another, or again.

    ``neighbours`` are values that stand beside each other in some set, the first one first.

    Examples
    --------
    >>> is_one_order([("baker", "cook"), ("cook", "nurse")]), is_one_order([("baker", "cook"), ("cook", "baker")])
    (True, False)
    """
    earlier: dict[str, set[str]] = {}
    for before, after in neighbours:
        earlier.setdefault(after, set()).add(before)
    try:
        TopologicalSorter(earlier).prepare()
    except CycleError:
        return False
    return True
