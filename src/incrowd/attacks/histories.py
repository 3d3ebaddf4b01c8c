"""Persons whom recipients can follow by pseudonyms: what their histories and their pseudonyms tell.

Number of rows: how often somebody comes is known to many. What: the attacker knows how many rows a person has, and what
does not change in its released quasi-identifiers, and looks for the pseudonyms with as many rows. Paper: none known to
us; Google's Sensitive Data Protection counts rows of an entity as part of what is known. Measured: the share of persons
whom fewer than k fit. Control: numbers permuted among persons, reckoned exactly: the attacker then finds somebody only
where the number is the right one by chance. Leak: anybody below k beyond the control.

One more row: whoever knows more rows than was reckoned with. What: k was promised for attackers who know at most m rows
of a person, and this one knows m + 1. Paper: Terrovitis, Mamoulis, Kalnis: Privacy-preserving Anonymization of
Set-valued Data, PVLDB 2008, of items instead of rows. Measured: the share of persons of whom m + 1 rows are had by
fewer than k persons, which is outside the promise and no leak. Control: m rows. Leak: anybody by m rows, for that was
promised.

Pseudonym order: pseudonyms that follow the order of keys, or of the table. What: the attacker sorts the pseudonyms.
Paper: a leak of tools, see row order. Measured: the largest rank correlation of the pseudonyms with the keys and with
the places of the persons' first rows. Control: random pseudonyms. Leak: 3 / sqrt(N) or more for N persons.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.measuring import correlation_interval, rank_correlation, share_interval
from incrowd.attacks.scene import Scene
from incrowd.drawing.wording import counted
from incrowd.errors import CannotRunError
from incrowd.vocabulary.released_cell import Bools, Ints

DRAWS = 50
MOST_SETS = 2_000_000  # of known rows: counting them takes some seconds
History = tuple[int, ...]


def number_of_rows(scene: Scene) -> Finding:
    """Counts the rows of each pseudonym."""
    followed, k = scene.followed, scene.known_k
    numbers = np.bincount(followed)
    shown = scene.released.boxes.shown[scene.released.classes]
    first = np.zeros(len(numbers), np.intp)
    first[followed] = np.arange(len(followed))
    static = [column[first] for column in shown.T if (column == column[first][followed]).all()]
    few = _company(np.stack([*static, numbers], axis=1)) < k
    count, persons = int(few.sum()), len(numbers)
    control = float((np.bincount(numbers)[numbers[few]] / persons).sum()) / persons
    beside = f" and {counted(len(static), 'quasi-identifier')} that {'does' if len(static) == 1 else 'do'} not change"
    return Finding(
        LEAK if count / persons > control else NO_LEAK,
        f"By the number of rows{beside if static else ''}, {count:,} of {counted(persons, 'person')} "
        f"{'is' if count == 1 else 'are'} among fewer than {k} who look alike.",
        measured=count / persons,
        control=control,
        interval=share_interval(count, persons),
        goal=0.0,
        unit="share of persons",
        details={"different numbers of rows": float(len(np.unique(numbers)))},
    )


def _company(known: Ints) -> Ints:
    """How many persons share what is known of each."""
    _, numbers, counts = np.unique(known, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[numbers.ravel()], np.int64)


def one_more_row(scene: Scene) -> Finding:
    """Knows one row more than was reckoned with."""
    followed, k = scene.followed, scene.known_k
    rows = None if scene.persons is None else scene.persons.known_rows
    if rows is None:
        raise CannotRunError("It is about releases for attackers who know at most so many rows of a person.")
    order = np.lexsort((scene.released.classes, followed))
    parts = np.split(scene.released.classes[order], np.flatnonzero(np.diff(followed[order])) + 1)
    histories = [tuple(part.tolist()) for part in parts]
    counting = scene.persons is not None and scene.persons.count_known
    promised, more = (few_share(histories, number, k, counting=counting) for number in (rows, rows + 1))
    broken, count, persons = int(promised.sum()), int(more.sum()), len(histories)
    return Finding(
        LEAK if broken else NO_LEAK,
        f"By {counted(rows, 'known row')}, as promised, {broken:,} of {counted(persons, 'person')} "
        f"{'is' if broken == 1 else 'are'} among fewer than {k}; by one more row, which is outside the promise, "
        f"{count:,}.",
        measured=count / persons,
        control=broken / persons,
        interval=share_interval(count, persons),
        unit="share of persons",
    )


def few_share(histories: list[History], rows: int, k: int, *, counting: bool = False) -> Bools:
    """For each person, whether there are so many of its rows, or all, that fewer than k persons have.

    With ``counting``, the attacker also knows how many rows there are.

    Examples
    --------
    >>> few_share([(1, 1, 2), (1, 2), (1, 2, 2)], 2, 2).tolist()
    [True, False, True]
    """
    distinct = Counter(histories)
    sizes = {min(rows, len(one)) for one in distinct}
    if sum(math.comb(len(one), size) for one in distinct for size in sizes) > MOST_SETS:
        raise CannotRunError(f"{counted(rows, 'known row')} of so many can be chosen in too many ways to be counted.")
    support: Counter[tuple[int, History]] = Counter()
    for history, persons in distinct.items():
        number = len(history) if counting else 0
        for size in sizes:
            for known in set(combinations(history, size)):
                support[number, known] += persons

    def is_few(history: History) -> bool:
        number = len(history) if counting else 0
        return any(support[number, known] < k for known in set(combinations(history, min(rows, len(history)))))

    few = {history: is_few(history) for history in distinct}
    return np.array([few[history] for history in histories], bool)


def pseudonym_order(scene: Scene) -> Finding:
    """Sorts the pseudonyms."""
    followed, owners = scene.followed, scene.whose
    if scene.origin is None or scene.persons is None:
        raise CannotRunError(
            "Which pseudonym is whose is known while a release is made, and never after: run it with the release."
        )
    count = int(followed.max(initial=-1)) + 1
    person = np.zeros(count, np.intp)
    person[followed] = owners[scene.origin]
    first = np.full(int(owners.max()) + 1, len(owners), np.int64)
    np.minimum.at(first, owners, np.arange(len(owners)))
    keys = scene.frame[scene.persons.column][first[person].tolist()]
    numbers = keys.cast(pl.Float64, strict=False)
    orders = {"the keys": keys.cast(pl.String).rank().to_numpy(), "the table": first[person]}
    if not numbers.null_count():
        orders["the keys as numbers"] = numbers.to_numpy()
    places = np.arange(count)
    rhos = {name: abs(rank_correlation(places, order)) for name, order in orders.items()}
    worst = max(rhos, key=lambda name: rhos[name])
    generator = scene.generator("pseudonym order")
    dealt = [abs(rank_correlation(generator.permutation(count), orders[worst])) for _ in range(DRAWS)]
    limit = 3 / math.sqrt(max(count, 1))
    return Finding(
        LEAK if rhos[worst] >= limit else NO_LEAK,
        f"The pseudonyms of {counted(count, 'person')} correlate most with the order of {worst}.",
        measured=rhos[worst],
        control=float(np.mean(dealt)),
        interval=correlation_interval(rhos[worst], count),
        goal=limit,
        unit="Spearman's rho",
        details={f"with the order of {name}": rho for name, rho in rhos.items()},
    )
