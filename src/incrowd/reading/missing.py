"""Markers of missing values in text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from incrowd.errors import Notice
from incrowd.reading.dictionary import Distinct, distinct, repeating
from incrowd.reading.wording import counted

SUPPRESSED = "*"


@dataclass(frozen=True, eq=False)
class Marked:
    """A table whose markers of missing values have become null.

    Parameters
    ----------
    frame
        The table.
    distinct
        Codes and distinct values of its text columns that repeat their values.
    notices
        One for every marker that occurs, with the number of cells and columns it occurs in.
    """

    frame: pl.DataFrame
    distinct: Mapping[str, Distinct]
    notices: tuple[Notice, ...]


def markers_to_null(frame: pl.DataFrame, markers: Sequence[str]) -> Marked:
    """Turn text that means missing into null.

    Examples
    --------
    >>> marked = markers_to_null(pl.DataFrame({"job": ["?", "NA", ""]}), ("?", "*"))
    >>> marked.frame["job"].to_list(), len(marked.notices)
    ([None, 'NA', None], 1)
    """
    known = spellings(markers)
    found = distinct(frame, repeating(frame))
    hidden = {name: column.values.is_in(known) for name, column in found.items()}
    names = [name for name, gone in hidden.items() if gone.any()]
    rare = [name for name, dtype in frame.schema.items() if dtype == pl.String and name not in found]
    names += [name for name, hit in zip(rare, _hits(frame.select(rare), known), strict=True) if hit]
    notices = tuple(_notices(frame.select(names), markers))
    found = {name: column.without(hidden[name]) for name, column in found.items()}
    return Marked(frame.with_columns(without_markers(names, known)), found, notices)


def spellings(markers: Sequence[str]) -> list[str]:
    """The texts that mean missing: empty or a marker, each perhaps with a space beside it.

    Examples
    --------
    >>> spellings(["?"])
    ['', ' ', '  ', '?', ' ?', '? ', ' ? ']
    """
    spelled = (f"{left}{marker}{right}" for marker in ("", *markers) for right in ("", " ") for left in ("", " "))
    return list(dict.fromkeys(spelled))


def marker_spellings(marker: str) -> list[str]:
    """The texts that are this marker, perhaps with a space beside it.

    Examples
    --------
    >>> marker_spellings("?")
    ['?', ' ?', '? ', ' ? ']
    """
    return [spelling for spelling in spellings([marker]) if spelling.strip()]


def marker_notice(marker: str, cells: Sequence[int]) -> Iterator[Notice]:
    """What to say of a marker that so many cells of each column hold; nothing if none does.

    Examples
    --------
    >>> [str(notice) for notice in marker_notice("?", [2, 0, 1])]
    ["3 cells in 2 columns only hold the marker '?': counted as missing."]
    """
    columns = sum(count > 0 for count in cells)
    if not columns:
        return
    where = f"{counted(sum(cells), 'cell')} in {counted(columns, 'column')} only hold the marker {marker!r}"
    if marker == SUPPRESSED:
        yield Notice("already-suppressed", "", f"{where}: already suppressed, counted as missing.")
    else:
        yield Notice("missing-marker", "", f"{where}: counted as missing.")


def without_markers(names: Sequence[str], known: Sequence[str]) -> list[pl.Expr]:
    """The named text columns with null for the known texts.

    Examples
    --------
    >>> pl.DataFrame({"job": ["?", "nurse"]}).with_columns(without_markers(["job"], ["?"])).rows()
    [(None,), ('nurse',)]
    """
    return [pl.when(pl.col(name).is_in(known).not_()).then(pl.col(name)) for name in names]


def _hits(frame: pl.DataFrame, known: Sequence[str]) -> Sequence[bool]:
    """For each column, whether one of the texts occurs."""
    return frame.select(pl.all().is_in(known).any()).row(0) if frame.width else ()


def _notices(frame: pl.DataFrame, markers: Sequence[str]) -> Iterator[Notice]:
    for marker in markers:
        known = marker_spellings(marker)
        yield from marker_notice(marker, frame.select(pl.all().is_in(known).sum()).row(0) if frame.width else ())
