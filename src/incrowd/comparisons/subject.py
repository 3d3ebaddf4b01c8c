"""The table that methods are compared on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.comparisons.datasets.catalog import Dataset, find_dataset, load
from incrowd.comparisons.feeding import Parts, learnable
from incrowd.comparisons.persons import RowPersons
from incrowd.comparisons.protocol import Rows, RowSplit, SplitBy, seed_of
from incrowd.drawing.wording import counted
from incrowd.errors import InputError, Notice, ParameterError, SchemaError, named_option
from incrowd.measures.information import mdl_cuts
from incrowd.rows.memory.population import bin_column
from incrowd.tables.reading.draft import draft_schema, role_by_name
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.persons import in_order, owners_of
from incrowd.tables.reading.read import read, read_population
from incrowd.tables.reading.source import Origin, Source
from incrowd.tables.recipe import Recipe, with_hierarchies, with_roles
from incrowd.tables.roles import settle_schema
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.persons import ORDER, Persons
from incrowd.vocabulary.requirement import with_subjects
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema, unknown_column

NAMED = 12  # names of columns in a notice: more would not be read
_FRAME = Origin("polars")


@dataclass(frozen=True, eq=False)
class Subject:
    """A table, understood: only the columns that a learner may use, and the target."""

    name: str  # what results call it
    frame: pl.DataFrame  # the rows as they were read
    schema: Schema  # roles, types and hierarchies of the columns
    table: EncodedTable  # the rows as codes
    notices: tuple[Notice, ...] = ()  # what was decided, and should be known
    origin: Origin = _FRAME  # where it came from
    split_by: SplitBy | None = None  # the groups, or the moments, of the rows, if they are split by them
    persons: RowPersons | None = None  # whose row each row is, if rows are not persons
    followed: Persons | None = None  # how recipients can follow persons, if they can
    order: EncodedColumn | None = None  # what puts the rows of a person in order, if the user said so
    people: EncodedTable | None = None  # the population, if something is required of it

    @property
    def target(self) -> str:
        """The class."""
        assert self.schema.target is not None
        return self.schema.target

    @property
    def classes(self) -> EncodedColumn:
        """The class of every row."""
        return self.table[self.target]

    def parts(self, split: RowSplit) -> Parts:
        """The rows of a split."""
        return Parts(self.table.take(split.train), self.table.take(split.test), self.target)

    def owners(self, rows: Rows) -> Codes | None:
        """The person of each of these rows; None if rows are persons."""
        return None if self.persons is None else self.persons.take(rows).codes

    def under(self, recipe: Recipe) -> Subject:
        """The table with what a requirement is about: its sensitive columns, and the people it is about."""
        schema = with_subjects(recipe.requirement, self.schema)
        people = read_population(recipe.population, recipe.requirement, schema, recipe.reading)
        return replace(self, schema=schema, people=people)

    def take(self, rows: Rows) -> Subject:
        """The same table with some of its rows, whatever they are split by."""
        persons, order = self.persons and self.persons.take(rows), self.order and self.order.take(rows)
        table = self.table.take(rows)
        return replace(self, frame=self.frame[rows], table=table, split_by=None, persons=persons, order=order)


def understand_table(
    table: Any,
    *,
    target: str,
    quasi_identifiers: Iterable[str] | None = None,
    identifiers: Iterable[str] = (),
    numeric: Iterable[str] | None = None,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
    reading: Mapping[str, Any] | None = None,
    complete: bool = False,
    rows: int | None = None,
    seed: int = 1,
    name: str | None = None,
    groups: Any = None,
    time: Any = None,
    person: str | None = None,
    person_ids: str | None = None,
    missing_persons: str | None = None,
    keep_link: bool | None = None,
    known_rows: int | None = None,
    count_known: bool | None = None,
    order: str | None = None,
) -> Subject:
    """Read a table and settle what every column is."""
    source = read(table, **(reading or {}))
    split_by = _split_by(source, groups, time)
    linked = bool(keep_link), known_rows, bool(count_known), order
    source, persons, owned, of_persons = _persons(source, person, person_ids, missing_persons, linked)
    whole, followed = source, Persons(person, person_ids, "together", *linked) if person and keep_link else None
    split_by = split_by if split_by is None or owned is None else split_by.take(owned)
    if person is not None and person in (target, *(quasi_identifiers or ())):
        raise SchemaError(f"Column {person!r} says whose row it is, so it is no class and no quasi-identifier.")
    left_out_names = (*identifiers, *([] if person is None else [person]))
    source, draft = _without_identifiers(source, target, quasi_identifiers, left_out_names)
    stated = {column: settings for column, settings in (columns or {}).items() if column in draft}
    drafted = [name for name in draft.quasi_identifiers if "role" not in stated.get(name, {})]
    known = drafted if quasi_identifiers is None else list(quasi_identifiers)
    recipe = Recipe(columns=stated if numeric is None else stated | _types(draft, set(numeric)))
    recipe = with_roles(recipe, quasi_identifiers=known, target=[target])
    used = {column: tree for column, tree in (hierarchies or {}).items() if column in known}
    schema, doubts = settle_schema(source, with_hierarchies(recipe, used))
    ranks = None if followed is None or order is None else _ranks(whole, order)
    if followed is not None and order in schema.names:
        dated, schema = in_order(whole, schema, followed)
        source = replace(source, frame=source.frame.with_columns(dated.frame[order]), notices=dated.notices)
    names = learnable(schema)
    frame = source.frame.select(names)
    kept, left_out = _chosen_rows(frame, complete, rows, seed, persons)
    frame = frame if len(kept) == frame.height else frame[kept]
    schema = Schema(tuple(schema[column] for column in frame.columns))
    encoded, notices = encode(replace(source, frame=frame), schema, names)
    schema = Schema(tuple(replace(column, type=encoded[column.name].type) for column in schema.columns))
    for column in schema.columns:
        if column.hierarchy is not None:
            column.hierarchy.encode(encoded[column.name])
    shown = name or (Path(table).name if isinstance(table, str | Path) else "your table")
    guessed = () if quasi_identifiers is not None else _guess(known)
    return Subject(
        name=shown,
        frame=frame,
        schema=schema,
        table=encoded,
        notices=(*source.notices, *guessed, *doubts, *of_persons, *left_out, *notices),
        origin=source.origin,
        split_by=split_by and split_by.take(kept),
        persons=persons and persons.take(kept),
        followed=followed,
        order=ranks and ranks.take(kept),
    )


def _ranks(source: Source, name: str) -> EncodedColumn:
    """The column that puts the rows of a person in order."""
    if name not in source.frame.columns:
        raise InputError(unknown_column(name, source.frame.columns))
    return replace(encode(source, draft_schema(source), (name,))[0][name], name=ORDER)


def _persons(
    source: Source, person: str | None, ids: str | None, missing: str | None, linked: tuple[Any, ...]
) -> tuple[Source, RowPersons | None, Rows | None, tuple[Notice, ...]]:
    """Whose row each row is; rows of nobody may be left out, and then the others are named."""
    if person is None:
        if ids is not None or missing is not None or any(linked):
            raise ParameterError(f"Whose rows are they? Name the column: {named_option(person='COLUMN')}.")
        return source, None, None, ()
    if person not in source.frame.columns:
        raise InputError(unknown_column(person, source.frame.columns))
    owners = owners_of(source, Persons(person, ids, missing or "refuse", *linked))
    if owners.kept is not None:
        source = replace(source, frame=source.frame[owners.kept])
    return source, RowPersons(person, owners.codes), owners.kept, owners.notices


def _split_by(source: Source, groups: Any, time: Any) -> SplitBy | None:
    """The column to split by: of the table, or a sequence with an entry for each of its rows."""
    if groups is None and time is None:
        return None
    if groups is not None and time is not None:
        raise ParameterError("Rows are split by groups or by time, not by both. Leave one out.")
    in_time = time is not None
    named = time if in_time else groups
    name = named if isinstance(named, str) else "time" if in_time else "group"
    if not isinstance(named, str):
        column = pl.Series(name, named if hasattr(named, "dtype") else list(named), strict=False)
        if len(column) != source.frame.height:
            both = f"{counted(len(column), 'value')} for {counted(source.frame.height, 'row')}"
            raise ParameterError(f"{'time' if in_time else 'groups'} has {both}. Give one for each row.")
        source = read(column.to_frame())
    elif name not in source.frame.columns:
        raise InputError(unknown_column(name, source.frame.columns))
    source = replace(source, frame=source.frame.select(name))
    draft = draft_schema(source)
    coded = encode(source, draft, [name])[0][name]
    if in_time and not coded.type.has_order:
        raise InputError(f"Column {name!r} has neither dates nor numbers, so its rows have no order in time.")
    if in_time and (missing := int(coded.counts[-1])):
        raise InputError(f"Column {name!r} is missing in {counted(missing, 'row')}, which are neither past nor future.")
    return SplitBy(name, coded.codes.astype(np.int64), in_time)


def _types(draft: Schema, numeric: set[str]) -> dict[str, dict[str, str]]:
    """The types of the columns that the draft takes for something else."""
    wrong = [column for column in draft.columns if column.type.is_numeric != (column.name in numeric)]
    return {c.name: {"type": ColumnType.REAL if c.name in numeric else ColumnType.CATEGORICAL} for c in wrong}


def _guess(known: Sequence[str]) -> Iterator[Notice]:
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    message = f"taken from the draft of the schema: {', '.join(known[:NAMED])}{more}. Name those an attacker may know."
    yield Notice("drafted", "quasi-identifiers", message)


def _without_identifiers(
    source: Source, target: str, named: Iterable[str] | None, left_out: Sequence[str]
) -> tuple[Source, Schema]:
    """The table without columns that name persons, unless they were named to be used; and the draft of its schema."""
    if target not in source.frame.columns:
        raise InputError(unknown_column(target, source.frame.columns))
    draft = draft_schema(source, target=target)
    kept = {target, *(draft.quasi_identifiers if named is None else named)} - set(left_out)
    dropped = [
        column.name
        for column in draft.columns
        if column.name in left_out
        or (column.name not in kept and Role.IDENTIFIER in (column.role, role_by_name(column.name)))
    ]
    if not dropped:
        return source, draft
    frame = source.frame.drop(dropped)
    return replace(source, frame=frame), Schema(tuple(c for c in draft.columns if c.name not in dropped))


def _chosen_rows(
    frame: pl.DataFrame, complete: bool, rows: int | None, seed: int, persons: RowPersons | None
) -> tuple[Rows, tuple[Notice, ...]]:
    """The rows to compare on, in their order; where rows are not persons, persons are drawn."""
    kept, notices = np.arange(frame.height), []
    if complete:
        kept = np.flatnonzero(frame.select(pl.all_horizontal(pl.all().is_not_null())).to_series().to_numpy())
        if not len(kept):
            raise InputError("Every row has a missing value. Leave out --complete, or the columns that are incomplete.")
        if left := frame.height - len(kept):
            notices.append(Notice("complete", "rows", f"{left:,} rows with missing values are left out."))
    if rows is not None and len(kept) > rows:
        chance = np.random.Generator(np.random.Philox(seed_of(seed, "rows")))
        if persons is None:
            drawn, whose = np.sort(chance.permutation(len(kept))[:rows]), "drawn at random, "
        else:
            drawn, whose = persons.take(kept).drawn(rows, chance), "of persons drawn at random, "
        notices.append(Notice("sampled", "rows", f"{len(drawn):,} of {len(kept):,} rows, {whose}are used."))
        kept = kept[drawn]
    return kept, tuple(notices)


def discretized(subject: Subject) -> Subject:
    """The table with all numbers as intervals (Fayyad and Irani's MDL cuts), found on all rows, test rows among them.

    That leaks the classes of test rows into the cuts. It is here because the kACTUS paper evidently did so.
    """
    columns = {name: _cut(column, subject) for name, column in subject.table.columns.items()}
    changed = [name for name, column in columns.items() if column is not subject.table[name]]
    frame = subject.frame.with_columns(_text(columns[name]) for name in changed)
    schema = Schema(tuple(_as_category(c) if c.name in changed else c for c in subject.schema.columns))
    message = "numbers were cut into intervals on all rows before the splits: test rows had a say."
    notice = Notice("discretized", "discretize", message)
    table = EncodedTable(columns, subject.table.height)
    return replace(subject, frame=frame, schema=schema, table=table, notices=(*subject.notices, notice))


def _cut(column: EncodedColumn, subject: Subject) -> EncodedColumn:
    if not column.type.is_numeric or column.name == subject.target:
        return column
    counts = np.zeros((column.width, subject.classes.width), np.int64)
    np.add.at(counts, (column.codes, subject.classes.codes), 1)
    numbers = column.numbers.astype(np.float64)
    return bin_column(column, [float(numbers[cut - 1] / 2 + numbers[cut] / 2) for cut in mdl_cuts(counts[:-1])])


def _text(column: EncodedColumn) -> pl.Series:
    words = pl.concat([column.dictionary.alias(column.name), pl.Series(column.name, [None], pl.String)])
    return words.gather(column.codes.astype(np.int64))


def _as_category(column: Column) -> Column:
    if column.hierarchy is not None:
        raise SchemaError(f"Column {column.name!r} has a hierarchy of numbers and cannot be cut before. Leave one out.")
    return replace(column, type=ColumnType.CATEGORICAL)


NamedTable = tuple[Any, Dataset | None]
"""A file, a frame or a data set that a user named, with what is known of a data set beforehand."""


def find_table(named: Any, folder: Path | None, tell: Callable[[str], None]) -> NamedTable:
    """The file or frame, or the data set of that name: a name without an ending that is no file."""
    if not isinstance(named, str | Path) or Path(named).exists() or Path(named).suffix:
        return named, None
    dataset = find_dataset(str(named))
    return load(dataset.name, folder, tell), dataset


def read_subject(
    named: NamedTable,
    *,
    target: str | None = None,
    quasi_identifiers: Iterable[str] | None = None,
    drop: Iterable[str] | None = None,
    **how: Any,
) -> Subject:
    """The table as it is compared on; of a data set, quasi-identifiers may be a paper's choice, such as ``8/14``."""
    table, dataset = named
    known = None if quasi_identifiers is None else list(quasi_identifiers)
    facts: dict[str, Any] = {}
    if dataset is not None:
        target = target or dataset.target
        facts = {"numeric": dataset.numeric, "name": dataset.name}
        if known is None or (len(known) == 1 and known[0] in ("all", *dataset.attribute_sets)):
            known = list(dataset.quasi_identifiers(*(known or ())))
    if target is None:
        raise ParameterError(f"Name the class to predict: {named_option(target='COLUMN')}.")
    left_out = (*(dataset.identifiers if dataset is not None else ()), *(drop or ()))
    return understand_table(table, target=target, quasi_identifiers=known, identifiers=left_out, **facts, **how)
