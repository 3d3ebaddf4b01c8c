"""TDR: start from a table that shows nothing, and refine whatever tells most about the class per lost row of cover.

Fung, Wang, Yu, "Anonymizing Classification Data for Privacy Preservation" (IEEE TKDE 2007). Every attribute has one
state for the whole table: a cut through its taxonomy, intervals that are cut where the class changes, or values that
are disclosed one by one. The refinement with the best score is made, as long as one keeps the requirement.

A refinement is judged by what it tells about the class, and by what it costs in group size. It is *valid* if every set
keeps what is required, and *of use* if the rows it touches are of more than one class. Groups only fall apart, so what
is not valid never becomes so, and is forgotten.

TDS is its forerunner: Fung, Wang, Yu, "Top-Down Specialization for Information and Privacy Preservation" (ICDE 2005).
There is no suppression of single values: an attribute without taxonomy and order shows nothing, or all of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import outer_ends
from incrowd.methods.catalog import target_of
from incrowd.methods.judging import Judge, Records
from incrowd.methods.limits import check_limits, limit_of
from incrowd.methods.method import INTERVALS, Combinations, Population, check_choice
from incrowd.methods.numeric import interval_form, spread_steps
from incrowd.methods.person_records import PersonRecords
from incrowd.methods.top_down_refinement.attribute import AttributeState, Look, best_of
from incrowd.methods.top_down_refinement.attribute_kinds import attribute_of
from incrowd.methods.top_down_refinement.partitions import Partitions
from incrowd.methods.top_down_refinement.persons import PersonPartitions
from incrowd.plan.steps import Reasons, Recode, Recoding, Step
from incrowd.vocabulary.encoded_table import EncodedColumn, ValueOwners
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import KnownSet, Requirement
from incrowd.vocabulary.schema import ColumnType

Figures = npt.NDArray[np.float64]
Score = Callable[[Figures, Figures], Figures]
AVERAGES = ("related", "all")


def tdr_score(gain: Figures, loss: Figures) -> Figures:
    """Gain per loss, one added to the loss (Fung, Wang, Yu 2007, Score).

    Examples
    --------
    >>> tdr_score(np.array([0.6100, 0.4934]), np.array([36.0, 26.0])).round(4).tolist()
    [0.0165, 0.0183]
    """
    return gain / (loss + 1)


def tds_score(gain: Figures, loss: Figures) -> Figures:
    """Gain per loss; where nothing is lost, the gain (Fung, Wang, Yu 2005, Score).

    Examples
    --------
    >>> tds_score(np.array([0.5, 0.5]), np.array([10.0, 0.0])).tolist()
    [0.05, 0.5]
    """
    return gain / np.where(loss > 0, loss, 1.0)


def gain_alone(gain: Figures, loss: Figures) -> Figures:  # noqa: ARG001, that is the point
    """The gain, whatever is lost: what the papers compare their score with."""
    return gain


def anonymity_loss(
    anonymity: npt.NDArray[np.int64], smallest: npt.NDArray[np.int64], shared: npt.NDArray[np.int64]
) -> Figures:
    """By how much the smallest groups would shrink, on average over sets of attributes (AnonyLoss).

    ``anonymity``: the smallest group of each set, now. ``smallest``: for each set and candidate the smallest part it
    would leave. ``shared``: the number of sets each candidate's loss is averaged over.

    Examples
    --------
    >>> anonymity_loss(np.array([34, 34]), np.array([[16], [99]]), np.array([1])).tolist()
    [18.0]
    """
    fallen = anonymity[:, None] - np.minimum(anonymity[:, None], smallest)
    return np.asarray(fallen.sum(axis=0) / shared, np.float64)


@dataclass(frozen=True)
class RefinementCandidate:
    """A refinement that is valid and of use: of which attribute, of what into what, and its figures."""

    attribute: str
    place: int
    refined: str
    into: str
    gain: float
    loss: float
    score: float


@dataclass(frozen=True)
class RefinementStep:
    """A refinement that was made, the smallest group of each set after it, and how many records were read for it."""

    candidate: RefinementCandidate
    anonymity: tuple[int, ...]
    reads: int


class Refinement:
    """A table on its way from showing nothing to showing as much as the requirement allows.

    ``held``: the combinations of the attributes' values that occur. ``attributes``: the state of each attribute; they
    are refined in place. ``sets``: the attributes that are known together, each set with its k. ``score``: the figure
    that the best candidate has the most of. ``average``: ``"related"``: losses are averaged over the sets that contain
    the attribute; ``"all"``: over all sets. ``evidence``: what else must be known of the rows to judge a group; None if
    sizes decide. ``weights``: for each attribute the factor of its candidates' scores; None if all are 1.
    """

    def __init__(
        self,
        held: Combinations,
        attributes: Sequence[AttributeState],
        sets: Sequence[KnownSet],
        score: Score,
        average: str = "related",
        evidence: Records | PersonRecords | None = None,
        weights: Sequence[float] | None = None,
    ) -> None:
        inside = np.array([[attribute.name in known.names for attribute in attributes] for known in sets])
        self.attributes = attributes
        self.partitions: Partitions = (
            PersonPartitions(held, attributes, inside, evidence)
            if isinstance(evidence, PersonRecords)
            else Partitions(held, attributes, inside, evidence)
        )
        self._k = np.array([known.k for known in sets])
        self._score = score
        self._weights = np.ones(len(attributes)) if weights is None else np.array(weights, np.float64)
        self._shared = inside.sum(axis=0) if average == "related" else np.full(len(attributes), len(sets))
        self._first = self.partitions.first
        for attribute, state in enumerate(attributes):
            if state.must_refine:
                self._split(attribute, 0)
        self._close_invalid()

    @property
    def anonymity(self) -> tuple[int, ...]:
        """The smallest group of each set."""
        return tuple(self.partitions.anonymity.tolist())

    def run(self) -> Iterator[RefinementStep]:
        """Refine the best candidate until there is none."""
        while (best := self._best()) is not None:
            attribute, own = self._place(best[0])
            if self.partitions.allows(attribute, own):
                yield self._apply(*best)
            else:
                self._close(attribute, [own])

    def candidates(self) -> list[RefinementCandidate]:
        """All candidates, by attribute and value."""
        numbers, *figures = self._figures()
        candidates = [self._candidate(*each) for each in zip(numbers.tolist(), *figures, strict=True)]
        names = [attribute.name for attribute in self.attributes]
        return sorted(candidates, key=lambda candidate: (names.index(candidate.attribute), candidate.place))

    def _figures(self) -> tuple[npt.NDArray[np.int64], Figures, Figures, Figures]:
        """The numbers of all candidates, their gains, losses and scores."""
        own = [np.flatnonzero(attribute.open) for attribute in self.attributes]
        numbers = np.concatenate([ids + first for ids, first in zip(own, self._first[:-1], strict=True)])
        gains = np.concatenate([state.gains[ids] for ids, state in zip(own, self.attributes, strict=True)])
        many = [len(ids) for ids in own]
        shared, weights = np.repeat(self._shared, many), np.repeat(self._weights, many)
        losses = anonymity_loss(self.partitions.anonymity, self.partitions.smallest[:, numbers], shared)
        return numbers, gains, losses, weights * self._score(gains, losses)

    def _best(self) -> tuple[int, float, float, float] | None:
        """The candidate with the best score; of equals, the largest gain, then the first attribute, then value."""
        numbers, gains, losses, scores = self._figures()
        if not len(numbers):
            return None
        tied = np.flatnonzero(best_of(scores))
        tied = tied[best_of(gains[tied])]
        best = min(tied.tolist(), key=lambda i: self._order(int(numbers[i])))
        return int(numbers[best]), float(gains[best]), float(losses[best]), float(scores[best])

    def _apply(self, number: int, gain: float, loss: float, score: float) -> RefinementStep:
        """Refine a candidate and bring the others up to date."""
        candidate = self._candidate(number, gain, loss, score)
        self._split(*self._place(number))
        self._close_invalid()
        return RefinementStep(candidate, self.anonymity, self.partitions.reads)

    def _split(self, attribute: int, own: int) -> None:
        """Refine a candidate of an attribute, whether it is valid or not."""
        state = self.attributes[attribute]
        shown = state.refines(own)
        split = state.refine(own)
        self.partitions.refresh(attribute)
        self.partitions.split(attribute, shown, split.into, split.position)

    def _close_invalid(self) -> None:
        """Forget the candidates that would leave a group that may not be released."""
        for attribute, state in enumerate(self.attributes):
            opened = np.flatnonzero(state.open)
            numbers = opened + self._first[attribute]
            small = (self.partitions.smallest[:, numbers] < self._k[:, None]).any(axis=0)
            self._close(attribute, opened[small | self.partitions.broken[numbers]].tolist())

    def _close(self, attribute: int, candidates: Sequence[int]) -> None:
        """Forget some candidates of an attribute."""
        for own in candidates:
            self.attributes[attribute].close(own)
        if candidates:
            self.partitions.refresh(attribute)

    def _candidate(self, number: int, gain: float, loss: float, score: float) -> RefinementCandidate:
        attribute, own = self._place(number)
        state = self.attributes[attribute]
        return RefinementCandidate(
            state.name, state.place(own), *state.words(own), float(gain), float(loss), float(score)
        )

    def _order(self, number: int) -> tuple[int, int]:
        attribute, own = self._place(number)
        return attribute, self.attributes[attribute].place(own)

    def _place(self, number: int) -> tuple[int, int]:
        """The attribute of a candidate, and its id there."""
        attribute = int(np.searchsorted(self._first, number, side="right")) - 1
        return attribute, number - int(self._first[attribute])


@dataclass(frozen=True)
class TDR:
    """Top-down refinement.

    Parameters
    ----------
    numeric
        How intervals are written: ``"interval"`` (default), ``"bounds"``, ``"midpoint"`` or ``"mean"``.
    loss_average
        With several sets of attributes known together: the loss is averaged over the sets that contain the attribute
        (``"related"``, default, as in the paper) or over ``"all"`` sets (as in the authors' program).
    criterion
        ``"score"`` (default): gain per loss. ``"gain"``: the information gain alone.
    """

    numeric: str = "interval"
    loss_average: str = "related"
    criterion: str = "score"

    name: ClassVar[str] = "tdr"
    one_by_one: ClassVar[bool] = True
    criteria: ClassVar[Mapping[str, Score]] = {"score": tdr_score, "gain": gain_alone}

    def __post_init__(self) -> None:
        check_choice("numeric", self.numeric, INTERVALS)
        check_choice("loss_average", self.loss_average, AVERAGES)
        check_choice("criterion", self.criterion, tuple(self.criteria))

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return asdict(self)

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,  # noqa: ARG002, nothing is left to chance
        preferences: Preferences = INDIFFERENT,
    ) -> tuple[Step, ...]:
        """Refine until nothing can be refined; no row is left out."""
        return finish(self.begin(population, requirement, preferences), population, requirement, self.numeric)

    def begin(
        self, population: Population, requirement: Requirement, preferences: Preferences = INDIFFERENT
    ) -> Refinement:
        """The search before its first refinement: the table with nothing shown."""
        schema = population.schema
        target_of(schema, "Top-down refinement")
        judge = Judge.of(requirement, population)
        names = schema.quasi_identifiers
        table = population.sample()
        check_limits(population, judge, requirement.sets(names), preferences)
        attributes = [
            attribute_of(
                table[name],
                population.contingency(name),
                schema[name].hierarchy,
                self.one_by_one,
                limit_of(table[name], schema[name], preferences),
            )
            for name in names
        ]
        evidence: Records | PersonRecords | None = None
        if judge.persons:
            evidence = PersonRecords.of(judge, population, names)
        elif not judge.by_size:
            evidence = judge.records(population, names)
        held = population.combinations(names)
        return Refinement(
            held=held,
            attributes=attributes,
            sets=requirement.sets(names),
            score=self.criteria[self.criterion],
            average=self.loss_average,
            evidence=evidence,
            weights=preferences.factors(names),
        )


def finish(refinement: Refinement, population: Population, requirement: Requirement, numeric: str) -> tuple[Step, ...]:
    """Refine as far as possible; then write down what the values show, and what was done in which order."""
    schema = population.schema
    trace = list(refinement.run())
    table = population.sample()
    columns = [table[name] for name in schema.quasi_identifiers]
    recodings = []
    for column, attribute in zip(columns, refinement.attributes, strict=True):
        look = _look(column, population, numeric, requirement.smallest_group)
        recodings.append(Recoding(column.name, attribute.parts(look)))
    spread = spread_steps(numeric, [c for c in columns if not _has_values(schema[c.name].hierarchy)])
    reasons = reasons_of(trace, requirement.sets(schema.quasi_identifiers), refinement.anonymity)
    return Recode(tuple(recodings)), *spread, reasons


def _has_values(hierarchy: Hierarchy | None) -> bool:
    return hierarchy is not None and hierarchy.kind is Leaves.VALUES


def _look(column: EncodedColumn, population: Population, numeric: str, k: int) -> Look:
    """How intervals of a column are written."""
    ends: tuple[float, float] = (0, 0)
    if numeric == "midpoint" and column.type.is_numeric:
        rows = population.contingency(column.name).sum(axis=1)[:-1]
        who = None if population.owners is None else ValueOwners.of(column, population.owners)
        ends = outer_ends(column.numbers, rows, k, column.type is not ColumnType.REAL, who)
    return partial(interval_form, numeric=numeric, ends=ends)


def reasons_of(trace: Sequence[RefinementStep], sets: Sequence[KnownSet], anonymity: Sequence[int]) -> Reasons:
    """The refinements as a table."""
    smallest = ["smallest group"] if len(sets) == 1 else [f"smallest group of {', '.join(one.names)}" for one in sets]
    rows = tuple(
        (
            step.candidate.attribute,
            step.candidate.refined,
            step.candidate.into,
            _short(step.candidate.gain),
            _short(step.candidate.loss),
            _short(step.candidate.score),
            *step.anonymity,
        )
        for step in trace
    )
    facts = (("refinements", len(trace)), *zip(smallest, anonymity, strict=True))
    columns = ("attribute", "refined", "into", "gain", "loss", "score", *smallest)
    return Reasons("Refinements, in order", columns, rows, facts)


def _short(figure: float) -> float:
    """A figure with four digits."""
    return float(f"{figure:.4g}")


@dataclass(frozen=True)
class TDS(TDR):
    """Top-down specialization: TDR without disclosing values one by one, and with another score.

    The parameters are those of :class:`TDR`.
    """

    name: ClassVar[str] = "tds"
    one_by_one: ClassVar[bool] = False
    criteria: ClassVar[Mapping[str, Score]] = {"score": tds_score, "gain": gain_alone}
