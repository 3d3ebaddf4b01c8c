"""Item B: places smaller than a state. Three digits of a ZIP code may stay where more than 20,000 people live."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from incrowd.errors import HeaderError, ValuesError
from incrowd.risk.safe_harbor.items import IDENTIFIERS, words_of
from incrowd.risk.wording import counted
from incrowd.vocabulary.schema import unknown_column

ENOUGH = 20_000
_ZIP = r"^\d{5}(?:-\d{4})?$"
_THREE = r"^\d{3}(?:[*Xx]{2})?$"
_ROUNDED = r"^\d{3}(?:[*Xx]{2}|00)?$"
_WORDS = frozenset({"zip", "zipcode", "zip3", "zip5", "postcode", "postal", "plz"})
NEEDS_LIST = "three digits of a ZIP code may stay only where more than 20,000 people live, which needs a list (--zip3)"


@dataclass(frozen=True)
class Place:
    """What a column says about places: why it is too fine, or why that cannot be told; neither if it is not."""

    found: str | None = None
    unknown: str | None = None


def place_in(series: pl.Series, people: Mapping[str, int] | None) -> Place:
    """Whether a column shows places smaller than a state.

    Examples
    --------
    >>> place_in(pl.Series("zip", ["01234"]), None).found
    '1 cell is finer than three digits of a ZIP code'
    >>> place_in(pl.Series("zip", ["012", "036"]), {"012": 50_000, "036": 9_000}).found
    '1 cell shows three digits of a ZIP code that 20,000 people or fewer share'
    """
    texts = _texts(series).drop_nulls()
    named = bool(_WORDS.intersection(words_of(series.name)))
    if not named and not _looks_like_zip(series):
        said = IDENTIFIERS["B"].is_named_by(series.name) and len(texts) > 0
        return Place(found="the name says so") if said else Place()
    rounded = texts.str.contains(_ROUNDED).all()  # 03600 is three digits only if all codes are written so
    finer = 0 if rounded else int((~texts.str.contains(_THREE)).sum())
    if finer:
        return Place(found=f"{counted(finer, 'cell')} {_verb(finer)} finer than three digits of a ZIP code")
    return _three_digits(texts.str.slice(0, 3), people) if len(texts) else Place()


def _three_digits(prefixes: pl.Series, people: Mapping[str, int] | None) -> Place:
    if people is None:
        return Place(unknown=NEEDS_LIST)
    kept = prefixes.filter(prefixes != "000")
    few = sum(people.get(prefix, ENOUGH + 1) <= ENOUGH for prefix in kept)
    if few:
        shows = "shows" if few == 1 else "show"
        return Place(
            found=f"{counted(few, 'cell')} {shows} three digits of a ZIP code that {ENOUGH:,} people or fewer share"
        )
    unlisted = sum(prefix not in people for prefix in kept)
    return Place(unknown=f"{counted(unlisted, 'cell')} with three digits that the list lacks") if unlisted else Place()


def people_by_zip3(frame: pl.DataFrame) -> dict[str, int]:
    """How many people live in each area, from a table with the columns ``zip3`` and ``population``.

    Examples
    --------
    >>> people_by_zip3(pl.DataFrame({"zip3": ["036"], "population": ["9000"]}))
    {'036': 9000}
    """
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


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"
