"""kACTUS: suppress what the bottom of a decision tree cannot show to k people at once.

Kisilevich, Rokach, Elovici, Shapira, "Efficient Multi-Dimensional Suppression for K-Anonymity" (IEEE TKDE
2010). A classification tree is grown on the quasi-identifiers and the class. Walking up from the leaves,
every pool of at least k rows is released with the attributes of its path; smaller pools wait at their parent,
where the tested attribute is suppressed, and may borrow surplus rows of complying siblings to reach k.

Two readings of the paper's lines 19 to 27 are kept: ``literal`` moves rows up although nobody needs them;
``recommended`` (default) moves rows only to a pool that waits and lacks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from incrowd.errors import ParameterError
from incrowd.methods.catalog import target_of
from incrowd.methods.judging import Judge
from incrowd.methods.method import BINNED, Population, check_choice
from incrowd.methods.numeric import bin_numbers
from incrowd.methods.tree_suppression.pools import (
    EMPTY,
    Bundle,
    BundleLedger,
    Counts,
    NodeRecord,
    Path,
    Pool,
    WholePools,
    draw,
    minus,
    resting,
    shares_of,
    union,
)
from incrowd.plan.steps import Group, Place, Show, Step
from incrowd.trees.c45 import C45
from incrowd.trees.tree import Eq, Gt, In, Inducer, Le, Missing, Predicate, Tree, check_tree, named_values
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.released_value import Form, Interval, Mean, Shown, ShownMissing, Suppressed, Value
from incrowd.vocabulary.requirement import Requirement

READINGS = ("recommended", "literal")
MISSING: dict[str, Literal["stop", "branch"]] = {"stuck": "stop", "branch": "branch"}
FormOfSet = Callable[[str, frozenset[Value]], Form]


@dataclass(frozen=True)
class KActus:
    """kACTUS.

    Parameters
    ----------
    inducer
        Any univariate tree inducer; by default C4.5 with a smallest node of k.
    reading
        Of the paper's lines 19 to 27. ``"recommended"`` (default): rows move only to a pool that waits and lacks them.
        ``"literal"``: they move up although nobody needs them.
    numeric
        How numbers are released. ``"bins"`` (default): they are cut at public places that tell the class apart,
        and released as the interval they lie in, the same for everybody; what learners take best. ``"levels"``: the
        same bins, each written as one number. ``"mean"``: the mean over the group, and ``"interval"``: the interval
        of the tests on the group's path, both as in the paper.
    missing
        Rows whose tested value is missing: ``"stuck"`` at the node, where the attribute is suppressed for them;
        or ``"branch"``, missing is a value with a branch of its own.
    """

    inducer: Inducer | None = None
    reading: str = "recommended"
    numeric: str = "bins"
    missing: str = "stuck"

    name: ClassVar[str] = "kactus"

    def __post_init__(self) -> None:
        check_choice("reading", self.reading, READINGS)
        check_choice("numeric", self.numeric, BINNED)
        check_choice("missing", self.missing, tuple(MISSING))
        check_inducer(self.inducer)

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
        """Grow the tree, release bottom-up; at most k - 1 rows are left out, none if more than sizes is required."""
        binned = bin_numbers(population, self.numeric, max(requirement.smallest_group, preferences.promised))
        population = binned.population
        tree = grow(self.inducer, self.missing, population, requirement, preferences)
        names = population.schema.quasi_identifiers
        bundles, left = self._released(population, tree, requirement, randomness)

        def forms(path: Path) -> tuple[Form, ...]:
            return binned.forms(forms_of_path(path, names, numeric=self.numeric, of_set=suppress_sets))

        groups = tuple(Group(bundle.pool.size, forms(bundle.path)) for bundle in bundles)
        return *binned.steps, Place(tree, shares_of(bundles, left, None)), Show(names, groups)

    def _released(
        self, population: Population, tree: Tree, requirement: Requirement, randomness: Randomness
    ) -> tuple[Sequence[Bundle], Pool]:
        """What is released under which path, and what is left out."""
        judge = Judge.of(requirement, population)
        if not judge.by_size:
            pools = WholePools(tree, judge.resting(population, tree), judge)
            return pools.release(tests_of), EMPTY
        ledger, left = release_bottom_up(tree, population.count(tree), judge.k, randomness, self.reading)
        return ledger.bundles, left


def tests_of(path: Path) -> int:
    """How many attributes a path tests: about what its rows show."""
    return len({predicate.attribute for predicate in path})


def release_bottom_up(
    tree: Tree, counts: Counts, k: int, randomness: Randomness, reading: str
) -> tuple[BundleLedger, Pool]:
    """Section 3 of the paper on counts: what is released under which path, and what is left at the root."""
    ledger = BundleLedger()
    residual: dict[int, Pool] = {}
    for node in reversed(range(len(tree.nodes))):  # a child has a higher number than its parent
        stuck = resting(counts, node, None)
        branches = tree.nodes[node].branches
        if not branches:
            residual[node] = stuck
            continue
        pools = [residual.pop(branch.child) for branch in branches]
        small = [pool for pool in pools if pool.size < k]
        complying = [(branch, pool) for branch, pool in zip(branches, pools, strict=True) if pool.size >= k]
        waiting = union([*small, stuck])
        moved = borrow([pool for _, pool in complying], waiting.size, k, randomness, reading)
        released = sum(
            ledger.release(minus(pool, gone), tree.path_to(branch.child))
            for (branch, pool), gone in zip(complying, moved, strict=True)
        )
        residual[node] = union([waiting, *moved])
        ledger.touched += sum(pool.size for pool in pools)
        ledger.trace.append(NodeRecord(node, waiting.size, sum(m.size for m in moved), released, residual[node].size))
    left = residual[0]
    if left.size >= k:
        ledger.release(left, ())
        left = EMPTY
    return ledger, left


def borrow(complying: Sequence[Pool], waiting: int, k: int, randomness: Randomness, reading: str) -> list[Pool]:
    """The rows each complying pool gives away: a draw from the union of what they have above k."""
    extras = np.array([pool.size - k for pool in complying], np.int64)
    wanted = rows_asked(waiting, k, int(extras.sum()), reading)
    if not wanted:
        return [EMPTY] * len(complying)
    donors = draw(Pool.of(range(len(complying)), extras), wanted, randomness)
    counts = dict(zip(donors.cells.tolist(), donors.counts.tolist(), strict=True))
    return [draw(pool, counts.get(i, 0), randomness) for i, pool in enumerate(complying)]


def rows_asked(waiting: int, k: int, extra: int, reading: str) -> int:
    """How many rows move up; none if the extras cannot fill the gap."""
    if reading == "literal" and waiting >= k:
        return extra
    lacking = k - waiting if waiting or reading == "literal" else 0
    return lacking if 0 < lacking <= extra else 0


def grow(
    inducer: Inducer | None,
    missing: str,
    population: Population,
    requirement: Requirement,
    preferences: Preferences = INDIFFERENT,
) -> Tree:
    """The wrapped inducer's tree on quasi-identifiers and class, checked."""
    if inducer is not None and preferences.weights:
        raise ParameterError(
            "An inducer of your own has its own weights: C45(weights=…). Give them there, or leave inducer out."
        )
    schema = population.schema
    names = schema.quasi_identifiers
    weights = tuple(zip(names, preferences.factors(names), strict=True)) if preferences.weights else ()
    smallest = max(2, requirement.smallest_group)
    chosen = inducer or C45(min_node=smallest, missing=MISSING[missing], weights=weights)
    tree = chosen.grow(population.sample(), names, target_of(schema, "A tree method"))
    check_tree(tree, names)
    return tree


def describe_inducer(inducer: Inducer | None) -> str:
    """The inducer in one line."""
    return "C45(min_node=k)" if inducer is None else repr(inducer)


def check_inducer(inducer: object) -> None:
    """Raise unless it can grow a tree."""
    if inducer is not None and not callable(getattr(inducer, "grow", None)):
        raise ParameterError("inducer must be an object that can grow a tree, for instance incrowd.trees.C45().")


def forms_of_path(
    path: Iterable[Predicate], names: Sequence[str], *, numeric: str, of_set: FormOfSet
) -> tuple[Form, ...]:
    """One form per quasi-identifier for rows that pass all tests of the path.

    ``numeric``: ``"mean"``: an attribute tested only by thresholds is released as the group's mean; otherwise as the
    interval of its thresholds. ``of_set``: the form of an attribute of which several values remain possible.
    """
    tests: dict[str, list[Predicate]] = {}
    for predicate in path:
        tests.setdefault(predicate.attribute, []).append(predicate)
    return tuple(_form(name, tests.get(name, []), numeric, of_set) for name in names)


def suppress_sets(_attribute: str, _values: frozenset[Value]) -> Form:
    """The paper's rule: several possible values are not released."""
    return Suppressed()


def _form(name: str, tests: Sequence[Predicate], numeric: str, of_set: FormOfSet) -> Form:
    if any(isinstance(test, Missing) for test in tests):
        return ShownMissing()
    sets = [named_values(test) for test in tests if isinstance(test, Eq | In)]
    if sets:
        possible = frozenset.intersection(*sets)
        return Shown(next(iter(possible))) if len(possible) == 1 else of_set(name, possible)
    low = max((test.threshold for test in tests if isinstance(test, Gt)), default=None)
    high = min((test.threshold for test in tests if isinstance(test, Le)), default=None)
    if low is None and high is None:
        return Suppressed()
    return Mean() if numeric == "mean" else Interval(low, high)
