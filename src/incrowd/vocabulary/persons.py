"""Whose rows they are: the unit that a release protects, where a person may have several rows.

Without a person column every row is a person. With one, k and all that is required beyond it count persons: a group of
ten rows of one person hides nobody. A household or a firm is a person in this sense.
"""

# Annotations of options are read when the class is made, so they are not postponed.

from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from incrowd.errors import ParameterError, option_name
from incrowd.vocabulary.option import Absent, Kind, Option

IDS = ("exact", "normalised")
"""How two spellings of a person are told apart; without a word of the user, spellings that look alike are refused."""
MISSING = ("refuse", "drop", "together")
"""What becomes of rows whose person is missing: refused, left out, or taken as rows of one more person.

The last is the user's word. If such a row is of somebody who is in its class anyway, the class has one person fewer
than is counted.
"""
ORPHANS = ("refuse", "drop", "keep")
"""What becomes of events of persons that the table of persons does not have: refused, left out, or kept.

Whose events are kept has a row without values in the table of persons.
"""
_TABLES = Absent("It belongs to the tables, which a recipe does not name.")
LINKED_METHODS = WHOLE_HISTORIES, KNOWN_ROWS = "whole-histories", "known-rows"
"""The methods of linked releases."""
DAYS = "days-since-first"
"""The code of the notice, in certificates, too, that the dates of a column became days since the person's first row."""
ORDER = "#order"
"""The column of a population that puts the rows of a person in order, where the user named one."""


_A_PERSON = "A household or a firm is a person, too. Without it every row is a person."
PersonIds = Annotated[
    str | None,
    Option(
        "Whether persons spelled alike but for case, edge spaces, unseen characters or leading zeros are the same.",
        Kind.CHOICE,
        "exact|normalised",
        more="If you do not say, persons that look alike are refused.",
    ),
]
MissingPersons = Annotated[
    str | None,
    Option(
        "What becomes of rows without a person: refuse, drop, or together: all of one person, as you state.",
        Kind.CHOICE,
        "refuse|drop|together",
    ),
]


class PersonColumn(TypedDict, total=False):
    """Whose rows they are, for commands that release nothing."""

    person: Annotated[
        str | None,
        Option(
            "The column that says whose row it is: persons are counted then, not rows.",
            example="COLUMN",
            more=_A_PERSON,
            recipe="columns",
        ),
    ]
    person_ids: PersonIds
    missing_persons: MissingPersons


class PersonOptions(TypedDict, total=False):
    """Whose rows they are, and what recipients may follow."""

    person: Annotated[
        str | None,
        Option(
            "The column that says whose row it is; k then counts persons. Not released.",
            example="COLUMN",
            more=_A_PERSON,
            recipe="columns",
        ),
    ]
    person_ids: PersonIds
    missing_persons: MissingPersons
    keep_link: Annotated[
        bool,
        Option(
            "Give each person a fresh pseudonym, so that recipients can follow them: k persons share a whole history.",
            Kind.FLAG,
            default=False,
        ),
    ]
    known_rows: Annotated[
        int | None,
        Option(
            "With keep-link: an attacker knows at most so many rows of a person, not the whole history.",
            Kind.WHOLE,
        ),
    ]
    count_known: Annotated[
        bool,
        Option("With known-rows: an attacker also knows how many rows a person has.", Kind.FLAG, default=False),
    ]
    order: Annotated[
        str | None,
        Option(
            "With keep-link: the column that puts a person's rows in order, for instance a date.",
            example="COLUMN",
            more="The earliest rows are kept; dates are released as days since the person's first row.",
        ),
    ]


class SecondTable(TypedDict, total=False):
    """Events of the persons, in a table of their own."""

    with_table: Annotated[
        Any,
        Option(
            "A second table, with events of the persons: both are released, under the same pseudonyms.",
            example="FILE",
            more="A path, an address or a frame, as the first table, which has one row for each person.",
            flags=("--with",),
            recipe=_TABLES,
        ),
    ]
    key_column: Annotated[
        str | None,
        Option(
            "With a second table: the column of both that says whose row it is.",
            example="COLUMN",
            flags=("--key",),
            recipe=_TABLES,
        ),
    ]
    orphans: Annotated[
        str | None,
        Option(
            "With a second table: events of nobody in the first: refuse, drop, or keep, with an empty row there.",
            Kind.CHOICE,
            "refuse|drop|keep",
            recipe=_TABLES,
        ),
    ]


_OF_LINKED = ("known_rows", "count_known", "order")


def _named(option: str) -> str:
    return option_name(option, f"--{option.replace('_', '-')}")


@dataclass(frozen=True)
class Persons:
    """Whose rows they are, and what recipients may follow.

    Parameters
    ----------
    column
        Says whose row it is.
    ids, missing
        How spellings are told apart (:data:`IDS`), and what becomes of rows without a person (:data:`MISSING`).
    linked, known_rows, count_known
        Whether recipients can follow a person, how many rows of one an attacker knows at most, and whether also how
        many there are.
    order
        The column that puts a person's rows in order.

    Examples
    --------
    >>> Persons("patient_id").linked
    False
    """

    column: str
    ids: str | None = None
    missing: str = "refuse"
    linked: bool = False
    known_rows: int | None = None
    count_known: bool = False
    order: str | None = None

    def __post_init__(self) -> None:
        if self.ids is not None and self.ids not in IDS:
            raise ParameterError(f"{option_name('person_ids', '--person-ids')} is one of {', '.join(IDS)}.")
        if self.missing not in MISSING:
            option = option_name("missing_persons", "--missing-persons")
            raise ParameterError(f"{option} is one of {', '.join(MISSING)}.")
        rows, option = self.known_rows, _named("known_rows")
        if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
            raise ParameterError(f"{option} is a whole number of rows, at least 1.")
        if not self.linked and (about := [name for name in _OF_LINKED if getattr(self, name) not in (None, False)]):
            names, verb = " and ".join(map(_named, about)), "is" if len(about) == 1 else "are"
            raise ParameterError(f"{names} {verb} about rows that stay linked. Add {_named('keep_link')}.")
        if self.count_known and rows is None:
            raise ParameterError(f"Whoever knows whole histories knows how many rows there are. Add {option}.")

    @property
    def method(self) -> tuple[str, dict[str, Any]] | None:
        """The method of a linked release, with the parameters that follow from what is asked; None if it is not one.

        Examples
        --------
        >>> Persons("patient_id", linked=True, known_rows=2).method
        ('known-rows', {'rows': 2, 'count': False})
        """
        if not self.linked:
            return None
        if self.known_rows is None:
            return WHOLE_HISTORIES, {}
        return KNOWN_ROWS, {"rows": self.known_rows, "count": self.count_known}
