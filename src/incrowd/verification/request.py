"""What the verification is told: what was asked for and promised, where input and release lie, and a hint.

The document is small and plain. Roles, requirement, form and reading options are the user's; where the user said
nothing, they are what the program has announced. The one thing that comes from the work itself is the *hint*: from
which input row each released row was made. It is not believed, it is tried: every cell is compared with the input,
and if the hint is wrong, the cells do not agree.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.column_rules import Keying
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.requirement import Requirement, requirement_from_json
from incrowd.vocabulary.schema import Column, ColumnType, Role

if TYPE_CHECKING:  # those who ask write the document; only the verification counts
    from incrowd.verification.class_sizes import Promises
    from incrowd.verification.coded import CodedCells
    from incrowd.verification.owners import Owners
    from incrowd.verification.population import People
    from incrowd.verification.requirements import Further


@dataclass(frozen=True)
class InputFile:
    """A table on disk, and how it is read; nothing of it is found out.

    Parameters
    ----------
    path
        The file, or a folder of Parquet files.
    kind
        ``csv``, ``parquet``, ``arrow``, ``arff``, ``jsonl``, ``excel``, ``spss``, ``stata``, ``sas``, ``sqlite`` or
        ``duckdb``.
    delimiter, encoding, compression
        Of text.
    missing
        Words that mean a missing value.
    header, names
        Whether text begins with the names of its columns; their names if not, c1, c2, … if the user gave none.
    decimal, dates
        How numbers and dates are written in text, if not plainly: ``comma`` or ``point`` parts decimals and the other
        parts thousands; ``dmy``, ``mdy`` or ``ymd`` is the order of day, month and year.
    sheet, header_row
        Of a workbook, if it is not the first; the number of its row that has the names, if it is not the first with a
        cell.
    query
        What is asked of a file of SQLite or DuckDB.
    coarsen
        The rules by which the user has columns made coarser, in the user's words.
    keyed
        The columns that the user has made with a key, and where the key lies.
    """

    path: Path
    kind: str
    delimiter: str = ","
    encoding: str = "utf-8"
    compression: str | None = None
    missing: tuple[str, ...] = ()
    header: bool = True
    names: tuple[str, ...] = ()
    decimal: str | None = None
    dates: str | None = None
    sheet: str | None = None
    header_row: int | None = None
    query: str = ""
    coarsen: Mapping[str, str] = field(default_factory=dict)
    keyed: Keying | None = None


@dataclass(frozen=True)
class Hint:
    """From which input row each released row was made, and what stands behind numbers that are middles.

    Parameters
    ----------
    origin
        A NumPy file: the input row of each released row, in the release's order.
    sizes
        How many rows each piece of the release has; one piece if it was written at once.
    claims
        For each such column NumPy files with the low end (excluded) and the high end (included) of each row's interval.
    """

    origin: Path
    sizes: tuple[int, ...]
    claims: Mapping[str, tuple[Path, Path]] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawn:
    """How counts were drawn.

    Parameters
    ----------
    rows
        How many rows of the whole release a draw may take beside those of its class.
    key
        The file of the key, as hexadecimal digits.
    bins
        For each number the names of all its bins, as they are announced: one that has rows need not be drawn anywhere.
    joint
        The attributes that are counted together, as they are announced.
    """

    rows: int
    key: Path
    bins: Mapping[str, Sequence[str]] = field(default_factory=dict)
    joint: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, eq=False)
class Request:
    """A release to be verified.

    Parameters
    ----------
    input
        The table it is made from.
    release, form, groups
        The written file, how it is laid out, and the table of groups of a release of two tables.
    columns
        The columns of the input in their order, each with role, type and hierarchy.
    requirement
        What is promised.
    hint
        Which row is which.
    typed
        Columns whose type the user said; those of the others were drafted from their values.
    counted
        Whether quasi-identifiers are released as counts of values.
    drawn
        How these counts are drawn; None if they are exact.
    levels
        Whether numbers are released as levels: one mean for all rows that show the same interval.
    extremes
        Whether the user asks for intervals from the smallest to the largest number of their rows.
    loses_rows
        Whether the method may leave rows out: fewer than k for each set of columns.
    left_out
        How many rows the program says it left out.
    seeded
        Whether the user gave a seed, so that chance is none.
    file
        Whether the release is the file itself; a table on a server has no bytes and no order of its own.
    preset, own_roles, own_rules
        The preset that the user named, the columns whose role the user said, and those that the user does not want
        coarsened as the preset would.
    rarest
        No cell names a value that fewer people have; 0 if that was not asked for.
    at_most
        For some columns the coarsest level of their hierarchy that a cell may show; 0 are the leaves.
    apart
        For some columns sets of values, or ``*``: the cell of a row with such a value stands for none outside its set.
    persons
        Whose rows they are, and what recipients may follow; None if every row is a person.
    lose
        How many rows may be left out, as the user says it: a share or a number; None if nothing was said.
    static
        The request of the table of persons that is released beside these rows, one row for each, under the same
        pseudonyms; None if there is no such table.
    together
        What is promised of both tables, where each request has what is required of its own columns; None of one table.
    orphans
        What becomes of rows of persons whom that table does not have: ``refuse``, ``drop`` or ``keep``.
    persons_of
        Another table; whoever has rows there and none here has one row here, without values, after all others.
    population
        The people the rows are from, for requirements about them.
    memory, threads, scratch
        What the verification may use.
    """

    input: InputFile
    release: Path
    form: FileForm
    columns: tuple[Column, ...]
    requirement: Requirement
    hint: Hint
    groups: Path | None = None
    typed: frozenset[str] = frozenset()
    counted: bool = False
    drawn: Drawn | None = None
    levels: bool = False
    extremes: bool = False
    loses_rows: bool = False
    left_out: int = 0
    seeded: bool = False
    file: bool = True
    preset: str | None = None
    own_roles: frozenset[str] = frozenset()
    own_rules: frozenset[str] = frozenset()
    rarest: int = 0
    at_most: Mapping[str, int] = field(default_factory=dict)
    apart: Mapping[str, Any] = field(default_factory=dict)
    lose: str | float | None = None
    persons: Persons | None = None
    static: Request | None = None
    together: Requirement | None = None
    orphans: str = "refuse"
    persons_of: InputFile | None = None
    population: InputFile | None = None
    memory: int | None = None
    threads: int = 1
    scratch: Path | None = None

    def role(self, role: Role) -> tuple[str, ...]:
        """The columns that have a role."""
        return tuple(column.name for column in self.columns if column.role is role)

    def to_text(self) -> str:
        """The document."""
        return json.dumps(self._data(), default=_plain, ensure_ascii=False)

    def _data(self) -> dict[str, Any]:
        data = {one.name: getattr(self, one.name) for one in fields(self)}
        data["columns"] = [_column_data(column) for column in self.columns]
        data["requirement"] = self.requirement.to_json()
        data["together"] = self.together and self.together.to_json()
        return data | {"static": self.static and self.static._data()}

    @classmethod
    def from_text(cls, document: str) -> Request:
        """The request in a document."""
        return cls._of(json.loads(document))

    @classmethod
    def _of(cls, data: dict[str, Any]) -> Request:
        data["input"] = _input(data["input"])
        data["static"] = data["static"] and cls._of(data["static"])
        data |= {name: data[name] and _input(data[name]) for name in ("population", "persons_of")}
        data["form"] = FileForm(**data["form"])
        data["persons"] = data["persons"] and Persons(**data["persons"])
        data["columns"] = tuple(_column(one) for one in data["columns"])
        data["requirement"] = requirement_from_json(data["requirement"])
        drawn, hint = data["drawn"], data["hint"]
        data["drawn"] = drawn and _drawn(drawn)
        data["together"] = data["together"] and requirement_from_json(data["together"])
        claims = {name: (Path(low), Path(high)) for name, (low, high) in hint["claims"].items()}
        data["hint"] = Hint(Path(hint["origin"]), tuple(hint["sizes"]), claims)
        for name in ("typed", "own_roles", "own_rules"):
            data[name] = frozenset(data[name])
        for name in ("release", "groups", "scratch"):
            data[name] = data[name] and Path(data[name])
        return cls(**data)


def _drawn(data: dict[str, Any]) -> Drawn:
    return Drawn(data["rows"], Path(data["key"]), data["bins"], tuple(map(tuple, data["joint"])))


def _input(data: dict[str, Any]) -> InputFile:
    keyed = data.get("keyed")
    if keyed is not None:
        listed = {name: tuple(keyed[name]) for name in ("pseudonyms", "shifted")}
        keyed = Keying(**{**keyed, **listed, "key": Path(keyed["key"])})
    known = InputFile(**{**data, "keyed": keyed})
    return replace(known, path=Path(known.path), missing=tuple(known.missing), names=tuple(known.names))


def _column_data(column: Column) -> dict[str, Any]:
    hierarchy = column.hierarchy and column.hierarchy.to_json()
    return {
        "name": column.name,
        "role": column.role,
        "type": column.type,
        "order": column.order,
        "hierarchy": hierarchy,
    }


def _column(data: dict[str, Any]) -> Column:
    hierarchy = Hierarchy.from_json(data["hierarchy"]) if data["hierarchy"] else None
    return Column(
        data["name"], Role(data["role"]), ColumnType(data["type"]), order=tuple(data["order"]), hierarchy=hierarchy
    )


def _plain(value: Any) -> Any:
    """What JSON has no word for."""
    if isinstance(value, Path):
        return str(value.absolute())  # the process may have been started elsewhere
    if isinstance(value, frozenset):
        return sorted(value)
    return {one.name: getattr(value, one.name) for one in fields(value)}


@dataclass(frozen=True, eq=False)
class Original:
    """The table a release came from, or a piece of it, as the verification needs it.

    Parameters
    ----------
    table
        A PyArrow table with the released columns, one row for each released row, in the release's order.
        Numeric quasi-identifiers are numbers, dates are dates, other quasi-identifiers text.
    origin
        The input row of each released row.
    rows
        Number of input rows.
    claims
        For numbers that are middles of intervals: the low (excluded) and the high end (included) of the interval that
        each released row claims to lie in, infinite where it is open.
    """

    table: Any
    origin: npt.NDArray[np.intp]
    rows: int
    claims: Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]] = field(default_factory=dict)
    _coded: dict[str, CodedCells] = field(default_factory=dict, repr=False)

    def cells(self, name: str) -> CodedCells:
        """A column as codes, which are made once."""
        from incrowd.verification.coded import CodedCells

        if name not in self._coded:
            self._coded[name] = CodedCells.of(self.table[name])
        return self._coded[name]


@dataclass(frozen=True, eq=False)
class Originals:
    """The table a release came from in pieces, for tables that do not fit into memory.

    Parameters
    ----------
    rows
        Number of input rows.
    sizes
        The released rows of each piece, in the release's order.
    piece
        Gives the piece with a number.
    origin
        The input row of each released row.
    """

    rows: int
    sizes: Sequence[int]
    piece: Callable[[int], Original]
    origin: npt.NDArray[np.intp]

    @classmethod
    def of(cls, original: Original | Originals) -> Originals:
        """The pieces of a table, which may be one."""
        if isinstance(original, Originals):
            return original
        return cls(original.rows, (len(original.origin),), lambda _: original, original.origin)


@dataclass(frozen=True, eq=False)
class Expected:
    """What a release promises.

    Parameters
    ----------
    promises
        A name, the columns that are combined, and how many rows must share every combination.
    columns
        The released columns, in order.
    quasi_identifiers
        Those that are transformed.
    may_lose
        How many rows the method may leave out.
    shared_means
        Numeric quasi-identifiers whose numbers are means over all rows that show the number, not over one class.
    bounds
        Pairs of columns that hold the two ends of an interval, the low one excluded.
    hierarchies
        Hierarchies of values, for columns that may show the name of a group.
    counts
        Quasi-identifiers written as counts of values.
    drawn
        How these are drawn; None if they are exact.
    joint
        For the columns that are counted together a PyArrow table of the combinations (``name``) that may be named.
    further
        What is required of columns in every class beyond its size.
    people
        The population, if something is required of it.
    extremes
        Whether intervals may end at the smallest and the largest number of their rows, which was asked for.
    keyed
        Columns that a key makes.
    owners
        Whose rows they are, where a person may have several: then persons are counted.
    pseudonym
        The column of their pseudonyms, where recipients can follow them.
    """

    promises: Promises
    columns: Sequence[str]
    quasi_identifiers: Sequence[str]
    may_lose: int
    shared_means: Collection[str] = ()
    bounds: Sequence[tuple[str, str]] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    counts: Collection[str] = ()
    drawn: Drawn | None = None
    joint: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    further: Sequence[Further] = ()
    people: People | None = None
    extremes: bool = False
    keyed: Collection[str] = ()
    owners: Owners | None = None
    pseudonym: str | None = None
