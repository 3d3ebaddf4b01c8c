"""Go through the eighteen identifiers: each is found in a column, not found, or not checked for a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from incrowd.risk.safe_harbor.dates import fine_dates, great_ages
from incrowd.risk.safe_harbor.items import IDENTIFIERS, Identifier
from incrowd.risk.safe_harbor.places import place_in
from incrowd.risk.wording import counted

_NAMED = "the name says so"


class Standing(StrEnum):
    """How an item ended."""

    FOUND = "found"
    NOT_FOUND = "not found"
    NOT_NAMED = "not found by name"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Finding:
    """A column that shows an identifier, and why we think so; never a value."""

    column: str
    why: str


@dataclass(frozen=True)
class Item:
    """One item of the checklist.

    Parameters
    ----------
    letter, title
        As in the regulation.
    standing
        Found; not found by name and content; not found by name, where the content says nothing; or not checked.
    findings
        Where it was found.
    note
        What could not be looked for, and why; empty if all could.
    """

    letter: str
    title: str
    standing: Standing
    findings: tuple[Finding, ...] = ()
    note: str = ""

    def to_json(self) -> dict[str, object]:
        """As data."""
        found = [{"column": finding.column, "why": finding.why} for finding in self.findings]
        return {
            "item": self.letter,
            "identifier": self.title,
            "standing": str(self.standing),
            "found": found,
            "note": self.note,
        }


def safe_harbor(frame: pl.DataFrame, people: Mapping[str, int] | None = None) -> tuple[Item, ...]:
    """The checklist for all columns of a table.

    Parameters
    ----------
    frame
        The table.
    people
        How many people live in each area of three ZIP digits, if that is known.

    Examples
    --------
    >>> items = safe_harbor(pl.DataFrame({"contact": ["a@b.org", "x"], "age": [40, 91]}))
    >>> [(item.letter, item.findings[0].column) for item in items if item.standing is Standing.FOUND]
    [('C', 'age'), ('F', 'contact')]
    """
    columns = list(frame.iter_columns())
    special = {"B": _places(columns, people), "C": _dates(columns)}
    items = {
        letter: special.get(letter) or _item(IDENTIFIERS[letter], columns) for letter in IDENTIFIERS if letter != "R"
    }
    taken = {finding.column for item in items.values() for finding in item.findings}
    return (*items.values(), _other(columns, taken))


def _item(one: Identifier, columns: list[pl.Series]) -> Item:
    findings = []
    for series in columns:
        if one.is_named_by(series.name) and series.count():
            findings.append(Finding(series.name, _NAMED))
        elif one.pattern and series.dtype == pl.String and (cells := int(series.str.contains(one.pattern).sum())):
            findings.append(
                Finding(series.name, f"{counted(cells, 'cell')} that {'looks' if cells == 1 else 'look'} like it")
            )
    if one.unseen is None:
        return _ended(one, findings, "")
    return _ended(one, findings, f"content not checked because {one.unseen}", otherwise=Standing.NOT_NAMED)


def _ended(one: Identifier, findings: list[Finding], note: str, *, otherwise: Standing = Standing.NOT_FOUND) -> Item:
    standing = Standing.FOUND if findings else otherwise
    return Item(one.letter, one.title, standing, tuple(findings), note)


def _places(columns: list[pl.Series], people: Mapping[str, int] | None) -> Item:
    places = {series.name: place_in(series, people) for series in columns}
    findings = [Finding(name, place.found) for name, place in places.items() if place.found]
    unknown = "; ".join(f"{name}: {place.unknown}" for name, place in places.items() if place.unknown)
    otherwise = Standing.NOT_CHECKED if unknown else Standing.NOT_FOUND
    return _ended(IDENTIFIERS["B"], findings, unknown, otherwise=otherwise)


def _dates(columns: list[pl.Series]) -> Item:
    findings = [Finding(series.name, why) for series in columns for why in (*fine_dates(series), *great_ages(series))]
    return _ended(IDENTIFIERS["C"], findings, "ages are looked for in columns that are named so")


def _other(columns: list[pl.Series], taken: set[str]) -> Item:
    one = IDENTIFIERS["R"]
    findings = [
        Finding(series.name, why) for series in columns if series.name not in taken for why in _unique(one, series)
    ]
    return _ended(one, findings, "a code that is shared by several rows is not recognised")


def _unique(one: Identifier, series: pl.Series) -> Iterator[str]:
    """Why a column may number the rows: its name, or a value of its own for every row (measured numbers apart)."""
    if series.dtype.is_float() or not series.count():
        return
    if one.is_named_by(series.name):
        yield _NAMED
    elif len(series) > 1 and not series.null_count() and series.n_unique() == len(series):
        yield "every row has a value of its own"
