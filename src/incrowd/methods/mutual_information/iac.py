"""IACk and IACc: every attribute at the level that tells most of the class; then hide what is still rare.

Li, Liu, Baig, Wong, "Information based data anonymization for classification utility" (Data & Knowledge Engineering
2011). The level of an attribute is chosen for the class, not for k, and is the same for all rows, so that learners see
one consistent domain. IACk (Algorithm 1) then hides every combination of fewer than k rows, whole. IACc (Algorithm 2)
hides combinations size by size, the rarest first, while no attribute's distribution (delta_d) and no attribute's
information on the class (delta_c) changes too much. The k asked for is a floor that is kept whatever the thresholds
say; with k=1 this is the paper's algorithm.

Where a person may have several rows, a combination is rare below k persons, and sizes are numbers of persons.

Rare combinations show nothing, until no set of attributes has a rare one. Rows that show nothing of a set anyway have
nothing to hide; in the release they look like those that were hidden. If ``strict``, both together are at least k rows,
or none, and keep whatever else is required.

What hiding changed of every attribute (section 4 of the paper) is its information on the class and its distribution.
A' is the attribute after generalization, A'' after hiding. Rows hidden in the attribute, or left out, count as
suppressed; a missing value that was not hidden is a value like any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import incrowd.measures.information as measures
from incrowd.methods.method import INTERVALS, Population, check_choice, check_flag, check_not_negative
from incrowd.methods.mutual_information.generalizing import (
    TOLERANCE,
    EquivalenceClasses,
    Generalized,
    LevelChoice,
    Whole,
    classes_of,
    generalize,
)
from incrowd.plan.steps import Hide, Reasons, Step
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import KnownSet, Requirement

ON_SMALL = ("suppress", "drop")
Flags = npt.NDArray[np.bool_]
COLUMNS = ("attribute", "level", "of", "I_N", "margin", "H", "I_N change", "D_N", "scale of I_N", "scale of D_N")


class CombinationHiding:
    """The combinations of a generalized table, and what is hidden of them so far.

    ``raised``: combinations are rare below k and that many more rows; the promise is still k. ``strict``: whether the
    rows that show nothing must be k as well, or none. ``on_small``: if they are fewer: ``"suppress"`` hides one more
    combination, ``"drop"`` leaves them out. Where more than sizes is required no row is left out: shares are those of
    the whole table.

    ``hidden``: combinations x attributes: what was hidden, or left out. ``dropped``: the combinations left out.
    ``steps``: what was done, in order. ``e_min``: rows of the largest combination that was hidden for being rare; 0 if
    none was. ``smallest``: for each set the rows of the smallest combination that still shows something; None if there
    is none.
    """

    def __init__(
        self, generalized: Generalized, *, raised: int = 0, strict: bool = True, on_small: str = "suppress"
    ) -> None:
        self._generalized = generalized
        self.raised = raised
        self._strict = strict
        self._on_small = on_small
        self._rows = generalized.counts.sum(axis=1)
        self._evidence, self._persons = generalized.evidence, generalized.persons
        self.hidden: Flags = np.zeros(generalized.codes.shape, bool)
        self.dropped: Flags = np.zeros(len(generalized.codes), bool)
        self.steps: list[Hide] = []
        self.e_min = 0
        self.smallest: dict[KnownSet, int | None] = {}

    @property
    def rows_hidden(self) -> int:
        """Rows of which something was hidden, without those left out."""
        return int(self._rows[self.hidden.any(axis=1) & ~self.dropped].sum())

    @property
    def rows_dropped(self) -> int:
        """Rows left out."""
        return int(self._rows[self.dropped].sum())

    @property
    def next_raise(self) -> int | None:
        """The smallest raise at which more is rare in some set; None if nothing is shown any more."""
        gaps = [size - known.k for known, size in self.smallest.items() if size is not None]
        return min(gaps) + 1 if gaps else None

    def settle(self, sets: Sequence[KnownSet]) -> None:
        """Hide what is rare in each set, in turn, until all of them are content.

        Hiding for one set changes what the others count. It ends, because cells and rows only disappear.
        """
        content, turn = 0, 0
        while content < len(sets):
            content = 1 if self._treat(sets[turn]) else content + 1
            turn = (turn + 1) % len(sets)

    def classes(self, names: Sequence[str]) -> EquivalenceClasses:
        """What rows show of some attributes as things are now, in classes."""
        if not self.steps:
            return self._generalized.classes(names)
        columns = self._generalized.columns(names)
        nothing = self._generalized.nothing[columns]
        codes = np.where(self.hidden[:, columns], nothing, self._generalized.codes[:, columns])
        return classes_of(codes, nothing, np.where(self.dropped, 0, self._rows), self._persons)

    def _treat(self, known: KnownSet) -> bool:
        """Hide or leave out what is rare in one set; False if there was nothing to do."""
        classes = self.classes(known.names)
        present = classes.sizes > 0
        shown = present & ~classes.blank
        large = classes.sizes >= known.k + self.raised
        rare = shown & ~(large & self._allowed(classes, np.arange(len(large)), len(large)))
        self.e_min = int(classes.sizes[rare].max(initial=self.e_min))
        unseen = rare | (present & classes.blank)
        too_few = self._strict and bool(unseen.any()) and not self._may_hide(classes, unseen, known.k)
        drop = too_few and self._on_small == "drop" and self._sizes_decide
        marked = rare | (present & classes.blank & drop)
        if too_few and not drop:
            marked |= self._more(classes, unseen, shown & ~rare, known.k)
        left = classes.sizes[shown & ~marked]
        self.smallest[known] = int(left.min()) if len(left) else None
        if not marked.any():
            return False
        gone = self.dropped.copy()
        self._mark(marked[classes.of], known.names, drop)
        named = tuple(tuple(codes) for codes in classes.codes[marked & shown & large].tolist())
        rows = int(self._rows[marked[classes.of] & ~gone].sum())
        self.steps.append(Hide(known.names, known.k + self.raised, named, drop, rows))
        return True

    @property
    def _sizes_decide(self) -> bool:
        """Whether nothing is required beyond the size of a class, in rows or in persons."""
        return self._evidence is None and (self._persons is None or self._persons.judge.counts_only)

    def _allowed(self, classes: EquivalenceClasses, group: Whole, groups: int) -> Flags:
        """Whether groups of classes may be released, but for their size; -1 is in no group."""
        if self._sizes_decide:
            return np.ones(groups, np.bool_)
        of = np.where(self.dropped, -1, group[classes.of])
        if self._persons is not None:
            return self._persons.holds(of, groups)
        assert self._evidence is not None
        sizes = np.bincount(of[of >= 0], self._rows[of >= 0], groups).astype(np.int64)
        return self._evidence.holds(np.arange(len(of)), of, sizes)

    def _may_hide(self, classes: EquivalenceClasses, unseen: Flags, k: int) -> bool:
        """Whether these classes may look alike, showing nothing."""
        together = np.where(unseen, 0, -1)
        if self._persons is None:
            size = int(classes.sizes[unseen].sum())
        else:
            size = int(self._persons.sizes(np.where(self.dropped, -1, together[classes.of]), 1)[0])
        return size >= k and bool(self._allowed(classes, together, 1)[0])

    def _more(self, classes: EquivalenceClasses, unseen: Flags, among: Flags, k: int) -> Flags:
        """Further classes to be hidden, the smallest first: one, two, four, ... until all that is hidden may be."""
        places = np.flatnonzero(among)
        places = places[np.argsort(classes.sizes[places], kind="stable")]
        more, count = np.zeros_like(among), 1
        while len(places):
            more[places[:count]] = True
            if count >= len(places) or self._may_hide(classes, unseen | more, k):
                break
            count *= 2
        return more

    def _mark(self, combinations: Flags, names: Sequence[str], drop: bool) -> None:
        if drop:
            self.dropped |= combinations
            self.hidden[self.dropped] = True
        else:
            self.hidden[np.ix_(np.flatnonzero(combinations), self._generalized.columns(names))] = True


@dataclass(frozen=True)
class AttributeChange:
    """One attribute before and after."""

    entropy: float  # H(A')
    class_entropy: float  # H(C) over all rows
    # before, after: I_N(A'; C) and I_N(A''; C)
    before: float
    after: float
    divergence: float  # D(A'||A'')
    room: float  # the largest divergence that keeps every value: log n - H(A')

    @property
    def information(self) -> float:
        """The change of the normalized mutual information."""
        return abs(self.after - self.before)

    @property
    def normalized_divergence(self) -> float:
        """D_N(A'||A'')."""
        return measures.ratio(self.divergence, self.entropy)

    @property
    def information_scale(self) -> float:
        """The paper's scale for a change of I_N: H(C) / H(A')."""
        return measures.ratio(self.class_entropy, self.entropy)

    @property
    def divergence_scale(self) -> float:
        """The paper's scale for D_N: (log n - H(A')) / H(A')."""
        return measures.ratio(self.room, self.entropy)

    @property
    def information_share(self) -> float:
        """The change of I_N as a share of its scale."""
        return measures.ratio(self.information * self.entropy, self.class_entropy)

    @property
    def divergence_share(self) -> float:
        """D_N as a share of its scale; H(A') cancels out, so an attribute of one value has a share as well."""
        return measures.ratio(self.divergence, self.room)


def changes_of(generalized: Generalized, hidden: npt.NDArray[np.bool_]) -> tuple[AttributeChange, ...]:
    """The change of each attribute if these combinations are hidden in these attributes."""
    shown = generalized.still_shown(hidden)
    return tuple(_change(choice.counts, after) for choice, after in zip(generalized.choices, shown, strict=True))


def _change(before: measures.Counts, after: measures.Counts) -> AttributeChange:
    rows = before.sum(axis=1)
    return AttributeChange(
        entropy=measures.value_entropy(before),
        class_entropy=measures.class_entropy(before),
        before=measures.normalized_information(before),
        after=measures.normalized_information(after),
        divergence=measures.divergence(rows, after.sum(axis=1)),
        room=measures.divergence_room(rows),
    )


def alpha(changes: Sequence[AttributeChange]) -> float:
    """The largest change of normalized mutual information (Algorithm 1, line 9)."""
    return max((change.information for change in changes), default=0.0)


def beta(changes: Sequence[AttributeChange]) -> float:
    """The largest normalized divergence (Algorithm 1, line 10)."""
    return max((change.normalized_divergence for change in changes), default=0.0)


def reasons(
    title: str,
    generalized: Generalized,
    hiding: CombinationHiding,
    changes: Sequence[AttributeChange],
    facts: Sequence[tuple[str, Any]],
) -> Reasons:
    """The table of attributes, and the facts; the method's own come last."""
    shown = [size for size in hiding.smallest.values() if size is not None]
    common: list[tuple[str, Any]] = [
        ("alpha", written(alpha(changes))),
        ("beta", written(beta(changes))),
        ("H(C)", changes[0].class_entropy if changes else 0.0),
        ("k_actual", min(shown, default=None)),
        ("rows hidden", hiding.rows_hidden),
        ("rows left out", hiding.rows_dropped),
    ]
    rows = tuple(map(_row, generalized.choices, changes))
    return Reasons(title, COLUMNS, rows, (*common, *facts))


def _row(choice: LevelChoice, change: AttributeChange) -> tuple[Any, ...]:
    numbers = (
        choice.scores[choice.number - 1],
        choice.margin,
        change.entropy,
        change.information,
        change.normalized_divergence,
        change.information_scale,
        change.divergence_scale,
    )
    return (choice.name, choice.number, len(choice.scores), *map(written, numbers))


def written(number: float) -> float | str:
    """A number as a plan can hold it: JSON has no infinity."""
    return "infinite" if math.isinf(number) else number


TITLE = "Levels by normalized mutual information with the class"


@dataclass(frozen=True)
class IACk:
    """IACk.

    Parameters
    ----------
    numeric
        How intervals are released: ``"interval"`` (default), ``"bounds"``, ``"midpoint"`` or ``"mean"``.
    min_entropy
        A level whose values have less entropy, in bits, scores 0; 0 (default) is the paper. The score divides by that
        entropy, and a level that sets a handful of rows apart from all others can score high by accident.
    strict
        Whether the rows that show nothing must be at least k as well, or none. Without it (as in the paper) they may
        be fewer, and the release is not k-anonymous.
    on_small
        What to do, if strict, when they are fewer: ``"suppress"`` (default) hides the smallest combination that is
        left as well; ``"drop"`` leaves them out.
    """

    numeric: str = "interval"
    min_entropy: float = 0.0
    strict: bool = True
    on_small: str = "suppress"

    name: ClassVar[str] = "iack"

    def __post_init__(self) -> None:
        check_choice("numeric", self.numeric, INTERVALS)
        check_not_negative("min_entropy", self.min_entropy)
        check_flag("strict", self.strict)
        check_choice("on_small", self.on_small, ON_SMALL)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return dict(vars(self))

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,  # noqa: ARG002, nothing is left to chance
        preferences: Preferences = INDIFFERENT,  # noqa: ARG002, it has none yet
    ) -> tuple[Step, ...]:
        """Choose the levels, then hide what is rare."""
        generalized = generalize(population, requirement, self.numeric, self.min_entropy)
        hiding = CombinationHiding(generalized, strict=self.strict, on_small=self.on_small)
        hiding.settle(requirement.sets(generalized.names))
        changes = changes_of(generalized, hiding.hidden)
        recode = generalized.recode(generalized.still_shown(hiding.hidden))
        return recode, *hiding.steps, *generalized.spread, reasons(TITLE, generalized, hiding, changes, ())


SCALES = ("relative", "absolute")


@dataclass(frozen=True)
class IACc:
    """IACc.

    Parameters
    ----------
    delta_d
        How much the distribution of an attribute may change: a bound on D_N(A'||A'').
    delta_c
        How much the information of an attribute on the class may change: a bound on abs(I_N(A''; C) - I_N(A'; C)).
    scale
        ``"relative"`` (default): both are shares of the scale the paper suggests for each attribute, (log n - H(A')) /
        H(A') and H(C) / H(A'). ``"absolute"``: they are the paper's plain thresholds.
    numeric, min_entropy, strict, on_small
        As in :class:`~incrowd.methods.mutual_information.iac.IACk`.
    """

    delta_d: float = 0.05
    delta_c: float = 0.05
    scale: str = "relative"
    numeric: str = "interval"
    min_entropy: float = 0.0
    strict: bool = True
    on_small: str = "suppress"

    name: ClassVar[str] = "iacc"

    def __post_init__(self) -> None:
        check_not_negative("delta_d", self.delta_d)
        check_not_negative("delta_c", self.delta_c)
        check_choice("scale", self.scale, SCALES)
        check_choice("numeric", self.numeric, INTERVALS)
        check_not_negative("min_entropy", self.min_entropy)
        check_flag("strict", self.strict)
        check_choice("on_small", self.on_small, ON_SMALL)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return dict(vars(self))

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,  # noqa: ARG002, nothing is left to chance
        preferences: Preferences = INDIFFERENT,  # noqa: ARG002, it has none yet
    ) -> tuple[Step, ...]:
        """Choose the levels, keep the floor, then hide size by size while the thresholds hold."""
        generalized = generalize(population, requirement, self.numeric, self.min_entropy)
        floor = requirement.sets(generalized.names)
        kept, changes = self._furthest(generalized, floor)
        recode = generalized.recode(generalized.still_shown(kept.hidden))
        reached = [known.k + kept.raised for known in floor]
        facts = (
            ("k", tuple(reached) if len(reached) > 1 else reached[0]),
            ("e_min", kept.e_min),
            ("thresholds exceeded at the k asked for", self.exceeds(changes)),
        )
        return recode, *kept.steps, *generalized.spread, reasons(TITLE, generalized, kept, changes, facts)

    def _furthest(
        self, generalized: Generalized, floor: Sequence[KnownSet]
    ) -> tuple[CombinationHiding, tuple[AttributeChange, ...]]:
        """The last hiding, size by size, before a threshold is exceeded; the floor's in any case."""
        kept: tuple[CombinationHiding, tuple[AttributeChange, ...]] | None = None
        for hiding in self._rising(generalized, floor):
            changes = changes_of(generalized, hiding.hidden)
            exceeded = self.exceeds(changes)
            if kept is None or not exceeded:
                kept = hiding, changes
            if exceeded:
                break
        assert kept is not None
        return kept

    def exceeds(self, changes: Sequence[AttributeChange]) -> bool:
        """Whether some attribute has changed by more than a threshold; equality is allowed."""
        if self.scale == "relative":
            pairs = [(change.divergence_share, change.information_share) for change in changes]
        else:
            pairs = [(change.normalized_divergence, change.information) for change in changes]
        return any(d > self.delta_d + TOLERANCE or c > self.delta_c + TOLERANCE for d, c in pairs)

    def _rising(self, generalized: Generalized, floor: Sequence[KnownSet]) -> Iterator[CombinationHiding]:
        """What is hidden at the floor, then at each larger k that hides more; the k of all sets rises together."""
        raised: int | None = 0
        while raised is not None:
            hiding = CombinationHiding(generalized, raised=raised, strict=self.strict, on_small=self.on_small)
            hiding.settle(floor)
            yield hiding
            raised = hiding.next_raise
