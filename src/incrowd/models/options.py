"""What may be asked of a published model, declared once; see :mod:`incrowd.vocabulary.option`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from incrowd.tables.options import Hierarchies, MemoryLimit, Reading, RecipeFile, Repeats, TextReading
from incrowd.vocabulary.option import Kind, Option
from incrowd.vocabulary.persons import PersonColumn


class ModelTable(TypedDict, total=False):
    """What the model is grown on."""

    target: Annotated[str | None, Option("The class to predict.", example="COLUMN")]
    public: Annotated[Iterable[str], Option("Attributes an attacker may know.", Kind.NAMES, default=())]
    private: Annotated[
        Iterable[str],
        Option(
            "Attributes that, as you state, nobody outside knows.",
            Kind.NAMES,
            more="The same statement as in a release: here the tree may test them.",
            default=(),
        ),
    ]
    public_class: Annotated[bool, Option("An attacker may know the class, too.", Kind.FLAG, default=False)]
    hierarchies: Hierarchies
    repeats: Repeats
    reading: TextReading
    recipe: RecipeFile


class Spans(TypedDict, total=False):
    """What people who look alike to the model keep."""

    k: Annotated[
        int,
        Option("The smallest number of people who may look alike to the model.", Kind.WHOLE, flags=("-k",), default=10),
    ]
    max_confidence: Annotated[
        float | None, Option("No class has a larger share among people who look alike.", Kind.NUMBER, "0.85")
    ]
    l: Annotated[  # noqa: E741
        float | None, Option("Entropy l-diversity of the class among people who look alike.", Kind.NUMBER)
    ]
    require: Annotated[
        Any,
        Option(
            'What the class must keep beside k among people who look alike: "t=0.2, distinct-l=3".',
            Kind.TEXTS,
            more="Text, requirements, or a list of both.",
            default=(),
        ),
    ]


class GrowingOptions(TypedDict, total=False):
    """How the tree is grown."""

    score: Annotated[
        str, Option("c45: gain ratio, also numbers; id3: gain, categories only.", Kind.CHOICE, "c45|id3", default="c45")
    ]
    prune: Annotated[bool | None, Option("Prune the tree; by default with c45 only.", Kind.SWITCH)]
    fill: Annotated[
        str | None,
        Option(
            "Missing values: the most frequent value or median, or a value of their own; refused by default.",
            Kind.CHOICE,
            "mode|value",
        ),
    ]
    bins: Annotated[int | None, Option("Numbers are counted in at most so many bins.", Kind.WHOLE, default=1024)]


class ModelOutputs(TypedDict, total=False):
    """What is written."""

    to: Annotated[
        str | Path | None, Option("The model: a file that ends in .json; its certificate goes beside it.", Kind.FILE)
    ]
    plot: Annotated[str | Path | None, Option("Write a drawing there (SVG).", Kind.FILE)]
    pmml: Annotated[str | Path | None, Option("Write the model as PMML 4.4 there, for other programs.", Kind.FILE)]
    replace: Annotated[bool, Option("Replace files that exist.", Kind.FLAG, default=False)]


class ModelOptions(ModelTable, PersonColumn, Spans, GrowingOptions, ModelOutputs, MemoryLimit, total=False):
    """All options of a published model."""


MODEL = {
    "What": (ModelTable,),
    "Persons": (PersonColumn,),
    "Promise": (Spans,),
    "Method": (GrowingOptions,),
    "Outputs": (ModelOutputs,),
    "Engine": (MemoryLimit,),
    "Reading files": (Reading,),
}
"""All options of ``incrowd model``, in groups."""
