"""What is on the table when a release is attacked, and how another would be made by the same recipe.

The lab stands on the owner's side: it has the original and knows how the release was made, so that it can play the
strongest attacker and see whether he is right. Attacks that compare people of the release with people who are not in
it need a control group: rows that were held out (``control``), or, where there are none, a release of a random half of
the original under the same recipe, the other half being the control. Where persons have several rows, a person is in
one of the two with all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.comparisons.protocol import seed_of
from incrowd.comparisons.releasing import Made, release_rows
from incrowd.errors import CannotRunError
from incrowd.methods.catalog import MethodOrName
from incrowd.plan.release_plan import ReleasePlan
from incrowd.risk.boxes import Released, plain_texts, read_released
from incrowd.tables.reading.read import read_population
from incrowd.vocabulary.encoded_table import Codes, EncodedTable
from incrowd.vocabulary.forms import BY_CLASS, COUNTS, REDRAW, STRICT
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.preferences import EACH, EACH_VALUE, INDIFFERENT, Preferences
from incrowd.vocabulary.released_cell import Ints
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.closeness import TCloseness
from incrowd.vocabulary.schema import Schema

if TYPE_CHECKING:
    from incrowd.attacks.opening import AttackRequest


@dataclass(frozen=True, eq=False)
class Again:
    """How a release was made, as far as it takes to make another."""

    method: MethodOrName
    requirement: Requirement  # what every release keeps
    parameters: Mapping[str, Any] = field(default_factory=dict)
    people: EncodedTable | None = None  # the population, if something is required of it
    form: str | None = None  # in which groups are shown; None: the method's own
    preferences: Preferences = INDIFFERENT  # weights and limits
    rarest: int | None = None  # what fewer people have is named by no cell
    redraw: int = REDRAW  # from how many rows counts are drawn beside those of their group; 0: they are exact
    bins: str = BY_CLASS  # where numbers are cut that are counted
    by_class: bool = False  # whether counts are those of one class
    joint: bool = False  # whether attributes are counted together

    def release(
        self, table: EncodedTable, frame: pl.DataFrame, schema: Schema, seed: int, owners: Codes | None = None
    ) -> Made:
        """A release of all the given rows; ``owners`` has the person of each, if rows are not persons."""
        form = {} if self.form is None else {"form": self.form}
        parameters = {**self.parameters, **form, "redraw": self.redraw, "bins": self.bins}
        parameters |= {"counts_by_class": True} if self.by_class else {}
        parameters |= {"joint_counts": True} if self.joint else {}
        request = (self.method, parameters, self.requirement, seed, self.people, self.preferences)
        return release_rows(table, frame, schema, *request, owners=owners, rarest=self.rarest)


def again_of(
    request: AttackRequest,
    plan: ReleasePlan | None,
    certificate: Mapping[str, Any],
    requirement: Requirement | None,
    schema: Schema,
    persons: Persons | None,
) -> Again | None:
    """How the release was made; None where that is not known in full."""
    if requirement is None:
        return None
    if request.method is not None:
        again: Again | None = Again(request.method, requirement, dict(request.parameters or {}))
    elif plan is not None:
        again = _as_described(plan.method, requirement, dict(plan.parameters))
    else:
        again = _certified_method(certificate, requirement, schema)
    preferences = _preferences(request, plan, certificate)
    if again is None or preferences is None or (requirement.on_population and request.population is None):
        return None
    return replace(
        again,
        people=read_population(request.population, requirement, schema, request.how, persons),
        form=_form(request, plan, certificate),
        preferences=preferences,
        redraw=_redraw(plan, certificate),
        bins=certificate.get("counts", {}).get("bins", BY_CLASS),
        by_class=plan.by_class if plan else certificate.get("counts", {}).get("by_class", False),
        joint=bool(plan.joint) if plan else bool(certificate.get("reading", {}).get("joint")),
        rarest=plan.rarest or None if plan else certificate.get("limits", {}).get("rarest", request.rarest),
    )


def _form(request: AttackRequest, plan: ReleasePlan | None, certificate: Mapping[str, Any]) -> str | None:
    """In which form groups are shown: by the plan, by the certificate, as requested; None: the method's own."""
    if plan is not None:
        return COUNTS if plan.counted else STRICT
    if (reading := certificate.get("reading")) is not None:
        return COUNTS if COUNTS in reading["columns"].values() else STRICT
    return request.form


def _redraw(plan: ReleasePlan | None, certificate: Mapping[str, Any]) -> int:
    """From how many rows counts are drawn beside those of their group; as usual where nobody says."""
    if plan is not None:
        return plan.redraw
    counts = certificate.get("counts", {"redraw": REDRAW})
    return int(counts.get("redraw", 0))


def _preferences(
    request: AttackRequest, plan: ReleasePlan | None, certificate: Mapping[str, Any]
) -> Preferences | None:
    """Weights and limits; None where the certificate only tells of how many sets the values stay apart."""
    if plan is not None:
        return plan.preferences
    limits = certificate.get("limits")
    if limits is None:
        return request.preferences or INDIFFERENT
    if any(number != EACH_VALUE for number in limits.get("apart", {}).values()):
        return request.preferences
    apart = dict.fromkeys(limits.get("apart", {}), EACH)
    return Preferences(limits.get("weights", {}), limits.get("at_most", {}), limits.get("lose"), apart=apart)


def _certified_method(certificate: Mapping[str, Any], requirement: Requirement, schema: Schema) -> Again | None:
    used: Iterable[str] = certificate.get("hierarchies", ())
    if not certificate or any(name in schema and schema[name].hierarchy is None for name in used):
        return None
    method = certificate["method"]
    return _as_described(method["name"], requirement, dict(method["parameters"]))


def _as_described(method: str, requirement: Requirement, parameters: dict[str, Any]) -> Again | None:
    """How the release was made; None if the tree inducer was somebody's own, of which only a description is left."""
    from incrowd.methods.tree_suppression.kactus import describe_inducer

    if parameters.get("inducer") == describe_inducer(None):
        del parameters["inducer"]
    return None if "inducer" in parameters else Again(method, requirement, parameters)


Rows = npt.NDArray[np.intp]


SMALLEST = 20  # rows: with fewer a 99 % interval is too wide to show anything
OWN_HALF = "a release of a random half of the original, made for this attack; the other half is the control"
CONTROL_ROWS = "this release; the control rows supplied with it"


@dataclass(frozen=True, eq=False)
class Promised:
    """What was promised, as far as an attack can hold the release to it."""

    k: int | None = None  # the smallest group of rows that may look alike
    diversity: Mapping[str, float] = field(default_factory=dict)  # for each column, the l of l-diversity
    closeness: Mapping[str, TCloseness] = field(default_factory=dict)  # for each column, the requirement of t-closeness

    @classmethod
    def by(cls, requirement: Requirement, target: str | None) -> Promised:
        """The numbers of a requirement; what names no column is about the target."""
        parts: Iterable[Any] = requirement.parts
        about = [(getattr(part, "on", None) or target, part) for part in parts]
        return cls(
            requirement.smallest_group,
            {column: float(part.l) for column, part in about if column and hasattr(part, "l")},
            {column: part for column, part in about if column and isinstance(part, TCloseness)},
        )


@dataclass(frozen=True, eq=False)
class HiddenCells:
    """Confidential cells of a table with cells withheld, and who withheld them."""

    cells: tuple[tuple[int, str], ...]
    method: str
    adversaries: tuple[str, ...] = ("nb", "id3")


@dataclass(frozen=True, eq=False)
class SceneSplit:
    """People who are in a release, and people who are not."""

    released: Released
    members: EncodedTable
    others: EncodedTable
    how: str


@dataclass(frozen=True, eq=False)
class Traced:
    """A release, and the original row of each of its rows."""

    frame: pl.DataFrame
    released: Released
    origin: Rows
    levelled: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything an attack may look at."""

    table: EncodedTable
    frame: pl.DataFrame
    schema: Schema
    release: pl.DataFrame  # the released rows as they were written
    sensitive: tuple[str, ...]  # the columns that must not be inferred
    promised: Promised = field(default_factory=Promised)  # what the release was to keep
    again: Again | None = None  # how the release was made; None if nobody knows
    control: EncodedTable | None = None
    origin: Rows | None = None  # the original row of each released row, where that is known
    earlier: tuple[pl.DataFrame, ...] = ()  # earlier releases of the same people, oldest first
    model: Mapping[str, Any] | None = None  # A published tree, as it was written
    hidden: HiddenCells | None = None  # cells that were withheld one by one
    persons: Persons | None = None  # whose rows they are, and what recipients may follow
    owners: Ints | None = None  # the person of each original row, as a number; None if every row is a person
    seed: int = 1  # of all that the attacks draw

    def generator(self, what: str) -> np.random.Generator:
        """Chance for one purpose."""
        return np.random.Generator(np.random.Philox(seed_of(self.seed, what)))

    @property
    def whose(self) -> Ints:
        """The person of each original row."""
        if self.owners is None:
            raise CannotRunError("Every row is a person here: no column was named that says whose row it is.")
        return self.owners

    @property
    def units(self) -> str:
        """What the rows of the original are, as a word: people, or rows if a person may have several."""
        return "people" if self.owners is None else "rows"

    @cached_property
    def followed(self) -> Ints:
        """The pseudonym of each released row, as a number in the order of the pseudonyms."""
        column = self.persons.column if len(self.whose) and self.persons is not None else ""
        if column not in self.release.columns:
            raise CannotRunError("Recipients cannot tell which rows are of one person: there are no pseudonyms.")
        pseudonyms = plain_texts(self.release[column])
        if pseudonyms.null_count():
            raise CannotRunError("Some released rows have no pseudonym.")
        return np.unique(pseudonyms.to_numpy(), return_inverse=True)[1].astype(np.int64)

    def refuse_linked(self, why: str) -> None:
        """Raise where recipients can follow persons, or every row is a person."""
        _ = self.whose
        if self.persons is not None and self.persons.linked:
            raise CannotRunError(f"Recipients can follow persons here, as was asked for, {why}.")

    @property
    def known_k(self) -> int:
        """How many look alike, as was promised."""
        if self.promised.k is None:
            raise CannotRunError("No k is known to hold persons to. State how many must look alike.")
        return self.promised.k

    def dealt(self, what: str) -> Rows:
        """All rows in random order, those of a person one after the other."""
        generator = self.generator(what)
        if self.owners is None:
            return generator.permutation(self.table.height).astype(np.intp)
        places = generator.permutation(int(self.owners.max(initial=-1)) + 1)
        return np.argsort(places[self.owners], kind="stable").astype(np.intp)

    def cut(self, order: Rows, place: int) -> int:
        """The place, or the next one at which another person begins."""
        while self.owners is not None and 0 < place < len(order) and self._goes_on(order, place):
            place += 1
        return place

    def _goes_on(self, order: Rows, place: int) -> bool:
        assert self.owners is not None
        return bool(self.owners[order[place]] == self.owners[order[place - 1]])

    @cached_property
    def released(self) -> Released:
        """The release, read."""
        return read_released(self.release, self.table, self.schema)

    @property
    def recipe(self) -> Again:
        """How the release was made."""
        if self.again is None:
            if self.persons is not None and self.persons.linked:
                raise CannotRunError("It needs a second release made the same way; of linked rows none is made here.")
            raise CannotRunError(
                "It needs a second release made the same way, and how this one was made is not known. Give its plan; "
                "or keep its certificate beside it and give its hierarchies, and the population if something was "
                "promised about it."
            )
        return self.again

    @property
    def secrets(self) -> tuple[str, ...]:
        """The columns that must not be inferred; there is one at least."""
        if not self.sensitive:
            raise CannotRunError("Nothing is named that must not be inferred. Name a sensitive column, or the target.")
        return self.sensitive

    @property
    def guessed(self) -> str:
        """The column a model learns from the release: the target, or what is sensitive."""
        return self.schema.target or self.secrets[0]

    def made(self, rows: Rows, what: str) -> Made:
        """A release of some rows of the original, under the same recipe."""
        again, owners = self.recipe, None
        if self.owners is not None:
            owners = np.unique(self.owners[rows], return_inverse=True)[1].astype(np.int32)
        return again.release(self.table.take(rows), self.frame[rows], self.schema, seed_of(self.seed, what), owners)

    def made_of(self, others: EncodedTable, what: str) -> Made:
        """A release of other people, each a row, under the same recipe."""
        columns = [
            column.dictionary.extend_constant(None, 1).gather(column.codes.astype(np.int64)).alias(name)
            for name, column in others.columns.items()
        ]
        return self.recipe.release(others, pl.DataFrame(columns), self.schema, seed_of(self.seed, what))

    def read(self, release: Made) -> Released:
        """A release that was made for an attack, as an attacker reads it."""
        return read_released(release.draft.frame, self.table, self.schema)

    @cached_property
    def split(self) -> SceneSplit:
        """People in a release and people who are not; see the head of this file."""
        if self.control is not None:
            if min(self.control.height, self.table.height) < SMALLEST:
                raise CannotRunError(f"At least {SMALLEST} control rows are needed.")
            return SceneSplit(self.released, self.table, self.control, CONTROL_ROWS)
        if self.table.height < 2 * SMALLEST:
            raise CannotRunError(f"Half of the original is fewer than {SMALLEST} rows: too few for a control group.")
        order = self.dealt("halves")
        half = self.cut(order, len(order) // 2)
        members, others = order[:half], order[half:]
        released = self.read(self.made(members, "half"))
        return SceneSplit(released, self.table.take(members), self.table.take(others), OWN_HALF)

    @cached_property
    def traced(self) -> Traced:
        """A release with the original row of each released row: this one if that is known, else one made again."""
        if self.origin is not None:
            return Traced(self.release, self.released, self.origin)
        release = self.made(np.arange(self.table.height), "again")
        return Traced(release.draft.frame, self.read(release), release.draft.origin, release.plan.levelled)

    @cached_property
    def owned(self) -> tuple[Released, Ints | None]:
        """A release with the person of each released row, by its origin or its pseudonym; None if rows are persons."""
        if self.owners is None:
            return self.released, None
        if self.origin is None and self.persons is not None and self.persons.linked:
            return self.released, self.followed
        return self.traced.released, self.owners[self.traced.origin]

    @cached_property
    def homes(self) -> Ints:
        """The class of each original row in this release: its own where that is known, else its smallest box."""
        if self.origin is None:
            return self.released.nearest(self.table)
        homes = self.released.nearest(self.table)
        homes[self.origin] = self.released.classes
        return homes
