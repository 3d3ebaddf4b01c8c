"""Columns of the input made coarser by the rules that the user named, as SQL: the reader that did it is not asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.errors import VerificationError
from incrowd.verification.meaning import clean
from incrowd.verification.opening import column, text
from incrowd.vocabulary.coarsening import NO_AREA, SMALL_AREAS, TOP, YEAR, Coarsening

_CLOCK = "([T ,]+[0-9]{1,2}:[0-9]{2}.*)?"
_DATES = (  # how dates are written, and which part of them is the year
    ("([0-9]{4})(-[0-9]{2}(-[0-9]{2})?|[/.][0-9]{1,2}[/.][0-9]{1,2})?", 1),
    ("[0-9]{1,2}([./-][0-9]{1,2}[./-]|[ -][A-Za-z]{3,9}[ -])([0-9]{4})", 2),
    ("[A-Za-z]{3,9} ([0-9]{1,2}, )?([0-9]{4})", 2),
)
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")


def coarsen(
    connection: Any, names: Sequence[str], rules: Mapping[str, str], missing: Sequence[str], *, of: str, to: str
) -> None:
    """Make the table or view ``to`` (``TABLE name`` or ``VIEW name``) of another by the rules.

    A cell that a rule cannot read is refused: it would be released as it is, or be lost.
    """
    kinds = [row[1] for row in connection.execute(f"DESCRIBE {of}").fetchall()]
    by_place = {names.index(name): Coarsening.of(rule) for name, rule in rules.items() if name in names}
    if len(by_place) != len(rules):
        raise VerificationError("A column that is to be coarsened is not in the input. Nothing was published.")
    cells = []
    for place, kind in enumerate(kinds):
        cell, rule = column(place), by_place.get(place)
        if rule is None:
            cells.append(cell)
            continue
        coarse, there = _coarse(cell, kind, rule, missing)
        [(bad,)] = connection.execute(f"SELECT count(*) FROM {of} WHERE {there} AND ({coarse}) IS NULL").fetchall()
        if bad:
            raise VerificationError(f"A column has cells that the rule {rule} cannot read. Nothing was published.")
        cells.append(f"{coarse} AS {cell}")
    connection.execute(f"CREATE OR REPLACE TEMP {to} AS SELECT {', '.join(cells)} FROM {of}")


def _coarse(cell: str, kind: str, rule: Coarsening, missing: Sequence[str]) -> tuple[str, str]:
    """SQL: the cell by the rule, NULL if it is missing or the rule cannot read it; and whether it is there."""
    if kind.startswith(("VARCHAR", "ENUM")):
        meant = clean(cell, missing)
        of_text = {YEAR: _year_of, TOP: _most_of}.get(rule.kind, _area_of)
        return of_text(meant, cell, rule), f"{meant} IS NOT NULL"
    there = f"{cell} IS NOT NULL"
    if kind in ("FLOAT", "DOUBLE"):
        there = f"({there} AND NOT isnan({cell}))"
    number = kind in ("FLOAT", "DOUBLE", *_WHOLE) or kind.startswith("DECIMAL")
    value = f"CASE WHEN {there} THEN {cell} END"
    if rule.kind == YEAR:
        dates = kind == "DATE" or kind.startswith("TIMESTAMP")
        year = f"year({cell})" if dates else _four_digits(value) if number else "NULL"
        return _from(year, rule), there
    if rule.kind == TOP:
        if not number:
            return "NULL", there
        return f"CASE WHEN {value} > {rule.bound} THEN TRY_CAST({rule.bound} AS {kind}) ELSE {value} END", there
    five = f"lpad(TRY_CAST(trunc({value}) AS BIGINT)::VARCHAR, 5, '0')" if number else "''"
    known = f"trunc({value}) BETWEEN 1000 AND 99999" if number else "false"
    return f"CASE WHEN {there} THEN {_shown(f'CASE WHEN {known} THEN {five}[1:3] END')} END", there


def _year_of(meant: str, _: str, rule: Coarsening) -> str:
    cases = " ".join(
        f"WHEN regexp_full_match({meant}, '{shape}{_CLOCK}') THEN regexp_extract({meant}, '^{shape}{_CLOCK}$', {part})"
        for shape, part in _DATES
    )
    return _from(f"TRY_CAST(CASE {cases} END AS BIGINT)", rule)


def _four_digits(value: str) -> str:
    return f"CASE WHEN {value} = trunc({value}) AND {value} BETWEEN 1000 AND 9999 THEN TRY_CAST({value} AS BIGINT) END"


def _from(year: str, rule: Coarsening) -> str:
    if rule.bound is None:
        return f"({year})::BIGINT"
    return f"CASE WHEN {year} IS NOT NULL THEN greatest({year}, {rule.bound})::BIGINT END"


def _most_of(meant: str, cell: str, rule: Coarsening) -> str:
    number = rf"CASE WHEN regexp_full_match({meant}, '[+-]?[0-9]+(\.[0-9]*)?') THEN TRY_CAST({meant} AS DOUBLE) END"
    return f"CASE WHEN {number} > {rule.bound} THEN '{rule.bound}' WHEN {number} IS NOT NULL THEN {cell}::VARCHAR END"


def _area_of(meant: str, _: str, __: Coarsening) -> str:
    digits = (
        f"CASE WHEN regexp_full_match({meant}, '[0-9]{{5}}|[0-9]{{9}}|[0-9]{{5}}-[0-9]{{4}}|[0-9]{{3}}([*Xx]{{2}})?') "
        f"THEN {meant}[1:3] WHEN regexp_full_match({meant}, '[0-9]{{4}}') THEN '0' || {meant}[1:2] END"
    )
    return f"CASE WHEN {meant} IS NOT NULL THEN {_shown(digits)} END"


def _shown(digits: str) -> str:
    """SQL: the three digits that may be shown."""
    small = ", ".join(map(text, sorted(SMALL_AREAS)))
    return f"coalesce(CASE WHEN {digits} NOT IN ({small}) THEN {digits} END, '{NO_AREA}')"
