"""What may be asked when risk is measured, declared once; see :mod:`incrowd.vocabulary.option`."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypedDict

from incrowd.tables.options import MemoryLimit, Reading, RecipeFile
from incrowd.vocabulary.option import Kind, Option
from incrowd.vocabulary.persons import PersonColumn


class RiskSubject(TypedDict, total=False):
    """What is measured."""

    quasi_identifiers: Annotated[
        Iterable[str],
        Option(
            "The columns an attacker may know.", Kind.NAMES, flags=("--quasi-identifiers", "--qi", "-q"), default=()
        ),
    ]
    sensitive: Annotated[
        Iterable[str], Option("Columns that should not follow from the quasi-identifiers.", Kind.NAMES, default=())
    ]
    after: Annotated[Any, Option("A release of the table, to be measured beside it.", Kind.FILE)]
    recipe: RecipeFile


class PeopleAround(TypedDict, total=False):
    """Who the people of the table are a sample of."""

    population: Annotated[
        int | None, Option("How many persons the table is a sample of; else nothing is estimated of them.", Kind.WHOLE)
    ]
    population_table: Annotated[
        Any,
        Option(
            "The population itself, with the same quasi-identifiers.",
            Kind.FILE,
            more="Then it is counted, not estimated.",
        ),
    ]
    zip3: Annotated[Any, Option("A table of zip3 and population, for the Safe Harbor checklist.", Kind.FILE)]


class RiskCounting(TypedDict, total=False):
    """How it is measured."""

    thresholds: Annotated[
        Sequence[float],
        Option("Risks above which rows, or persons, are counted.", Kind.NUMBERS, default=(0.05, 0.1, 0.2, 0.5)),
    ]
    largest_special: Annotated[
        int, Option("The most columns that are tried together for special uniques.", Kind.WHOLE, default=3)
    ]


class RiskOptions(RiskSubject, PersonColumn, PeopleAround, RiskCounting, MemoryLimit, Reading, total=False):
    """All options of a measurement of risk."""


RISK = {
    "What": (RiskSubject,),
    "Persons": (PersonColumn,),
    "Population": (PeopleAround,),
    "Measuring": (RiskCounting,),
    "Engine": (MemoryLimit,),
    "Reading files": (Reading,),
}
"""All options of ``incrowd risk``, in groups."""
