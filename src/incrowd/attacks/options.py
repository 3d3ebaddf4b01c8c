"""What may be said when a release is attacked, declared once; see :mod:`incrowd.vocabulary.option`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from incrowd.tables.options import (
    Hierarchies,
    MemoryLimit,
    QuasiIdentifiers,
    Reading,
    RecipeFile,
    Sensitive,
    TextReading,
)
from incrowd.vocabulary.option import Kind, Option
from incrowd.vocabulary.persons import PersonColumn

if TYPE_CHECKING:
    from incrowd.plan.release_plan import ReleasePlan
    from incrowd.vocabulary.requirement import Requirement


class Attacked(TypedDict, total=False):
    """What the release is; where nothing is said, what its plan or its certificate say."""

    quasi_identifiers: QuasiIdentifiers
    target: Annotated[str | None, Option("The class recipients learn.", example="COLUMN")]
    sensitive: Sensitive
    requirement: Annotated[
        "str | Requirement | None", Option('What was promised: "k=10, t=0.2 on income".', flags=("--require",))
    ]
    hierarchies: Hierarchies
    population: Annotated[Any, Option("The people the rows are from, if something was promised of them.", Kind.FILE)]
    recipe: RecipeFile


class HowMade(TypedDict, total=False):
    """How the release was made."""

    plan: Annotated[
        "ReleasePlan | str | Path | None",
        Option(
            "The private plan of the release: how it was made.",
            Kind.FILE,
            more="Without it, the certificate beside the release is read.",
        ),
    ]
    certificate: Annotated[
        Mapping[str, Any] | str | Path | None, Option("The certificate, where it is not beside the release.", Kind.FILE)
    ]
    method: Annotated[Any, Option("The method by its name; see: incrowd methods.", example="NAME")]
    parameters: Annotated[
        Mapping[str, Any] | None, Option("Parameters of the method.", Kind.SETTINGS, "numeric=mean", flags=("--set",))
    ]
    form: Annotated[
        str | None,
        Option(
            "In which form groups are shown, if nothing else says it.",
            Kind.CHOICE,
            "strict|counts|pair",
        ),
    ]


class Knowledge(TypedDict, total=False):
    """What attackers have beside it."""

    control: Annotated[Any, Option("Rows like those of the original that are not in the release.", Kind.FILE)]
    earlier: Annotated[Sequence[Any], Option("An earlier release of the same people.", Kind.FILES, default=())]
    model: Annotated[Mapping[str, Any] | str | Path | None, Option("A published model of the same people.", Kind.FILE)]
    cells: Annotated[
        Sequence[tuple[int, str]],
        Option("A confidential cell that was withheld.", Kind.CELLS, "17:diagnosis", flags=("--cell",), default=()),
    ]
    hider: Annotated[str | None, Option("The method that withheld the cells; see: incrowd hide.", example="NAME")]
    seed: Annotated[
        int | None, Option("The seed of all that attacks draw; by default the system's randomness.", Kind.WHOLE)
    ]
    reading: TextReading


class AttackOptions(Attacked, PersonColumn, HowMade, Knowledge, MemoryLimit, total=False):
    """All that may be on the table when a release is attacked."""


ATTACK = {
    "What": (Attacked,),
    "Persons": (PersonColumn,),
    "Method": (HowMade,),
    "Knowledge": (Knowledge,),
    "Engine": (MemoryLimit,),
    "Reading files": (Reading,),
}
"""All options of ``incrowd attack``, in groups."""
