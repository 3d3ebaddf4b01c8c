"""Logarithms at the border, decided by many digits.

A fraction of 18 digits, the most that may be asked for, comes no nearer than some 36 digits to a number that it does
not equal. So what is equal in 90 is equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

_DIGITS = 120  # the 90 behind the point that are compared, and 30 for those before it and for rounding
_EQUAL = Decimal("1e-90")


def diverse(counts: Sequence[int], l: Fraction) -> bool:  # noqa: E741
    """Whether the entropy of some counts is at least log l: ``n^n >= l^n prod c^c``.

    Examples
    --------
    >>> diverse([5, 5], Fraction(2)), diverse([5, 4], Fraction(2))
    (True, False)
    """
    rows = sum(counts)
    with localcontext(prec=_DIGITS):
        spread = rows * Decimal(rows).ln() - sum(count * Decimal(count).ln() for count in counts)
        wanted = rows * (Decimal(l.numerator).ln() - Decimal(l.denominator).ln())
        return (spread - wanted).quantize(_EQUAL) >= 0


def growth_below_log(counts: Sequence[int]) -> bool:
    """Whether a share has grown by less than the negative logarithm of what it is in the table.

    ``counts``: rows of the value in the class, of the class, of the value in the table, of the table.

    Examples
    --------
    >>> growth_below_log([3, 4, 1, 2]), growth_below_log([4, 4, 1, 2])
    (True, False)
    """
    n, rows, all_n, all_rows = map(int, counts)
    growth = Fraction(n * all_rows, all_n * rows) - 1
    with localcontext(prec=_DIGITS):
        log = (Decimal(all_rows) / Decimal(all_n)).ln()
        return Decimal(growth.numerator) / Decimal(growth.denominator) <= log


def ratio_below(counts: Sequence[int], delta: Fraction) -> bool:
    """Whether the share in a class is less than 2^delta times that in the table, and the other way round.

    ``counts``: rows of the value in the class, of the class, of the value in the table, of the table.

    Examples
    --------
    >>> ratio_below([2, 4, 1, 4], Fraction(1)), ratio_below([2, 4, 1, 4], Fraction(2))
    (False, True)
    """
    n, rows, all_n, all_rows = map(int, counts)
    ratio = Fraction(n * all_rows, all_n * rows)
    with localcontext(prec=_DIGITS):
        log = abs((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln() / Decimal(2).ln())
        return (log - Decimal(delta.numerator) / Decimal(delta.denominator)).quantize(_EQUAL) < 0
