"""Attackers and their risks, measured: prosecutor, journalist and marketer, and the three risks of WP216.

The prosecutor knows that somebody is in the table: among the f rows that look alike, the risk is 1 / f. The journalist
does not know who is in it: the risk is 1 / F, where F people of the population look alike. The marketer links all
rows and counts the share that is right. El Emam: Guide to the De-Identification of Personal Health Information, CRC
Press 2013, chapter 16. Dankar, El Emam: A method for evaluating marketer re-identification risk, EDBT/ICDT workshops
2010.

The three risks of the Article 29 Working Party (Opinion 05/2014, WP216) are each measured against a control, in the
manner of Anonymeter (Giomi et al., PoPETs 2023), for one table of people: an attack that uses the table is set against
the same attack on somebody who is not in it. Here the control needs no second table: every row is left out once, and
what is left is asked about it. All rows are counted; nothing is drawn but the intervals.

Where persons have several rows, f counts the persons among the rows that look alike, and a person is as exposed as its
row with the fewest of them: whoever knows one row of somebody may know that one. A person is left out with all its
rows, and is singled out or linked if one of its rows is; of inference the mean over its rows counts.

These are the attacks that one table allows. What needs the original beside its release is in the attack lab.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import fsum
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.drawing.wording import percent
from incrowd.errors import ParameterError
from incrowd.risk.classes import Classes, Coded, Mask, Whole, classes_of, refine


@dataclass(frozen=True)
class AtRisk:
    """How many rows, or persons, have a risk above a threshold."""

    threshold: float
    rows: int
    share: float


@dataclass(frozen=True)
class Attacker:
    """The risk from one attacker."""

    maximum: float  # of the row that is found most easily
    average: float  # over all rows
    at_risk: tuple[AtRisk, ...]  # rows above thresholds; none for the marketer, who has no single target
    basis: str  # what the number rests on

    def to_json(self) -> dict[str, object]:
        """The numbers."""
        data: dict[str, object] = {"average": self.average, "basis": self.basis}
        if self.at_risk:
            data |= {"maximum": self.maximum, "at_risk": [asdict(each) for each in self.at_risk]}
        return data


def prosecutor(classes: Classes, thresholds: Sequence[float]) -> Attacker:
    r"""The risk for somebody who is known to be in the table.

    With f\ :sub:`j` rows in class j, J classes and n rows: maximum 1 / min f\ :sub:`j`; average J / n; rows at risk
    above t: the sum of f\ :sub:`j` over the classes with 1 / f\ :sub:`j` > t. Where it is known whose rows they are:
    over persons, each with the f of the smallest class that has a row of it.
    """
    if classes.owners is not None:
        persons = Classes(np.arange(len(classes.exposed)), np.ones(len(classes.exposed), np.int64))
        at_risk = rows_at_risk(persons, classes.exposed, thresholds)
        average = fsum(1 / classes.exposed) / len(classes.exposed)
        return Attacker(1 / int(classes.exposed.min()), average, at_risk, "counted in persons")
    return prosecutor_of(classes.histogram, thresholds)


def prosecutor_of(histogram: Histogram, thresholds: Sequence[float]) -> Attacker:
    """The same, given how many classes there are of each size, ascending; every row is a person."""
    rows = sum(size * classes for size, classes in histogram)
    below = {t: sum(size * classes for size, classes in histogram if t * size < 1) for t in checked(thresholds)}
    at_risk = tuple(AtRisk(float(t), many, many / rows) for t, many in below.items())
    average = sum(classes for _, classes in histogram) / rows
    return Attacker(1 / histogram[0][0], average, at_risk, "counted")


def journalist(classes: Classes, people: Whole, thresholds: Sequence[float]) -> Attacker:
    r"""The risk for somebody who may or may not be in the table, from the population's own counts.

    With F\ :sub:`j` people in class j: maximum 1 / min F\ :sub:`j`; average the larger of J / sum F\ :sub:`j` (from a
    person to the table) and (1 / n) sum f\ :sub:`j` / F\ :sub:`j` (from the table to a person); rows at risk as for the
    prosecutor, with F\ :sub:`j`.
    """
    average = max(classes.count / int(people.sum()), fsum(classes.sizes / people) / classes.rows)
    at_risk = rows_at_risk(classes, people, thresholds)
    return Attacker(1 / int(people.min()), average, at_risk, "counted in the population table")


def expected_journalist(classes: Classes, fraction: float, thresholds: Sequence[float]) -> Attacker:
    """The journalist's risk where only the size of the population is known: see :func:`expected_risk`."""
    risks = expected_risk(int(classes.sizes.max()), fraction)[classes.sizes - 1]
    average = fsum(classes.sizes * risks) / classes.rows  # whatever the order of the classes
    counted = [(t, int(classes.sizes[risks > float(t)].sum())) for t in checked(thresholds)]
    at_risk = tuple(AtRisk(float(t), rows, rows / classes.rows) for t, rows in counted)
    return Attacker(float(risks.max()), average, at_risk, f"estimated, sampling fraction {fraction:.4g}")


def marketer(average: float, basis: str) -> Attacker:
    r"""The expected share of rows that are linked to the right person: (1 / n) sum f\ :sub:`j` / F\ :sub:`j`."""
    return Attacker(average, average, (), basis)


def expected_risk(largest: int, fraction: float) -> npt.NDArray[np.float64]:
    """The expected 1 / F of a class with f = 1, 2, ... rows in a sample of that fraction p of the population.

    F given f is taken as negative binomial, P(F = h) = C(h-1, f-1) p^f (1-p)^(h-f) for h >= f, so

        E(1/F | f) = p times the integral over v from 0 to 1 of v^(f-1) / (p + (1-p) v).

    For p below 1/2 by the recursion E(f+1) = p (1/f - E(f)) / (1-p), from E(1) = p log(1/p) / (1-p); otherwise by
    the series p sum_m (1-p)^m B(f, m+1). Each is stable where it is used. Benedetti, Franconi: Statistical and
    technological solutions for controlled data dissemination, 1998; Polettini, Seri: Guidelines for the protection of
    social micro-data using individual risk methodology, 2003.
    """
    sizes = np.arange(1, largest + 1, dtype=np.float64)
    if fraction >= 0.5:
        term, total = 1 / sizes, np.zeros(largest)
        for m in range(1, 64):
            total += term
            term = term * (1 - fraction) * m / (sizes + m)
        return fraction * total
    means = np.empty(largest)
    means[0] = -fraction * np.log(fraction) / (1 - fraction)
    for f in range(1, largest):
        means[f] = fraction * (1 / f - means[f - 1]) / (1 - fraction)
    return means


def rows_at_risk(classes: Classes, people: Whole, thresholds: Sequence[float]) -> tuple[AtRisk, ...]:
    """The rows whose class has a risk 1 / people above each threshold; compared without rounding."""
    counts = []
    for threshold in checked(thresholds):
        below = int(1 / threshold) if (1 / threshold).denominator > 1 else int(1 / threshold) - 1
        rows = int(classes.sizes[people <= below].sum())
        counts.append(AtRisk(float(threshold), rows, rows / classes.rows))
    return tuple(counts)


def checked(thresholds: Sequence[float]) -> list[Fraction]:
    """Thresholds as the decimal numbers they were written as, ascending."""
    if any(isinstance(t, bool) or not isinstance(t, int | float) or not 0 < t < 1 for t in thresholds):
        raise ParameterError("A threshold of risk must lie between 0 and 1, for instance 0.1.")
    return sorted({Fraction(str(t)) for t in thresholds})


# How sure a share is, if the rows are taken as drawn at random from rows like them.
Shares = npt.NDArray[np.float64]
Histogram = Sequence[tuple[int, int]]
"""How many classes there are of each size that occurs, ascending."""

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


def excess_interval(pairs: pl.DataFrame) -> ShareInterval:
    """The excess over all rows, with the percentile interval of a bootstrap of rows.

    Each row has its success and that of its control, and they are drawn together. Only distinct pairs are kept, so a
    draw is one multinomial. The draws start from a fixed seed: the same table gives the same interval.
    """
    rows = int(pairs["rows"].sum())
    shares = pairs["rows"].to_numpy() / rows
    drawn = np.random.default_rng(0).multinomial(rows, shares, size=DRAWS) @ pairs["hits", "control"].to_numpy() / rows
    excesses = [excess(float(hit), float(base)) for hit, base in drawn]
    low, high = np.quantile(excesses, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    estimate = excess(*_means(pairs))
    return ShareInterval(estimate, min(estimate, float(low)), max(estimate, float(high)))


def paired(hits: Shares, control: Shares, rows: Whole | None = None) -> pl.DataFrame:
    """The distinct pairs of success and control, and how many rows have each: one of these, or so many."""
    counts = np.ones(len(hits), np.int64) if rows is None else rows
    pairs = pl.DataFrame({"hits": hits, "control": control, "rows": counts})
    return pairs.group_by("hits", "control").sum().filter(pl.col("rows") > 0).sort("hits", "control")


def _means(pairs: pl.DataFrame) -> tuple[float, float]:
    """The share of rows for which the attack succeeds, and that of its control."""
    rows = int(pairs["rows"].sum())
    hits, control = ((pairs[name] * pairs["rows"]).sum() / rows for name in ("hits", "control"))
    return float(hits), float(control)


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
        return {name: value for name, value in asdict(self).items() if name not in ("name", "column")}


def singling_out(classes: Classes) -> MeasuredRisk:
    """Does "has the quasi-identifiers of this row" fit exactly one row?

    Attack: the row is alone in its class. Control: with the row left out, exactly one other fits, so the class has two
    rows; then the words isolate somebody whom they were not made from. Chance: n people, and a property that each has
    with probability 1 / n: it fits exactly one with probability (1 - 1/n)^(n-1), about 37 %. That is the most that is
    reached without looking at the table (Cohen, Nissim: Towards formalizing the GDPR's notion of singling out, PNAS
    117, 2020).
    """
    if classes.owners is None:
        return singling_out_of(classes.histogram)
    hits, control = (_any(classes.of_rows == size, classes.owners) for size in (1, 2))
    about = "all quasi-identifiers of a row fit that person alone"
    return _measured("singling out", hits, control, _alone_by_chance(len(classes.exposed)), about)


def singling_out_of(histogram: Histogram) -> MeasuredRisk:
    """The same, given how many classes there are of each size; every row is a person."""
    rows = {size: size * classes for size, classes in histogram}
    people, alone, two = sum(rows.values()), rows.get(1, 0), rows.get(2, 0)
    counts = np.array([alone, two, people - alone - two])
    pairs = paired(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), counts)
    about = "all quasi-identifiers of a row fit that row alone"
    return measured("singling out", pairs, _alone_by_chance(people), about)


def _alone_by_chance(people: int) -> float:
    return (1 - 1 / people) ** (people - 1)


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


GUESSED = "the most frequent value of the rows that look alike is right"


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
    about = GUESSED
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
    return measured(name, paired(hits.astype(np.float64), control.astype(np.float64)), chance, about)


def measured(name: str, pairs: pl.DataFrame, chance: float, about: str) -> MeasuredRisk:
    """The risk, given the distinct pairs of success and control with their rows."""
    rows, (hits, control) = int(pairs["rows"].sum()), _means(pairs)
    return MeasuredRisk(name, wilson(hits, rows), wilson(control, rows), excess_interval(pairs), chance, about)
