"""How a table is read, declared once; see :mod:`incrowd.vocabulary.option`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, TypedDict

from incrowd.vocabulary.option import Kind, Option


class Reading(TypedDict, total=False):
    """How a file is read that does not say it all."""

    delimiter: Annotated[
        str | None, Option("The field separator, if it is not found by itself.", recipe="reading", example=";")
    ]
    encoding: Annotated[
        str | None, Option("The text encoding, if it is not UTF-8 or UTF-16.", recipe="reading", example="latin-1")
    ]
    missing: Annotated[Sequence[str] | None, Option("A text that means missing.", Kind.TEXTS, "NA", recipe="reading")]
    header: Annotated[
        bool | None,
        Option(
            "Whether the first line or row has the names of the columns; else they are c1, c2 and so on.",
            Kind.SWITCH,
            recipe="reading",
        ),
    ]
    names: Annotated[
        Iterable[str] | None,
        Option("The names of the columns of a file without a header.", Kind.NAMES, "age,sex", recipe="reading"),
    ]
    decimal: Annotated[
        str | None,
        Option(
            "Comma or point: what parts the decimals of numbers; the other parts thousands.",
            Kind.CHOICE,
            "comma|point",
            recipe="reading",
        ),
    ]
    dates: Annotated[
        str | None, Option("The order of day, month and year in dates.", Kind.CHOICE, "dmy|mdy|ymd", recipe="reading")
    ]
    sheet: Annotated[
        str | None, Option("The sheet of a workbook, if it is not the first.", recipe="reading", example="NAME")
    ]
    header_row: Annotated[
        int | None,
        Option(
            "The row of a sheet that has the names of the columns, if titles stand above it.",
            Kind.WHOLE,
            "3",
            recipe="reading",
        ),
    ]
    coarsen: Annotated[
        Mapping[str, str] | None,
        Option(
            "A column that is made coarser as it is read, and its rule: year, year-from-1936, top-90, zip3, none.",
            Kind.RENAMED,
            "age=top-90",
            more="The verification applies the rule to the input by itself; see docs/presets.md.",
            recipe="reading",
        ),
    ]
