"""Known rows: whoever knows at most m rows of a person finds k persons who have such rows.

Top-down refinement (see :mod:`incrowd.methods.top_down_refinement.tdr`), with supports in place of group sizes. One
recoding serves all rows, so support only falls as the table is refined: what breaks the promise once always will.

How many persons have these rows: the least support of any few rows that somebody has.

k^m-anonymity: Terrovitis, Mamoulis, Kalnis, "Privacy-preserving Anonymization of Set-valued Data" (PVLDB 2008); here a
history is a multiset of tuples. Support falls as more rows are known, so the largest sets that exist decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incrowd.drawing.wording import counted
from incrowd.errors import ParameterError, RequirementError, named_option
from incrowd.methods.histories.rows_of_persons import Histories, Ints, levels
from incrowd.methods.method import Population, check_flag
from incrowd.methods.top_down_refinement.attribute import AttributeState, best_of
from incrowd.methods.top_down_refinement.attribute_kinds import attribute_of
from incrowd.methods.top_down_refinement.tdr import tdr_score
from incrowd.plan.steps import DROPPED, Reasons, Recode, Recoding, Seat, Step
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.persons import ORDER
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import KAnonymity, Requirement, check_persons
from incrowd.vocabulary.schema import Schema

MOST = 50_000_000
"""Sets of rows that are counted at most: more would take minutes for each of hundreds of refinements."""


def work(lengths: Ints, most: int) -> int:
    """How many sets of rows there are to count, if all rows of a person differ.

    Examples
    --------
    >>> work(np.array([3, 2, 1]), 2)
    10
    """
    sizes = {min(most, length) for length in np.unique(lengths).tolist()}
    persons = dict(zip(*np.unique(lengths, return_counts=True), strict=True))
    return sum(int(many) * comb(int(length), size) for size in sizes for length, many in persons.items())


def check_work(lengths: Ints, most: int, bound: int = MOST) -> None:
    """Refuse more than can be counted, and say how many rows per person could be."""
    sets = work(lengths, most)
    if sets <= bound:
        return
    longest = int(lengths.max())
    fits, beyond = 0, longest
    while fits + 1 < beyond:
        middle = (fits + beyond) // 2
        fits, beyond = (middle, beyond) if work(np.minimum(lengths, middle), most) <= bound else (fits, middle)
    raise RequirementError(
        f"Somebody has {longest:,} rows, and {named_option(known_rows=most)} would take {sets:,} sets of rows to "
        f"count; at most {bound:,} are counted. Keep at most {counted(fits, 'row')} of each person, or let fewer rows "
        "be known."
    )


def smallest_support(tuples: Ints, owners: Ints, persons: int, most: int, static: Ints | None = None) -> int:
    """The fewest persons whose histories contain the same rows, at most so many; each person counts once.

    ``tuples``: what each row shows, as a number. ``static``: what is shown of each person beside its rows, which is
    known with them; persons without rows then count, too. Without persons nobody is found: the answer is 0.

    Examples
    --------
    >>> owners = np.array([0, 0, 1, 1, 2, 2])  # rows x and y, y and z, x and z
    >>> tuples = np.array([0, 1, 1, 2, 0, 2])
    >>> smallest_support(tuples, owners, 3, 1), smallest_support(tuples, owners, 3, 2)
    (2, 1)
    """
    histories = _distinct_histories(tuples, owners, persons, static)
    if not histories:
        return 0
    sizes = {min(most, rows.shape[1] - 1) for rows, _ in histories}
    width = 1 + max((int(rows.max()) for rows, _ in histories), default=0)
    return min(_least(histories, size, width) for size in sizes)


def _distinct_histories(tuples: Ints, owners: Ints, persons: int, static: Ints | None) -> list[tuple[Ints, Ints]]:
    """Different histories of each length, and how many persons have each; the first column is what is static."""
    order = np.lexsort((tuples, owners))
    lengths = np.bincount(owners, minlength=persons)
    begin = np.cumsum(np.append(0, lengths))
    histories = []
    for length in np.unique(lengths if static is not None else lengths[lengths > 0]).tolist():
        people = np.flatnonzero(lengths == length)
        rows = tuples[order[begin[people][:, None] + np.arange(length)]]
        beside = np.zeros(len(people), np.int64) if static is None else static[people]
        histories.append(np.unique(np.column_stack([beside, rows]), axis=0, return_counts=True))
    return histories


def _least(histories: list[tuple[Ints, Ints]], size: int, width: int) -> int:
    """The least support of sets of one size."""
    keys, persons = zip(*_sets(histories, size, width), strict=True)
    sets, places = np.unique(np.concatenate(keys), return_inverse=True)
    del sets
    return int(np.bincount(places, np.concatenate(persons)).min())


def _sets(histories: list[tuple[Ints, Ints]], size: int, width: int) -> Iterator[tuple[Ints, Ints]]:
    """Each set of rows of each history once, as a number, with the persons who have that history."""
    exact = width ** (size + 1) < 1 << 62
    numbers: dict[bytes, int] = {}
    for rows, persons in histories:
        if rows.shape[1] <= size:
            continue
        rest = rows.shape[1] - 1
        chosen = np.array(list(combinations(range(1, rest + 1), size)), np.int64).reshape(comb(rest, size), size)
        sets = np.concatenate(
            [np.repeat(rows[:, None, :1], len(chosen), axis=1), rows[:, chosen]], axis=2
        )  # histories x sets x (static, rows)
        if exact:
            keys = sets @ (width ** np.arange(size, -1, -1, dtype=np.int64))
        else:
            plain = np.ascontiguousarray(sets).reshape(-1, size + 1)
            keys = np.array([numbers.setdefault(one.tobytes(), len(numbers)) for one in plain], np.int64)
            keys = keys.reshape(sets.shape[:2])
        keys = np.sort(keys, axis=1)
        first = np.ones(keys.shape, bool)
        first[:, 1:] = keys[:, 1:] != keys[:, :-1]
        yield keys[first], np.repeat(persons, first.sum(axis=1))


_ROOM = 10  # times k: where numbers of rows are known, so many persons share each, so that more than that can be shown
_CLASSES = 16  # into which the rows are dealt by the values of an attribute, where no class says which cuts matter


@dataclass(frozen=True)
class KnownRows:
    """Known rows.

    Parameters
    ----------
    rows
        How many rows of a person an attacker knows at most.
    count
        Whether also how many rows the person has.
    """

    rows: int = 1
    count: bool = False

    name: ClassVar[str] = "known-rows"

    def __post_init__(self) -> None:
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1:
            raise ParameterError("rows must be a whole number of at least 1.")
        check_flag("count", self.count)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return asdict(self)

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,
        preferences: Preferences = INDIFFERENT,  # noqa: ARG002, the catalog says that it has none
    ) -> tuple[Step, ...]:
        """Leave out rows that too few persons have as many of, then refine until nothing can be refined."""
        k = check_k_alone(requirement)
        table, schema = population.sample(), population.schema
        owners = np.arange(population.rows, dtype=np.int32) if population.owners is None else population.owners
        persons = int(owners.max(initial=-1)) + 1
        check_persons(requirement, persons)
        columns = [table[name] for name in schema.quasi_identifiers]
        histories = Histories.of(owners, persons, columns, table.columns.get(ORDER), randomness)
        lengths, kept = self.cut(histories, k, randomness)
        rows = np.flatnonzero(kept)
        target = None if schema.target is None else table[schema.target].take(rows)
        refinement = SupportRefinement(
            [Refined.of(column.take(rows), schema, target) for column in columns],
            histories.owners[rows],
            persons,
            static=lengths if self.count else None,
            known=self.rows,
            k=k,
        ).run()
        return kept_rows(kept), *refinement.steps()

    def cut(self, histories: Histories, k: int, randomness: Randomness) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """How many rows each person keeps, and which; refuses more than can be counted."""
        lengths = kept_lengths(histories.lengths, k, self.rows, count=self.count, randomness=randomness)
        check_work(lengths, self.rows)
        return lengths, histories.kept(lengths)


def check_k_alone(requirement: Requirement) -> int:
    """k; raises if anything is required beside it."""
    if not isinstance(requirement, KAnonymity):
        raise RequirementError(
            "With a number of known rows k is promised, and nothing beyond it yet. Leave the other requirements "
            "out, or promise whole histories."
        )
    return requirement.k


def kept_rows(kept: npt.NDArray[np.bool_]) -> Seat:
    """The step that leaves out all other rows."""
    there = int(kept.sum())
    return Seat((there,), np.where(kept, 0, DROPPED).astype(np.int32), len(kept) - there)


def kept_lengths(lengths: Ints, k: int, known: int, *, count: bool, randomness: Randomness) -> Ints:
    """How many rows each person keeps so that nobody is found by the number of rows alone.

    Who knows j rows knows that there are j: k persons must have as many. Where the number itself is known, k persons
    must have each.

    Examples
    --------
    >>> from incrowd.vocabulary.randomness import SeededRandomness
    >>> kept_lengths(np.array([5, 2, 2]), 2, 3, count=False, randomness=SeededRandomness(1)).tolist()
    [2, 2, 2]
    """
    if count:
        lengths = levels(lengths, max(k, min(_ROOM * k, len(lengths) // 4)), randomness)
    enough = [int((lengths >= rows).sum()) >= k for rows in range(1, known + 1)]
    return np.minimum(lengths, enough.index(False)) if False in enough else lengths


@dataclass(eq=False)
class Refined:
    """An attribute on its way: its state, the values of the rows, and the id that each code shows so far."""

    state: AttributeState
    codes: npt.NDArray[np.int32]
    shown: Ints

    @classmethod
    def of(cls, column: EncodedColumn, schema: Schema, target: EncodedColumn | None) -> Refined:
        """With nothing shown."""
        counts = _by_class(column, target)
        state = attribute_of(column, counts, schema[column.name].hierarchy, one_by_one=True)
        return cls(state, column.codes, np.full(column.width, -1, np.int64))

    def tried(self, candidate: int) -> Ints:
        """What each code would show if a candidate was refined."""
        after, shown = self.state.next, self.shown.copy()
        touched = (after >= 0) & (self.state.decides[after] == candidate)
        shown[touched] = after[touched]
        return shown

    def refine(self, candidate: int) -> None:
        """Refine a candidate."""
        split = self.state.refine(candidate)
        ids = np.array(split.into, np.int64)
        there = split.position >= 0
        self.shown[there] = ids[split.position[there]]


def _by_class(column: EncodedColumn, target: EncodedColumn | None) -> Ints:
    """Rows per code and class; without a target classes are stretches of the attribute's own values."""
    if target is not None:
        keys, width = column.codes.astype(np.int64) * target.width + target.codes, target.width
        return np.bincount(keys, minlength=column.width * width).reshape(column.width, width)
    before = np.cumsum(column.counts) - column.counts
    stretch = before * _CLASSES // max(len(column.codes), 1)
    counts = np.zeros((column.width, _CLASSES + 1), np.int64)
    counts[np.arange(column.width), np.minimum(stretch, _CLASSES - 1)] = column.counts
    return counts


class SupportRefinement:
    """Attributes that are refined while k persons share every few rows that somebody has.

    ``attributes`` are those of the rows, ``owners`` has the person of each row. ``of_persons`` are attributes of the
    persons themselves, ``static`` is what else is known of each; both are known with the rows, and with none.
    """

    def __init__(
        self,
        attributes: Sequence[Refined],
        owners: Ints,
        persons: int,
        *,
        of_persons: Sequence[Refined] = (),
        static: Ints | None,
        known: int,
        k: int,
    ) -> None:
        self._of_rows, self._of_persons = tuple(attributes), tuple(of_persons)
        self.attributes = (*attributes, *of_persons)
        self._owners, self._persons = owners, persons
        self._static, self._known, self._k = static, known, k
        self.trace: list[tuple[Any, ...]] = []
        self.support = self._count(-1, None)
        if self.support < k:
            raise RequirementError(f"k={k} is impossible: hidden rows tell fewer persons apart. Choose a lower k.")

    def run(self) -> SupportRefinement:
        """Refine the candidate with the best score that keeps k, until there is none.

        The score is that of TDR: gain per support that is lost. Support is counted where it matters: what was counted
        for a candidate before is not below what it has now, so its score is at most what that says.
        """
        counted: dict[tuple[int, int], int] = {}
        current: set[tuple[int, int]] = set()
        while (best := self._best(counted)) is not None:
            place, candidate = best
            attribute = self.attributes[place]
            if best not in current:
                counted[best] = self._count(place, attribute.tried(candidate))
                current.add(best)
                if counted[best] < self._k:
                    attribute.state.close(candidate)
                continue
            gain, self.support = float(f"{attribute.state.gains[candidate]:.4g}"), counted[best]
            self.trace.append((attribute.state.name, *attribute.state.words(candidate), gain, self.support))
            attribute.refine(candidate)
            current.clear()
        return self

    def steps(self, *, of_persons: bool = False) -> tuple[Step, ...]:
        """What the values show, of rows or of persons, and what was done in which order."""
        attributes = self._of_persons if of_persons else self._of_rows
        recodings = (Recoding(one.state.name, one.state.parts(lambda interval: interval)) for one in attributes)
        facts = (
            ("persons", self._persons),
            ("refinements", len(self.trace)),
            ("least support", self.support),
            ("persons left out", 0),
        )
        heads = ("attribute", "refined", "into", "gain", "least support")
        return Recode(tuple(recodings)), Reasons("Refinements, in order", heads, tuple(self.trace), facts)

    def _best(self, counted: Mapping[tuple[int, int], int]) -> tuple[int, int] | None:
        """The candidate with the best score, by the support it is known to have at most; of equals the first."""
        candidates = [
            (place, candidate)
            for place, attribute in enumerate(self.attributes)
            for candidate in np.flatnonzero(attribute.state.open).tolist()
        ]
        if not candidates:
            return None
        gains = np.array([self.attributes[place].state.gains[candidate] for place, candidate in candidates])
        least = np.array([min(counted.get(one, self.support), self.support) for one in candidates])
        scores = tdr_score(gains, (self.support - least).astype(np.float64))
        tied = [candidates[i] for i in np.flatnonzero(best_of(scores)).tolist()]
        return min(tied, key=lambda one: (one[0], self.attributes[one[0]].state.place(one[1])))

    def _count(self, place: int, shown: Ints | None) -> int:
        """The least support if an attribute showed this."""
        looks = [
            shown if number == place and shown is not None else one.shown for number, one in enumerate(self.attributes)
        ]
        of_rows = len(self._of_rows)
        tuples = _numbered(self._of_rows, looks[:of_rows], np.zeros(len(self._owners), np.int64))
        static = self._static
        if self._of_persons:
            static = _numbered(
                self._of_persons, looks[of_rows:], np.zeros(self._persons, np.int64) if static is None else static
            )
        return smallest_support(tuples, self._owners, self._persons, self._known, static)


def _numbered(attributes: Sequence[Refined], looks: Sequence[Ints], numbers: Ints) -> Ints:
    """The number of each row's combination of what attributes show, and of numbers it has already."""
    numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
    for attribute, ids in zip(attributes, looks, strict=True):
        codes = np.unique(ids, return_inverse=True)[1].astype(np.int64)[attribute.codes]
        numbers = np.unique(numbers * len(ids) + codes, return_inverse=True)[1].astype(np.int64)
    return numbers
