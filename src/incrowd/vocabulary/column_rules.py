"""Columns that are released otherwise than they were read: coarser by a rule, or as what a secret key makes of them.

Rules by which a column is made coarser as it is read: what each is called, and what it means.

::

    year            a date becomes its year
    year-from-1936  the same, and years before 1936 become 1936: "1936 or earlier"
    top-90          numbers above 90 become 90: "90 or more"
    zip3            a ZIP code becomes its first three digits, and 000 where 20,000 people or fewer live
    none            the column stays as it is, whatever a preset says

A missing cell stays missing. Reading and verification each know by themselves how a rule is kept.

Columns that are released as what a secret key of the holder makes of them: pseudonyms, and shifted dates.

Every part here is HMAC-SHA-256, and texts are UTF-8::

    pseudonym of a value   "p_" and the first 32 hexadecimal digits of
                           HMAC(HMAC(key, "incrowd pseudonym " + column), value)
    shift of a person      r = the first 16 bytes of HMAC(HMAC(key, "incrowd shift " + by), value), as a number, modulo
                           2 * days; r - days if r < days, else r - days + 1: from -days to days, and never 0
    name of the key        the first 16 hexadecimal digits of HMAC(key, "incrowd key")

A value is the text of a cell without what the eye does not see, or a whole number in digits. A missing cell stays
missing. Reading and verification each know by themselves how this is done; neither is a protection of its own.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self, TypedDict

from incrowd.errors import ParameterError, named_option, option_name
from incrowd.vocabulary.option import Absent, Kind, Option
from incrowd.vocabulary.schema import unknown_column

YEAR, TOP, ZIP3, NONE = "year", "top", "zip3", "none"
SMALL_AREAS = frozenset(
    (
        *("036", "059", "063", "102", "202", "203", "204", "205", "369", "556", "692", "753"),
        *("772", "790", "821", "823", "830", "831", "878", "879", "884", "890", "893"),
    )
)
"""Three-digit ZIP areas of 20,000 people or fewer in the census of 2000 (the list of the HHS) or in that of 2010."""
NO_AREA = "000"
"""What stands for a small area, and for what is no ZIP code."""
_RULE = re.compile(r"(year)(?:-from-([0-9]{4}))?|(top)-([0-9]{1,9})|(zip3)|(none)")


@dataclass(frozen=True)
class Coarsening:
    """A rule: its kind, and the number at which it begins, if it has one.

    Examples
    --------
    >>> Coarsening.of("top-90"), str(Coarsening.of("year-from-1936"))
    (Coarsening(kind='top', bound=90), 'year-from-1936')
    """

    kind: str
    bound: int | None = None

    @classmethod
    def of(cls, text: str) -> Self:
        """The rule that is called so."""
        match = _RULE.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise ParameterError("A column is coarsened by year, year-from-1936, top-90, zip3 or none (any numbers).")
        year, first, top, most, *_ = match.groups()
        bound = first or most
        return cls(year or top or match[0], None if bound is None else int(bound))

    def __str__(self) -> str:
        between = "-from" if self.kind == YEAR else ""
        return self.kind if self.bound is None else f"{self.kind}{between}-{self.bound}"


def coarsenings(rules: Mapping[str, str] | None) -> dict[str, Coarsening]:
    """The rules of columns, those apart that change nothing.

    Examples
    --------
    >>> coarsenings({"seen": "year", "age": "none"})
    {'seen': Coarsening(kind='year', bound=None)}
    """
    if rules is not None and not isinstance(rules, Mapping):
        raise ParameterError("coarsen takes columns and their rules, such as age: top-90.")
    known = {name: Coarsening.of(rule) for name, rule in (rules or {}).items()}
    return {name: rule for name, rule in known.items() if rule.kind != NONE}


SHIFT_DAYS = 182
"""Half a year: seasons are lost, and years may change."""
_MOST_DAYS = 36_500
_AT_EACH_RUN = Absent("A recipe is passed on, and a key is not: its file is named at each run.")


class KeyedColumns(TypedDict, total=False):
    """What is released as a secret key of the holder makes it."""

    pseudonyms: Annotated[
        Iterable[str] | None,
        Option(
            "Columns that are released as pseudonyms: no protection of their own.",
            Kind.NAMES,
            "patient_id",
            more="HMAC-SHA-256 under your key: the same value has the same pseudonym in all releases under the key.",
            flags=("--pseudonyms", "--pseudonym"),
        ),
    ]
    shift_dates: Annotated[
        Iterable[str] | None,
        Option(
            "Columns of dates that are shifted, all of a person by the same days: no protection of their own.",
            Kind.NAMES,
            "admitted",
            more="Intervals within a person and times of day stay.",
        ),
    ]
    shift_by: Annotated[
        str | None,
        Option(
            "The column that numbers the persons whose dates are shifted; the pseudonym if there is one.",
            example="COLUMN",
            more="It need not be released.",
        ),
    ]
    shift_days: Annotated[
        int | None, Option(f"How many days dates are shifted at most; {SHIFT_DAYS} if you do not say.", Kind.WHOLE)
    ]
    key_file: Annotated[
        str | Path | None,
        Option(
            "The file with the key of pseudonyms and shifts: keep it, and keep it to yourself.",
            Kind.FILE,
            recipe=_AT_EACH_RUN,
        ),
    ]
    new_key: Annotated[
        bool,
        Option("Make the key in that file first, which must not exist.", Kind.FLAG, default=False, recipe=_AT_EACH_RUN),
    ]


@dataclass(frozen=True)
class Keying:
    """Which columns become pseudonyms, which dates are shifted by whom and how far, and where the key lies.

    Examples
    --------
    >>> Keying(Path("key.txt"), ("patient",), ("admitted", "left"), "patient").columns
    ('patient', 'admitted', 'left')
    """

    key: Path
    pseudonyms: tuple[str, ...] = ()
    shifted: tuple[str, ...] = ()
    by: str | None = None
    days: int = SHIFT_DAYS

    def __post_init__(self) -> None:
        check_days(self.days)
        if self.shifted and self.by is None:
            raise ParameterError(
                "Dates are shifted by person: name the column that numbers persons, for instance "
                f"{named_option(shift_by='patient_id')}."
            )
        if self.by in self.shifted:
            raise ParameterError(f"Column {self.by!r} cannot be shifted by itself. Name the column of the persons.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are released otherwise than they came."""
        return (*self.pseudonyms, *self.shifted)

    @property
    def persons(self) -> str | None:
        """The column that dates are shifted by, if any are."""
        return self.by if self.shifted else None

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse columns that a table does not have."""
        for name in (*self.columns, *([self.persons] if self.persons else [])):
            if name not in names:
                raise ParameterError(unknown_column(name, names))


def check_days(days: object) -> None:
    """Refuse a bound of shifts that is none."""
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= _MOST_DAYS:
        option = option_name("shift_days", "--shift-days")
        raise ParameterError(f"{option} is a whole number of days, from 1 to {_MOST_DAYS:,}.")
