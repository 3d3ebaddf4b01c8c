"""Differencing: two releases of the same table, one without a person, differ by that person.

What: the attacker has the release of a table, and another made the same way after somebody left. Of every
quasi-identifier he adds up over all rows what the cells say: counts as they are, of other cells each covered value an
equal part. The value of which the second release has fewest less is taken for the person's. Paper: the tracker of
Denning, Denning, Schwartz, TODS 1979, and Dwork: Differential Privacy, ICALP 2006, whose definition is about just this
pair of tables. Measured: the share of persons whose whole record is read off: the value of each quasi-identifier that
the release shows anything of, or its bin, where counts tell bins. Both releases are made with the same chance, as by
the key of a ledger; a person who has several rows leaves with all of them. Control: how often what is read off is true
of one of the other persons who left. Leak: the lower end of the interval is above the control. Columns that are
released unchanged, the class among them, differ by the person's own values in every release, and are not counted.
"""

from __future__ import annotations

import time

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, CannotRunError, Finding
from incrowd.attacks.boxes import Released
from incrowd.attacks.measuring import share_interval
from incrowd.attacks.scene import Rows, Scene
from incrowd.vocabulary.released_cell import Bools, Floats

TRIALS, FEWEST = 15, 3  # each takes a release: with fifteen, a third of all is told from none
PATIENCE = 120.0  # seconds
_EQUAL = 1e-6  # sums of shares that differ by less are equal


def differencing(scene: Scene) -> Finding:
    """Reads off the record of a person who left."""
    everybody = np.arange(scene.table.height, dtype=np.intp)
    whole = scene.read(scene.made(everybody, "differencing"))
    names = _told(whole, scene)
    before = {name: _sums(whole, place) for place, name in names}
    begun, leavers, guesses = time.perf_counter(), list[Rows](), list[dict[str, Bools]]()
    for gone in _leavers(scene):
        made = scene.made(np.setdiff1d(everybody, gone), "differencing")
        after = scene.read(made)
        leavers.append(gone)
        guesses.append({name: _difference(before[name], _sums(after, place)) for place, name in names})
        if len(leavers) >= FEWEST and time.perf_counter() - begun > PATIENCE:
            break
    if len(leavers) < FEWEST:
        raise CannotRunError(f"It takes {FEWEST} people at least who leave.")
    met = np.array([[_met(scene, whole, gone, guess) for guess in guesses] for gone in leavers])
    own, others = np.eye(len(leavers), dtype=np.bool_), ~np.eye(len(leavers), dtype=np.bool_)
    read_off, by_chance = met[own].all(axis=1), met[others].all(axis=1)
    control, count = float(by_chance.mean()), int(read_off.sum())
    interval = share_interval(count, len(leavers))
    return Finding(
        LEAK if interval[0] > control else NO_LEAK,
        f"{count} of {len(leavers)} people are read off, value by value, from the release of all and one without them.",
        measured=count / len(leavers),
        control=control,
        interval=interval,
        goal=0.0,
        unit="share of people",
        details={
            "cells read off": float(met[own].mean()),
            "cells read off of somebody else": float(met[others].mean()),
            "releases made": float(len(leavers) + 1),
        },
    )


def _told(released: Released, scene: Scene) -> list[tuple[int, str]]:
    """The quasi-identifiers, with their places, of which some class shows anything."""
    told = [
        (place, name)
        for place, name in enumerate(released.boxes.names)
        if len(np.unique(scene.table[name].codes)) > 1 and released.tells(place)
    ]
    if not told:
        raise CannotRunError("The release shows nothing of any quasi-identifier.")
    return told


def _leavers(scene: Scene) -> list[Rows]:
    """The rows of each person who leaves."""
    order = scene.dealt("leavers")
    if scene.owners is None:
        return [order[place : place + 1] for place in range(min(TRIALS, len(order)))]
    persons = list(dict.fromkeys(scene.owners[order].tolist()))[:TRIALS]
    return [np.flatnonzero(scene.owners == person).astype(np.intp) for person in persons]


def _sums(released: Released, place: int) -> Floats:
    """How many rows have each code of a quasi-identifier, as far as the release tells."""
    shares = released.shares(place).astype(np.float64)
    plain = np.array([cell.shares is None for cell in released.boxes.cells[released.boxes.names[place]]])
    uncounted = plain[released.boxes.shown[:, place]]
    shares[uncounted] /= np.maximum(shares[uncounted].sum(axis=1, keepdims=True), 1)
    return np.asarray(released.sizes @ shares)


def _difference(before: Floats, after: Floats) -> Bools:
    """The codes of which there are fewest less; none if there are fewer of none."""
    less = before - after
    return np.asarray((less > _EQUAL) & (less > less.max() - _EQUAL))


def _met(scene: Scene, whole: Released, gone: Rows, guess: dict[str, Bools]) -> list[bool]:
    """Whether of each quasi-identifier something is read off, and nothing but values or bins of the person."""
    return [
        bool(codes.any()) and set(units[codes]) <= set(units[scene.table[name].codes[gone]])
        for name, codes in guess.items()
        for units in (whole.units[name],)
    ]
