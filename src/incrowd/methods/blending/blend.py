"""Blend: groups of rows with about the same class probability, shown as value counts.

The class does not depend on the attributes any more once its probability given them is known. So rows of about the same
probability may exchange their values, and the relation of every attribute to the class survives: see docs/blend.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.measures.information import mutual_information
from incrowd.methods.blending.clusters import LARGEST as LARGEST_CLUSTERED
from incrowd.methods.blending.clusters import Features, cluster_rows
from incrowd.methods.blending.guide import (
    AUTO,
    LARGEST,
    Guided,
    check_guide,
    chosen_guide,
    given_up,
    guided,
    hidden_names,
    in_folds,
)
from incrowd.methods.blending.kernel import (
    GAIN,
    KIND,
    OF,
    SCORE,
    divide,
    evidence_of,
    grow,
    list_splits,
    sides_of,
)
from incrowd.methods.blending.parts import BlendGroups, GroupedParts
from incrowd.methods.blending.row_table import RowFeatures, RowTable, Worth, kernel_rows, make_room
from incrowd.methods.catalog import target_of
from incrowd.methods.counting import sorted_by_person
from incrowd.methods.judging import Judge
from incrowd.methods.method import Population, check_choice, check_flag, check_not_negative
from incrowd.methods.numeric import public_bins
from incrowd.plan.steps import AsCounts, Bin, Group, Reasons, Seat, Show, Step
from incrowd.trees.compiled import THREADS
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.forms import BINS, BY_CLASS, FINE
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness, permutation
from incrowd.vocabulary.released_value import Counts, Suppressed
from incrowd.vocabulary.requirement import Requirement, Together

Numbers = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
AT_ONCE = 64  # splits that the judge is asked about together
MOST_MARKS = 1 << 18  # rows, once for each split, whose persons are counted together: some 10 MB
SPLITS, CLUSTERS = "splits", "clusters"
PART_ROWS = 1 << 17  # rows of a large table that are parted together; twice as many gain nothing that can be measured
LEAST_GROUPS = 256  # that a part has room for, however large k
SMALL_K, LESS = 20, 0.5  # groups below are small enough to be alike in attributes as well: more accurate and less pure
PIECES, SMALL = 16, 4096  # parts that are grown side by side, about, and rows below which that does not pay


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """The rows before they are split: numbers as bins, what is hidden, what groups are made alike in; whose each is."""

    table: EncodedTable
    names: tuple[str, ...]
    target: str
    bins: Bin
    hidden: tuple[str, ...]
    features: RowFeatures
    guidance: Guided
    owners: Codes | None = None

    def of_others(self, population: Population, randomness: Randomness, preferences: Preferences) -> PreparedRows:
        """Another part of the table in the same bins, told by the same guide, which has seen none of its rows."""
        table, owners = population.bin(self.bins).sample(), population.owners
        kept = [name for name in self.names if name not in self.hidden]
        guidance = self.guidance.of_others(table, kept, self.target, randomness, owners)
        features = features_of(table, kept, self.target, self.bins, guidance, preferences)
        return replace(self, table=table, features=features, guidance=guidance, owners=owners)


@dataclass(frozen=True)
class Blend:
    """Blend.

    Parameters
    ----------
    guide
        The model whose class probabilities, told of rows it did not learn from, say which rows are alike:
        ``"boosting"``, ``"forest"``, ``"logistic"``, ``"bayes"``, or in Python any classifier of scikit-learn with
        ``predict_proba``. ``"auto"`` (default): naive Bayes below 100 rows, a forest below 3,000, else boosting.
    cuts
        Between which cuts of numbers rows count as alike: ``"fine"`` (default), or ``"class"``: where the class
        changes.
    hide
        Hide quasi-identifiers that the guide can do without and naive Bayes does better without.
    attributes
        How much groups are to be alike in their attributes, beside 1 for the score.
    labels
        How much they are to be alike in the class itself, beside 1 for the score.
    scores
        What parting rows by their score alone counts, beside 1 for parting them by an attribute, which keeps more of
        what attributes tell together; half as much below k = 20. 0: rows are not parted by their score.
    groups
        ``"splits"``: rows are split in two, again and again. ``"clusters"``: groups of exactly k rows that are most
        alike, wherever they lie; tables of more than 3,000 rows are split. ``"auto"`` (default): clusters where
        something is required of the class, for without that they are nearly all of one class.
    """

    guide: Any = AUTO
    cuts: str = FINE
    hide: bool = True
    attributes: float = 1.0
    labels: float = 1.0
    scores: float = 1.0
    groups: str = AUTO

    name: ClassVar[str] = "blend"

    def __post_init__(self) -> None:
        check_guide(self.guide)
        check_choice("cuts", self.cuts, BINS)
        check_flag("hide", self.hide)
        check_choice("groups", self.groups, (AUTO, SPLITS, CLUSTERS))
        for name in ("attributes", "labels", "scores"):
            check_not_negative(name, getattr(self, name))

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return {**vars(self), "guide": _called(self.guide)}

    def in_plain_values(self) -> Blend:
        """The same for groups that show what their rows have in common: in few bins, and not parted by score."""
        return replace(self, scores=0.0, cuts=BY_CLASS, groups=SPLITS if self.groups == AUTO else self.groups)

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,
        preferences: Preferences = INDIFFERENT,
    ) -> tuple[Step, ...]:
        """Cut numbers, ask the guide, hide, split; groups are numbered by chance."""
        if isinstance(requirement, Together) and requirement.on_population:
            raise ParameterError(
                "k-map and delta-presence ask how many people fit a combination of values, and Blend shows counts of "
                "values instead. Choose another method, such as infogain-mondrian."
            )
        judge = Judge.of(requirement, population)
        parts = population.parts(max(PART_ROWS, LEAST_GROUPS * judge.k))
        first = next(parts)
        prepared = self.prepare(first.rows, judge.k, randomness, preferences)
        groups = GroupedParts.of(population.rows, judge)
        groups.add(first.place, *self.groups_of(prepared, judge))
        for part in parts:
            more = prepared.of_others(part.rows, randomness, preferences)
            groups.add(part.place, *self.groups_of(more, judge))
        return self.steps(prepared, groups.together(), judge, randomness)

    def prepare(
        self, population: Population, k: int, randomness: Randomness, preferences: Preferences = INDIFFERENT
    ) -> PreparedRows:
        """All that comes before splitting; of k only whether it is below five matters."""
        target, names = _target(population), population.schema.quasi_identifiers
        sample, owners = population.sample(), population.owners
        bins = public_bins(sample, names, sample[target], self.cuts, k, owners)
        table = population.bin(bins).sample()
        hidden, guidance = self._hidden(table, names, target, randomness, owners)
        kept = [name for name in names if name not in hidden]
        features = features_of(table, kept, target, bins, guidance, preferences)
        return PreparedRows(
            table=table,
            names=names,
            target=target,
            bins=bins,
            hidden=tuple(hidden),
            features=features,
            guidance=guidance,
            owners=owners,
        )

    def split(self, prepared: PreparedRows, judge: Judge, randomness: Randomness) -> tuple[Step, ...]:
        """The groups, and what they show."""
        return self.steps(prepared, self.groups_of(prepared, judge)[0], judge, randomness)

    def groups_of(self, prepared: PreparedRows, judge: Judge) -> tuple[BlendGroups, Ints]:
        """The groups of some rows, and the evidence of each; all of them are one group if they may not be parted."""
        marks = judge.of_rows(prepared.table, prepared.owners)
        worth = Worth(self.attributes, self.labels, self.scores * (LESS if judge.k < SMALL_K else 1))
        groups = split_rows(prepared.features, judge, marks, worth)
        clusters = self.groups == CLUSTERS or (self.groups == AUTO and prepared.target in judge.names)
        if clusters and len(marks) <= LARGEST_CLUSTERED:
            groups = clustered(prepared.features, judge, marks, worth, groups)
        return groups, judge.tally(marks, groups.groups, groups.count)

    def steps(
        self, prepared: PreparedRows, groups: BlendGroups, judge: Judge, randomness: Randomness
    ) -> tuple[Step, ...]:
        """What the groups show; they are numbered by chance."""
        names = prepared.names
        seats = permutation(groups.count, randomness).astype(np.int32)[groups.groups]
        sizes = tuple(np.bincount(seats, minlength=groups.count).tolist())
        forms = tuple(Suppressed() if name in prepared.hidden else Counts() for name in names)
        return (
            prepared.bins,
            Seat(sizes, seats),
            Show(names, tuple(Group(rows, forms) for rows in sizes)),
            AsCounts(names, prepared.bins.cuts),
            self._reasons(prepared, groups, judge.k, len(seats)),
        )

    def _hidden(
        self, table: EncodedTable, names: Sequence[str], target: str, randomness: Randomness, owners: Codes | None
    ) -> tuple[list[str], Guided]:
        """The attributes that are hidden, those that tell nothing at all among them, and what the guide says."""
        empty = [name for name in names if not len(table[name].dictionary)]
        telling = [name for name in names if name not in empty]
        if not self.hide or len(telling) < 2:
            return empty, guided(table, telling, target, self.guide, randomness, owners)
        order, folds = in_folds(table.height, owners, randomness)
        some, theirs = table, owners
        if table.height > LARGEST:
            some = table.take(order[:LARGEST])
            theirs = None if owners is None else owners[order[:LARGEST]]
            folds = None if folds is None else folds[order[:LARGEST]]
        useless = given_up([some[name] for name in telling], some[target], order[order < some.height], folds)

        def guide(names: Sequence[str]) -> Guided:
            return guided(some, names, target, self.guide, randomness, theirs)

        gone, guidance = hidden_names(telling, useless, guide, guide(telling))
        if some is not table:
            kept = [name for name in telling if name not in gone]
            guidance = guided(table, kept, target, self.guide, randomness, owners)
        return [*empty, *gone], guidance

    def _reasons(self, prepared: PreparedRows, groups: BlendGroups, k: int, height: int) -> Reasons:
        """How often each attribute and the score were split, and what is hidden."""
        columns, target = prepared.features.columns, prepared.table[prepared.target]
        uses = zip([*(column.name for column in columns), "the score"], groups.uses.tolist(), strict=True)
        shown = sorted(uses, key=lambda use: -use[1]) if groups.uses.any() else ()
        rows = (*shown, *((name, "hidden") for name in prepared.hidden))
        facts: list[tuple[str, Any]] = [
            ("guide", _called(chosen_guide(self.guide, prepared.table.height))),
            ("share of rows whose class the guide tells", round(prepared.guidance.accuracy, 3)),
            ("groups", groups.count),
            ("groups are", SPLITS if groups.uses.any() or groups.count < 2 else CLUSTERS),
        ]
        if height > prepared.table.height:
            facts.append(("rows were dealt at random to parts of about", prepared.table.height))
        rarest = int(target.counts[target.counts > 0].min(initial=k))
        if rarest < k:
            facts.append(("warning", f"k={k} is more than the {rarest} rows of the rarest class: it cannot stand out"))
        return Reasons("Splits", ("attribute", "splits"), rows, tuple(facts))


def features_of(
    table: EncodedTable,
    names: Sequence[str],
    target: str,
    bins: Bin,
    guidance: Guided,
    preferences: Preferences = INDIFFERENT,
) -> RowFeatures:
    """What groups are made alike in: an attribute counts by what it tells about the class alone, and by its weight."""
    numbers = dict(bins.cuts)
    bits = np.array([_information(table[name], table[target]) for name in names], np.float64)
    bits = np.array(preferences.factors(names)) * (bits if bits.sum() > 0 else np.ones(len(bits)))
    weights = bits / bits.sum()
    ordered = [name in numbers or table[name].type.has_order for name in names]
    return RowFeatures([table[name] for name in names], ordered, weights, guidance.scores, table[target].codes)


def _information(column: EncodedColumn, target: EncodedColumn) -> float:
    cells = column.codes.astype(np.int64) * target.width + target.codes
    counts: npt.NDArray[np.int64] = np.bincount(cells, minlength=column.width * target.width)
    return mutual_information(counts.reshape(column.width, target.width))


def _target(population: Population) -> str:
    target = target_of(population.schema, "Blend")
    if population.sample().height < population.rows:
        raise ParameterError(
            f"Blend looks at every row, and {population.rows:,} rows are more than are held together here. "
            "Allow more memory, or choose a method that works on counts, such as infogain-mondrian."
        )
    return target


def _called(guide: Any) -> str:
    """The guide in words; of a classifier its class and its parameters."""
    return guide if isinstance(guide, str) else " ".join(repr(guide).split())


def split_rows(features: RowFeatures, judge: Judge, marks: Ints, worth: Worth) -> BlendGroups:
    """Split all rows while a split is left whose parts may both be released.

    ``marks`` are :meth:`Judge.of_rows` of the rows.
    """
    rows = kernel_rows(features, worth)
    orders = np.argsort(rows.score, axis=0, kind="stable").T[: max(1, rows.cut_scores)].copy()
    if judge.persons:
        owners = marks[:, 0].copy()
        rows = rows._replace(owners=owners)
        orders = np.vstack([orders, sorted_by_person(owners, int(owners.max(initial=-1)) + 1)])
    growing = _Growing(rows, orders, judge, marks)
    count = growing.by_size() if judge.counts_only else growing.asking()
    return BlendGroups(growing.groups, count, growing.uses)


def clustered(features: RowFeatures, judge: Judge, marks: Ints, worth: Worth, split: BlendGroups) -> BlendGroups:
    """Groups as clusters; those that were split, where what is required leaves clusters less alike than these."""
    known = Features.of(kernel_rows(features, worth))
    groups = cluster_rows(known, judge, marks)
    if known.unlike(split.groups) <= known.unlike(groups):
        return split
    return BlendGroups(groups, int(groups.max()) + 1, np.zeros_like(split.uses))


class _Growing:
    """Groups while they grow: ``orders`` has the rows of every node side by side."""

    def __init__(self, rows: RowTable, orders: Any, judge: Judge, marks: Ints) -> None:
        self.rows, self.orders = rows, orders
        self.judge, self.marks, self.k = judge, marks, max(1, judge.k)
        self.height = orders.shape[1]
        self.room = make_room(rows, self.height)
        self.groups = np.zeros(self.height, np.int32)
        self.uses = np.zeros(rows.square.size + 1, np.int64)

    def by_size(self) -> int:
        """Both parts of every split have at least k: large nodes one by one, then their parts side by side."""
        enough = max(SMALL, self.height // PIECES)
        parts = list(self._parted(lambda splits, _: splits[np.argmax(splits[:, GAIN])], enough))
        uses = [np.zeros_like(self.uses) for _ in parts]
        with ThreadPoolExecutor(THREADS) as pool:
            counts = list(pool.map(self._grown, parts, uses))
        self.uses += sum(uses)
        for (first, last), before in zip(parts, np.cumsum([0, *counts]), strict=False):
            self.groups[self.orders[0, first:last]] += before
        return sum(counts)

    def _grown(self, part: tuple[int, int], uses: Ints) -> int:
        return int(grow(self.rows, self.orders, *part, self.k, self.groups, uses))

    def asking(self) -> int:
        """The judge is asked about the splits of every node, the best first."""
        done = 0
        for first, last in self._parted(self._best_allowed, 0):
            self.groups[self.orders[0, first:last]] = done
            done += 1
        return done

    def _parted(self, choose: Callable[[Numbers, Any], Numbers | None], enough: int) -> Iterator[tuple[int, int]]:
        """The nodes that are not split any more: none of their splits is chosen, or they are small enough."""
        goes_left, waiting = np.zeros(self.height, np.bool_), [(0, self.height)]
        while waiting:
            first, last = waiting.pop()
            best = None
            if last - first > enough:
                splits = list_splits(self.rows, self.orders, first, last, self.k, self.room)
                best = choose(splits, self.orders[0, first:last]) if len(splits) else None
            if best is None:
                yield first, last
                continue
            middle = divide(self.rows, self.orders, first, last, best, self.room, goes_left)
            self.uses[-1 if best[KIND] == SCORE else int(best[OF])] += 1
            waiting += [(first, middle), (middle, last)]

    def _best_allowed(self, splits: Numbers, node: Any) -> Numbers | None:
        """The split that makes parts most alike, of those whose parts may be released."""
        splits = splits[np.argsort(-splits[:, GAIN], kind="stable")]
        together = min(AT_ONCE, max(1, MOST_MARKS // len(node))) if self.judge.persons else AT_ONCE
        for first in range(0, len(splits), together):
            some = splits[first : first + together]
            allowed = self.judge.holds(self._evidence(some, node)).reshape(-1, 2).all(axis=1)
            if allowed.any():
                return np.asarray(some[np.argmax(allowed)])
        return None

    def _evidence(self, splits: Numbers, node: Any) -> Ints:
        """The evidence of both sides of each split, one after the other."""
        width = self.judge.width
        if not self.judge.persons:
            return np.asarray(evidence_of(self.rows, node, splits, self.room, self.marks, width)).reshape(-1, width)
        parts = sides_of(self.rows, node, splits, self.room) + 2 * np.arange(len(splits))[:, None]
        return self.judge.tally(np.tile(self.marks[node], (len(splits), 1)), parts.ravel(), 2 * len(splits))
