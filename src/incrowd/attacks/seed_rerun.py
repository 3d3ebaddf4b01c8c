"""Seed re-run: who guesses the seed puts the released rows back into their old order.

What: the attacker has the program and all rows but one. He shuffles, or releases again, with seeds that people use,
and looks whether the release comes out: then every row of it is known by its place, the missing one too. Paper: none
known to us; it is a leak of programs, not of models. Measured: the largest rank correlation, over all seeds and
generators tried, of a released row's place in the original with the place the seed would give it. Control: a secret
order, whose correlations stay below the limit for that many tries. Leak: above that limit (one false alarm in 200).
The lab gives the attacker all rows, the missing one too; releasing again stops after some seconds,
and the details say how many seeds were tried.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import numpy as np

from incrowd.attacks.again import Rows
from incrowd.attacks.attack import LEAK, NO_LEAK, CannotRunError, Finding
from incrowd.attacks.measuring import centred_ranks, correlation_interval
from incrowd.attacks.row_order import source_places
from incrowd.attacks.scene import SMALLEST, Scene
from incrowd.vocabulary.randomness import SeededRandomness, permutation

SEEDS = (0, 1, 2, 3, 7, 10, 42, 99, 100, 123, 1234, 12345, 123456, 1337, 2020, 2021, 2022, 2023, 2024, 2025, 2026)
PATIENCE = 3.0


class SeedRerun:
    """Shuffles again with the seeds that people use."""

    name = "seed re-run"
    asks = "Shuffles and releases again with the seeds that people use, and looks whether the release comes out."
    needs = "nothing more than the release and the original; how it was made, to release again"

    def run(self, scene: Scene) -> Finding:
        """Try every seed with every generator."""
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
            self.name,
            LEAK if largest > limit else NO_LEAK,
            f"{len(tried)} shuffles and {len(again)} releases made again, with {len(SEEDS)} seeds.",
            largest,
            limit,
            correlation_interval(largest, int(known.sum())),
            limit,
            "Spearman's rho",
            {"shuffles tried": float(len(tried)), "releases made again": float(len(again))},
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
    begun = time.perf_counter()
    for seed in SEEDS:
        made = scene.again.release(scene.table, scene.frame, scene.schema, seed)
        if len(made.draft.origin) == rows:
            yield made.draft.origin
        if time.perf_counter() - begun > PATIENCE:
            return
