"""Persons with several rows, whether recipients can follow them or not.

Persons with several rows, where recipients cannot tell which rows are of one person: three ways to try.

Link by static columns: what does not change in a person's rows ties them together. What: the attacker takes two
released rows for one person's if they are equal in all columns that are released unchanged and do not change within
persons. Paper: none known to us; Wang, Fung: Anonymizing Sequential Releases, KDD 2006, join tables so. Measured: how
often the other row is of the same person, if the attacker draws a row and then one of those equal to it. Control:
persons permuted within the classes. Leak: the lower end of the interval, persons being drawn anew, is above the control
and above 1/k.

Intersection: a value that does not change is in the class of every row of a person. What: the attacker knows several
rows of a person, finds the class of each, and keeps the sensitive values that occur in all of them. Paper: Ganta,
Kasiviswanathan, Smith: Composition Attacks and Auxiliary Information in Data Privacy, KDD 2008, of several releases.
Measured: the share of persons with several rows who are left with one value, the true one, and by no class alone, of
the worst sensitive column that does not change within persons. Control: rows of different persons. Leak: anybody, for
what is read there is certain. k, in classes, does not promise that nobody is.

Heavy person: who has most rows of a class gives the class its commonest value. What: the attacker knows that somebody
has more rows of a class than anybody else, and takes the value that most rows of the class have for the person's.
Measured: the share of classes with such a person in which it is the person's most frequent value there. Control: a
random person of the class, reckoned exactly. Leak: the lower end of the interval is above the control. What is promised
of classes counts persons, so numbers of rows are not hidden by it.

Persons whom recipients can follow by pseudonyms: what their histories and their pseudonyms tell.

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
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from incrowd.attacks.attack import (
    LEAK,
    NO_LEAK,
    Finding,
    Floats,
    Interval,
    correlation_interval,
    rank_correlation,
    ratio_of_sums_interval,
    share_interval,
)
from incrowd.attacks.scene import Scene
from incrowd.drawing.wording import counted, listed
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import histogram
from incrowd.vocabulary.released_cell import Bools, Ints

DRAWS = 50  # of controls: their mean is sure to a seventh of their spread


def static_columns(scene: Scene, names: Sequence[str]) -> list[str]:
    """The columns in which no person has two values."""
    owners = scene.whose
    first = np.zeros(int(owners.max(initial=-1)) + 1, np.intp)
    first[owners] = np.arange(len(owners))
    codes = {name: scene.table[name].codes for name in names}
    return [name for name in names if (codes[name] == codes[name][first][owners]).all()]


def link_by_static(scene: Scene) -> Finding:
    """Pairs rows that are equal in unchanged columns that do not change within persons."""
    scene.refuse_linked("so nothing needs to be paired")
    traced, owners = scene.traced, scene.whose
    released = traced.released
    names = static_columns(scene, [name for name in scene.schema.untouched if name in released.values])
    if not names:
        raise CannotRunError("Every column that is released unchanged changes within persons.")
    persons = owners[traced.origin]
    groups = np.unique(np.stack([released.values[name] for name in names], axis=1), axis=0, return_inverse=True)[1]
    paired = np.bincount(groups.ravel())[groups.ravel()] > 1
    if not paired.any():
        raise CannotRunError("No two released rows are equal in the columns that do not change within persons.")
    groups, persons, classes = groups.ravel()[paired], persons[paired], released.classes[paired]
    generator = scene.generator("link by static columns")
    chances = _same_person(groups, persons)
    dealt = [_same_person(groups, _within(classes, persons, generator)).mean() for _ in range(DRAWS)]
    measured, control, interval = float(chances.mean()), float(np.mean(dealt)), _by_person(chances, persons, generator)
    goal = 1 / (scene.promised.k or 1)
    return Finding(
        LEAK if interval[0] > max(control, goal) else NO_LEAK,
        f"Of rows that are equal in {listed(names)}, {100 * measured:.1f} % are of one person; "
        f"{counted(int(paired.sum()), 'row')} can be paired.",
        measured=measured,
        control=control,
        interval=interval,
        goal=goal,
        unit="share of pairs",
    )


def _same_person(groups: Ints, persons: Ints) -> Floats:
    """For each row, how likely another one of its group, drawn at random, is of the same person."""
    cells = np.unique(groups * (int(persons.max()) + 1) + persons, return_inverse=True)[1]
    own, all_rows = np.bincount(cells)[cells], np.bincount(groups)[groups]
    return np.asarray((own - 1) / (all_rows - 1))


def _within(classes: Ints, persons: Ints, generator: np.random.Generator) -> Ints:
    """The persons, permuted within the classes."""
    dealt = np.empty_like(persons)
    dealt[np.argsort(classes, kind="stable")] = persons[np.lexsort((generator.random(len(classes)), classes))]
    return dealt


def _by_person(chances: Floats, persons: Ints, generator: np.random.Generator) -> Interval:
    """The interval of a mean over rows, if persons are drawn anew."""
    names = np.unique(persons, return_inverse=True)[1]
    sums = np.bincount(names, chances).astype(np.float64), np.bincount(names).astype(np.float64)
    return ratio_of_sums_interval(*sums, generator)


def intersection(scene: Scene) -> Finding:
    """Keeps the values that occur in the classes of all rows of a person."""
    scene.refuse_linked("so classes of single rows are not what it knows")
    owners = scene.whose
    names = static_columns(scene, scene.secrets)
    if not names:
        raise CannotRunError("Every sensitive column changes within persons, so no value must be in all their classes.")
    rows = np.arange(len(owners)) if scene.origin is None else np.unique(scene.origin)
    several = np.bincount(owners[rows], minlength=int(owners.max()) + 1) > 1
    rows = rows[several[owners[rows]]]
    if not len(rows):
        raise CannotRunError("Nobody has several rows in the release.")
    generator = scene.generator("intersection")
    homes = scene.homes
    newly = {name: _newly(scene, name, rows, homes[rows]) for name in names}
    worst = max(names, key=lambda name: int(newly[name].sum()))
    control = float(np.mean([_newly(scene, worst, rows, generator.permutation(homes[rows])).mean() for _ in range(10)]))
    count, people = int(newly[worst].sum()), len(newly[worst])
    return Finding(
        LEAK if count else NO_LEAK,
        f"{count:,} of {counted(people, 'person')} with several rows {'is' if count == 1 else 'are'} left with one "
        f"value of {worst!r} by the classes of all their rows and by none alone.",
        measured=count / people,
        control=control,
        interval=share_interval(count, people),
        goal=0.0,
        unit="share of persons with several rows",
        details={f"persons for {name}": float(one.sum()) for name, one in newly.items()},
    )


def _newly(scene: Scene, column: str, rows: Ints, homes: Ints) -> Bools:
    """For each person, whether all the classes of its rows leave the true value alone, and none of them by itself."""
    order = np.argsort(scene.whose[rows], kind="stable")
    starts = np.flatnonzero(np.diff(scene.whose[rows][order], prepend=-1))
    allowed = (scene.released.histogram(column) > 0)[homes[order]]
    together = np.logical_and.reduceat(allowed, starts)
    alone = np.logical_or.reduceat(allowed.sum(axis=1) == 1, starts)
    truth = scene.table[column].codes[rows][order][starts]
    true = together[np.arange(len(starts)), truth]
    return np.asarray((together.sum(axis=1) == 1) & true & ~alone)


def heavy_person(scene: Scene) -> Finding:
    """Takes the commonest value of a class for that of the person with most of its rows."""
    scene.refuse_linked("so the rows of a person are read by its pseudonym")
    traced, owners = scene.traced, scene.whose
    secrets = [name for name in scene.secrets if name in traced.released.values]
    guesses = {
        name: _heaviest(traced.released.classes, owners[traced.origin], traced.released.values[name])
        for name in secrets
    }
    known = {name: both for name, both in guesses.items() if len(both[0])}
    if not known:
        raise CannotRunError("In no class of two persons or more has one person more rows than anybody else.")
    worst = max(known, key=lambda name: float((known[name][0] - known[name][1]).mean()))
    right, random = known[worst]
    interval, control = share_interval(float(right.sum()), len(right)), float(random.mean())
    return Finding(
        LEAK if interval[0] > control else NO_LEAK,
        f"In {int(right.sum()):,} of the {len(right):,} classes in which one person has most rows, the value of "
        f"{worst!r} that most rows have is the one that this person has most often.",
        measured=float(right.mean()),
        control=control,
        interval=interval,
        goal=control,
        unit="share of classes",
        details={f"share for {name}": float(both[0].mean()) for name, both in known.items()},
    )


def _heaviest(classes: Ints, persons: Ints, values: Ints) -> tuple[Floats, Floats]:
    """For each class in which one person has most rows, whether its commonest value is that person's, and how often."""
    width, height = int(values.max()) + 1, int(classes.max()) + 1
    commonest = histogram(classes, values, height, width).argmax(axis=1)
    seats, of_row = np.unique(classes * (int(persons.max()) + 1) + persons, return_inverse=True)
    homes, rows = seats // (int(persons.max()) + 1), np.bincount(of_row)
    own = histogram(of_row, values, len(seats), width)
    right = own[np.arange(len(seats)), commonest[homes]] == own.max(axis=1)
    most = np.zeros(height, np.int64)
    np.maximum.at(most, homes, rows)
    heaviest = rows == most[homes]
    alone = (np.bincount(homes[heaviest], minlength=height) == 1) & (np.bincount(homes, minlength=height) > 1)
    by_chance = np.bincount(homes, right, height) / np.maximum(np.bincount(homes, minlength=height), 1)
    counted = heaviest & alone[homes]
    return right[counted].astype(np.float64), by_chance[homes[counted]]


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
