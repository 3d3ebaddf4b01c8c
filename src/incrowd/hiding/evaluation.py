"""What a hiding costs the table, and what its pattern gives away.

Costs are the metrics of the thesis, from the counts of the source and of what is published; all logs base 2. A
*transition* counts, for one column, the rows by what their cell was (a node of the taxonomy, 0 for missing) and what it
is published as. Distributions and contingencies are over the values of a column; cells that show a group are shared out
among its values beforehand.

The suppression-pattern attack: the attacker knows the program and every cell of the source but the confidential one,
re-runs the hider for each value the cell may have, and compares what it would have hidden with what was hidden. That is
the strongest attacker of this kind: a real one does not know the other cells that were hidden. All draws are gone
through, so the figures are exact.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.hiding.methods import Hider
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import Chance, Secret, secret_at
from incrowd.hiding.taxonomy import HIDDEN
from incrowd.measures.information import mutual_information

_WIDEST = 5000  # values of a column: counts of two such columns together take 200 MB
Matrix = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Pattern = tuple[tuple[int, str, int], ...]


@dataclass(frozen=True)
class Costs:
    """The price of a hiding over some columns."""

    direct_distance: int
    divergence: Divergence
    divergence_of_rows: Divergence
    information: InformationChange
    information_as_printed: float  # of the thesis, columns with themselves included
    uncertainty: float


def costs(published: PublishedTable, names: Sequence[str], mend: bool = False) -> Costs:
    """Compare what the named columns show with their source."""
    for name in names:
        if len(published.taxonomy(name)) > _WIDEST:
            raise ParameterError(
                f"Column {name!r} has more than {_WIDEST} distinct values: too many to weigh against other columns. "
                "Leave it out of the comparison."
            )
    source = PublishedTable(published.table, published.schema, published.predictors)
    moves = _moves(published)
    sides = {name: _Side(source, published, name, moves.get(name, ())) for name in names}
    columns, rows = sides.values(), published.height
    change = information_change(_contingencies(sides[one], sides[two]) for one, two in combinations(names, 2))
    return Costs(
        direct_distance=sum(direct_distance(side.transition) for side in columns),
        divergence=summed(kullback_leibler(side.before, side.after, None, mend) for side in columns),
        divergence_of_rows=summed(kullback_leibler(side.before, side.after, rows, mend) for side in columns),
        information=change,
        information_as_printed=printed_change(change, [(side.before, side.after) for side in columns]),
        uncertainty=math.fsum(uncertainty(side.transition) for side in columns),
    )


class _Side:
    """One column in both states: cells of each value, with groups shared out, and what became of what."""

    def __init__(
        self, source: PublishedTable, published: PublishedTable, name: str, moves: Sequence[tuple[int, int]]
    ) -> None:
        self.source, self.published, self.name, self.moves = source, published, name, moves
        self.old, self.new = source.counts(name), published.counts(name)
        share = published.taxonomy(name).leaf_weights
        self.old_weights, self.new_weights = share(self.old), share(self.new)
        self.before, self.after = self.old @ self.old_weights, self.new @ self.new_weights

    @property
    def transition(self) -> Counts:
        """Rows by what they showed and show."""
        counts = np.diag(self.old)
        for before, after in self.moves:
            counts[before, before] -= 1
            counts[before, after] += 1
        return counts


def _moves(published: PublishedTable) -> dict[str, list[tuple[int, int]]]:
    """By column, what the cells that were changed showed and show."""
    moves: dict[str, list[tuple[int, int]]] = {}
    for row, name in published.touched():
        moves.setdefault(name, []).append((published.original(row, name), published.node(row, name)))
    return moves


def _contingencies(one: _Side, two: _Side) -> tuple[Matrix, Matrix]:
    """Values of two columns together, before and after; a hidden cell has no weight."""
    old, new = one.source.pairs(one.name, two.name), one.published.pairs(one.name, two.name)
    old[HIDDEN], old[:, HIDDEN], new[HIDDEN], new[:, HIDDEN] = 0, 0, 0, 0
    return one.old_weights.T @ old @ two.old_weights, one.new_weights.T @ new @ two.new_weights


def direct_distance(transition: npt.ArrayLike) -> int:
    """Cells of a column that are published differently; a generalized cell counts 1 whatever its level."""
    counts = np.asarray(transition, np.int64)
    return int(counts.sum() - np.trace(counts))


@dataclass(frozen=True)
class Divergence:
    """A divergence in bits, and how many values have lost all their cells (each makes it infinite, unless mended)."""

    bits: float
    vanished: int = 0


def kullback_leibler(
    before: npt.ArrayLike, after: npt.ArrayLike, rows: int | None = None, mend: bool = False
) -> Divergence:
    """KLD = sum p(v) log(p(v) / p'(v)) over the values of a column.

    ``before``, ``after``: cells of each value, before and after. ``rows``: none: frequencies among known cells. A
    number of rows: frequencies among all rows, so that every deletion adds to the divergence. ``mend``: count a value
    that has lost all its cells as half a cell, instead of an infinite divergence.
    """
    old, new = np.asarray(before, np.float64), np.asarray(after, np.float64)
    present = old > 0
    old_total = float(rows or old.sum())
    new_total = float(rows or new.sum())
    old, new = old[present] / (old_total or 1), new[present]
    vanished = int((new <= 0).sum())
    if vanished and not mend:
        return Divergence(math.inf, vanished)
    shares = np.where(new > 0, new / (new_total or 1), 0.5 / (old_total or 1))
    bits = float((old * np.log2(old / shares)).sum()) if len(old) else 0.0
    return Divergence(bits if mend or rows else max(0.0, bits), vanished)


def summed(divergences: Iterable[Divergence]) -> Divergence:
    """SKLD: the sum over columns."""
    parts = list(divergences)
    return Divergence(math.fsum(part.bits for part in parts), sum(part.vanished for part in parts))


@dataclass(frozen=True)
class InformationChange:
    """How the mutual information of pairs of columns changed.

    ``ratio`` is the mean of before over after (nothing over nothing is 1, something over nothing infinite; ``lost``
    counts those), ``difference`` the mean size of the change in bits.
    """

    ratio: float
    difference: float
    lost: int


def information_change(pairs: Iterable[tuple[npt.ArrayLike, npt.ArrayLike]]) -> InformationChange:
    """ACMI over the given pairs of columns (contingencies before and after; take every pair i < j once).

    The printed formula sums over j >= i and divides by the number of pairs with j > i; this is the mean over j > i.
    """
    ratios, differences = [], []
    for before, after in pairs:
        old, new = _information(before), _information(after)
        ratios.append(_ratio(old, new))
        differences.append(abs(old - new))
    if not ratios:
        return InformationChange(1.0, 0.0, 0)
    lost = sum(math.isinf(ratio) for ratio in ratios)
    return InformationChange(math.fsum(ratios) / len(ratios), math.fsum(differences) / len(ratios), lost)


def printed_change(change: InformationChange, columns: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]]) -> float:
    """ACMI as the thesis prints it, from the change over pairs and the counts of each column before and after.

    The sum has each column with itself (its entropy), its factor has not: equal tables give (n + 1) / (n - 1). A single
    column has no pair to divide by.
    """
    count = len(columns)
    if count < 2:
        return math.nan
    own = (_ratio(_information(np.diag(before)), _information(np.diag(after))) for before, after in columns)
    return change.ratio + 2 * math.fsum(own) / (count * (count - 1))


def _ratio(old: float, new: float) -> float:
    """Before over after; nothing over nothing is 1."""
    return old / new if new else math.inf if old else 1.0


def _information(contingency: npt.ArrayLike) -> float:
    """Mutual information, with what is rounding error taken for 0."""
    counts = np.asarray(contingency, np.float64)
    total = counts.sum()
    if not total:
        return 0.0
    bits = mutual_information(counts) if total.is_integer() and (counts % 1 == 0).all() else _of_weights(counts)
    return bits if bits > 1e-12 else 0.0


def _of_weights(weights: Matrix) -> float:
    """Mutual information of weights that are no whole numbers."""
    shares = weights / weights.sum()
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    seen = shares > 0
    return max(0.0, float((shares[seen] * np.log2(shares[seen] / expected[seen])).sum()))


def uncertainty(transition: npt.ArrayLike) -> float:
    """H = -sum p(v, v') log p(v | v'): what is left to know of a cell once its published form is seen.

    Rows whose cell was missing (the first row of the transition) are left out. SCE is the sum over columns.
    """
    counts = np.asarray(transition, np.float64)[1:]
    total = counts.sum()
    if not total:
        return 0.0
    shown = np.broadcast_to(counts.sum(axis=0), counts.shape)
    seen = counts > 0
    return abs(float(-(counts[seen] * np.log2(counts[seen] / shown[seen])).sum() / total))


@dataclass
class Script(Chance):
    """Chance that follows a script of choices; where the script ends, it takes the first choice."""

    script: list[int]
    sizes: list[int] = field(default_factory=list)

    def one_of(self, values: Sequence[int]) -> int:
        """The scripted one of the values."""
        place = len(self.sizes)
        self.sizes.append(len(values))
        if place == len(self.script):
            self.script.append(0)
        return values[self.script[place]]

    @property
    def probability(self) -> Fraction:
        """Of this script, all draws being fair."""
        return Fraction(1, math.prod(self.sizes))

    def following(self) -> list[int] | None:
        """The next script, counting up from the last draw; None after the last one."""
        script = self.script[: len(self.sizes)]
        while script:
            script[-1] += 1
            if script[-1] < self.sizes[len(script) - 1]:
                return script
            script.pop()
        return None


@dataclass(frozen=True)
class PatternAttack:
    """What the pattern tells about one confidential cell."""

    prior: Fraction  # the share of the true value among the other rows, one row added to each value
    expected: Fraction
    worst: Fraction
    patterns: int  # how many different patterns the true value can leave

    @property
    def lift(self) -> Fraction:
        """Expected posterior over prior; 1 if the pattern tells nothing."""
        return self.expected / self.prior

    @property
    def worst_lift(self) -> Fraction:
        """Worst posterior over prior."""
        return self.worst / self.prior


def pattern_attack(published: PublishedTable, row: int, attribute: str, hider: Hider) -> PatternAttack:
    """Attack one cell of a table by the pattern its hiding leaves. The table is left as it was."""
    mark = published.mark()
    actual = secret_at(published, row, attribute, Script([])).actual
    values = published.taxonomy(attribute).leaves
    counts = published.counts(attribute)
    total = sum(int(counts[value]) for value in values) + len(values)
    priors = {value: Fraction(int(counts[value]) + 1, total) for value in values}
    odds = {value: patterns(published, row, attribute, value, hider) for value in values}
    expected = worst = Fraction(0)
    for pattern, chance in odds[actual].items():
        seen = sum((priors[value] * odds[value].get(pattern, Fraction(0)) for value in values), Fraction(0))
        posterior = priors[actual] * chance / seen
        expected += chance * posterior
        worst = max(worst, posterior)
    published.back(mark)
    return PatternAttack(priors[actual], expected, worst, len(odds[actual]))


def patterns(published: PublishedTable, row: int, attribute: str, value: int, hider: Hider) -> dict[Pattern, Fraction]:
    """The patterns the hider leaves if the blanked cell had this value, with their probabilities."""
    odds: dict[Pattern, Fraction] = defaultdict(Fraction)
    for script in _scripts():
        with published.trial():
            mark = published.mark()
            published.show([row], attribute, HIDDEN)
            hider.hide(Secret(published, row, attribute, value, script))
            changed = published.touched(mark)
            odds[tuple((place, name, published.node(place, name)) for place, name in changed)] += script.probability
    return dict(odds)


def _scripts() -> Iterator[Script]:
    """All scripts of draws, each made from the one before once that was played."""
    following: list[int] | None = []
    while following is not None:
        script = Script(following)
        yield script
        following = script.following()
