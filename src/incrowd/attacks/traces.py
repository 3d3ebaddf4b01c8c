"""What a release tells beside its quasi-identifiers: by the order of its rows, withheld cells, unchanged columns.

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

Linkage by unchanged columns: who is alone with them is found, whatever the quasi-identifiers hide. What: the attacker
knows a person's values in columns that nobody called quasi-identifiers, and looks for the one released row that has
them. Paper: Sweeney: k-Anonymity, 2002, of columns that were not named; Narayanan, Shmatikov: Robust De-anonymization
of Large Sparse Datasets, 2008. Measured: the share of people whose combination of unchanged columns, without the
class, nobody else has. Control: the unchanged columns dealt anew among the rows; a row is then found as often, and is
the person's own by chance, once in as many times as there are rows. Leak: anybody is found.

Give-back: columns that are released unchanged restore what the release hides. What: the attacker knows how columns
depend on each other (a codebook, a similar table, rows that show the value) and fills in hidden cells from unchanged
columns. Paper: Bohannon, Fan, Geerts, Jia, Kementsietsidis: Conditional functional dependencies for data cleaning,
ICDE 2007; H. Wang, R. Liu: Privacy-preserving publishing microdata with full functional dependencies, Data &
Knowledge Engineering, 2011. Measured: the share of hidden cells that an unchanged column, or two columns, give back
(:mod:`incrowd.verification.give_back`). Control: the unchanged columns dealt anew among the rows. Leak: fewer than
the promised k look alike once they are given back; where no k was promised, more is given back than with the columns
dealt anew.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence

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
    share_interval,
)
from incrowd.attacks.scene import SMALLEST, Rows, Scene, Traced
from incrowd.drawing.wording import listed
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Released
from incrowd.verification.alone import count_alone
from incrowd.verification.open_cells import QuasiIdentifier
from incrowd.verification.unchanged import UnchangedColumn, count_unchanged
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.vocabulary.randomness import SeededRandomness, permutation
from incrowd.vocabulary.released_cell import Ints
from incrowd.vocabulary.requirement import KnownSet
from incrowd.vocabulary.schema import Role, Schema


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


def unchanged_columns(released: Released, scene: Scene, dealt: Ints | None = None) -> list[UnchangedColumn]:
    """The columns that left as they came; ``dealt`` gives every row the unchanged cells of another one."""
    names = [name for name in scene.schema.untouched if name in released.values]
    if not names:
        raise CannotRunError("No column is released unchanged.")
    order = np.arange(len(released.classes)) if dealt is None else dealt
    return [
        UnchangedColumn(
            name, released.values[name][order], released.widths[name] - 1, _role(scene.schema, name, scene.sensitive)
        )
        for name in names
    ]


def _role(schema: Schema, name: str, sensitive: tuple[str, ...]) -> str:
    if schema[name].role is Role.TARGET:
        return "target"
    if name in sensitive:
        return "sensitive"
    return "private" if schema[name].role is Role.PRIVATE else "other"


def hidden_columns(traced: Traced, scene: Scene) -> list[QuasiIdentifier]:
    """The quasi-identifiers: what people have, what their cells show, and what that allows."""
    boxes, rows = traced.released.boxes, traced.released.classes
    return [
        QuasiIdentifier(
            name,
            scene.table[name].codes[traced.origin].astype(np.int64),
            boxes.shown[rows, place],
            [np.flatnonzero(cell.covers) for cell in boxes.cells[name]],
            scene.table[name].missing_code,
        )
        for place, name in enumerate(boxes.names)
    ]


def unchanged_linkage(scene: Scene) -> Finding:
    """Looks for the one row that has a person's unchanged values."""
    released, owners = scene.owned
    columns = [one for one in unchanged_columns(released, scene) if one.role not in ("target", "private")]
    if not columns:
        raise CannotRunError("No column is released unchanged but the class, or those that nobody outside knows.")
    rows = len(released.classes)
    people = rows if owners is None else len(np.unique(owners))
    alone = count_alone(columns, rows, owners=owners)
    share = alone.without_class / people
    telling = "" if alone.telling is None else f", {alone.telling.people:,} of them by {listed(alone.telling.columns)}"
    return Finding(
        LEAK if alone.without_class else NO_LEAK,
        f"{alone.without_class:,} of {people:,} people are alone with their unchanged columns{telling}."
        f"{_aside(scene.schema)}",
        measured=share,
        control=share / people,
        interval=share_interval(alone.without_class, people),
        goal=0.0,
        unit="share of people",
        details={"alone by columns not called sensitive": float(alone.not_called_private)},
    )


def _aside(schema: Schema) -> str:
    private = [column.name for column in schema.columns if column.role is Role.PRIVATE]
    return f" By your statement nobody outside knows {listed(private)}." if private else ""


def give_back(scene: Scene) -> Finding:
    """Fills in hidden cells from unchanged columns."""
    traced = scene.traced
    hidden, k = hidden_columns(traced, scene), scene.promised.k or 1
    dealt = scene.generator("dealt anew").permutation(len(traced.released.classes))
    counts = _counts(scene, hidden, unchanged_columns(traced.released, scene), k)
    control = _counts(scene, hidden, unchanged_columns(traced.released, scene, dealt), k)
    cells = counts.hidden_cells
    if not cells:
        raise CannotRunError("No released cell hides anything.")
    leak = not counts.sound if scene.promised.k else counts.given_back > control.given_back
    return Finding(
        LEAK if leak else NO_LEAK,
        f"{counts.given_back:,} of {cells:,} hidden cells are given back; the smallest group that is left has "
        f"{counts.effective_k:,} people.",
        measured=counts.given_back / cells,
        control=control.given_back / cells,
        interval=share_interval(counts.given_back, cells),
        unit="share of hidden cells",
        details={"effective k": float(counts.effective_k), "people below k": float(counts.people_below_k)},
    )


def _counts(
    scene: Scene, hidden: Sequence[QuasiIdentifier], unchanged: Sequence[UnchangedColumn], k: int
) -> UnchangedCounts:
    known = [KnownSet(tuple(one.name for one in hidden), k)]
    owners = None if scene.owners is None else scene.owners[scene.traced.origin]
    linked = scene.persons is not None and scene.persons.linked and scene.persons.known_rows is None
    return count_unchanged(hidden, unchanged, known, owners=owners, linked=linked)
