"""Numbers as the user wrote them, and decisions without rounding."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError

Flags = npt.NDArray[np.bool_]
Histograms = npt.NDArray[np.int64]
MARGIN = 1e-9  # rounding is far smaller: floats decide what is further from a limit, whole numbers the rest
MOST = 10**18  # of numerator and denominator, so that both fit 64 bits
_WRITTEN = re.compile(r"-?(\d+(\.\d*)?|\.\d+)([eE]-?\d{1,2})?|\d+/\d+")


def written(value: object, name: str, example: str) -> Fraction:
    """The number somebody wrote, exactly: 0.1 is one tenth, not the nearest binary fraction."""
    number = _number(value)
    if number is None:
        raise ParameterError(f"{name} must be a number. Give for instance {example}.")
    if max(abs(number.numerator), number.denominator) > MOST:
        raise ParameterError(f"{name} has too many digits: at most 18 are allowed. Give for instance {example}.")
    return number


def _number(value: object) -> Fraction | None:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, Fraction | int) and not isinstance(plain, bool):
        return Fraction(plain)
    try:
        if isinstance(plain, float) and math.isfinite(plain):
            return Fraction(repr(plain))
        if isinstance(plain, str) and len(plain) <= 40 and _WRITTEN.fullmatch(plain.strip()):
            return Fraction(plain.strip())
    except ZeroDivisionError:
        pass
    return None


def text(number: Fraction) -> str:
    """A number as a person writes it."""
    digits = 0
    while digits < 30 and (number * 10**digits).denominator > 1:
        digits += 1
    scaled = number * 10**digits
    if scaled.denominator > 1:
        return str(number)
    return f"{Decimal(f'{scaled.numerator}e-{digits}'):f}"


def rounded(number: float | Fraction, *, up: bool) -> str:
    """A reachable figure for a message, with four digits after the point, rounded to the safe side."""
    scaled = (math.ceil if up else math.floor)(Fraction(number) * 10_000)
    return text(Fraction(scaled, 10_000))


def at_most(scores: npt.NDArray[np.float64], limit: Fraction, exactly: Callable[[int], bool]) -> Flags:
    """Whether each score is at most the limit: by floats where that is clear, else asking for an exact decision."""
    bound = float(limit)
    holds: Flags = scores <= bound
    for i in np.flatnonzero(np.abs(scores - bound) <= MARGIN * (1 + abs(bound))).tolist():
        holds[i] = exactly(i)
    return holds


def shares(histograms: Histograms) -> npt.NDArray[np.float64]:
    """The shares of the values in each group; an empty group has none of any."""
    return np.asarray(histograms / np.maximum(histograms.sum(axis=1, keepdims=True), 1), np.float64)


def whole_numbers(histogram: Iterable[int]) -> list[int]:
    """Counts as numbers that never overflow."""
    return [int(count) for count in histogram]


def times(counts: npt.NDArray[np.int64], factor: int) -> npt.NDArray[Any]:
    """Counts times a whole number; where 64 bits are too few, in numbers that never overflow."""
    fits = int(counts.max(initial=0)) * factor <= np.iinfo(np.int64).max
    return np.asarray((counts if fits else counts.astype(object)) * factor)


def is_positive(terms: Callable[[Context], Sequence[Decimal]]) -> bool:
    """Whether a sum other than 0 is positive, by decimals of growing precision.

    ``terms`` are its terms, each right to the last digit or two of a context.
    """
    digits = 40
    while True:
        context = Context(prec=digits)
        listed = terms(context)
        total, size = (reduce(context.add, some) for some in (listed, [abs(term) for term in listed]))
        if abs(total) > (size * len(listed)).scaleb(3 - digits):
            return total > 0
        digits *= 2
