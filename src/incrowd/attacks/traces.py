"""What a release tells beside its cells: by the order of its rows, and by which cells were withheld.

Row order: the place of a row in the release tells its place in the original.

What: the attacker knows where in the original somebody stands (first come, by name, by date) and looks at that place
of the release. Paper: a leak of tools rather than of models; Sweeney: k-Anonymity, 2002, section 4.1 names it (the
unsorted matching attack). Measured: Spearman's rank correlation of a released row's place with its place in the
original: the mean place of all original rows that it can be, where its origin is not known. Control: rows in random
order, of which the correlation is 0. Leak: 3 / sqrt(n) or more in size, which chance reaches once in 370 runs.

Seed re-run: who guesses the seed puts the released rows back into their old order. What: the attacker has the program
and all rows but one. He shuffles, or releases again, with seeds that people use, and looks whether the release comes
out: then every row of it is known by its place, the missing one too. Paper: none known to us; it is a leak of
programs, not of models. Measured: the largest rank correlation, over all seeds and generators tried, of a released
row's place in the original with the place the seed would give it. Control: a secret order, whose correlations stay
below the limit for that many tries. Leak: above that limit (one false alarm in 200). The lab gives the attacker all
rows, the missing one too; releasing again stops after some seconds, and the details say how many seeds were tried.

Suppression pattern: which other cells were withheld tells what stands in the confidential one.

What: the attacker knows the program and every cell but the confidential one, withholds again for each value it may
have, and compares what would have been withheld with what was. Paper: Wong and others: Minimality Attack, VLDB 2007;
for cells, Rokach's group on hiding cells from classifiers. Measured: the probability of the true value once the pattern
is seen, over that before, averaged over the confidential cells; all draws are gone through, so each is exact. Control:
1, a pattern that tells nothing. Leak: the lower end of the interval (cells drawn anew) is above 1.2.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator

import numpy as np

from incrowd.attacks.attack import (
    LEAK,
    NO_LEAK,
    Finding,
    Floats,
    centred_ranks,
    correlation_interval,
    mean_interval,
    rank_correlation,
)
from incrowd.attacks.scene import SMALLEST, Rows, Scene
from incrowd.errors import CannotRunError
from incrowd.vocabulary.randomness import SeededRandomness, permutation


def row_order(scene: Scene) -> Finding:
    """Looks for a person's place of the original in the release."""
    places = source_places(scene)
    known = np.flatnonzero(~np.isnan(places))
    if len(known) < SMALLEST or len(np.unique(places[known])) < 2:
        raise CannotRunError("The released rows cannot be told apart well enough to ask where they stood.")
    rho = rank_correlation(known, places[known])
    limit = 3 / math.sqrt(len(known))
    return Finding(
        LEAK if abs(rho) >= limit else NO_LEAK,
        f"{len(known):,} of {len(places):,} released rows could be looked for in the original.",
        measured=rho,
        control=0.0,
        interval=correlation_interval(rho, len(known)),
        goal=limit,
        unit="Spearman's rho",
        details={"rows": float(len(known)), "different places": float(len(np.unique(places[known])))},
    )


def source_places(scene: Scene) -> Floats:
    """The mean place, in the original, of the rows each released row can be; NaN where no row fits."""
    if scene.origin is not None:
        return scene.origin.astype(np.float64)
    released = scene.released
    names = list(released.values)
    theirs = np.stack([scene.homes, *(scene.table[name].codes.astype(np.int64) for name in names)], axis=1)
    ours = np.stack([released.classes, *(released.values[name] for name in names)], axis=1)
    _, numbers = np.unique(np.concatenate([theirs, ours]), axis=0, return_inverse=True)
    groups = numbers.ravel()
    original, rest = groups[: len(theirs)], groups[len(theirs) :]
    count = np.bincount(original, minlength=int(groups.max()) + 1)
    total = np.bincount(original, np.arange(len(original), dtype=np.float64), len(count))
    with np.errstate(invalid="ignore"):
        return np.asarray((total / count)[rest])


SEEDS = (0, 1, 2, 3, 7, 10, 42, 99, 100, 123, 1234, 12345, 123456, 1337, 2020, 2021, 2022, 2023, 2024, 2025, 2026)
PATIENCE = 3.0  # seconds for releases made again, so that a slow method does not make the attack slow


def seed_rerun(scene: Scene) -> Finding:
    """Shuffles again with the seeds that people use."""
    places = source_places(scene)
    known = ~np.isnan(places)
    if known.sum() < SMALLEST or len(np.unique(places[known])) < 2:
        raise CannotRunError("The released rows cannot be told apart well enough to recognise an order.")
    ours = centred_ranks(places[known])
    tried = [abs(float(ours @ centred_ranks(order[known]))) for order in shuffles(len(places))]
    again = [abs(float(ours @ centred_ranks(order[known]))) for order in _releases(scene, len(places))]
    largest = max([*tried, *again])
    limit = _limit(len(tried) + len(again), int(known.sum()))
    return Finding(
        LEAK if largest > limit else NO_LEAK,
        f"{len(tried)} shuffles and {len(again)} releases made again, with {len(SEEDS)} seeds.",
        measured=largest,
        control=limit,
        interval=correlation_interval(largest, int(known.sum())),
        goal=limit,
        unit="Spearman's rho",
        details={"shuffles tried": float(len(tried)), "releases made again": float(len(again))},
    )


def _limit(tries: int, rows: int) -> float:
    """What the largest of that many correlations exceeds once in 200 runs, if there is nothing to find."""
    from scipy.stats import norm

    return float(norm.isf(0.005 / 2 / tries) / np.sqrt(rows - 1))


def shuffles(rows: int) -> Iterator[Rows]:
    """Orders of that many rows, by the generators people use and the seeds they give them."""
    for seed in SEEDS:
        for shuffle in _SHUFFLES:
            yield shuffle(seed, rows)


def _plain(seed: int, rows: int) -> Rows:
    order = list(range(rows))
    random.Random(seed).shuffle(order)
    return np.array(order, np.intp)


_SHUFFLES: tuple[Callable[[int, int], Rows], ...] = (
    lambda seed, rows: np.random.default_rng(seed).permutation(rows).astype(np.intp),
    lambda seed, rows: np.random.RandomState(seed).permutation(rows).astype(np.intp),
    lambda seed, rows: permutation(rows, SeededRandomness(seed)),
    _plain,
)


def _releases(scene: Scene, rows: int) -> Iterator[Rows]:
    """Orders of the rows in releases made again with a seed; none if nobody knows how, as many as time allows."""
    if scene.again is None:
        return
    begun, owners = time.perf_counter(), None if scene.owners is None else scene.owners.astype(np.int32)
    for seed in SEEDS:
        release = scene.again.release(scene.table, scene.frame, scene.schema, seed, owners)
        if len(release.draft.origin) == rows:
            yield release.draft.origin
        if time.perf_counter() - begun > PATIENCE:
            return


GOAL = 1.2


def suppression_pattern(scene: Scene) -> Finding:
    """Withholds again for each value a cell may have."""
    from incrowd.hiding.adversaries import adversary_named
    from incrowd.hiding.bayes_hiders import GroupHider
    from incrowd.hiding.evaluation import pattern_attack
    from incrowd.hiding.methods import Options, method_named
    from incrowd.hiding.published import PublishedTable

    if scene.hidden is None or not scene.hidden.cells:
        raise CannotRunError("No single cells were withheld. Name the confidential ones and the method that hid them.")
    adversaries = [adversary_named(name) for name in scene.hidden.adversaries]
    hider = method_named(scene.hidden.method, adversaries).make(Options())
    if isinstance(hider, GroupHider):
        raise CannotRunError(f"{scene.hidden.method} withholds cells together; its patterns are not gone through.")
    published = PublishedTable(scene.table, scene.schema)
    guesses = [pattern_attack(published, row, column, hider) for row, column in scene.hidden.cells]
    lifts = np.array([float(one.lift) for one in guesses])
    interval = mean_interval(lifts, scene.generator("suppression pattern"))
    return Finding(
        LEAK if interval[0] > GOAL else NO_LEAK,
        f"The patterns of {len(guesses):,} confidential cells, hidden by {scene.hidden.method}, were gone through.",
        measured=float(lifts.mean()),
        control=1.0,
        interval=interval,
        goal=GOAL,
        unit="posterior over prior",
        details={
            "worst pattern": max(float(one.worst_lift) for one in guesses),
            "share of cells that some pattern leaves no doubt of": float(np.mean([one.worst == 1 for one in guesses])),
        },
    )
