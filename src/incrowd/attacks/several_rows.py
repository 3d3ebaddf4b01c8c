"""Persons with several rows, where recipients cannot tell which rows are of one person: three ways to try.

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
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.measuring import Floats, Interval, ratio_of_sums_interval, share_interval
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
