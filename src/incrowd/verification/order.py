"""Whether the order of a release tells anything: of the input's order, or of what was hidden.

Every order of the rows must be equally likely. So whatever the rows are numbered by (their places in the input, an
identifier, a hidden value) must be uncorrelated with their places in the release, and neighbours in the one must not be
neighbours in the other. Under a fair shuffle each test fails less than once in a hundred million releases.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, MutableSequence
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.verification.verdict import Check

Numbers = npt.NDArray[np.float64]

_SIGMAS = 6.0  # a normal deviate beyond it has probability 2e-9
_FEWEST = 12  # of so few rows only a perfect order is improbable: two orders of 12! = 479,001,600
_PERFECT = 1 - 1e-9  # what rounding may leave of a correlation of 1
_NEIGHBOURS = 24  # of a fair shuffle two are expected; so many have probability 1e-18
_WINDOW = 4096  # rows that are looked at where values must be ranked: a sorted table is sorted in every part
_SEEDS = (0, 1, 2, 3, 7, 42, 123, 1234, 12345)  # those that people leave in programs
_GENERATORS = (np.random.default_rng, np.random.RandomState, random.Random)


def row_order_check(origin: npt.NDArray[np.int64], *, seeded: bool = False) -> Check:
    """The check that released rows are in no order of the input; ``origin`` is the input row of each.

    Unless the user gave a seed, they must not be in an order that one of the usual seeds gives either.

    Examples
    --------
    >>> row_order_check(np.arange(100)).passed
    False
    """
    steps = int(np.count_nonzero(np.abs(np.diff(origin)) == 1))
    fault = ""
    if is_ordered(origin.astype(np.float64)):
        fault = "rows follow the order of the input"
    elif steps > _NEIGHBOURS and len(origin) > 3 * _NEIGHBOURS:
        fault = f"{steps:,} rows stand beside a neighbour of the input"
    elif not seeded and _is_of_a_usual_seed(origin):
        fault = "rows are in an order that a usual seed gives"
    return Check("order", not fault, fault or _sentence(len(origin)))


def hidden_order_check(columns: Iterable[tuple[str, Any]]) -> Check:
    """The check that rows are not sorted by what the release does not show.

    ``columns`` gives names and, in the order of the release, the values of as many rows as are worth looking at.
    """
    sorted_by = [name for name, values in columns if is_ordered(ranks(values))]
    finding = f"rows are sorted by {', '.join(sorted_by)}" if sorted_by else "hidden columns do not order the rows"
    return Check("hidden order", not sorted_by, finding)


def class_order_check(columns: Iterable[tuple[str, Any]], classes: npt.NDArray[np.int64]) -> Check:
    """The check that rows which look alike are not sorted by what the release does not show.

    ``columns`` gives names and the values of some rows in the order of the release, ``classes`` the class of each row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ages, classes = pa.array([20, 60] * 50), np.repeat(np.arange(50), 2)
    >>> class_order_check([("age", ages)], classes).passed
    False
    """
    sorted_by = [name for name, values in columns if _is_ordered_within(ranks(values), classes)]
    finding = (
        f"rows of a class are sorted by {', '.join(sorted_by)}" if sorted_by else "rows of a class are in no order"
    )
    return Check("order in classes", not sorted_by, finding)


def _is_ordered_within(numbers: Numbers, classes: npt.NDArray[np.int64]) -> bool:
    """Whether numbers rise or fall with their places inside of classes, beyond chance.

    In a class of m rows that are shuffled fairly, the covariance of numbers and places varies as the product of their
    variances over m - 1; classes are shuffled independently.
    """
    rows = np.maximum(np.bincount(classes), 1)

    def apart(values: Numbers) -> Numbers:
        return values - (np.bincount(classes, values) / rows)[classes]

    places, values = apart(np.arange(len(numbers), dtype=np.float64)), apart(numbers)
    spread = np.bincount(classes, places**2) * np.bincount(classes, values**2)
    chance = float(np.sum(spread / np.maximum(rows - 1, 1)))
    return bool(abs(np.sum(places * values)) > _SIGMAS * np.sqrt(chance))


def group_numbers_check(numbers: npt.NDArray[np.int64], origin: npt.NDArray[np.int64]) -> Check:
    """The check that groups are not numbered as their rows come, in the input or in the release."""
    ordered = [_numbered_by(numbers, places) for places in (origin, np.arange(len(origin)))]
    finding = "groups are numbered as their rows come" if any(ordered) else "in no order of rows"
    return Check("group numbers", not any(ordered), finding)


def _numbered_by(numbers: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> bool:
    """Whether the groups of rows are numbered by their first row, or by the middle of them."""
    groups, places = np.unique(numbers, return_inverse=True)
    middles = np.bincount(places, weights=rows) / np.bincount(places)
    firsts = np.full(len(groups), np.inf)
    np.minimum.at(firsts, places, rows)
    return is_ordered(middles) or is_ordered(np.argsort(np.argsort(firsts)).astype(np.float64))


def window(rows: int) -> slice:
    """The released rows that are ranked: neighbours from the middle.

    Examples
    --------
    >>> window(10), window(10_000)
    (slice(0, 4096, None), slice(2952, 7048, None))
    """
    start = max(0, (rows - _WINDOW) // 2)
    return slice(start, start + _WINDOW)


def is_ordered(numbers: Numbers) -> bool:
    """Whether numbers rise or fall with their places, or resemble their neighbours, beyond chance."""
    size = len(numbers)
    if size < _FEWEST:
        return False
    follows = abs(_correlation(np.arange(size, dtype=np.float64), numbers))
    beside = abs(_correlation(numbers[1:], numbers[:-1]))
    return follows > _PERFECT or any(each * np.sqrt(size - 2) > _SIGMAS for each in (follows, beside))


def ranks(values: Any) -> Numbers:
    """The places of values in their own order, equal ones sharing one; missing ones come last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(values.type):
        return np.zeros(len(values))
    decoded = values.cast(values.type.value_type) if hasattr(values.type, "value_type") else values
    ranked = pc.rank(decoded, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranked, np.float64)


def _correlation(left: Numbers, right: Numbers) -> float:
    if np.ptp(left) == 0 or np.ptp(right) == 0:
        return 0.0
    return float(np.corrcoef([left, right])[0, 1])


def _is_of_a_usual_seed(origin: npt.NDArray[np.int64]) -> bool:
    """Whether one of the generators that programs use gives this order from one of the seeds that people use."""
    if len(origin) < _FEWEST:
        return False
    there = np.zeros(int(origin.max()) + 1, np.int64)
    there[origin] = 1
    places = (np.cumsum(there) - 1)[origin]
    first = places[places < _WINDOW]
    return any(
        (_is_sorted_by_draws(seed, first) and _is_sorted_by_draws(seed, places))
        or any(_is_shuffled(generator(seed), places) for generator in _GENERATORS)
        for seed in _SEEDS
    )


def _is_sorted_by_draws(seed: int, places: npt.NDArray[np.int64]) -> bool:
    """Whether rows are in the order of numbers that were drawn for them; those with the first draws rule most out."""
    draws = np.random.Philox(seed).random_raw(len(places))[places]
    return bool((draws[:-1] <= draws[1:]).all())


def _is_shuffled(generator: Any, places: npt.NDArray[np.int64]) -> bool:
    """Whether a generator's own shuffle gives this order, as do the permutations that NumPy's generators draw."""
    try:
        generator.shuffle(_Shuffled(places))
    except _OtherOrderError:
        return False
    return True


class _OtherOrderError(Exception):
    """A shuffle does not give the order that it is held against."""


class _Shuffled(MutableSequence[int]):
    """Rows in their order, which break off the shuffle that puts another row in a place than stands there.

    A shuffle swaps the last place with any, then the one before it: the first half of a swap settles a place for good,
    so most seeds are ruled out at once.
    """

    def __init__(self, places: npt.NDArray[np.int64]) -> None:
        self._places = places
        self._moved: dict[int, int] = {}
        self._halves = 0

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, place: Any) -> Any:
        return self._moved.get(place, place)

    def __setitem__(self, place: Any, row: Any) -> None:
        self._halves += 1
        if self._halves % 2 and row != self._places[place]:
            raise _OtherOrderError
        self._moved[place] = row

    def __delitem__(self, place: Any) -> None:
        raise NotImplementedError

    def insert(self, index: int, value: int) -> None:
        raise NotImplementedError


def _sentence(rows: int) -> str:
    return "as chance would have it" if rows >= _FEWEST else "too few rows to tell"
