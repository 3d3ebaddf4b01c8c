"""What may be asked when cells are hidden, declared once; see :mod:`incrowd.vocabulary.option`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

from incrowd.tables.options import Hierarchies, Memory, Reading, RecipeFile, TextReading
from incrowd.vocabulary.option import Absent, Kind, Option

if TYPE_CHECKING:
    from incrowd.vocabulary.randomness import Randomness

_OF_PYTHON = Absent("It is for experiments, which are written in Python.")


class Hiding(TypedDict, total=False):
    """How cells are hidden, and from whom."""

    method: Annotated[
        str,
        Option(
            "auto: against all adversaries; or decp, incp, dropp, hid3, these with -g (hierarchies), e-decp, e-dropp, "
            "hid3+dropp and the like, quiet, nrd.",
            example="NAME",
            default="auto",
        ),
    ]
    adversaries: Annotated[
        Sequence[str],
        Option(
            "Who checks: nb, nb-ignored, nb-shared, id3, svm, logistic, forest, boosting, knn.",
            Kind.NAMES,
            default=("nb", "id3"),
        ),
    ]
    predictors: Annotated[
        Sequence[str],
        Option(
            "The columns adversaries reckon with; by default all where few rows have a value of their own.",
            Kind.NAMES,
            default=(),
        ),
    ]
    hierarchies: Hierarchies
    recipe: RecipeFile
    degree: Annotated[int, Option("Another value is drawn from so many most likely ones.", Kind.WHOLE, default=3)]
    lean: Annotated[
        bool,
        Option(
            "HID3 does not hide cells where that does not change the way in the tree.",
            Kind.FLAG,
            default=False,
        ),
    ]
    nearest: Annotated[
        bool,
        Option(
            "DROPP goes on where every other value is impossible, instead of deleting the row.",
            Kind.FLAG,
            default=False,
        ),
    ]
    strict: Annotated[bool, Option("Publish nothing if an adversary still guesses a cell.", Kind.FLAG, default=False)]
    attack: Annotated[
        bool,
        Option(
            "Measure what the pattern of hidden cells tells; may take long.",
            Kind.FLAG,
            more="It runs the hider again for every value.",
            default=False,
        ),
    ]
    first_row: Annotated[
        int,
        Option(
            "The number of the first row: 0, as in data frames.",
            Kind.WHOLE,
            default=0,
            command=Absent("The command line counts from 1."),
        ),
    ]
    randomness: Annotated[
        "Randomness | None",
        Option("Where draws come from; by default the system's cryptographic source.", command=_OF_PYTHON),
    ]


class HidingOutputs(TypedDict, total=False):
    """What is written."""

    to: Annotated[str | Path | None, Option("The table with the cells withheld; rows keep their order.", Kind.FILE)]
    report: Annotated[str | Path | None, Option("Write an HTML report there; it stays private.", Kind.FILE)]
    replace: Annotated[bool, Option("Replace files that exist.", Kind.FLAG, default=False)]


class HidingRun(TypedDict, total=False):
    """With what it is done."""

    memory: Memory
    reading: TextReading


class HidingOptions(Hiding, HidingOutputs, HidingRun, total=False):
    """All options of hiding."""


HIDE = {"Method": (Hiding,), "Outputs": (HidingOutputs,), "Engine": (HidingRun,), "Reading files": (Reading,)}
"""All options of ``incrowd hide``, in groups."""
