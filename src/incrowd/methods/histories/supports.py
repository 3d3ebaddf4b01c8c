"""How many persons have these rows: the least support of any few rows that somebody has.

k^m-anonymity: Terrovitis, Mamoulis, Kalnis, "Privacy-preserving Anonymization of Set-valued Data" (PVLDB 2008); here a
history is a multiset of tuples. Support falls as more rows are known, so the largest sets that exist decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from incrowd.drawing.wording import counted
from incrowd.errors import RequirementError, named_option

Ints = npt.NDArray[np.int64]
MOST = 50_000_000
"""Sets of rows that are counted at most: more would take minutes for each of hundreds of refinements."""


def work(lengths: Ints, most: int) -> int:
    """How many sets of rows there are to count, if all rows of a person differ.

    Examples
    --------
    >>> work(np.array([3, 2, 1]), 2)
    10
    """
    sizes = {min(most, length) for length in np.unique(lengths).tolist()}
    persons = dict(zip(*np.unique(lengths, return_counts=True), strict=True))
    return sum(int(many) * comb(int(length), size) for size in sizes for length, many in persons.items())


def check_work(lengths: Ints, most: int, bound: int = MOST) -> None:
    """Refuse more than can be counted, and say how many rows per person could be."""
    sets = work(lengths, most)
    if sets <= bound:
        return
    longest = int(lengths.max())
    fits, beyond = 0, longest
    while fits + 1 < beyond:
        middle = (fits + beyond) // 2
        fits, beyond = (middle, beyond) if work(np.minimum(lengths, middle), most) <= bound else (fits, middle)
    raise RequirementError(
        f"Somebody has {longest:,} rows, and {named_option(known_rows=most)} would take {sets:,} sets of rows to "
        f"count; at most {bound:,} are counted. Keep at most {counted(fits, 'row')} of each person, or let fewer rows "
        "be known."
    )


def smallest_support(tuples: Ints, owners: Ints, persons: int, most: int, static: Ints | None = None) -> int:
    """The fewest persons whose histories contain the same rows, at most so many; each person counts once.

    ``tuples``: what each row shows, as a number. ``static``: what is shown of each person beside its rows, which is
    known with them; persons without rows then count, too. Without persons nobody is found: the answer is 0.

    Examples
    --------
    >>> owners = np.array([0, 0, 1, 1, 2, 2])  # rows x and y, y and z, x and z
    >>> tuples = np.array([0, 1, 1, 2, 0, 2])
    >>> smallest_support(tuples, owners, 3, 1), smallest_support(tuples, owners, 3, 2)
    (2, 1)
    """
    histories = _distinct_histories(tuples, owners, persons, static)
    if not histories:
        return 0
    sizes = {min(most, rows.shape[1] - 1) for rows, _ in histories}
    width = 1 + max((int(rows.max()) for rows, _ in histories), default=0)
    return min(_least(histories, size, width) for size in sizes)


def _distinct_histories(tuples: Ints, owners: Ints, persons: int, static: Ints | None) -> list[tuple[Ints, Ints]]:
    """Different histories of each length, and how many persons have each; the first column is what is static."""
    order = np.lexsort((tuples, owners))
    lengths = np.bincount(owners, minlength=persons)
    begin = np.cumsum(np.append(0, lengths))
    histories = []
    for length in np.unique(lengths if static is not None else lengths[lengths > 0]).tolist():
        people = np.flatnonzero(lengths == length)
        rows = tuples[order[begin[people][:, None] + np.arange(length)]]
        beside = np.zeros(len(people), np.int64) if static is None else static[people]
        histories.append(np.unique(np.column_stack([beside, rows]), axis=0, return_counts=True))
    return histories


def _least(histories: list[tuple[Ints, Ints]], size: int, width: int) -> int:
    """The least support of sets of one size."""
    keys, persons = zip(*_sets(histories, size, width), strict=True)
    sets, places = np.unique(np.concatenate(keys), return_inverse=True)
    del sets
    return int(np.bincount(places, np.concatenate(persons)).min())


def _sets(histories: list[tuple[Ints, Ints]], size: int, width: int) -> Iterator[tuple[Ints, Ints]]:
    """Each set of rows of each history once, as a number, with the persons who have that history."""
    exact = width ** (size + 1) < 1 << 62
    numbers: dict[bytes, int] = {}
    for rows, persons in histories:
        if rows.shape[1] <= size:
            continue
        rest = rows.shape[1] - 1
        chosen = np.array(list(combinations(range(1, rest + 1), size)), np.int64).reshape(comb(rest, size), size)
        sets = np.concatenate(
            [np.repeat(rows[:, None, :1], len(chosen), axis=1), rows[:, chosen]], axis=2
        )  # histories x sets x (static, rows)
        if exact:
            keys = sets @ (width ** np.arange(size, -1, -1, dtype=np.int64))
        else:
            plain = np.ascontiguousarray(sets).reshape(-1, size + 1)
            keys = np.array([numbers.setdefault(one.tobytes(), len(numbers)) for one in plain], np.int64)
            keys = keys.reshape(sets.shape[:2])
        keys = np.sort(keys, axis=1)
        first = np.ones(keys.shape, bool)
        first[:, 1:] = keys[:, 1:] != keys[:, :-1]
        yield keys[first], np.repeat(persons, first.sum(axis=1))
