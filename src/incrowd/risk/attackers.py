"""Prosecutor, journalist and marketer: three attackers, and how likely each of them finds a person.

The prosecutor knows that somebody is in the table: among the f rows that look alike, the risk is 1 / f. The journalist
does not know who is in it: the risk is 1 / F, where F people of the population look alike. The marketer links all
rows and counts the share that is right.

Where persons have several rows, f counts the persons among the rows that look alike, and a person is as exposed as its
row with the fewest of them: whoever knows one row of somebody may know that one.

El Emam: Guide to the De-Identification of Personal Health Information, CRC Press 2013, chapter 16. Dankar, El Emam: A
method for evaluating marketer re-identification risk, EDBT/ICDT workshops 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import fsum

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.risk.classes import Classes, Whole


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
    return Attacker(
        1 / int(classes.sizes.min()),
        classes.count / classes.rows,
        rows_at_risk(classes, classes.sizes, thresholds),
        "counted",
    )


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
