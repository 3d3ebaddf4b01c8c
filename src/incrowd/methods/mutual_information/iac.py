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
from incrowd.methods.mutual_information.generalizing import TOLERANCE, Generalized, LevelChoice, generalize
from incrowd.methods.mutual_information.rare_combinations import ON_RARE, ON_SMALL, CombinationHiding
from incrowd.plan.steps import Reasons, Step
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import KnownSet, Requirement

COLUMNS = ("attribute", "level", "of", "I_N", "margin", "H", "I_N change", "D_N", "scale of I_N", "scale of D_N")


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
    on_rare
        What rare combinations show: nothing (``"hide"``, default, as in the paper's experiments), or what groups of
        them have in common (``"generalize"``, as its authors suggest).
    """

    numeric: str = "interval"
    min_entropy: float = 0.0
    strict: bool = True
    on_small: str = "suppress"
    on_rare: str = "hide"

    name: ClassVar[str] = "iack"

    def __post_init__(self) -> None:
        check_choice("on_rare", self.on_rare, ON_RARE)
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
        hiding = CombinationHiding(generalized, strict=self.strict, on_small=self.on_small, on_rare=self.on_rare)
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
