"""A table that is held in memory, and plans applied to it: to the rows they were made for, and to new ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import Notice, PlanError
from incrowd.methods.method import Population, applied
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import DROPPED, Bin, Place, Recode, Seat
from incrowd.rows.memory.drafting import (
    claims,
    draft_columns,
    pseudonyms_of,
    settled,
    shown_forms,
    tally_forms,
)
from incrowd.rows.memory.population import EmbeddedPopulation, bin_column, main_groups
from incrowd.rows.one_machine import Destination, Drafted, OnOneMachine
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read_population
from incrowd.tables.reading.source import Origin, Source
from incrowd.tables.recipe import Recipe
from incrowd.tables.roles import settle_schema
from incrowd.trees.routing import route
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.persons import ORDER
from incrowd.vocabulary.randomness import Randomness, SystemRandomness, fresh_series, permutation
from incrowd.vocabulary.released_value import (
    Category,
    Counts,
    Form,
    Interval,
    Level,
    Mean,
    Midpoint,
    Range,
    Shown,
    Value,
    ValueSet,
    is_shown,
    render,
)
from incrowd.vocabulary.requirement import subject_names, with_subjects
from incrowd.vocabulary.schema import Column, ColumnType, Schema


@dataclass(frozen=True, eq=False)
class Draft:
    """A released table in memory.

    ``frame`` has the released columns, rows in random order, every column built from fresh memory. ``origin``
    says which input row each released row comes from, ``claims`` which interval (low excluded, high included) stands
    behind each number that is a middle; both exist for the verification and are never published.
    """

    frame: pl.DataFrame
    origin: npt.NDArray[np.intp]
    claims: Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]] = field(default_factory=dict)


class EmbeddedEngine:
    """Holds all rows in memory."""

    def population(
        self, table: EncodedTable, schema: Schema, randomness: Randomness, owners: Codes | None = None
    ) -> EmbeddedPopulation:
        """The rows, as algorithms know them."""
        return EmbeddedPopulation(table, schema, randomness, owners=owners)

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and compute what only the rows tell."""
        after = applied(plan.steps, population)
        assert isinstance(population, EmbeddedPopulation)
        assert isinstance(after, EmbeddedPopulation)
        table, owners, shown = population.table, population.owners, shown_forms(plan, after)

        def filled(plan: ReleasePlan) -> ReleasePlan:
            return settled(plan, table.columns, tally_forms(plan, table, shown, owners), owners)

        if owners is None:
            return filled(plan)
        from incrowd.rows.memory.classes import with_classes_kept

        return with_classes_kept(plan, after, filled)

    def draft(
        self,
        plan: ReleasePlan,
        population: Population,
        source: pl.DataFrame,
        randomness: Randomness,
        pseudonyms: pl.Series | None = None,
    ) -> Draft:
        """The released table, rows in random order; with these pseudonyms of persons, or with fresh ones."""
        after = applied(plan.steps, population)
        assert isinstance(after, EmbeddedPopulation)
        rows = after.kept
        rows = rows[permutation(len(rows), randomness)]
        shown = {name: codes[rows] for name, codes in shown_forms(plan, after).items()}
        own = None
        if plan.link is not None and after.owners is not None:
            if pseudonyms is None:
                pseudonyms = pseudonyms_of(int(after.owners.max(initial=-1)) + 1, randomness)
            own = pseudonyms.gather(after.owners[rows])
        return Draft(draft_columns(plan, shown, source, rows, own), rows, claims(plan, shown))

    def transform(self, plan: ReleasePlan, table: EncodedTable, source: pl.DataFrame) -> pl.DataFrame:
        """New rows, seen through the plan, in their own order.

        Where the plan shows by groups, each row shows what most rows that rest at the same place of the tree show, and
        a cell that would not be true of the row is suppressed. Where it shows value by value, each value shows its
        part; rare combinations are not looked for. Where it publishes counts, or seats rows one by one, each row shows
        its own value, a number its public bin. No promise is
        counted: the plan's promise is about the rows it was made for. Pseudonyms belong to the release: new rows have
        none.
        """
        check_for_others(plan)
        if plan.counted or (plan.show and any(isinstance(step, Seat) for step in plan.steps)):
            return own_words(plan, table, source)
        population = EmbeddedPopulation(table, plan.schema, SystemRandomness())
        for step in plan.steps:
            match step:
                case Bin():
                    population = population.bin(step)
                case Recode():
                    population = population.recode(step)
                case Place():
                    groups = main_groups(step)[route(step.tree, population.sample())]
                    population = replace(population, groups=groups)
        shown = shown_forms(plan, population)
        if plan.show:
            shown = {
                name: truthful(population.table[name], plan.schema[name], plan.forms(name), groups)
                for name, groups in shown.items()
            }
        return draft_columns(plan, shown, source, np.arange(table.height))


# Rows that the plan was not made for: only what is true of them is kept, in the words of the release.
def truthful(column: EncodedColumn, planned: Column, forms: Sequence[Form], shown: Codes) -> Codes:
    """The form each row shows, ``DROPPED`` where its own value does not bear it out.

    ``column`` holds the rows' values, or the names of their bins; ``planned`` is the column as the plan knows it.
    """
    groups = np.maximum(shown, 0)
    if column.type.is_numeric:
        covered = _numbers_covered(column, planned, forms, groups)
    else:
        covered = _values_covered(column, planned, forms, groups)
    return np.where(covered & (shown != DROPPED), shown, np.int32(DROPPED))


def _numbers_covered(
    column: EncodedColumn, planned: Column, forms: Sequence[Form], groups: Codes
) -> npt.NDArray[np.bool_]:
    """Whether each row's number lies in what its group shows; a mean is true of any number."""
    if any(isinstance(form, Category) for form in forms):
        return _values_covered(column, planned, forms, groups)
    low, high = np.full(len(forms), np.inf), np.full(len(forms), -np.inf)
    for number, form in enumerate(forms):
        match form:
            case Shown(value):
                low[number], high[number] = np.nextafter(float(value), -np.inf), float(value)
            case Range(least, most) if least is not None and most is not None:
                low[number], high[number] = np.nextafter(float(least), -np.inf), float(most)
            case Interval(below, above) | Level(below, above) | Midpoint(below, above):
                low[number] = -np.inf if below is None else below
                high[number] = np.inf if above is None else above
            case Mean():
                low[number], high[number] = -np.inf, np.inf
            case _:
                pass
    numbers = np.append(column.numbers.astype(np.float64), np.nan)[column.codes]
    inside: npt.NDArray[np.bool_] = (numbers > low[groups]) & (numbers <= high[groups])
    return inside


def _values_covered(
    column: EncodedColumn, planned: Column, forms: Sequence[Form], groups: Codes
) -> npt.NDArray[np.bool_]:
    """Whether each row's value is one its group shows; equal forms cover the same."""
    numbers = {form: i for i, form in enumerate(dict.fromkeys(forms))}
    code_of = {value: code for code, value in enumerate(column.values)}
    covered = np.zeros((len(numbers), column.width), bool)
    for form, number in numbers.items():
        if isinstance(form, Category) and planned.hierarchy is not None:
            covered[number, _below(planned.hierarchy, form.label, column)] = True
        covered[number, [code_of[value] for value in _values(form, planned) if value in code_of]] = True
    number_of = np.array([numbers[form] for form in forms], np.int64)
    return covered[number_of[groups], column.codes]


def _below(hierarchy: Hierarchy, label: str, column: EncodedColumn) -> npt.NDArray[np.intp]:
    """The codes whose values lie below a node of the hierarchy."""
    below = hierarchy.leaves_below(hierarchy.labels.index(label))
    leaves = hierarchy.find(column)
    return np.flatnonzero((leaves >= below.start) & (leaves < below.stop))


def _values(form: Form, planned: Column) -> Sequence[Value]:
    """The values, or names of bins, that a form stands for."""
    match form:
        case Shown(value):
            return (value,)
        case ValueSet(values):
            return values
        case Interval(low, high) | Level(low, high) | Midpoint(low, high):
            return (str(render(Interval(low, high), planned.type)),)
        case _:
            return ()


# New rows in the words of a release of counts: their own values, numbers as the public bin they lie in.
def own_words(plan: ReleasePlan, table: EncodedTable, source: pl.DataFrame) -> pl.DataFrame:
    """The rows as a recipient has them next to the dealt-out counts; what no group shows is missing."""
    columns, there = [], set(source.columns)
    for written in plan.written:
        name = written.source
        if name not in there:
            continue
        if name not in plan.names:
            columns.append(fresh_series(source[name]))
            continue
        own = table[name]
        if own.type.is_numeric:
            own = bin_column(own, plan.cuts.get(name, ()))
        hidden = not any(is_shown(form) for form in plan.forms(name))
        words = pl.Series(name, [*_known(plan, name, own), None], pl.String)
        places = np.full(table.height, own.missing_code) if hidden else own.codes
        columns.append(words.gather(places))
    return pl.DataFrame(columns)


def _known(plan: ReleasePlan, name: str, own: EncodedColumn) -> list[str | None]:
    """The words of a column; a value that no group counts is no word of the release. All bins are."""
    words = own.dictionary.cast(pl.String).to_list()
    if name in plan.cuts:
        return words
    counted = {member for form in plan.forms(name) if isinstance(form, Counts) for member, _ in form.members or ()}
    return [word if word in counted else None for word in words]


_TYPES: dict[ColumnType, pl.DataType] = {ColumnType.INTEGER: pl.Int64(), ColumnType.REAL: pl.Float64()}
_DIGITS = 17  # a 64-bit number is told apart from all others by so many


def numeric(plan: ReleasePlan) -> dict[str, pl.DataType]:
    """The written columns that come from columns of numbers, and the types numbers have."""
    kinds = {written.name: _TYPES.get(plan.schema[written.source].type) for written in plan.written}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def castable(column: pl.Series, kind: pl.DataType) -> bool:
    """Whether every cell of a text column is such a number, or missing, and the number holds all that the cell says.

    Zeros before a number, more digits than a number has, and numbers beyond its range stay text.

    Examples
    --------
    >>> castable(pl.Series(["39", None]), pl.Int64()), castable(pl.Series(["39", "(1, 2]"]), pl.Int64())
    (True, False)
    >>> castable(pl.Series(["39", "07"]), pl.Int64()), castable(pl.Series(["1e400"]), pl.Float64())
    (False, False)
    """
    numbers = column.cast(kind, strict=False)
    if numbers.null_count() != column.null_count():
        return False
    if kind == pl.Int64():
        return not column.str.contains(r"^[+-]?0[0-9]").any()
    beyond = column.filter(numbers.is_infinite()).str.contains("^[+-]?[0-9.]").any()
    long = column.filter(column.str.len_bytes() > _DIGITS)
    digits = long.str.replace("[eE].*$", "").str.replace_all("[^0-9]", "").str.strip_chars_start("0")
    return not beyond and not (digits.str.len_bytes() > _DIGITS).any()


def with_numbers(frame: pl.DataFrame, types: dict[str, pl.DataType]) -> pl.DataFrame:
    """The frame with these columns as numbers, those of them that are text."""
    known = frame.schema
    return frame.with_columns(pl.col(name).cast(kind) for name, kind in types.items() if known.get(name) == pl.String)


def as_numbers(table: Any, types: dict[str, pl.DataType]) -> Any:
    """The same for a PyArrow table."""
    for name, kind in types.items():
        column = pl.Series(table[name]).cast(kind).to_arrow()
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def check_for_others(plan: ReleasePlan) -> None:
    """Refuse a plan that says nothing of rows it was not made for."""
    if plan.link is not None and plan.show:
        raise PlanError(
            "This plan groups persons by their whole histories, and says nothing of other rows. Release them anew."
        )


@dataclass(frozen=True, eq=False)
class InMemory(OnOneMachine):
    """The input, read and encoded.

    ``people`` are the population that something is asked of; ``order`` has the input row of each row, if rows were put
    in another order or left out; ``owners`` the person of each row, if rows are not persons; ``pseudonyms`` those of
    the persons, where another table has the same.
    """

    source: Source
    schema: Schema
    table: EncodedTable
    notices: tuple[Notice, ...]
    people: EncodedTable | None = None
    order: npt.NDArray[np.intp] | None = None
    owners: Codes | None = None
    pseudonyms: pl.Series | None = None

    whole: ClassVar[bool] = True
    resources: ClassVar[None] = None
    engine: ClassVar[EmbeddedEngine] = EmbeddedEngine()

    @classmethod
    def of(cls, source: Source, recipe: Recipe, to: Destination) -> InMemory:
        """The table as integer codes, every column with its role and type."""
        schema, doubts = settle_schema(source, recipe)
        schema = with_subjects(recipe.requirement, schema)
        if recipe.persons is not None and recipe.persons.order is not None:
            from incrowd.tables.reading.persons import in_order

            source, schema = in_order(source, schema, recipe.persons)
        names = tuple(dict.fromkeys([*schema.encoded, *subject_names(recipe.requirement, schema.target)]))
        table, notices = encode(source, schema, names)
        typed = schema.with_types(table.columns)
        people = read_population(recipe.population, recipe.requirement, typed, recipe.reading, recipe.persons)
        notices = (*source.notices, *doubts, *notices)
        held = cls(to=to, source=source, schema=typed, table=table, notices=notices, people=people)
        if recipe.persons is None:
            return held
        from incrowd.tables.reading.persons import nearly_static, owners_of

        owners = owners_of(source, recipe.persons)
        held = held if owners.kept is None else held.reordered(owners.kept)
        static = tuple(nearly_static(held.table.columns.values(), owners.codes, owners.nobody))
        if recipe.persons.linked and (order := recipe.persons.order) is not None:
            ranks, _ = encode(source, schema, (order,))
            ranked = replace(ranks[order], name=ORDER)
            ranked = ranked if owners.kept is None else ranked.take(owners.kept)
            held = replace(held, table=EncodedTable.of([*held.table.columns.values(), ranked]))
        return replace(held, owners=owners.codes, notices=(*notices, *owners.notices, *static))

    def reordered(self, order: npt.NDArray[np.intp]) -> InMemory:
        """The same table with its rows in another order."""
        source = replace(self.source, frame=self.source.frame[order])
        table = EncodedTable.of(column.take(order) for column in self.table.columns.values())
        owners = None if self.owners is None else self.owners[order]
        before = order if self.order is None else self.order[order]
        return replace(self, source=source, table=table, order=before, owners=owners)

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        return self.source.origin

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table.height

    @property
    def columns(self) -> Mapping[str, EncodedColumn]:
        """The encoded columns."""
        return self.table.columns

    def population(self, randomness: Randomness) -> Population:
        """The rows, as algorithms know them."""
        return self.engine.population(self.table, self.schema, randomness, self.owners)

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and fill in what only the rows tell."""
        return self.engine.settle(plan, population)

    def drafts(
        self, plan: ReleasePlan, population: Population, randomness: Randomness, *, typed: bool
    ) -> Iterator[Drafted]:
        """The release, in one piece."""
        draft = self.engine.draft(plan, population, self.source.frame, randomness, self.pseudonyms)
        frame = _typed(draft.frame, plan) if typed else draft.frame
        origin = draft.origin if self.order is None else self.order[draft.origin]
        yield Drafted(frame, origin, draft.claims)

    def sample(self, rows: int, randomness: Randomness | None = None, /) -> Source:
        """At most so many rows as they were read, drawn at random if there are more."""
        if self.rows <= rows:
            return self.source
        drawn = permutation(self.rows, randomness or SystemRandomness())[:rows]
        return replace(self.source, frame=self.source.frame[drawn])


def _typed(frame: pl.DataFrame, plan: ReleasePlan) -> pl.DataFrame:
    """Text columns that hold numbers throughout, as numbers."""
    types = frame.schema
    texts = {name: kind for name, kind in numeric(plan).items() if types[name] == pl.String}
    return with_numbers(frame, {name: kind for name, kind in texts.items() if castable(frame[name], kind)})
