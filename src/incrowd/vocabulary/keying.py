"""Columns that are released as what a secret key of the holder makes of them: pseudonyms, and shifted dates.

Every part here is HMAC-SHA-256, and texts are UTF-8::

    pseudonym of a value   "p_" and the first 32 hexadecimal digits of
                           HMAC(HMAC(key, "incrowd pseudonym " + column), value)
    shift of a person      r = the first 16 bytes of HMAC(HMAC(key, "incrowd shift " + by), value), as a number, modulo
                           2 * days; r - days if r < days, else r - days + 1: from -days to days, and never 0
    name of the key        the first 16 hexadecimal digits of HMAC(key, "incrowd key")

A value is the text of a cell without what the eye does not see, or a whole number in digits. A missing cell stays
missing. Reading and verification each know by themselves how this is done; neither is a protection of its own.
"""

# Annotations of options are read when the class is made, so they are not postponed.

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

from incrowd.errors import ParameterError, named_option, option_name
from incrowd.vocabulary.option import Absent, Kind, Option
from incrowd.vocabulary.schema import unknown_column

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
