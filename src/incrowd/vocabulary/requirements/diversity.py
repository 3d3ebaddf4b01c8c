"""l-diversity in its three forms: distinct, entropy (decided exactly) and recursive (c, l).

Entropy l-diversity, decided exactly. A group with counts c of n rows keeps it if ``n log n - sum c log c >= n log
l``. Floats decide where the two sides are clearly apart. Else the sides are equal if and only if ``n^n`` and ``l^n
prod c^c`` have the same factors; if they are not, decimals of growing precision tell which is larger.

A bound on powers of shares: what other packages make requirements of that incrowd does not have.

Whoever has another measure of how evenly the values of a column are spread over a group states it as data: a polynomial
in the share of a value, summed over the values. The verification counts it like any other, and needs nothing of the
package that stated it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirement import OnColumn
from incrowd.vocabulary.requirements.columns import (
    Flags,
    Histograms,
    RequirementSubject,
    at_most,
    holds,
    is_positive,
    of_column,
    rounded,
    shares,
    text,
    times,
    whole_numbers,
    written,
)


# Distinct l-diversity.
@dataclass(frozen=True)
class DistinctDiversity(OnColumn):
    """Every group has at least l different values of the column.

    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "l-Diversity: Privacy Beyond k-Anonymity" (ICDE 2006; ACM TKDD
    2007), the plainest reading of its principle. It stops certainty, not a good guess.
    """

    l: int  # noqa: E741
    on: str | None = None

    def __post_init__(self) -> None:
        whole = isinstance(self.l, int | np.integer) and not isinstance(self.l, bool)
        if not whole or self.l < 1:
            raise ParameterError("distinct-l must be a whole number of at least 1. Give for instance distinct-l=3.")
        object.__setattr__(self, "l", int(self.l))

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:  # noqa: ARG002, groups speak for themselves
        """Whether each group has l values; an empty one has nothing to hide."""
        different = np.count_nonzero(histograms, axis=1)
        return np.asarray((different >= self.l) | (different == 0))

    def check_possible(self, subject: RequirementSubject) -> None:
        """Raise if the column has fewer values."""
        if subject.values < self.l:
            raise RequirementError(
                f"distinct-l={self.l} on {subject.name!r} is impossible: the column has {subject.values} values. "
                f"Choose l of at most {subject.values}."
            )

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        return f"Every group has at least {self.l} different values {of_column(self.on)}."

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "distinct l-diversity", "l": self.l, "on": self.on}

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity {of_column(self.on)}"


@dataclass(frozen=True)
class EntropyDiversity(OnColumn):
    """The entropy of the column in every group is at least log l.

    Machanavajjhala et al., "l-Diversity: Privacy Beyond k-Anonymity" (ICDE 2006; ACM TKDD 2007), definition 4.1: for
    the shares p of the values in a group, ``-sum p log p >= log l``. All values equally frequent give as much as l of
    them. Monotone: entropy is concave.
    """

    l: Fraction  # noqa: E741
    on: str | None = None

    def __init__(self, l: float | str | Fraction, on: str | None = None) -> None:  # noqa: E741
        number = written(l, "l", "entropy-l=1.5")
        if number < 1:
            raise ParameterError("l must be a number of at least 1. Give for instance entropy-l=1.5.")
        vars(self).update(l=number, on=on)

    @property
    def bits(self) -> float:
        """The entropy that is needed, in bits."""
        return float(np.log2(float(self.l)))

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:  # noqa: ARG002, groups speak for themselves
        """Whether each group is diverse enough."""
        lacking = self.bits - _bits(shares(histograms))
        lacking[histograms.sum(axis=1) == 0] = -np.inf
        return at_most(lacking, Fraction(0), lambda i: self._exactly(whole_numbers(histograms[i])))

    def _exactly(self, counts: Sequence[int]) -> bool:
        return sign_of_logs(*diversity_powers([c for c in counts if c], self.l)) >= 0

    def check_possible(self, subject: RequirementSubject) -> None:
        """Raise if all rows together are not diverse enough."""
        if not holds(self, subject.counts):
            reached = float(2 ** _bits(subject.shares[None, :]).item())
            raise RequirementError(
                f"entropy-l={text(self.l)} on {subject.name!r} is impossible: all rows together reach "
                f"{rounded(reached, up=False)}, and in any grouping one group reaches no more. Choose l of at most "
                f"{rounded(reached, up=False)}."
            )

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        values = f"the values {of_column(self.on)}"
        return f"In every group {values} are at least as mixed as {text(self.l)} equally frequent ones."

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "entropy l-diversity", "l": text(self.l), "on": self.on}

    def __str__(self) -> str:
        return f"entropy {text(self.l)}-diversity {of_column(self.on)}"


def _bits(share: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The entropy of each row of shares."""
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-(share * logs).sum(axis=1))


def diversity_powers(counts: Sequence[int], l: Fraction) -> tuple[dict[int, int], dict[int, int]]:  # noqa: E741
    """``n^n`` over ``l^n prod c^c`` as powers of whole numbers; common factors of all counts do not matter."""
    common = gcd(*counts)
    small = [count // common for count in counts]
    rows = sum(small)
    above, below = Counter({rows: rows}), Counter({l.numerator: rows})
    above[l.denominator] += rows
    for count in small:
        below[count] += count
    return dict(above), dict(below)


def sign_of_logs(above: dict[int, int], below: dict[int, int]) -> int:
    """The sign of ``log(prod above) - log(prod below)``, exactly; both are powers of whole numbers."""
    base = coprime_base([*above, *below])
    if _exponents(above, base) == _exponents(below, base):
        return 0
    powers = [*above.items(), *((number, -power) for number, power in below.items())]
    larger = is_positive(lambda c: [c.multiply(c.ln(Decimal(number)), Decimal(power)) for number, power in powers])
    return 1 if larger else -1


def _exponents(powers: dict[int, int], base: Sequence[int]) -> dict[int, int]:
    """The powers as powers of the numbers of a coprime base."""
    exponents: Counter[int] = Counter()
    for number, power in powers.items():
        left = number
        for one in base:
            while left % one == 0:
                exponents[one] += power
                left //= one
    return dict(exponents)


def coprime_base(numbers: Iterable[int]) -> list[int]:
    """Numbers without common factors, of whose powers all the given ones are products; no number has to be factored."""
    base: list[int] = []
    left = [number for number in numbers if number > 1]
    while left:
        number = left.pop()
        other = next((one for one in base if gcd(one, number) > 1), None)
        if other is None:
            base.append(number)
            continue
        base.remove(other)
        common = gcd(other, number)
        left += [part for part in (common, number // common, other // common) if part > 1]
    return base


# Recursive (c, l)-diversity.
@dataclass(frozen=True)
class RecursiveDiversity(OnColumn):
    """In every group the most frequent value is not too frequent, and the rare ones are not too rare.

    Machanavajjhala et al., "l-Diversity: Privacy Beyond k-Anonymity" (ICDE 2006; ACM TKDD 2007), definition 4.2: with
    counts ``r1 >= r2 >= ...`` in a group, ``r1 < c (r_l + r_(l+1) + ...)``. An attacker who can rule out l - 2 values
    is still not sure. Monotone: the sum of the largest l - 1 counts of a union is at most that of its parts.
    """

    c: Fraction
    l: int  # noqa: E741
    on: str | None = None

    def __init__(self, c: float | str | Fraction, l: int, on: str | None = None) -> None:  # noqa: E741
        number = written(c, "c", "recursive-l=3 c=2")
        if number <= 0:
            raise ParameterError("c of recursive-l must be above 0. Give for instance recursive-l=3 c=2.")
        if not isinstance(l, int | np.integer) or isinstance(l, bool) or l < 1:
            raise ParameterError(
                "recursive-l must be a whole number of at least 1. Give for instance recursive-l=3 c=2."
            )
        vars(self).update(c=number, l=int(l), on=on)

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:  # noqa: ARG002, groups speak for themselves
        """Whether the most frequent value of each group is rarer than c times the tail."""
        first, tail = _first_and_tail(histograms, self.l)
        rarer = times(first, self.c.denominator) < times(tail, self.c.numerator)
        return np.asarray(rarer | (first == 0), np.bool_)

    def check_possible(self, subject: RequirementSubject) -> None:
        """Raise if all rows together do not keep it."""
        if holds(self, subject.counts):
            return
        first, tail = (int(part.item()) for part in _first_and_tail(subject.counts[None, :], self.l))
        sentence = f"recursive-l={self.l} c={text(self.c)} on {subject.name!r} is impossible"
        if not tail:
            raise RequirementError(
                f"{sentence}: the column has {subject.values} values. Choose l of at most {subject.values}."
            )
        least = rounded(Fraction(first, tail), up=True)
        raise RequirementError(
            f"{sentence}: for all rows together c must be above {least}. Choose a larger c, or a smaller l."
        )

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        return (
            f"In every group the most frequent value {of_column(self.on)} has fewer rows than {text(self.c)} times "
            f"those of the values from the {self.l}. most frequent on."
        )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "recursive (c,l)-diversity", "c": text(self.c), "l": self.l, "on": self.on}

    def __str__(self) -> str:
        return f"recursive ({text(self.c)}, {self.l})-diversity {of_column(self.on)}"


def _first_and_tail(histograms: Histograms, l: int) -> tuple[Any, Any]:  # noqa: E741
    """The largest count of each group, and the sum of all from the l-th on."""
    largest = -np.sort(-histograms, axis=1)
    return largest[:, 0], largest[:, l - 1 :].sum(axis=1)


HIGHEST = 8
"""The highest power: of higher ones nothing but the largest share is left, which a confidence cap bounds."""


@dataclass(frozen=True, init=False)
class PowerBound(OnColumn):
    """In every group, powers of the shares of a column's values, weighed and summed over the values, have a limit.

    ``PowerBound({2: 1}, "1/3")`` bounds the chance that two people of a group share their value (Simpson's index; a
    limit of 1/l is the l-diversity of Rényi's entropy of order 2). Monotone: weights are not negative, so the sum is a
    convex function of the shares, and the shares of a union lie between those of its parts.

    Examples
    --------
    >>> str(PowerBound({2: 1}, "0.4", "income"))
    'share^2 summed over the values of income of at most 0.4'
    >>> holds(PowerBound({2: 1}, "0.5"), [3, 3]), holds(PowerBound({2: 1}, "0.5"), [4, 2])
    (True, False)
    """

    powers: tuple[tuple[int, Fraction], ...]
    limit: Fraction
    on: str | None = None

    def __init__(self, powers: Mapping[int, Any], limit: float | str | Fraction, on: str | None = None) -> None:
        if not powers or any(type(power) is not int or not 1 < power <= HIGHEST for power in powers):
            raise ParameterError(f"powers are whole numbers from 2 to {HIGHEST}, each with its weight, as in {{2: 1}}.")
        weights = {power: written(weight, "The weight of a power", "{2: 1}") for power, weight in powers.items()}
        if any(weight <= 0 for weight in weights.values()):
            raise ParameterError("The weight of a power must be above 0.")
        number = written(limit, "limit", "0.5")
        if number <= 0:
            raise ParameterError("limit must be above 0. Give for instance 0.5.")
        vars(self).update(powers=tuple(sorted(weights.items())), limit=number, on=on)

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:  # noqa: ARG002, groups speak for themselves
        """Whether the sum of each group keeps to the limit."""
        parts = shares(histograms)
        scores = np.sum([float(weight) * (parts**power).sum(axis=1) for power, weight in self.powers], axis=0)
        return at_most(scores, self.limit, lambda group: self._score(histograms[group]) <= self.limit)

    def _score(self, histogram: Any) -> Fraction:
        counts = whole_numbers(histogram)
        rows = max(sum(counts), 1)
        return sum(
            (weight * Fraction(sum(count**power for count in counts), rows**power) for power, weight in self.powers),
            Fraction(),
        )

    def check_possible(self, subject: RequirementSubject) -> None:
        """Raise if not even all rows together keep to the limit."""
        if not holds(self, subject.counts):
            least = rounded(self._score(subject.counts), up=True)
            raise RequirementError(
                f"{self} is impossible: in the whole table the sum is {least}, and in any grouping one group has "
                f"no less. Choose a limit of at least {least}."
            )

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        return (
            f"In every group {self._terms}, summed over the values {of_column(self.on)}, is at most {text(self.limit)}."
        )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        powers = [[power, text(weight)] for power, weight in self.powers]
        return {"is": "bound on powers of shares", "powers": powers, "limit": text(self.limit), "on": self.on}

    @property
    def _terms(self) -> str:
        return " + ".join(f"{'' if weight == 1 else text(weight) + ' '}share^{power}" for power, weight in self.powers)

    def __str__(self) -> str:
        return f"{self._terms} summed over the values {of_column(self.on)} of at most {text(self.limit)}"


def powers_in(terms: str) -> dict[int, str]:
    """The powers and weights of the words of a promise.

    Examples
    --------
    >>> powers_in("share^2 + 1/2 share^3")
    {2: '1', 3: '1/2'}
    """
    read = (term.rpartition("share^") for term in terms.split(" + "))
    return {int(power): weight.strip() or "1" for weight, _, power in read}
