"""Whose row each row is: the person column as numbers, refused where it does not tell persons apart.

The rows of a person in order: dates as days since the first of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import HeaderError, Notice, SchemaError, named_option
from incrowd.tables.reading.convert import as_text
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.source import Source
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn
from incrowd.vocabulary.persons import DAYS, Persons
from incrowd.vocabulary.schema import NOT_RELEASED, ColumnType, Role, Schema, unknown_column

_ZEROS = re.compile(r"^0+(?=.)|(?<![0-9])0+(?=[0-9])", re.DOTALL)  # that begin a number anywhere, or the spelling
# Nobody sees these: control characters, and what Unicode calls ignorable by default, such as zero-width spaces.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_HEAVY = 0.05  # of all rows: somebody who has more is told of, for groups are then largely about one person
_NEARLY = 0.05  # of those with several rows: a column that changes in fewer probably should not change at all


@dataclass(frozen=True, eq=False)
class RowOwners:
    """The person of each row as a number from 0 on, without gaps; which rows are kept; and what should be known.

    Rows of nobody that count as rows of one person are of the person ``nobody``.
    """

    codes: Codes
    persons: int
    kept: npt.NDArray[np.intp] | None = None  # None: all rows
    notices: tuple[Notice, ...] = ()
    nobody: int | None = None


def owners_of(source: Source, persons: Persons) -> RowOwners:
    """Whose row each row is.

    Rows without a person are refused, left out, or rows of one person, as the user says; so are spellings that look
    alike, unless the user says whether they are the same.

    Examples
    --------
    >>> from incrowd.tables.reading.read import read
    >>> owners = owners_of(read(pl.DataFrame({"patient": ["b", "a", "b"]})), Persons("patient"))
    >>> owners.codes.tolist(), owners.persons
    ([1, 0, 1], 2)
    """
    column = source.distinct([persons.column])[persons.column]
    texts = as_text(column.values)
    texts = pl.Series(texts.fill_nan(None)) if texts.dtype.is_float() else texts
    names, places = np.unique(_spelled(texts, persons), return_inverse=True)
    codes = np.append(places, len(names)).astype(np.int32)[column.codes]
    missing = codes == len(names)
    kept: npt.NDArray[np.intp] | None = None
    notices = list(nobodys_rows(persons, int(missing.sum())))
    if missing.any() and persons.missing == "drop":
        kept = np.flatnonzero(~missing)
        codes = codes[kept]
    rows = np.bincount(codes)
    notices += list(heavy_person(persons.column, int(rows.max(initial=0)), int(rows.sum())))
    used, codes = np.unique(codes, return_inverse=True)
    nobody = len(used) - 1 if missing.any() and kept is None else None
    return RowOwners(codes.astype(np.int32), len(used), kept, tuple(notices), nobody)


def _spelled(texts: pl.Series, persons: Persons) -> npt.NDArray[np.object_]:
    """The persons as the user tells them apart."""
    exact = np.array(texts.to_list(), dtype=object)
    if persons.ids == "exact":
        return exact
    plain = np.array([normalised(text) for text in exact], dtype=object)
    if persons.ids == "normalised":
        return plain
    refuse_alike(persons.column, len(exact) - len(set(plain.tolist())))
    return exact


def refuse_alike(name: str, alike: int) -> None:
    """Raise if so many persons look like another, and the user does not say whether they are the same."""
    if alike:
        raise SchemaError(
            f"{counted(alike, 'person')} of {name!r} differ from another only in case, spaces, zeros that "
            "begin a number, invisible characters, or the form of letters. If they are the same: "
            f"{named_option(person_ids='normalised')}; if not: {named_option(person_ids='exact')}."
        )


def normalised(text: str) -> str:
    """A person's spelling without what people write differently.

    Examples
    --------
    >>> normalised(" 007a "), normalised("P00025"), normalised("0A1"), normalised("00"), normalised("p\\u200b1")
    ('7a', 'p25', 'a1', '0', 'p1')
    """
    return _ZEROS.sub("", unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).strip().casefold())


def nobodys_rows(persons: Persons, missing: int) -> Iterator[Notice]:
    """What becomes of so many rows without a person; raises if they are refused."""
    if not missing:
        return
    rows = counted(missing, "row")
    if persons.missing == "refuse":
        raise SchemaError(
            f"{rows} have no person in {persons.column!r}. Fill them in; or leave them out: "
            f"{named_option(missing_persons='drop')}. If you know that they are all of one person who has no other "
            f"row: {named_option(missing_persons='together')}."
        )
    what = "left out" if persons.missing == "drop" else "count as rows of one more person, as you state"
    yield Notice("missing-person", persons.column, f"{rows} without a person {what}.")


def heavy_person(name: str, most: int, rows: int) -> Iterator[Notice]:
    """What should be known of the person who has most of all rows."""
    if most == 1:
        yield Notice("one-row-each", name, "every person has one row: rows are persons anyway.")
    elif most / max(rows, 1) > _HEAVY:
        yield Notice("heavy-person", name, f"one person has {100 * most / rows:.0f} % of all rows.")


def nearly_static(columns: Iterable[EncodedColumn], owners: Codes, nobody: int | None = None) -> Iterator[Notice]:
    """That a column changes in few of the persons with several rows: probably an error, and it counts as changing.

    Rows of nobody, which count as rows of one person, need not have anything in common.

    Examples
    --------
    >>> from incrowd.tables.reading.encode import encode
    >>> from incrowd.tables.reading.read import read
    >>> from incrowd.vocabulary.schema import Column, Schema
    >>> sex = encode(read(pl.DataFrame({"sex": ["f", "m"] + ["f"] * 58})), Schema((Column("sex"),)), ["sex"])[0]["sex"]
    >>> print(*nearly_static([sex], np.arange(60) // 2))
    sex: 1 of 30 persons with several rows has more than one value; it counts as a column that changes.
    """
    if not len(owners):
        return
    rows = np.bincount(owners)
    real = np.arange(len(rows)) != (-1 if nobody is None else nobody)
    first = np.zeros(len(rows), np.intp)
    first[owners[::-1]] = np.arange(len(owners))[::-1]
    several = int((real & (rows > 1)).sum())
    for column in columns:
        changes = np.zeros(len(rows), np.bool_)
        changes[owners[column.codes != column.codes[first][owners]]] = True
        changing = int((changes & real).sum())
        if 0 < changing <= _NEARLY * several:
            has = "has" if changing == 1 else "have"
            message = (
                f"{changing:,} of {counted(several, 'person')} with several rows {has} more than one value; it counts "
                "as a column that changes."
            )
            yield Notice("nearly-static", column.name, message)


def in_order(source: Source, schema: Schema, persons: Persons) -> tuple[Source, Schema]:
    """The table with dates that order the rows of a person as whole days since the first row of that person.

    The first date itself is then in no row: whoever knows it finds nobody by it. Another order stays as it is.

    Examples
    --------
    >>> from incrowd.tables.reading.read import read
    >>> from incrowd.vocabulary.schema import Column
    >>> visits = read(pl.DataFrame({"id": ["a", "b", "a"], "day": ["2024-03-01", "2024-05-05", "2024-02-28"]}))
    >>> schema = Schema((Column("id", Role.PERSON), Column("day", Role.QUASI_IDENTIFIER, ColumnType.DATE)))
    >>> in_order(visits, schema, Persons("id", linked=True, order="day"))[0].frame["day"].to_list()
    [2, 0, 0]
    """
    name = str(persons.order)
    if name not in schema:
        raise HeaderError(unknown_column(name, schema.names))
    column = schema[name]
    if column.role not in (Role.QUASI_IDENTIFIER, *NOT_RELEASED):
        raise SchemaError(
            f"Column {name!r} puts the rows of a person in order, so it tells persons apart. Make it a "
            "quasi-identifier, or drop it."
        )
    if column.role is not Role.QUASI_IDENTIFIER or column.type is not ColumnType.DATE:
        return source, schema
    days = since_first(source, schema, persons)
    settled = Schema(tuple(replace(one, type=ColumnType.INTEGER) if one is column else one for one in schema.columns))
    declared = tuple(one for one in source.declared if one.name != name)
    notice = Notice(DAYS, name, "released as days since the person's first row, not as dates.")
    frame, notices = source.frame.with_columns(days), (*source.notices, notice)
    return replace(source, frame=frame, declared=declared, notices=notices), settled


def since_first(source: Source, schema: Schema, persons: Persons) -> pl.Series:
    """For each row the days since the first row of its person; null where the date is missing."""
    name = str(persons.order)
    dates = encode(source, schema, (name,))[0][name]
    owners = owners_of(source, persons)
    rows = np.arange(source.frame.height) if owners.kept is None else owners.kept
    known = dates.codes[rows] != dates.missing_code
    rows, people = rows[known], owners.codes[known]
    numbers = dates.numbers[dates.codes[rows]].astype(np.int64)
    first = np.full(owners.persons, np.iinfo(np.int64).max)
    np.minimum.at(first, people, numbers)
    days = pl.Series(name, [None] * source.frame.height, pl.Int64)
    return days.scatter(rows, numbers - first[people])
