"""Differencing: two releases of the same table, one without a person, differ by that person.

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

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.measuring import share_interval
from incrowd.attacks.scene import Rows, Scene
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Released
from incrowd.vocabulary.released_cell import Bools, Floats, Ints

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
        raise CannotRunError(f"It takes {FEWEST} people at least who leave.")
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
