"""KActusPlus: kACTUS without its named drawbacks, under the same guarantee.

The authors name four (their section 5.9); this method removes them:

- small siblings are merged into value sets (``Blue|Yellow``) before their attribute is given up;
- finished groups of 2k rows and more are split further, so that attributes the tree never reached are shown;
- no row is lost: a remainder below k recalls rows from groups with a surplus, or takes in a group;
- rows that move are drawn class by class in proportion, so that a donor keeps its class mix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from incrowd.errors import ParameterError
from incrowd.methods.judging import Judge
from incrowd.methods.method import BINNED, Population, check_choice, check_flag
from incrowd.methods.numeric import bin_numbers
from incrowd.methods.tree_suppression.kactus import (
    MISSING,
    FormOfSet,
    check_inducer,
    describe_inducer,
    forms_of_path,
    grow,
)
from incrowd.methods.tree_suppression.pools import (
    EMPTY,
    Bundle,
    BundleLedger,
    Counts,
    NodeRecord,
    Pool,
    WholePools,
    draw_stratified,
    largest_remainder,
    minus,
    resting,
    shares_of,
    union,
)
from incrowd.methods.tree_suppression.regrow import regrow_groups
from incrowd.plan.steps import Group, Place, Show, Step
from incrowd.trees.tree import Eq, In, Inducer, Predicate, Tree, named_values
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.released_value import Form, Suppressed, Value, ValueSet
from incrowd.vocabulary.requirement import Requirement


@dataclass(frozen=True)
class KActusPlus:
    """The improved kACTUS.

    Parameters
    ----------
    inducer, numeric, missing
        As in :class:`~incrowd.methods.tree_suppression.kactus.KActus`.
    regrow
        Split finished groups further while every part keeps k rows.
    largest_set
        A value set may hold at most this share of the attribute's values, and 100; a larger one is suppressed.
    """

    inducer: Inducer | None = None
    numeric: str = "bins"
    missing: str = "stuck"
    regrow: bool = True
    largest_set: float = 0.5

    name: ClassVar[str] = "kactus-plus"

    def __post_init__(self) -> None:
        check_choice("numeric", self.numeric, BINNED)
        check_choice("missing", self.missing, tuple(MISSING))
        check_inducer(self.inducer)
        if not isinstance(self.largest_set, int | float) or not 0 <= self.largest_set <= 1:
            raise ParameterError("largest_set must be a number between 0 and 1.")
        check_flag("regrow", self.regrow)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return {**vars(self), "inducer": describe_inducer(self.inducer)}

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,
        preferences: Preferences = INDIFFERENT,
    ) -> tuple[Step, ...]:
        """Grow the tree, release bottom-up with merging, take the remainder in, regrow."""
        names = population.schema.quasi_identifiers
        judge = Judge.of(requirement, population)
        binned = bin_numbers(population, self.numeric, max(judge.k, preferences.promised))
        population = binned.population
        tree = grow(self.inducer, self.missing, population, requirement, preferences)
        of_set = _set_form(population.sample(), self.largest_set)

        def group(bundle: Bundle) -> Group:
            forms = forms_of_path(bundle.path, names, numeric=self.numeric, of_set=of_set)
            return Group(bundle.pool.size, binned.forms(forms))

        bundles, place = self._released(population, tree, judge, randomness, lambda b: group(b).shown)
        if not self.regrow:
            return *binned.steps, place, Show(names, tuple(group(bundle) for bundle in bundles))
        weights = preferences.factors(names)
        again, paths, sizes = regrow_groups(population.place(place), [group(b).forms for b in bundles], judge, weights)
        regrown = [
            group(Bundle(Pool.of([0], [rows]), bundles[origin].path + path))
            for (origin, path), rows in zip(paths, sizes, strict=True)
        ]
        return *binned.steps, place, again, Show(names, tuple(regrown))

    def _released(
        self, population: Population, tree: Tree, judge: Judge, randomness: Randomness, shown: Callable[[Bundle], int]
    ) -> tuple[list[Bundle], Place]:
        """What is released under which path, and the step that puts rows there."""
        counts, largest = population.count(tree), self._largest(population)
        if not judge.by_size:
            mixes = (counts * np.arange(counts.shape[1])).sum(axis=1)
            pools = WholePools(tree, judge.resting(population, tree), judge, largest, mixes)
            bundles = pools.release(lambda path: shown(Bundle(EMPTY, path)))
            return bundles, Place(tree, shares_of(bundles, EMPTY, None))
        ledger, left = _Release(tree, counts, judge.k, randomness, largest).run()
        bundles = without_loss(ledger.bundles, left, judge.k, len(tree.classes), randomness, shown)
        return bundles, Place(tree, shares_of(bundles, EMPTY, len(tree.classes)))

    def _largest(self, population: Population) -> dict[str, int]:
        """The largest set of values each attribute may show."""
        columns = population.sample().columns
        return {name: largest_set(len(column.dictionary), self.largest_set) for name, column in columns.items()}


MOST_IN_A_SET = 100  # values: nobody reads more, and cells that name thousands take more memory than the table


def largest_set(values: int, share: float) -> int:
    """The size of the largest set that may be shown of so many values."""
    return min(math.ceil(values * share), MOST_IN_A_SET)


@dataclass(frozen=True, eq=False)
class _Release:
    """The bottom-up walk with sibling merging; cells are node * classes + class."""

    tree: Tree
    counts: Counts
    k: int
    randomness: Randomness
    largest: dict[str, int]

    def run(self) -> tuple[BundleLedger, Pool]:
        ledger = BundleLedger()
        residual: dict[int, Pool] = {}
        for number in reversed(range(len(self.tree.nodes))):
            stuck = resting(self.counts, number, len(self.tree.classes))
            branches = self.tree.nodes[number].branches
            if not branches:
                residual[number] = stuck
                continue
            pools = {branch.predicate: residual.pop(branch.child) for branch in branches}
            ledger.touched += sum(pool.size for pool in pools.values())
            residual[number] = self._node(number, pools, stuck, ledger)
        left = residual[0]
        if left.size >= self.k:
            ledger.release(left, ())
            left = EMPTY
        return ledger, left

    def _node(self, number: int, pools: dict[Predicate, Pool], stuck: Pool, ledger: BundleLedger) -> Pool:
        """Release what complies, merge what does not, give back what has to climb."""
        path = self.tree.path_to(number)
        complying = [Bundle(pool, (*path, test)) for test, pool in pools.items() if pool.size >= self.k]
        small = [(test, pool) for test, pool in pools.items() if 0 < pool.size < self.k]
        waiting = [stuck]
        moved = 0
        if small and all(isinstance(test, Eq | In) for test, _ in small):
            merged, donors = self._merge(small, complying, path)
            moved += sum(bundle.pool.size for bundle in complying) - sum(bundle.pool.size for bundle in donors)
            complying = donors + merged
            waiting += [] if merged else [pool for _, pool in small]
        else:
            waiting += [pool for _, pool in small]
        pool = union(waiting)
        gifts = self._gifts([bundle.pool for bundle in complying], pool.size)
        released = sum(
            ledger.release(minus(bundle.pool, gift), bundle.path) for bundle, gift in zip(complying, gifts, strict=True)
        )
        residual = union([pool, *gifts])
        moved += residual.size - pool.size
        ledger.trace.append(NodeRecord(number, pool.size, moved, released, residual.size))
        return residual

    def _merge(
        self, small: Sequence[tuple[Predicate, Pool]], complying: list[Bundle], path: tuple[Predicate, ...]
    ) -> tuple[list[Bundle], list[Bundle]]:
        """Value sets of small siblings, and the complying bundles after what they gave; no set: ([], complying)."""
        attribute = small[0][0].attribute
        ordered = sorted(small, key=lambda item: self._class_share(item[1]))
        sets = [_set_bundle(attribute, part, path) for part in _close_at(ordered, self.k)]
        donors = complying
        if sum(pool.size for _, pool in small) < self.k:
            gifts = self._gifts([b.pool for b in complying], sum(pool.size for _, pool in small))
            gift_parts = [(bundle.path[-1], gift) for bundle, gift in zip(complying, gifts, strict=True) if gift.size]
            if not gift_parts or not all(isinstance(test, Eq | In) for test, _ in gift_parts):
                return [], complying
            sets = [_set_bundle(attribute, [*ordered, *gift_parts], path)]
            donors = [
                replace(bundle, pool=minus(bundle.pool, gift)) for bundle, gift in zip(complying, gifts, strict=True)
            ]
        if all(len(named_values(bundle.path[-1])) > self.largest[attribute] for bundle in sets):
            return [], complying
        return sets, donors

    def _class_share(self, pool: Pool) -> float:
        """Share of the table's second class and those after it, weighted by rank: orders siblings by class mix."""
        labels = pool.cells % len(self.tree.classes)
        return float((labels * pool.counts).sum() / pool.size)

    def _gifts(self, complying: Sequence[Pool], waiting: int) -> list[Pool]:
        """What each complying pool gives so that the waiting reach k, in proportion to what it can spare."""
        lacking = self.k - waiting if 0 < waiting < self.k else 0
        extras = np.array([pool.size - self.k for pool in complying], np.int64)
        if not lacking or extras.sum() < lacking:
            return [EMPTY] * len(complying)
        quota = largest_remainder(extras, lacking)
        return [
            draw_stratified(pool, int(rows), self.randomness, len(self.tree.classes)) if rows else EMPTY
            for pool, rows in zip(complying, quota, strict=True)
        ]


def _close_at(ordered: Sequence[tuple[Predicate, Pool]], k: int) -> list[list[tuple[Predicate, Pool]]]:
    """Consecutive siblings bundled until each bundle has k rows; a tail below k joins the last bundle."""
    bundles: list[list[tuple[Predicate, Pool]]] = []
    size = k
    for item in ordered:
        if size >= k:
            bundles.append([])
            size = 0
        bundles[-1].append(item)
        size += item[1].size
    if size < k and len(bundles) > 1:
        tail = bundles.pop()
        bundles[-1].extend(tail)
    return bundles


def _set_bundle(attribute: str, parts: Sequence[tuple[Predicate, Pool]], path: tuple[Predicate, ...]) -> Bundle:
    values = frozenset[Value]().union(*(named_values(test) for test, _ in parts))
    return Bundle(union([pool for _, pool in parts]), (*path, In(attribute, values)))


def without_loss(
    bundles: Sequence[Bundle], left: Pool, k: int, classes: int, randomness: Randomness, shown: Callable[[Bundle], int]
) -> list[Bundle]:
    """The bundles after the rows left at the root are taken in, fully suppressed, at the lower cost in cells.

    Either rows are recalled from the groups with the largest surplus, or the cheapest smallest group joins
    the remainder.
    """
    if not left.size:
        return list(bundles)
    recalled = _recall(bundles, k - left.size, k, classes, randomness)
    smallest = min(range(len(bundles)), key=lambda i: (bundles[i].pool.size, shown(bundles[i])))
    cost_of_group = bundles[smallest].pool.size * shown(bundles[smallest])
    if recalled is None or cost_of_group < sum(gift.size * shown(bundles[i]) for i, gift in recalled.items()):
        recalled = {smallest: bundles[smallest].pool}
    kept = [
        replace(bundle, pool=minus(bundle.pool, recalled[i])) if i in recalled else bundle
        for i, bundle in enumerate(bundles)
    ]
    remainder = Bundle(union([left, *recalled.values()]), ())
    return [bundle for bundle in kept if bundle.pool.size] + [remainder]


def _recall(
    bundles: Sequence[Bundle], lacking: int, k: int, classes: int, randomness: Randomness
) -> dict[int, Pool] | None:
    """Rows to take back from groups with a surplus, largest first; None if there are not enough."""
    recalled: dict[int, Pool] = {}
    for i in sorted(range(len(bundles)), key=lambda i: -bundles[i].pool.size):
        rows = min(lacking, bundles[i].pool.size - k)
        if rows:
            recalled[i] = draw_stratified(bundles[i].pool, rows, randomness, classes)
            lacking -= rows
    return None if lacking else recalled


def _set_form(table: EncodedTable, largest: float) -> FormOfSet:
    """Value sets in the order of the attribute; sets of numbers and sets that are too large are suppressed."""
    ranks = {
        name: {value: rank for rank, value in enumerate(column.dictionary.to_list())}
        for name, column in table.columns.items()
        if not column.type.is_numeric
    }

    def form(attribute: str, values: frozenset[Value]) -> Form:
        rank = ranks.get(attribute, {})
        if len(values) > largest_set(len(rank), largest):
            return Suppressed()
        return ValueSet(tuple(sorted(values, key=lambda value: rank.get(value, len(rank)))))

    return form
