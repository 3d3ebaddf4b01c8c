"""The Safe Harbor checklist of HIPAA: eighteen kinds of identifiers, looked for by name and by content."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from pathlib import Path

import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import HeaderError, ValuesError
from incrowd.risk.classes import numbers_of
from incrowd.vocabulary.column_rules import NO_AREA, SMALL_AREAS
from incrowd.vocabulary.schema import unknown_column

# The eighteen identifiers of 45 CFR 164.514(b)(2)(i), and how each is looked for; their words are in safe_harbor.toml.


@dataclass(frozen=True)
class Identifier:
    """One of the eighteen."""

    # as in the regulation
    letter: str
    title: str
    words: frozenset[str]  # words in a column's name that speak for it
    # the same for letters in a row, also across words: ``medicalrecord`` is in ``medical_record_no``
    runs: tuple[str, ...] = ()
    pattern: str | None = None  # what its values look like, if they have a form of their own
    unseen: str | None = None  # why its values cannot be looked for, if they cannot

    def is_named_by(self, name: str) -> bool:
        """Whether the name of a column speaks for it.

        Examples
        --------
        >>> [IDENTIFIERS["H"].is_named_by(name) for name in ("Medical_Record_No", "medicine")]
        [True, False]
        """
        words = words_of(name)
        joined = "".join(words)
        return bool(self.words.intersection(words)) or any(run in joined for run in self.runs)


def words_of(name: str) -> list[str]:
    """The lower-case words of a name, also where capitals part them.

    Examples
    --------
    >>> words_of("dateOfBirth_2"), words_of("ZIP5")
    (['date', 'of', 'birth'], ['zip5'])
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z]+[0-9]*", parted.lower())


_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_PHONE = (
    r"(?:^|[^\d.,-])(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?:$|\D)"
    r"|(?:^|\s)\+\d[\d ()-]{6,16}\d"
)
_IP = (
    rf"(?:^|[^\d.])(?:{_OCTET}\.){{3}}{_OCTET}(?:$|[^\d.])"
    r"|^(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}$|^[0-9A-Fa-f:]*[0-9A-Fa-f]*::[0-9A-Fa-f]+[0-9A-Fa-f:]*$"
)
_EMAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
_URL = r"(?i)\b(?:https?|ftp)://\S|\bwww\.[a-z0-9-]+\."


_SSN = r"(?:^|[^\d-])\d{3}-\d{2}-\d{4}(?:$|[^\d-])"
_PATTERNS = {"D": _PHONE, "F": _EMAIL, "G": _SSN, "N": _URL, "O": _IP}
_FACTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
IDENTIFIERS = {
    letter: Identifier(
        letter,
        facts["title"],
        frozenset(facts["words"].split()),
        tuple(facts.get("runs", "").split()),
        _PATTERNS.get(letter),
        facts.get("unseen"),
    )
    for letter, facts in _FACTS.items()
}
"""The eighteen, by their letter."""


# Item C: dates finer than a year, and ages over 89.
OLDEST = 89  # years, as the rule has it
_YEAR = r"(?:1[6-9]|20|21)\d\d"
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_FINER = (
    rf"(?i)\b{_YEAR}[-/](?:0?[1-9]|1[0-2])\b"
    rf"|\b{_YEAR}([-/.])(?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])(?:\b|T)"
    r"|(?:^|[^\d.-])\d{1,2}([-/.])\d{1,2}[-/.](?:\d{4}|\d{2})(?:$|[^\d.-])"
    rf"|\b\d{{1,2}}[ -]{_MONTH}[ -]\d{{4}}\b|\b{_MONTH} (?:\d{{1,2}}, )?\d{{4}}\b"
)
_YEAR_OR_END = rf"(?:-?inf|{_YEAR})"
_ONLY_YEARS = (
    rf"^(?:(?:{_YEAR}|[\[(]{_YEAR_OR_END}, {_YEAR_OR_END}[\])])(?::\d+)?(?:\||$))+$"  # also sets and intervals
)
_BIRTH = frozenset({"birth", "birthday", "birthdate", "dob", "yob", "born"})


def fine_dates(series: pl.Series) -> Iterator[str]:
    """Why the column shows dates finer than a year, if it does."""
    cells = series.count() if series.dtype in (pl.Date, pl.Datetime) else _matching(series, _FINER)
    if cells:
        has = "has" if cells == 1 else "have"
        yield f"{counted(cells, 'cell')} {has} a date finer than a year"
    elif IDENTIFIERS["C"].is_named_by(series.name):
        others = series.count() - _matching(series, _ONLY_YEARS)
        if others:
            yield f"the name suggests date, and {counted(others, 'cell')} cannot be read as a year"


def this_year() -> int:
    """The year in which it is judged who is over 89."""
    return date.today().year


def is_birth(name: str) -> bool:
    """Whether a column is named like one of dates of birth."""
    return bool(_BIRTH.intersection(words_of(name)))


def early_births(series: pl.Series) -> Iterator[str]:
    """Why years of birth tell ages over 89, if they do; the last year of such a birth may stand for all of them.

    Examples
    --------
    >>> list(early_births(pl.Series("born", [1900, 1990]))), list(early_births(pl.Series("opened", [1900])))
    (['1 row has a year of birth that tells an age above 89'], [])
    """
    if not is_birth(series.name) or not (series.dtype == pl.String or series.dtype.is_integer()):
        return
    years = series.cast(pl.String).str.extract(rf"^\s*({_YEAR})\s*$", 1).cast(pl.Int64)
    rows = int((years < this_year() - OLDEST - 1).sum())
    if rows:
        has = "has" if rows == 1 else "have"
        yield f"{counted(rows, 'row')} {has} a year of birth that tells an age above {OLDEST}"


def great_ages(series: pl.Series) -> Iterator[str]:
    """Why the column shows ages over 89, if it does. In sets and intervals every number is looked at.

    If nobody is older than 90, this may be the one class of all who are over 89.

    Examples
    --------
    >>> list(great_ages(pl.Series("age", [89, 90, 91]))), list(great_ages(pl.Series("age", ["(84, inf)", "90"])))
    (['2 rows are above 89'], [])
    """
    if not {"age", "ages"}.intersection(words_of(series.name)):
        return
    numbers = numbers_of(series)
    if numbers is not None:
        rows = int((numbers > OLDEST).sum())
        if (numbers > OLDEST + 1).any():
            yield f"{counted(rows, 'row')} {'is' if rows == 1 else 'are'} above {OLDEST}"
    elif series.dtype == pl.String:
        rows = int(
            (series.str.extract_all(r"\d+").list.eval(pl.element().cast(pl.Float64)).list.max() > OLDEST + 1).sum()
        )
        if rows:
            yield f"{counted(rows, 'row')} with a bound above {OLDEST + 1}"


def _matching(series: pl.Series, pattern: str) -> int:
    if series.dtype == pl.String:
        return int(series.str.contains(pattern).sum())
    if series.dtype.is_integer():
        return int(series.cast(pl.String).str.contains(pattern).sum())
    return 0


# Item B: places smaller than a state. Three digits of a ZIP code may stay where more than 20,000 people live.
ENOUGH = 20_000
_ZIP = r"^\d{5}(?:-\d{4})?$"
_THREE = r"^\d{3}(?:[*Xx]{2})?$"
_ROUNDED = r"^\d{3}(?:[*Xx]{2}|00)?$"
_WORDS = frozenset({"zip", "zipcode", "zip3", "zip5", "postcode", "postal", "plz"})


@dataclass(frozen=True)
class SmallPlace:
    """What a column says about places: why it is too fine, or why that cannot be told; neither if it is not."""

    finding: str | None = None
    unknown: str | None = None


def place_in(series: pl.Series, people: Mapping[str, int] | None) -> SmallPlace:
    """Whether a column shows places smaller than a state."""
    texts = _texts(series).drop_nulls()
    if not has_zip_codes(series):
        fine = IDENTIFIERS["B"].is_named_by(series.name) and len(texts) > 0
        return SmallPlace(finding="the name suggests it") if fine else SmallPlace()
    rounded = texts.str.contains(_ROUNDED).all()  # 03600 is three digits only if all codes are written so
    finer = 0 if rounded else int((~texts.str.contains(_THREE)).sum())
    if finer:
        return SmallPlace(
            finding=f"{counted(finer, 'cell')} {'is' if finer == 1 else 'are'} finer than three digits of a ZIP code"
        )
    return _three_digits(texts.str.slice(0, 3), people) if len(texts) else SmallPlace()


def has_zip_codes(series: pl.Series) -> bool:
    """Whether a column has ZIP codes, by its name or its cells."""
    return bool(_WORDS.intersection(words_of(series.name))) or _looks_like_zip(series)


def _three_digits(prefixes: pl.Series, people: Mapping[str, int] | None) -> SmallPlace:
    """Whether three digits are of areas with enough people: by the list, else by the census of 2000 and of 2010."""
    kept = prefixes.filter(prefixes != NO_AREA)
    if people is None:
        people = {prefix: 0 if prefix in SMALL_AREAS else ENOUGH + 1 for prefix in kept.unique()}
    few = sum(people.get(prefix, ENOUGH + 1) <= ENOUGH for prefix in kept)
    if few:
        shows = "shows" if few == 1 else "show"
        return SmallPlace(
            finding=f"{counted(few, 'cell')} {shows} three digits of a ZIP code that {ENOUGH:,} people or fewer share"
        )
    unlisted = sum(prefix not in people for prefix in kept)
    return (
        SmallPlace(unknown=f"{counted(unlisted, 'cell')} with three digits that the list lacks")
        if unlisted
        else SmallPlace()
    )


def people_by_zip3(frame: pl.DataFrame) -> dict[str, int]:
    """How many people live in each area, from a table with the columns ``zip3`` and ``population``."""
    for name in ("zip3", "population"):
        if name not in frame.columns:
            raise HeaderError(f"The list of ZIP3 areas: {unknown_column(name, frame.columns)}")
    areas = frame["zip3"].cast(pl.String).str.strip_chars().str.zfill(3)
    people = frame["population"].cast(pl.Int64, strict=False)
    if not areas.str.contains(r"^\d{3}$").fill_null(False).all() or people.null_count():
        raise ValuesError("The list of ZIP3 areas must have three digits and a whole number of people in every row.")
    return dict(zip(areas.to_list(), people.to_list(), strict=True))


def _looks_like_zip(series: pl.Series) -> bool:
    """Whether text is five digits throughout, with leading zeros or four more digits: no number is written so."""
    if series.dtype != pl.String or not series.count():
        return False
    return bool(series.str.contains(_ZIP).fill_null(True).all() and series.str.contains(r"^0|-").any())


def _texts(series: pl.Series) -> pl.Series:
    return series.cast(pl.String).str.strip_chars() if series.dtype != pl.String else series.str.strip_chars()


# Go through the eighteen identifiers: each is found in a column, not found, or not checked for a reason.
_NAMED = "the name suggests it"


class ItemStanding(StrEnum):
    """How an item ended."""

    PRESENT = "found"
    NOT_FOUND = "not found"
    NOT_NAMED = "not found by name"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class ItemFinding:
    """A column that shows an identifier, why we think so, never a value, and which kind of it, if there are several."""

    column: str
    why: str
    kind: str = ""


@dataclass(frozen=True)
class Item:
    """One item of the checklist."""

    letter: str
    title: str
    standing: ItemStanding
    findings: tuple[ItemFinding, ...] = ()  # where it was found
    note: str = ""  # what could not be looked for, and why; empty if all could

    def to_json(self) -> dict[str, object]:
        """As data."""
        columns = [{"column": finding.column, "why": finding.why} for finding in self.findings]
        return {
            "item": self.letter,
            "identifier": self.title,
            "standing": str(self.standing),
            "found": columns,
            "note": self.note,
        }


def safe_harbor(frame: pl.DataFrame, people: Mapping[str, int] | None = None) -> tuple[Item, ...]:
    """The checklist for all columns of a table."""
    columns = list(frame.iter_columns())
    special = {"B": _places(columns, people), "C": _dates(columns)}
    items = {
        letter: special.get(letter) or _item(IDENTIFIERS[letter], columns) for letter in IDENTIFIERS if letter != "R"
    }
    taken = {finding.column for item in items.values() for finding in item.findings}
    return (*items.values(), _other(columns, taken))


ZIP_CODES, PLACES = "ZIP codes", "other places smaller than a state"
DATES, BIRTHS, AGES = "dates finer than a year", "dates of birth", "ages over 89"


def found_kinds(frame: pl.DataFrame) -> tuple[ItemFinding, ...]:
    """The kinds of identifiers that are found in a table, by name and content; of two of the eighteen there are more.

    Examples
    --------
    >>> [(one.column, one.kind) for one in found_kinds(pl.DataFrame({"dob": ["1.2.1990"], "zip": ["02139"]}))]
    [('zip', 'ZIP codes'), ('dob', 'dates of birth')]
    """
    return tuple(
        replace(finding, kind=finding.kind or item.title) for item in safe_harbor(frame) for finding in item.findings
    )


def _item(one: Identifier, columns: list[pl.Series]) -> Item:
    findings = []
    for series in columns:
        if one.is_named_by(series.name) and series.count():
            findings.append(ItemFinding(series.name, _NAMED))
        elif one.pattern and series.dtype == pl.String and (cells := int(series.str.contains(one.pattern).sum())):
            findings.append(
                ItemFinding(series.name, f"{counted(cells, 'cell')} that {'looks' if cells == 1 else 'look'} like it")
            )
    if one.unseen is None:
        return _ended(one, findings, "")
    return _ended(one, findings, f"content not checked because {one.unseen}", otherwise=ItemStanding.NOT_NAMED)


def _ended(
    one: Identifier, findings: list[ItemFinding], note: str, *, otherwise: ItemStanding = ItemStanding.NOT_FOUND
) -> Item:
    standing = ItemStanding.PRESENT if findings else otherwise
    return Item(one.letter, one.title, standing, tuple(findings), note)


def _places(columns: list[pl.Series], people: Mapping[str, int] | None) -> Item:
    places = {series.name: place_in(series, people) for series in columns}
    kinds = {series.name: ZIP_CODES if has_zip_codes(series) else PLACES for series in columns}
    findings = [ItemFinding(name, place.finding, kinds[name]) for name, place in places.items() if place.finding]
    unknown = "; ".join(f"{name}: {place.unknown}" for name, place in places.items() if place.unknown)
    otherwise = ItemStanding.NOT_CHECKED if unknown else ItemStanding.NOT_FOUND
    return _ended(IDENTIFIERS["B"], findings, unknown, otherwise=otherwise)


def _dates(columns: list[pl.Series]) -> Item:
    findings = []
    for series in columns:
        born = is_birth(series.name)
        findings += [ItemFinding(series.name, why, BIRTHS if born else DATES) for why in fine_dates(series)]
        findings += [ItemFinding(series.name, why, BIRTHS) for why in early_births(series)]
        findings += [ItemFinding(series.name, why, AGES) for why in great_ages(series)]
    return _ended(IDENTIFIERS["C"], findings, "ages are looked for in columns that are named so")


def _other(columns: list[pl.Series], taken: set[str]) -> Item:
    one = IDENTIFIERS["R"]
    findings = [
        ItemFinding(series.name, why) for series in columns if series.name not in taken for why in _unique(one, series)
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
