"""The three risks of the Article 29 Working Party (Opinion 05/2014, WP216), each measured against a control.

In the manner of Anonymeter (Giomi et al., PoPETs 2023), for one table of people: an attack that uses the table is set
against the same attack on somebody who is not in it. Here the control needs no second table: every row is left out
once, and what is left is asked about it. All rows are counted; nothing is drawn but the intervals.

Where it is known whose rows they are, a person is left out with all its rows, and is singled out or linked if one of
its rows is; of inference the mean over its rows counts.

These are the attacks that one table allows. What needs the original beside its release is in the attack lab.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.drawing.wording import percent
from incrowd.risk.classes import Classes, Coded, Mask, Whole, classes_of, refine

# How sure a share is, if the rows are taken as drawn at random from rows like them.
Shares = npt.NDArray[np.float64]

LEVEL = 0.95
DRAWS = 1000  # of the bootstrap: 25 of them lie beyond each end of the interval


@dataclass(frozen=True)
class ShareInterval:
    """An estimate and the 95 % interval around it."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{percent(self.estimate)} ({100 * self.low:.1f} to {100 * self.high:.1f})"


def wilson(share: float, rows: int, level: float = LEVEL) -> ShareInterval:
    """A share of rows with Wilson's score interval (Wilson: Probable Inference, JASA 22, 1927)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (share + z**2 / (2 * rows)) / (1 + z**2 / rows)
    width = z / (1 + z**2 / rows) * math.sqrt(share * (1 - share) / rows + z**2 / (4 * rows**2))
    return ShareInterval(share, min(share, max(0.0, middle - width)), max(share, min(1.0, middle + width)))


def excess(hits: float, control: float) -> float:
    """What an attack gains over its control, as a share of what could be gained: (hits - control) / (1 - control).

    So Giomi, Boenisch, Wehmeyer, Tasnádi: A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs
    2023, section 3. Below 0 the control fares better. Nothing can be gained over a control that is always right: 0.
    """
    return 0.0 if control >= 1 else (hits - control) / (1 - control)


def excess_interval(hits: Shares, control: Shares) -> ShareInterval:
    """The excess over all rows, with the percentile interval of a bootstrap of rows.

    Each row has its success and that of its control, and they are drawn together. Only distinct pairs are kept, so a
    draw is one multinomial. The draws start from a fixed seed: the same table gives the same interval.
    """
    rows = len(hits)
    pairs = (
        pl.DataFrame({"hits": hits, "control": control}).group_by("hits", "control").len("rows").sort("hits", "control")
    )
    shares = pairs["rows"].to_numpy() / rows
    drawn = np.random.default_rng(0).multinomial(rows, shares, size=DRAWS) @ pairs["hits", "control"].to_numpy() / rows
    excesses = [excess(float(hit), float(base)) for hit, base in drawn]
    low, high = np.quantile(excesses, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    estimate = excess(float(hits.mean()), float(control.mean()))
    return ShareInterval(estimate, min(estimate, float(low)), max(estimate, float(high)))


MOST_COLUMNS = 8
"""Up to so many quasi-identifiers all ways to halve them are tried."""


@dataclass(frozen=True)
class MeasuredRisk:
    """How often an attack succeeds, against its control and against chance."""

    name: str
    attack: ShareInterval  # share of the rows for which the attack succeeds
    control: ShareInterval  # the same, each row being left out of the table when it is attacked
    excess: ShareInterval  # (attack - control) / (1 - control)
    chance: float  # what succeeds without the table, or with the halves of the rows shuffled
    about: str  # what was tried, in words
    column: str = ""

    def to_json(self) -> dict[str, object]:
        """The numbers."""
        return {
            "attack": asdict(self.attack),
            "control": asdict(self.control),
            "excess": asdict(self.excess),
            "chance": self.chance,
            "about": self.about,
        }


def singling_out(classes: Classes) -> MeasuredRisk:
    """Does "has the quasi-identifiers of this row" fit exactly one row?

    Attack: the row is alone in its class. Control: with the row left out, exactly one other fits, so the class has two
    rows; then the words isolate somebody whom they were not made from. Chance: n people, and a property that each has
    with probability 1 / n: it fits exactly one with probability (1 - 1/n)^(n-1), about 37 %. That is the most that is
    reached without looking at the table (Cohen, Nissim: Towards formalizing the GDPR's notion of singling out, PNAS
    117, 2020).
    """
    people = len(classes.exposed)
    chance = (1 - 1 / people) ** (people - 1)
    about = f"all quasi-identifiers of a row fit {_one(classes.owners)} alone"
    hits, control = (_any(classes.of_rows == size, classes.owners) for size in (1, 2))
    return _measured("singling out", hits, control, chance, about)


def _one(owners: Whole | None) -> str:
    return "that row" if owners is None else "that person"


def _any(rows: Mask, owners: Whole | None) -> Mask:
    """Whether a person has such a row; the rows themselves, if these are persons."""
    if owners is None:
        return rows
    return np.bincount(owners[rows], minlength=int(owners.max(initial=-1)) + 1) > 0


def linkability(columns: Sequence[Coded], names: Sequence[str], owners: Whole | None = None) -> MeasuredRisk | None:
    """Do two halves of the quasi-identifiers, known from two places, each lead to the same single row?

    Attack: the row is alone on one half, and alone on the other. Control: with the row left out, each half leads to
    exactly one other row, and to the same. Chance: the product of the shares of rows that are alone on each half, what
    is expected if the halves are shuffled against each other. Of all ways to halve up to eight columns the one with the
    most success counts; more are halved in the given order. None for a single column.
    """
    width = len(columns)
    if width < 2:
        return None
    whole = classes_of(columns, owners)
    halves = _halvings(width)
    links = {left: _linked(columns, left, owners) for left in halves}
    best = max(halves, key=lambda left: int(_any(links[left][0] & links[left][1], owners).sum()))
    one, other = links[best][:2]
    control = links[best][2] & (whole.of_rows == 2)
    left, right = _named(names, best), _named(names, [c for c in range(width) if c not in best])
    tried = "every way to halve them was tried" if width <= MOST_COLUMNS else "halved in the original order only"
    about = f"{left} and {right} each fit {'the same row' if owners is None else 'one person'} alone; {tried}"
    chance = float(_any(one, owners).mean() * _any(other, owners).mean())
    return _measured("linkability", _any(one & other, owners), _any(control, owners), chance, about)


def _linked(columns: Sequence[Coded], left: tuple[int, ...], owners: Whole | None) -> tuple[Mask, Mask, Mask]:
    """Rows alone on the left half, on the right half, and rows that are two on each."""
    one = classes_of([columns[c] for c in left], owners).of_rows
    other = classes_of([column for c, column in enumerate(columns) if c not in left], owners).of_rows
    return one == 1, other == 1, (one == 2) & (other == 2)


def _halvings(width: int) -> list[tuple[int, ...]]:
    """The smaller halves of all ways to halve the columns; of many columns one way only."""
    if width > MOST_COLUMNS:
        return [tuple(range(width // 2))]
    halves = list(combinations(range(width), width // 2))
    return halves if width % 2 else halves[: len(halves) // 2]


def _named(names: Sequence[str], places: Sequence[int]) -> str:
    return " + ".join(names[place] for place in places)


def inference(classes: Classes, secret: Coded, name: str) -> MeasuredRisk:
    """How well does a sensitive value follow from the quasi-identifiers?

    Attack: guess the most frequent value of the row's class (one of them by lot, if there are several). Control: the
    same from the other rows of the class; from all other rows, if the class has none. It is what follows for somebody
    alike who is not in the table, and what is learned about people in general. Chance: always the most frequent value.
    """
    hits, control = guesses(classes, secret)
    everyone = classes_of([Coded(np.zeros(classes.rows, np.int64), 1)], classes.owners)
    always, left_out = guesses(everyone, secret)
    control = np.where(classes.of_rows == 1, left_out, control)
    about = "the most frequent value of the rows that look alike is right"
    if classes.owners is None:
        chance = float(np.bincount(secret.codes).max()) / classes.rows
    else:
        hits, control, always = (_mean(rows, classes.owners) for rows in (hits, control, always))
        chance, about = float(always.mean()), "the value that most persons have among the rows that look alike is right"
    return replace(_measured("inference", hits, control, chance, about), column=name)


def _mean(rows: Shares, owners: Whole) -> Shares:
    """The mean over the rows of each person."""
    return np.asarray(np.bincount(owners, rows) / np.bincount(owners))


def guesses(classes: Classes, secret: Coded) -> tuple[Shares, Shares]:
    """For each row, how likely the class's most frequent value is its own; and the same with its person left out.

    Frequent is what many persons have. Left out, one of the most frequent values of a person stays so only if the
    person has all of these; then they share the place with the values that have one person less, as far as the person
    does not have them. Whoever is alone has nobody to be guessed from: 0.
    """
    cells = refine(classes, secret)
    group = np.empty(cells.count, np.int64)
    group[cells.labels] = classes.labels
    most = np.zeros(classes.count, np.int64)
    np.maximum.at(most, group, cells.sizes)
    top, nearly = cells.sizes == most[group], cells.sizes == most[group] - 1
    tied, close = (np.bincount(group[kind], minlength=classes.count) for kind in (top, nearly))
    own_top, own_close = _own(classes, cells, top), _own(classes, cells, nearly)
    hits = np.where(top, 1 / tied[group], 0.0)[cells.labels]
    stays = top[cells.labels] & (own_top == tied[classes.labels]) & (most[classes.labels] > 1)
    rivals = tied[classes.labels] + close[classes.labels] - own_close
    return hits, np.where(stays, 1 / rivals, 0.0)


def _own(classes: Classes, cells: Classes, kind: Mask) -> Whole:
    """For each row, how many values of that kind its person has in the class."""
    if classes.owners is None:
        return kind[cells.labels].astype(np.int64)
    persons = int(classes.owners.max(initial=-1)) + 1
    facts, place = np.unique(cells.labels * persons + classes.owners, return_index=True)
    homes = classes.labels[place] * persons + classes.owners[place]
    seats, of_fact = np.unique(homes, return_inverse=True)
    counts = np.bincount(of_fact, kind[facts // persons].astype(np.float64), len(seats)).astype(np.int64)
    return np.asarray(counts[np.searchsorted(seats, classes.labels * persons + classes.owners)])


def _measured(
    name: str, hits: Mask | Shares, control: Mask | npt.NDArray[np.float64], chance: float, about: str
) -> MeasuredRisk:
    hits, control = hits.astype(np.float64), control.astype(np.float64)
    rows = len(hits)
    return MeasuredRisk(
        name,
        wilson(float(hits.mean()), rows),
        wilson(float(control.mean()), rows),
        excess_interval(hits, control),
        chance,
        about,
    )
