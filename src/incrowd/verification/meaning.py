"""What the cells of an input mean, by the verification's own reading of the rules in docs/missing_values.md.

The reader that fed the method is not asked. A text is a value by itself, without spaces at its edges and invisible
characters, accents composed; a number is a number however it is written; empty text and the words for missing are one
missing value. Some rules look at a whole column (decimal commas, the order of day and month): these are decided first,
:func:`decide`, and then hold for all of its cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from incrowd.verification.opening import connect, text
from incrowd.vocabulary.schema import ColumnType

_INVISIBLE = "[\u200b\u2060\ufeff\u00ad\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
_SPACES = (
    "\u0009\u000a\u000b\u000c\u000d\u0020\u0085\u00a0\u1680\u2000"
    "\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_COMMA = r"^[+-]?[0-9]+,[0-9]+$"
_ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DATES = (  # a shape of all texts of a column, and how it may be read
    (r"^[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}$", ("%Y/%m/%d",)),
    (r"^[0-9]{4}\.[0-9]{1,2}\.[0-9]{1,2}$", ("%Y.%m.%d",)),
    (r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$", ("%d.%m.%Y",)),
    (r"^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}$", ("%d/%m/%Y", "%m/%d/%Y")),
    (r"^[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}$", ("%d-%m-%Y", "%m-%d-%Y")),
    (r"^[0-9]{1,2} [A-Za-z]{3} [0-9]{4}$", ("%d %b %Y",)),
    (r"^[0-9]{1,2}-[A-Za-z]{3}-[0-9]{4}$", ("%d-%b-%Y",)),
    (r"^[0-9]{1,2} [A-Za-z]{3,9} [0-9]{4}$", ("%d %B %Y",)),
    (r"^[A-Za-z]{3,9} [0-9]{1,2}, [0-9]{4}$", ("%B %d, %Y",)),
)
_TRUTH = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("1", "0"), ("on", "off"))
_BY_TEXT = ("VARCHAR", "ENUM", "DECIMAL", "TIME", "UBIGINT", "HUGEINT", "UHUGEINT")


@dataclass(frozen=True)
class CellMeaning:
    """How the cells of a column are read.

    Parameters
    ----------
    type
        What they are.
    kind
        The type of DuckDB that the column has in the input; text files have text.
    missing
        The words that mean a missing value.
    comma
        Whether numbers have a decimal comma.
    date
        The order of day, month and year; empty for ISO 8601.
    words
        Whether words for yes and no of several kinds are one.
    whole
        Whether numbers that are read as text are whole throughout.
    drafted
        Whether the type was drafted from the values; then digits with leading zeros are codes, not numbers.
    """

    type: ColumnType
    kind: str = "VARCHAR"
    missing: tuple[str, ...] = ()
    comma: bool = False
    date: str = ""
    words: bool = False
    whole: bool = False
    drafted: bool = False

    @property
    def by_text(self) -> bool:
        """Whether the cells are read as the text they are written as."""
        return self.kind.startswith(_BY_TEXT) and not self.kind.startswith("TIMESTAMP")

    @property
    def is_plain(self) -> bool:
        """Whether a cell of the file is what it means, as it stands."""
        return (self.type, self.kind) in ((ColumnType.INTEGER, "BIGINT"), (ColumnType.DATE, "DATE"))

    def value(self, cell: str) -> str:
        """SQL: what a cell means; NULL if it is missing, or is nothing of the type."""
        if not self.by_text:
            return self._of_number(cell) if self.kind in ("FLOAT", "DOUBLE") else self._plain(cell)
        return self.of_text(clean(cell, self.missing))

    def of_text(self, meant: str) -> str:
        """SQL: what a cell of text means that is clean."""
        match self.type:
            case ColumnType.INTEGER:
                whole = rf"regexp_replace({meant}, '^([+-]?[0-9]+)\.0*$', '\1')"
                return f"CASE WHEN regexp_full_match({whole}, '[+-]?[0-9]+') THEN TRY_CAST({whole} AS BIGINT) END"
            case ColumnType.REAL:
                point = f"replace({meant}, ',', '.')" if self.comma else meant
                number = f"TRY_CAST({point} AS DOUBLE)"
                return f"CASE WHEN isnan({number}) THEN NULL ELSE {number} + 0.0 END"
            case ColumnType.DATE:
                return self._day(meant)
            case ColumnType.BOOLEAN:
                return self._truth(f"lower({meant})")
            case _:
                return meant

    def is_strange(self, cell: str) -> str:
        """SQL: whether a cell of text is nothing of the type, or a code that the type makes a number of."""
        return self.is_strange_text(clean(cell, self.missing))

    def is_strange_text(self, meant: str) -> str:
        """SQL: the same of a cell that is clean."""
        nothing = f"({meant} IS NOT NULL AND {self.of_text(meant)} IS NULL)"
        if self.type is ColumnType.REAL:
            return f"({nothing} AND NOT coalesce(isnan(TRY_CAST({meant} AS DOUBLE)), false))"
        if self.type is ColumnType.INTEGER and self.drafted:
            return f"({nothing} OR coalesce(regexp_full_match({meant}, '0[0-9]+'), false))"
        return nothing

    def raw(self, cell: str) -> str:
        """SQL: the cell of a column that is released unchanged; NULL if it is a word for missing."""
        if self.kind != "VARCHAR":
            return cell
        return f"CASE WHEN {cell} NOT IN ({_listed(spellings(self.missing))}) THEN {cell} END"

    def _of_number(self, cell: str) -> str:
        number = f"(CASE WHEN isnan({cell}) THEN NULL ELSE {cell} + 0.0 END)"
        if self.type is ColumnType.INTEGER:
            return f"CASE WHEN {number} = floor({number}) THEN TRY_CAST({number} AS BIGINT) END"
        if self.type is ColumnType.REAL:
            return f"{number}::DOUBLE"
        return f"TRY_CAST({number} AS BIGINT)::VARCHAR" if self.whole else f"{number}::VARCHAR"

    def _plain(self, cell: str) -> str:
        kinds = {ColumnType.INTEGER: "BIGINT", ColumnType.REAL: "DOUBLE", ColumnType.DATE: "DATE"}
        return f"TRY_CAST({cell} AS {kinds.get(self.type, 'VARCHAR')})"

    def _day(self, meant: str) -> str:
        if self.date:
            return f"TRY_CAST(try_strptime({meant}, {text(self.date)}) AS DATE)"
        return f"TRY_CAST(nullif(regexp_extract({meant}, '{_ISO}'), '') AS DATE)"

    def _truth(self, word: str) -> str:
        if not self.words:
            return word
        yes, no = ([pair[place] for pair in _TRUTH] for place in (0, 1))
        return f"CASE WHEN {word} IN ({_listed(yes)}) THEN 'true' WHEN {word} IN ({_listed(no)}) THEN 'false' END"


def decide(connection: Any, relation: str, cell: str, meaning: CellMeaning) -> CellMeaning:
    """The meaning of a column with what only all of its cells together tell.

    ``relation`` has every text of the column at least once, as ``cell``.
    """
    [meaning] = decide_all(connection, relation, [(cell, meaning)])
    return meaning


def decide_all(connection: Any, relation: str, columns: Sequence[tuple[str, CellMeaning]]) -> list[CellMeaning]:
    """The same of many columns, which are asked together; each text is cleaned once."""
    questions = [_questions(f"m{place}", meaning) for place, (_, meaning) in enumerate(columns)]
    plain = (
        f"{clean(cell, meaning.missing) if meaning.by_text else cell} AS m{place}"
        for place, (cell, meaning) in enumerate(columns)
        if questions[place]
    )
    relation = f"(SELECT {', '.join(plain)} FROM {relation})"
    answers = _ask(connection, relation, questions)
    readings = [_readings(meaning, answer) for (_, meaning), answer in zip(columns, answers, strict=True)]
    tries = [[_fits(f"m{place}", one) for one in tried] for place, tried in enumerate(readings)]
    fitting = _ask(connection, relation, tries)
    decisions = []
    for (_, meaning), answer, tried, fits in zip(columns, answers, readings, fitting, strict=True):
        if meaning.type is ColumnType.DATE and answer:
            date = next((one for one, fitted in zip(tried, fits, strict=True) if fitted), "")
            decisions.append(replace(meaning, date=date))
        elif not answer:
            decisions.append(meaning)
        elif not meaning.by_text:
            decisions.append(replace(meaning, whole=bool(answer[0])))
        elif meaning.type is ColumnType.REAL:
            decisions.append(replace(meaning, comma=bool(answer[0])))
        else:
            decisions.append(replace(meaning, words=all(one is False for one in answer)))
    return decisions


def _ask(connection: Any, relation: str, questions: Sequence[Sequence[str]]) -> list[list[Any]]:
    """The answers to each column's questions, which are aggregates of SQL."""
    listed = [question for of_a_column in questions for question in of_a_column]
    answers = iter(connection.execute(f"SELECT {', '.join(listed)} FROM {relation}").fetchall()[0] if listed else ())
    return [[next(answers) for _ in of_a_column] for of_a_column in questions]


def _questions(cell: str, meaning: CellMeaning) -> list[str]:
    """What has to be known of all cells of a column, which are clean if they are text."""
    if not meaning.by_text:
        if meaning.kind not in ("FLOAT", "DOUBLE"):
            return []
        return [f"bool_and(isnan({cell}) OR ({cell} = floor({cell}) AND abs({cell}) <= 9007199254740992))"]
    match meaning.type:
        case ColumnType.REAL:
            return [f"bool_or(regexp_matches({cell}, '{_COMMA}')) AND NOT bool_or(contains({cell}, '.'))"]
        case ColumnType.DATE:
            shapes = (f"bool_and(regexp_matches({cell}, {text(shape)}))" for shape, _ in _DATES)
            return [f"bool_or(regexp_matches({cell}, '{_ISO}'))", *shapes]
        case ColumnType.BOOLEAN:
            return [f"bool_and(lower({cell}) IN ({_listed(pair)}))" for pair in _TRUTH]
        case _:
            return []


def _readings(meaning: CellMeaning, answers: Sequence[Any]) -> list[str]:
    """How dates may be written: ISO 8601 unless all texts have another shape."""
    if meaning.type is not ColumnType.DATE or not answers or answers[0]:
        return []
    shaped = zip(_DATES, answers[1:], strict=True)
    return [reading for (_, readings), has_shape in shaped if has_shape for reading in readings]


def _fits(cell: str, reading: str) -> str:
    """SQL: whether all dates of a column can be read so."""
    return f"bool_and(try_strptime({cell}, {text(reading)}) IS NOT NULL) FILTER ({cell} IS NOT NULL)"


def decided(values: Any, meaning: CellMeaning) -> CellMeaning:
    """The same, from a PyArrow array of the values of a column."""
    import pyarrow as pa

    with connect(threads=1) as connection:
        connection.register("cells", pa.table({"t": values}))
        return decide(connection, "cells", "t", meaning)


def clean(cell: str, missing: Sequence[str]) -> str:
    """SQL: a cell as text without what the eye does not see; NULL if it means missing."""
    seen = f"trim(nfc_normalize(regexp_replace({cell}::VARCHAR, '{_INVISIBLE}', '', 'g')), {text(_SPACES)})"
    gone = _listed(dict.fromkeys(["", *missing]))
    spelled = _listed(spellings(missing))
    return f"(CASE WHEN {cell}::VARCHAR NOT IN ({spelled}) AND {seen} NOT IN ({gone}) THEN {seen} END)"


def spellings(missing: Sequence[str]) -> list[str]:
    """The texts that mean missing as they stand: nothing or a word for it, each perhaps with one space beside it.

    Examples
    --------
    >>> spellings(["?"])
    ['', ' ', '  ', '?', '? ', ' ?', ' ? ']
    """
    spaced = (left + word + right for word in ("", *missing) for left in ("", " ") for right in ("", " "))
    return list(dict.fromkeys(spaced))


def _listed(texts: Any) -> str:
    return ", ".join(map(text, texts))
