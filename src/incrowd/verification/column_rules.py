"""Columns of the input as the user's key makes them, computed here once more: the reader that did it is not asked.

The key is read from its file by itself; pseudonyms and shifts are those of :mod:`incrowd.vocabulary.column_rules`, by
``hashlib`` alone. What a cell holds, and how dates are written, is decided as for all cells of the input.

Columns of the input made coarser by the rules that the user named, as SQL: the reader that did it is not asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from incrowd.errors import VerificationError
from incrowd.verification.meaning import CellMeaning, clean, decide
from incrowd.verification.opening import column, connect, register, text
from incrowd.verification.request import InputFile
from incrowd.verification.verdict import Check
from incrowd.vocabulary.column_rules import NO_AREA, SMALL_AREAS, TOP, YEAR, Coarsening, Keying
from incrowd.vocabulary.schema import ColumnType

_CLOCK = "([T ,]+[0-9]{1,2}:[0-9]{2}.*)?"
_DATES = (  # how dates are written, and which part of them is the year
    ("([0-9]{4})(-[0-9]{2}(-[0-9]{2})?|[/.][0-9]{1,2}[/.][0-9]{1,2})?", 1),
    ("[0-9]{1,2}([./-][0-9]{1,2}[./-]|[ -][A-Za-z]{3,9}[ -])([0-9]{4})", 2),
    ("[A-Za-z]{3,9} ([0-9]{1,2}, )?([0-9]{4})", 2),
)


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


def coarsened_rows(rows: Any, names: Sequence[str], rules: Mapping[str, str], missing: Sequence[str]) -> Any:
    """Rows of the input as a PyArrow table, whose columns are those of the input that are named, made coarser."""
    own = {name: rules[name] for name in names if name in rules}
    if not own:
        return rows
    known = list(dict.fromkeys(names))
    with connect(threads=1) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        register(connection, rows.select([names.index(name) for name in known]), "as_read")
        coarsen(connection, known, own, missing, of="as_read", to="TABLE coarse")
        coarse = connection.sql("FROM coarse").to_arrow_table()
    return rows.from_arrays([coarse.column(known.index(name)) for name in names], names=rows.column_names)


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


UNKEYED = "input_without_key"
_BLOCK = 64  # bytes of a block of SHA-256
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_TIME = "[T ,]+[0-9]{1,2}:[0-9]{2}[0-9:.,]*( ?[AaPp][Mm])?( ?(Z|[+-][0-9]{2}:?[0-9]{2}))?"
_EXACT = 2**53


class Hmac:
    """HMAC-SHA-256 (RFC 2104) under one key, its two beginnings kept.

    Examples
    --------
    >>> Hmac(b"Jefe").digest(b"what do ya want for nothing?").hex()[:16]
    '5bdcc146bf60754e'
    """

    def __init__(self, key: bytes) -> None:
        key = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
        self._inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key))
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in key))

    def digest(self, message: bytes) -> bytes:
        """The 32 bytes of a message."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(message)
        outer.update(inner.digest())
        return outer.digest()

    def of_column(self, purpose: str, name: str) -> Hmac:
        """The same under the key of one column for one purpose."""
        return Hmac(self.digest(f"incrowd {purpose} {name}".encode()))


def make_keyed(connection: Any, names: Sequence[str], keying: Keying, missing: Sequence[str], *, to: str) -> None:
    """Make the table or view ``to`` (``TABLE name`` or ``VIEW name``) of the input without key.

    What is neither missing nor an identifier or a date is refused: it would be released as it is, or be lost.
    """
    kinds = dict(zip(names, (row[1] for row in connection.execute(f"DESCRIBE {UNKEYED}").fetchall()), strict=True))
    if not {*keying.columns, keying.persons} - {None} <= set(kinds):
        raise VerificationError("A column that is made with a key is not in the input. Nothing was published.")
    key, shifts = Hmac(_key(keying)), {}
    for name in keying.pseudonyms:
        at = names.index(name)
        value, there = _identifier(column(at), kinds[name], missing)
        _none(connection, f"{there} AND ({value}) IS NULL", "identifiers that are neither text nor whole numbers")
        shifts[name] = f"pseudonym_{at}({value})"
        _add(connection, f"pseudonym_{at}", _pseudonym(key.of_column("pseudonym", name)), "VARCHAR")
        values, pseudonyms = _row(connection, f"count(DISTINCT {value}), count(DISTINCT {shifts[name]})")
        if values != pseudonyms:
            raise VerificationError("Two identifiers have one pseudonym. Nothing was published.")
    if keying.persons is not None:
        by = keying.persons
        value, _ = _identifier(column(names.index(by)), kinds[by], missing)
        _add(connection, "days_of", _shift(key.of_column("shift", by), keying.days), "INTEGER")
        for name in keying.shifted:
            shifts[name] = _shifted(connection, column(names.index(name)), kinds[name], f"days_of({value})", missing)
    cells = ", ".join(f"{shifts.get(name, column(at))} AS {column(at)}" for at, name in enumerate(names))
    connection.execute(f"CREATE OR REPLACE TEMP {to} AS SELECT {cells} FROM {UNKEYED}")


def pseudonym_checks(
    connection: Any, file: InputFile, names: Sequence[str], columns: Sequence[str], sources: Sequence[Any]
) -> Iterator[Check]:
    """For each column of pseudonyms that the table ``released`` has none of the identifiers in it."""
    keying = file.keyed
    kinds = [row[1] for row in connection.execute(f"DESCRIBE {UNKEYED}").fetchall()]
    for name in keying.pseudonyms if keying else ():
        at = names.index(name)
        shown = next(one.name for one in sources if one.column.name == name)
        cell = f"{column(list(columns).index(shown))}::VARCHAR"
        value, _ = _identifier(column(at), kinds[at], file.missing)
        known = f"SELECT {value} FROM {UNKEYED} UNION SELECT {column(at)}::VARCHAR FROM {UNKEYED}"
        different, identifiers = _row(
            connection,
            f"count(DISTINCT {cell}), count(*) FILTER ({cell} IN (FROM ({known}) AS k(v) WHERE v IS NOT NULL))",
            "released",
        )
        finding = f"{different:,} different ones, none of which is an identifier of the input"
        yield Check(
            f"{name} pseudonyms",
            not identifiers,
            finding if not identifiers else f"{identifiers:,} cells are identifiers",
        )


def form_check(connection: Any, name: str, place: int) -> Check:
    """For who has the release alone: every cell of a column of ``released`` has the form of a pseudonym, or none."""
    cell = f"{column(place)}::VARCHAR"
    shaped = f"regexp_full_match({cell}, 'p_[0-9a-f]{{32}}')"
    different, other = _row(connection, f"count(DISTINCT {cell}), count(*) FILTER (NOT {shaped})", "released")
    finding = f"{different:,} different ones" if not other else f"{other:,} cells have another form"
    return Check(f"{name} pseudonyms", not other, finding)


def _key(keying: Keying) -> bytes:
    try:
        key = bytes.fromhex(keying.key.read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        raise VerificationError("The key of the pseudonyms cannot be read again. Nothing was published.") from None
    if len(key) < 32:
        raise VerificationError("The key of the pseudonyms is too short. Nothing was published.")
    return key


def _pseudonym(key: Hmac) -> Callable[[str], str]:
    return lambda value: "p_" + key.digest(value.encode())[:16].hex()


def _shift(key: Hmac, days: int) -> Callable[[str], int]:
    choices = [*range(-days, 0), *range(1, days + 1)]
    return lambda value: choices[int.from_bytes(key.digest(value.encode())[:16], "big") % len(choices)]


def _add(connection: Any, name: str, function: Callable[[str], Any], result: str) -> None:
    """Let queries call a function of a text; of nothing it gives nothing."""
    import pyarrow as pa

    kind = pa.string() if result == "VARCHAR" else pa.int32()

    def each(values: Any) -> Any:
        coded = (values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values).dictionary_encode()
        known = pa.array([function(value) for value in coded.dictionary.to_pylist()], kind)
        return known.take(coded.indices)

    connection.create_function(name, each, ["VARCHAR"], result, type="arrow", null_handling="special")


def _identifier(cell: str, kind: str, missing: Sequence[str]) -> tuple[str, str]:
    """SQL: the identifier in a cell as text, NULL if it is none; and whether the cell is there."""
    if kind.startswith(("VARCHAR", "ENUM")):
        meant = clean(cell, missing)
        return meant, f"{meant} IS NOT NULL"
    if kind in _WHOLE:
        return f"{cell}::VARCHAR", f"{cell} IS NOT NULL"
    if kind in ("FLOAT", "DOUBLE"):
        whole = f"{cell} = trunc({cell}) AND abs({cell}) <= {_EXACT}"
        return f"CASE WHEN {whole} THEN TRY_CAST({cell} AS BIGINT)::VARCHAR END", f"NOT isnan({cell})"
    return "NULL", f"{cell} IS NOT NULL"


def _shifted(connection: Any, cell: str, kind: str, days: str, missing: Sequence[str]) -> str:
    """SQL: the date, and the time of day with it, so many days later."""
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        there, day = f"{cell} IS NOT NULL", f"{cell}::DATE"
        after = f"({cell} + to_days({days}))::{kind}"
        if kind == "TIMESTAMP_NS":
            after = f"make_timestamp_ns(epoch_ns({cell}) + {days}::BIGINT * 86400000000000)"
    elif kind.startswith(("VARCHAR", "ENUM")):
        meant = clean(cell, missing)
        time = f"regexp_extract({meant}, '{_TIME}$')"
        part = f"({meant})[1:length({meant}) - length({time})]"
        meaning = decide(connection, UNKEYED, part, CellMeaning(ColumnType.DATE, "VARCHAR", tuple(missing)))
        day = meaning.value(part) if meaning.date else f"CASE WHEN length({part}) = 10 THEN {meaning.value(part)} END"
        there = f"{meant} IS NOT NULL"
        after = f"(({day}) + {days})::VARCHAR || {time}"
    else:
        raise VerificationError("A column of dates that are shifted holds none. Nothing was published.")
    _none(connection, f"{there} AND ({day}) IS NULL", "cells that are no dates")
    _none(connection, f"{there} AND {days} IS NULL", "dates of nobody")
    _none(connection, f"{there} AND year(({day}) + {days}) NOT BETWEEN 1 AND 9999", "dates that leave the calendar")
    return f"CASE WHEN {there} THEN {after} END"


def _none(connection: Any, condition: str, what: str) -> None:
    (cells,) = _row(connection, f"count(*) FILTER ({condition})")
    if cells:
        raise VerificationError(f"A column that is made with a key has {what}. Nothing was published.")


def _row(connection: Any, counted: str, table: str = UNKEYED) -> tuple[Any, ...]:
    [row] = connection.execute(f"SELECT {counted} FROM {table}").fetchall()
    return tuple(row)
