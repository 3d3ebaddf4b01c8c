"""A written release next to its original, column by column. Rows are matched by position."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from incrowd.verification.coded import CodedCells, add_to, ask, shown_cells
from incrowd.verification.compared_values import (
    ROWS,
    NumberComparison,
    ValueComparison,
    is_held,
    is_spelled,
    own_number,
)
from incrowd.verification.opening import column, create_macros, register
from incrowd.verification.request import Expected, Original
from incrowd.verification.shown import CountsComparison, Forms, PieceOfCounts, add_forms, count_forms

MACROS = (
    # text that a spreadsheet would take for a formula is written with an apostrophe before it
    """is_formula(t) AS (ascii(t) IN (9, 13, 43, 45, 61, 64) AND length(t) > 1
        AND TRY_CAST(t AS DOUBLE) IS NULL)""",
    "escaped(t) AS CASE WHEN is_formula(t) THEN chr(39) || t ELSE t END",
    r"plain(t) AS regexp_replace(t, '^''([=+@\t\r-])', '\1')",
    "member(t) AS replace(replace(t, '%', '%25'), '|', '%7C')",
    "day(d) AS datediff('day', DATE '1970-01-01', d)::DOUBLE",
    "number(t) AS coalesce(TRY_CAST(t AS DOUBLE), day(TRY_CAST(t AS DATE)))",
    r"low_end(t) AS number(regexp_extract(t, '^[\[(](.+), (.+)[\])]$', 1))",
    r"high_end(t) AS number(regexp_extract(t, '^[\[(](.+), (.+)[\])]$', 2))",
    """within(x, y, t) AS ((x > low_end(t) OR (x = low_end(t) AND starts_with(t, '[')))
        AND (y < high_end(t) OR (y = high_end(t) AND ends_with(t, ']'))))""",
    # a mean is known only as closely as the numbers it is taken over
    "close_to(x, y, low, high) AS (abs(x - y) <= 1e-9 * greatest(abs(low), abs(high)))",
)
_SIDES = ((0, "low"), (1, "high"))


@dataclass(frozen=True, eq=False)
class PieceFindings:
    """What one piece of a release shows next to its original.

    Parameters
    ----------
    wrong
        For each column how many cells do not follow from the original.
    shown, formulas
        For each quasi-identifier how many cells show what; how many cells of all columns are formulas, where that is
        asked.
    sets
        Which values the rows have that show a set of values: a PyArrow table of places of columns, sets and values,
        each once; None where it does not matter.
    ends
        The greatest own number of a column, and the greatest at which an interval of it ends; minus infinity for none.
    means
        What the piece adds to numbers that are means: a PyArrow table with a row for each class; None without any.
    counts
        What it adds to published counts.
    """

    wrong: Mapping[str, int]
    shown: Mapping[str, Mapping[str, int]]
    formulas: int = 0
    sets: Any = None
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    means: Any = None
    counts: PieceOfCounts | None = None


@dataclass(frozen=True)
class AllFindings:
    """Of a whole release: wrong cells of each column, how many cells of quasi-identifiers show what, and formulas."""

    wrong: Mapping[str, int]
    shown: Forms
    formulas: int = 0
    heavy: int = 0  # means of rows more than half of which are one person's


_TOGETHER = 200  # columns in one query: what DuckDB makes of a query grows with the square of its columns


class CellComparison:
    """Compares the tables ``released`` and ``original``, row i of the one being row i of the other.

    What a cell of a quasi-identifier may show is asked once for each different pair of a cell and an own value, of all
    columns in one query; other columns are compared row by row.

    Parameters
    ----------
    connection
        Has the table ``released``, or gets it before each piece is compared.
    escapes
        Whether text that looks like a formula was written with an apostrophe before it.
    pair
        Whether counts come from a table of their own, where values stand alone in a cell.

    Attributes
    ----------
    shown
        The quasi-identifiers of the piece that was compared last, as codes.
    """

    def __init__(self, connection: Any, expected: Expected, *, escapes: bool, pair: bool = False) -> None:
        self._connection, self._columns, self._escapes = connection, list(expected.columns), escapes
        self._place = {name: place for place, name in enumerate(expected.columns)}
        self._quasi = list(expected.quasi_identifiers)
        self._persons, self._pseudonym = expected.owners is not None, expected.pseudonym
        self._keys, self._of_quasi = [self._at(name) for name in self._quasi], frozenset(self._quasi)
        asked_for = expected.columns if expected.may_lose or expected.extremes else expected.hierarchies
        self._cut = {name for name in expected.columns if name not in asked_for}
        self._exact_sets = expected.people is None  # where people outside the table count, sets may name their values
        self._ends = {end: (low, high) for low, high in expected.bounds for end in (low, high)}
        self._counted = list(expected.counts)
        self.shown: dict[str, CodedCells] = {}
        self._middles: set[str] = set()
        self._written: dict[str, str] = {}
        self._own_types: dict[str, str] = {}
        create_macros(connection, MACROS)
        drawn = expected.drawn
        counts = CountsComparison(
            connection,
            self._keys,
            [*map(self._at, self._counted)],
            escaped=escapes and pair,
            drawn=drawn,
            bins={self._at(name): bins for name, bins in drawn.bins.items()} if drawn else {},
            joint={tuple(map(self._at, names)): named for names, named in expected.joint.items()},
        )
        self._counts = counts if self._counted else None
        self._values = ValueComparison(connection, self._columns, expected.hierarchies, escapes=escapes)
        self._numbers = NumberComparison(
            connection,
            self._columns,
            self._quasi,
            shared_means=expected.shared_means,
            extremes=expected.extremes,
            kinds=self._own_types,
        )

    def _at(self, name: str) -> str:
        return column(self._place[name])

    def piece(self, original: Original, read: Mapping[str, CodedCells] | None = None) -> PieceFindings:
        """The table ``released`` next to the rows it came from; ``read`` are columns of it that are codes already."""
        register(self._connection, original.table.select(self._columns), "original")
        self._middles = set(original.claims)
        self._written.update(self._describe("released"))
        self._own_types.update(self._describe("original"))
        cells = {name: one for name, one in (read or {}).items() if name in self._quasi}
        left = [name for name in self._quasi if name not in cells]
        cells |= zip(left, shown_cells(self._connection, [self._place[name] for name in left]), strict=True)
        self.shown = cells
        wrong, with_means = dict.fromkeys(self._columns, 0), self._of_form("numbers")
        ends: dict[str, tuple[float, float]] = {}
        in_rows, formulas = self._wrong_rows(original)
        wrong |= in_rows
        sets = None
        if values := self._of_form("values"):
            self._values.register({name: (cells[name], original.cells(name)) for name in values})
            wrong |= self._values.wrong([name for name in values if self._is_number(name)])
            sets = self._values.members() if self._exact_sets else None
        if labels := self._of_form("labels"):
            self._numbers.register({name: (cells[name], original.cells(name)) for name in labels})
            for name, cells_wrong, greatest, shows_means in self._numbers.judged():
                wrong[name] = cells_wrong
                ends |= {name: greatest} if name in self._cut else {}
                with_means += [name] if shows_means else []
        return PieceFindings(
            wrong=wrong,
            formulas=formulas + self._formulas(cells.values()),
            shown={name: count_forms(cells[name], name in self._counted) for name in self._quasi},
            sets=sets,
            ends=ends,
            means=self._numbers.sums(with_means) if with_means else None,
            counts=self._piece_of_counts(original) if self._counts else None,
        )

    def added(self, pieces: Iterable[PieceFindings]) -> AllFindings:
        """What all pieces show; of means it is how many different ones do not follow from the original."""
        parts = list(pieces)
        wrong = {name: sum(piece.wrong[name] for piece in parts) for name in self._columns}
        heavy = 0
        if means := [piece.means for piece in parts if piece.means is not None]:
            add_to(wrong, self._numbers.wrong_means(means))
            heavy = self._numbers.heavy_means() if self._persons else 0
        if sets := [piece.sets for piece in parts if piece.sets is not None]:
            add_to(wrong, self._values.strange_members(sets))
        for name in {name for piece in parts for name in piece.ends}:
            own, shown = (max(piece.ends[name][side] for piece in parts if name in piece.ends) for side in (0, 1))
            wrong[name] += math.isfinite(own) and own == shown
        if self._counts:
            by_place = self._counts.added([piece.counts for piece in parts if piece.counts])
            add_to(wrong, {name: by_place[self._at(name)] for name in self._counted})
        forms = add_forms([piece.shown for piece in parts], self._quasi)
        return AllFindings(wrong, forms, sum(piece.formulas for piece in parts), heavy)

    def _form(self, name: str) -> str:
        """What the cells of a column are.

        Those of a quasi-identifier are values, sets of values or names of groups; labels, that is intervals and sets of
        them, or numbers as text; or numbers.
        """
        if name not in self._of_quasi:
            return "pseudonyms" if name == self._pseudonym else "own"
        for form, names in (("counts", self._counted), ("ends", self._ends), ("middles", self._middles)):
            if name in names:
                return form
        is_text = self._written[name] == "VARCHAR"
        if not self._is_number(name) or (is_text and name in self._values.named):
            return "values"
        return "labels" if is_text else "numbers"

    def _of_form(self, form: str) -> list[str]:
        return [name for name in self._columns if self._form(name) == form]

    def _describe(self, table: str) -> dict[str, str]:
        return dict(zip(self._columns, (row[1] for row in ask(self._connection, f"DESCRIBE {table}")), strict=True))

    def _is_number(self, name: str) -> bool:
        return self._own_types[name] not in ("VARCHAR", "BOOLEAN")

    def _piece_of_counts(self, original: Original) -> PieceOfCounts:
        assert self._counts is not None
        ats = {name: self._at(name) for name in self._counted}
        return self._counts.piece(
            len(original.origin),
            {self._at(name): self.shown[name] for name in self._quasi},
            {at: original.cells(name) for name, at in ats.items()},
            {at: own_number("t", self._own_types[name]) if self._is_number(name) else None for name, at in ats.items()},
        )

    def _as_written(self, own: str) -> str:
        """SQL: how a value alone in a cell is written."""
        return f"escaped({own})" if self._escapes else own

    def _wrong_rows(self, original: Original) -> tuple[dict[str, int], int]:
        """How many cells of the columns that are compared row by row do not follow from the original.

        And how many cells beside quasi-identifiers are formulas.
        """
        import pyarrow as pa

        wrong = {name: self._is_wrong(name) for name in self._columns}
        counted = {name: f"count(*) FILTER ({condition})" for name, condition in wrong.items() if condition}
        others = [self._at(name) for name in self._columns if self._is_text_beside(name)] if self._escapes else ()
        risky = [f"count(*) FILTER (is_formula(r.{at}))" for at in others]
        if not counted:
            return {}, 0
        claimed = ""
        if original.claims:
            sides = {
                f"{self._at(name)}_{side}": ends[at] for name, ends in original.claims.items() for at, side in _SIDES
            }
            self._connection.register("claimed", pa.table(sides))
            claimed = " POSITIONAL JOIN claimed AS c"
        conditions = [*counted.values(), *risky]
        numbers: list[int] = []
        for some in (conditions[begin : begin + _TOGETHER] for begin in range(0, len(conditions), _TOGETHER)):
            numbers += ask(self._connection, f"SELECT {', '.join(some)} FROM {ROWS}{claimed}")[0]
        return dict(zip(counted, numbers, strict=False)), sum(numbers[len(counted) :])

    def _is_text_beside(self, name: str) -> bool:
        return name not in self._of_quasi and self._written[name] == "VARCHAR"

    def _formulas(self, columns: Iterable[CodedCells]) -> int:
        """How many cells of columns a spreadsheet would take for formulas; each different one is looked at once."""
        import pyarrow as pa

        parts = list(columns)
        if not self._escapes or not parts:
            return 0
        rows = np.concatenate([np.bincount(one.codes, minlength=len(one.words) + 1)[:-1] for one in parts])
        words = pa.chunked_array([one.words for one in parts], pa.string())
        self._connection.register("words", pa.table({"t": words, "n": rows}))
        [(formulas,)] = ask(self._connection, "SELECT coalesce(sum(n) FILTER (is_formula(t)), 0)::BIGINT FROM words")
        return int(formulas)

    def _is_wrong(self, name: str) -> str:
        """SQL: whether a cell does not follow from the original; nothing for forms that are judged otherwise."""
        at = self._at(name)
        match self._form(name):
            case "own":
                return self._differs(name, f"r.{at}", f"o.{at}")
            case "ends":
                return self._is_outside(*self._ends[name])
            case "middles":
                return self._is_no_middle(name)
            case "numbers":
                return f"r.{at} IS NOT NULL AND number(r.{at}::VARCHAR) IS NULL"
            case _:
                return ""

    def _differs(self, name: str, here: str, there: str) -> str:
        """The untouched column is not what it was; a text side is read in the type of the other side.

        A number that is none may have become a missing one, which it means.
        """
        written, own = self._written[name], self._own_types[name]
        if own in ("FLOAT", "DOUBLE"):
            there = f"CASE WHEN {here} IS NOT NULL OR NOT isnan({there}) THEN {there} END"
        if written == own == "VARCHAR":
            return f"{here} IS DISTINCT FROM {self._as_written(there)}"
        only_one = f"({here} IS NULL) <> ({there} IS NULL)"
        if written == "VARCHAR":
            only_one += f" OR NOT coalesce({is_spelled(here, own)}, true)"
            here = f"TRY_CAST({here} AS {own})"
        elif own == "VARCHAR":
            there = f"CASE WHEN {is_held(there, written)} THEN TRY_CAST({there} AS {written}) END"
        elif written != own:
            there = f"CASE WHEN TRY_CAST(TRY_CAST({there} AS {written}) AS {own}) = {there} THEN {there} END"
        return f"{only_one} OR {here} IS DISTINCT FROM {there}"

    def _is_outside(self, low: str, high: str) -> str:
        """The number of a row does not lie between the two ends; of a single value both ends are the value."""
        own = own_number(f"o.{self._at(low)}", self._own_types[low])
        least, most = (f"number(r.{self._at(name)}::VARCHAR)" for name in (low, high))
        inside = f"coalesce({own} > {least}, true) AND coalesce({own} <= {most}, true)"
        return (
            f"({least} IS NOT NULL OR {most} IS NOT NULL) AND "
            f"({own} IS NOT NULL AND (({inside}) OR ({own} = {least} AND {own} = {most}))) IS NOT TRUE"
        )

    def _is_no_middle(self, name: str) -> str:
        """A number is not the middle of the interval that its row claims, or the claim is not true of the row."""
        at = self._at(name)
        shown, own = f"number(r.{at}::VARCHAR)", own_number(f"o.{at}", self._own_types[name])
        low, high = f"c.{at}_low", f"c.{at}_high"
        middle = f"{low} / 2 + {high} / 2"
        right, least = f"close_to({middle}, {shown}, {low}, {high})", low
        if self._own_types[name] == "DATE":
            right, least = f"floor({middle}) = {shown}", f"floor({low})"
        inside = f"{shown} >= {least} AND {shown} <= {high}"
        right = f"CASE WHEN isinf({low}) OR isinf({high}) THEN {inside} ELSE {right} END"
        true = f"{own} > {low} AND {own} <= {high} AND {right}"
        return f"r.{at} IS NOT NULL AND {shown} IS DISTINCT FROM {own} AND ({true}) IS NOT TRUE"
