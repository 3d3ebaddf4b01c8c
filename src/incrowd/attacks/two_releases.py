"""Two releases that speak of the same people, put side by side.

Composition: two releases of overlapping people, each fine by itself, leave one value that both allow.

What: the attacker knows that somebody is in both tables, finds the person's class in each release, and keeps the
sensitive values that occur in both. Paper: Ganta, Kasiviswanathan, Smith: Composition Attacks and Auxiliary Information
in Data Privacy, KDD 2008. Measured: the share of shared people left with one value, of the worst sensitive column. The
lab releases the first and the last two thirds of the original, in random order, under the same recipe; the third
between them is shared. Control: the share left with one value by one of the two releases alone. Leak: somebody is left
with one value by both releases and by neither alone, for what is read there is certain.

Sequential releases: the same people are released again, and two crowds cross in fewer than k. What: the attacker
knows a person's quasi-identifiers, finds the class in the earlier and in the later release, and looks for people who
are in both classes. Paper: Wang, Fung: Anonymizing Sequential Releases, KDD 2006; Xiao, Tao: m-Invariance, SIGMOD
2007. Measured: the share of people in crossings of fewer than k people. Earlier releases that are given are crossed
with this one; else the lab releases nine tenths of the original and then all of it, under the same recipe. Control:
the share in classes of fewer than k by one release alone. Leak: anybody in a crossing below k that is not below k by
one release alone.

Differencing: two releases of the same table, one without a person, differ by that person.

What: the attacker has the release of a table, and another made the same way after somebody left. Of every
quasi-identifier he adds up over all rows what the cells say: counts as they are, of other cells each covered value an
equal part; bins that the two releases cut differently he joins until they agree. The value of which most is gone he
takes for the person's. Paper: the tracker of Denning, Denning, Schwartz, TODS 1979; Dwork: Differential Privacy, ICALP
2006, whose definition is about just this pair of tables. Measured: the share of persons whose whole record is read off:
the value of each quasi-identifier that both releases show anything of, or its bin, where counts tell bins. Both are
made with the same chance, as by the key of a ledger; a person who has several rows leaves with all of them. Control:
how often what is read off is true of one of the other persons who left. Leak: the lower end of the interval is above
the control. Columns that are released unchanged, the class among them, differ by the person's own values in every
release, and are not counted.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding, share_interval
from incrowd.attacks.scene import SMALLEST, Rows, Scene
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Released, read_released
from incrowd.vocabulary.released_cell import Bools, Floats, Ints


def composition(scene: Scene) -> Finding:
    """Keeps the values that two releases both allow."""
    order = scene.dealt("composition")
    third = len(order) // 3
    if third < SMALLEST:
        raise CannotRunError(f"A third of the original is fewer than {SMALLEST} rows: too few to share.")
    first, second = scene.cut(order, third), scene.cut(order, 2 * third)
    shared = order[first:second]
    parts = (order[:second], order[first:])
    both = []
    for number, rows in enumerate(parts):
        release = scene.made(rows, f"part {number}")
        released = scene.read(release)
        both.append((released, classes_of(shared, rows[release.draft.origin], released.classes)))
    kept = np.logical_and.reduce([classes >= 0 for _, classes in both])
    if kept.sum() < SMALLEST:
        raise CannotRunError("Too few people are in both releases.")
    pinned = {column: _pinned(both, column, kept) for column in scene.secrets}
    worst = max(pinned, key=lambda column: int((pinned[column][0] & ~pinned[column][1]).sum()))
    after, before = pinned[worst]
    fresh, rows_shared = int((after & ~before).sum()), len(after)
    return Finding(
        LEAK if fresh else NO_LEAK,
        f"Of {rows_shared:,} {scene.units} in two releases made for this attack, {fresh:,} are left with one value of "
        f"{worst!r} by both together and by neither alone.",
        measured=float(after.mean()),
        control=float(before.mean()),
        interval=share_interval(int(after.sum()), rows_shared),
        goal=float(before.mean()),
        unit="share of shared people",
        details={"by both and by neither alone": fresh / rows_shared, "shared people": float(rows_shared)},
    )


def classes_of(rows: Ints, released: Ints, classes: Ints) -> Ints:
    """The class of each of the given rows, from the rows that were released and their classes; -1 if left out."""
    homes = np.full(int(max(rows.max(), released.max())) + 1, -1, np.int64)
    homes[released] = classes
    return homes[rows]


def _pinned(both: list[tuple[Released, Ints]], column: str, kept: Bools) -> tuple[Bools, Bools]:
    """Who is left with one value by both releases together, and by one of them alone."""
    allowed = [(released.histogram(column) > 0)[classes[kept]] for released, classes in both]
    alone = np.logical_or.reduce([one.sum(axis=1) == 1 for one in allowed])
    return np.logical_and.reduce(allowed).sum(axis=1) == 1, alone


EARLIER = 0.9  # of the rows: most people are in both releases, as when a table grows


def sequential_releases(scene: Scene) -> Finding:
    """Crosses a person's classes in two releases."""
    k = scene.promised.k
    if k is None:
        raise CannotRunError("No k is known to hold crossings to. State how many rows must look alike.")
    published = bool(scene.earlier)
    releases = _published(scene) if published else _made(scene)
    kept = np.logical_and.reduce([classes >= 0 for classes, _ in releases])
    if kept.sum() < SMALLEST:
        raise CannotRunError("Too few people are in all the releases.")
    persons = None if scene.owners is None else scene.owners[kept]
    crossing = _company(np.stack([classes[kept] for classes, _ in releases], axis=1), persons)
    few = crossing < k
    sizes = [
        released.sizes[classes[kept]] if persons is None else _company(classes[kept][:, None], persons)
        for classes, released in releases
    ]
    alone = np.logical_or.reduce([one < k for one in sizes])
    if persons is not None:  # a person is found by any of its rows
        few, alone = (np.bincount(persons, one)[np.unique(persons)] > 0 for one in (few, alone))
    count, rows = int(few.sum()), len(few)
    how = "The supplied releases" if published else "Two releases made for this attack, of 9/10 and of all rows,"
    return Finding(
        LEAK if (few & ~alone).any() else NO_LEAK,
        f"{how} cross in fewer than {k} people for {count:,} of {rows:,}.",
        measured=count / rows,
        control=float(alone.mean()),
        interval=share_interval(count, rows),
        goal=0.0,
        unit="share of people",
        details={"smallest crossing": float(crossing.min())},
    )


def _company(classes: Ints, persons: Ints | None = None) -> Ints:
    """For each row, how many people share its classes; ``persons`` has the person of each row, if rows are not."""
    _, numbers, counts = np.unique(classes, axis=0, return_inverse=True, return_counts=True)
    if persons is not None:
        width = int(persons.max(initial=-1)) + 1
        counts = np.bincount(np.unique(numbers.ravel() * width + persons) // width)
    return np.asarray(counts[numbers.ravel()], np.int64)


def _published(scene: Scene) -> list[tuple[Ints, Released]]:
    """The class of each original row in this release and in the earlier ones: the smallest box it lies in."""
    earlier = [read_released(frame, scene.table, scene.schema) for frame in scene.earlier]
    return [(scene.homes, scene.released), *((one.boxes.home(scene.table), one) for one in earlier)]


def _made(scene: Scene) -> list[tuple[Ints, Released]]:
    """The class of each original row in a release of most rows and in one of all."""
    height = scene.table.height
    order = scene.dealt("sequential releases")
    releases = []
    for what, rows in (("earlier", order[: scene.cut(order, int(EARLIER * height))]), ("later", np.arange(height))):
        release = scene.made(rows, what)
        released = scene.read(release)
        releases.append((classes_of(np.arange(height), rows[release.draft.origin], released.classes), released))
    return releases


TRIALS, FEWEST = 15, 3  # each takes a release: with fifteen, a third of all is told from none
PATIENCE = 120.0  # seconds
_EQUAL = 1e-6  # sums of shares that differ by less are equal


@dataclass(frozen=True, eq=False)
class _Trial:
    """A person who left, and what is read off: for each quasi-identifier some of its units, none where it is hidden."""

    gone: Rows
    units: tuple[Ints, ...]
    guesses: tuple[Bools | None, ...]

    def met_by(self, scene: Scene, names: Sequence[str], gone: Rows) -> list[bool]:
        """Whether what is read off of each quasi-identifier is some person's, and nothing else is."""
        return [
            guess is not None and bool(guess.any()) and set(units[guess]) <= set(units[scene.table[name].codes[gone]])
            for name, units, guess in zip(names, self.units, self.guesses, strict=True)
        ]


def differencing(scene: Scene) -> Finding:
    """Reads off the record of a person who left."""
    everybody = np.arange(scene.table.height, dtype=np.intp)
    whole = scene.read(scene.made(everybody, "differencing"))
    places = [place for place, name in enumerate(whole.boxes.names) if _varies(scene, name) and whole.tells(place)]
    if not places:
        raise CannotRunError("The release shows nothing of any quasi-identifier.")
    names = [whole.boxes.names[place] for place in places]
    begun, trials = time.perf_counter(), list[_Trial]()
    for gone in _leavers(scene):
        fewer = scene.read(scene.made(np.setdiff1d(everybody, gone), "differencing"))
        read = [_difference(whole, fewer, place) for place in places]
        trials.append(_Trial(gone, tuple(units for units, _ in read), tuple(guess for _, guess in read)))
        if len(trials) >= FEWEST and time.perf_counter() - begun > PATIENCE:
            break
    if len(trials) < FEWEST:
        raise CannotRunError(f"At least {FEWEST} people must leave, one after the other.")
    met = np.array([[trial.met_by(scene, names, other.gone) for other in trials] for trial in trials])
    hidden = np.array([[guess is None for guess in trial.guesses] for trial in trials])
    records = (met | hidden[:, None]).all(axis=2) & ~hidden.all(axis=1, keepdims=True)
    own = np.eye(len(trials), dtype=np.bool_)
    control, count = float(records[~own].mean()), int(records[own].sum())
    interval = share_interval(count, len(trials))
    return Finding(
        LEAK if interval[0] > control else NO_LEAK,
        f"{count} of {len(trials)} people are read off, value by value, from the release of all and one without them.",
        measured=count / len(trials),
        control=control,
        interval=interval,
        goal=0.0,
        unit="share of people",
        details={
            "cells read off": float(met[own].mean()),
            "cells read off of somebody else": float(met[~own].mean()),
            "releases made": float(len(trials) + 1),
        },
    )


def _varies(scene: Scene, name: str) -> bool:
    return len(np.unique(scene.table[name].codes)) > 1


def _leavers(scene: Scene) -> list[Rows]:
    """The rows of each person who leaves."""
    order = scene.dealt("leavers")
    if scene.owners is None:
        return [order[place : place + 1] for place in range(min(TRIALS, len(order)))]
    persons = list(dict.fromkeys(scene.owners[order].tolist()))[:TRIALS]
    return [np.flatnonzero(scene.owners == person).astype(np.intp) for person in persons]


def _difference(whole: Released, fewer: Released, place: int) -> tuple[Ints, Bools | None]:
    """The units of a quasi-identifier that both releases tell, and the codes of which most is gone; None if hidden."""
    name = whole.boxes.names[place]
    units = joined(whole.units[name], fewer.units[name])
    if not fewer.tells(place) or len(np.unique(units[:-1])) == 1:
        return units, None
    gone = (np.bincount(units, _sums(each, place), len(units))[units] for each in (whole, fewer))
    less = np.subtract(*gone)
    return units, np.asarray((less > _EQUAL) & (less > less.max() - _EQUAL))


def joined(first: Ints, second: Ints) -> Ints:
    """The finest units that are made of whole units of both; each is named by its smallest code.

    Examples
    --------
    >>> joined(np.array([0, 0, 2, 2, 4]), np.array([0, 1, 1, 3, 4])).tolist()
    [0, 0, 0, 0, 4]
    """
    units, before = np.arange(len(first)), None
    while before is None or not np.array_equal(units, before):
        before = units
        for one in (first, second):
            least = np.full(len(first), len(first), np.int64)
            np.minimum.at(least, one, units)
            units = least[one]
    return np.asarray(units, np.int64)


def _sums(released: Released, place: int) -> Floats:
    """How many rows have each code of a quasi-identifier, as far as the release tells; a bin is shared out evenly."""
    name = released.boxes.names[place]
    shares, units = released.shares(place).astype(np.float64), released.units[name]
    plain = np.array([cell.shares is None for cell in released.boxes.cells[name]])[released.boxes.shown[:, place]]
    shares[~plain] /= np.bincount(units, minlength=len(units))[units]
    shares[plain] /= np.maximum(shares[plain].sum(axis=1, keepdims=True), 1)
    return np.asarray(released.sizes @ shares)
