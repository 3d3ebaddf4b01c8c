"""What may be asked of a release, declared once, in groups; see :mod:`incrowd.vocabulary.option`.

What is in a ``TypedDict`` is an argument of ``incrowd.release`` by itself; a dataclass is one argument.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, overload

from incrowd.errors import ParameterError
from incrowd.tables.reading.dialect import Reading as Reading
from incrowd.vocabulary.column_rules import KeyedColumns
from incrowd.vocabulary.forms import Bins, Form, JointCounts, Redraw
from incrowd.vocabulary.option import Absent, Kind, Option, described_group, options_of
from incrowd.vocabulary.persons import PersonOptions, SecondTable
from incrowd.vocabulary.preferences import Apart, AtMost, Lose, Weights
from incrowd.vocabulary.resources import bytes_of

if TYPE_CHECKING:
    from incrowd.tables.databases.tables import NewTable
    from incrowd.tables.recipe import Recipe
    from incrowd.vocabulary.hierarchy import Hierarchy

_beside = partial(Option, recipe=Absent("A recipe says what is released; where to and how is said at each run."))
_OF_A_COLUMN = "columns"


QuasiIdentifiers = Annotated[
    Iterable[str] | None,
    Option("The columns an attacker may know.", Kind.NAMES, flags=("--quasi-identifiers", "-q"), recipe=_OF_A_COLUMN),
]
Sensitive = Annotated[
    Iterable[str] | None,
    Option(
        "Columns that must not be inferred; released unchanged.",
        Kind.NAMES,
        more="What must be kept of them is said by ``require``.",
        recipe=_OF_A_COLUMN,
    ),
]
Repeats = Annotated[
    Iterable[str] | None,
    Option(
        "Identifiers that may repeat, as they do not number persons.",
        Kind.NAMES,
        more="Any other that repeats is refused: k counts rows, and a person may have only one.",
    ),
]
Hierarchies = Annotated[
    "Mapping[str, Hierarchy | str | Path] | str | Path | None",
    Option(
        "Hierarchies: a folder with a file for each column, or a column and its file.",
        Kind.HIERARCHIES,
        "age=age.txt",
        more="In Python a mapping of columns to ``Hierarchy`` objects or files.",
        flags=("--hierarchies", "--hierarchy"),
        recipe=_OF_A_COLUMN,
    ),
]
KnownTogether = Annotated[
    Iterable[tuple[Iterable[str], int]] | None,
    Option(
        "Columns an attacker knows together, and their own k.",
        Kind.SETS,
        "a,b:5",
        more='In Python ``[(["age", "sex"], 5)]``. They are the quasi-identifiers then, and k is not needed.',
    ),
]
Require = Annotated[
    Any,
    Option(
        'What every group must keep beside k: "entropy-l=1.5 on diagnosis, t=0.2 on income".',
        Kind.TEXTS,
        more="Text, requirements, or a list of both. If it cannot be kept, an error says what would be possible.",
    ),
]
ClassSensitive = Annotated[
    bool | None,
    Option(
        "Whether the class of a person must not be inferred: then every group keeps a requirement on it.",
        Kind.YES_NO,
        more="By default t-closeness. Nobody but you can know; if you do not say, a notice does.",
    ),
]
Purest = Annotated[
    float | None,
    Option(
        "No class has more than this share of the rows of a group: what may be sure of anybody's class.",
        Kind.NUMBER,
        "0.9",
        more="A short word for ``alpha`` on the class, for every method.",
    ),
]
Rarest = Annotated[
    int | None,
    Option(
        "No cell names a value that fewer people of the table have, alone or in a set.",
        Kind.WHOLE,
        more="The same for bins of numbers and groups of a hierarchy.",
    ),
]
Population = Annotated[Any, Option("A table of the people the rows are from, for k-map and delta-presence.", Kind.FILE)]
TextReading = Annotated[
    Reading | None,
    Option(
        "How to read a file: delimiter, encoding, missing, sheet and so on.",
        command=Absent("Each of them is an option by itself."),
    ),
]
Memory = Annotated[int | str | None, _beside("The most memory that each process may hold.", example="4GB")]


class MemoryLimit(TypedDict, total=False):
    """With what it is done."""

    memory: Memory


RecipeFile = Annotated[
    "Recipe | str | Path | None",
    Option(
        "A recipe; what you say beside it wins over what it says.",
        Kind.FILE,
        recipe=Absent("A recipe does not name another."),
    ),
]


class What(TypedDict, total=False):
    """What is released."""

    quasi_identifiers: QuasiIdentifiers
    target: Annotated[str | None, Option("The class recipients will learn.", example="COLUMN", recipe=_OF_A_COLUMN)]
    identifiers: Annotated[
        Iterable[str] | None,
        Option("Columns that number or name persons; not released.", Kind.NAMES, recipe=_OF_A_COLUMN),
    ]
    drop: Annotated[
        Iterable[str] | None,
        Option("Columns to leave out, whatever they are.", Kind.NAMES, more="Nothing is asked about them."),
    ]
    sensitive: Sensitive
    private: Annotated[
        Iterable[str] | None,
        Option(
            "Columns that stay; you state that nobody outside knows them.",
            Kind.NAMES,
            more="They are released unchanged, and who is alone by them is not counted as found.",
        ),
    ]
    repeats: Repeats
    hierarchies: Hierarchies
    reading: TextReading
    recipe: RecipeFile
    preset: Annotated[
        str | None,
        Option(
            "A preset to begin with: research, public or safe-harbor; see: incrowd presets.",
            example="NAME",
            more="What a recipe or an option says beside it wins.",
        ),
    ]


class Promise(TypedDict, total=False):
    """What is promised of it."""

    k: Annotated[
        int | None,
        Option(
            "The smallest group of rows, or of persons if you name them, that may look alike; 10 if neither you nor a "
            "recipe say.",
            Kind.WHOLE,
            flags=("-k",),
        ),
    ]
    known_together: KnownTogether
    require: Require
    class_sensitive: ClassSensitive
    purest: Purest
    population: Population
    rarest: Rarest
    at_most: AtMost
    apart: Apart
    lose: Lose
    alone_at_most: Annotated[
        int | None, Option("Refuse if more people than this are alone by their unchanged columns.", Kind.WHOLE)
    ]
    despite_unchanged: Annotated[
        bool,
        _beside(
            "Publish even if unchanged columns give back so much that fewer than k look alike.",
            Kind.FLAG,
            more="The certificate then says so. Without it such a release is refused.",
            default=False,
        ),
    ]


class MethodOptions(TypedDict, total=False):
    """How it is made."""

    method: Annotated[
        Any,
        Option(
            "The method by its name; kactus-plus if you do not say, blend with --form strict; see: incrowd methods.",
            example="NAME",
            more="``auto`` chooses it by a short comparison on the table. In Python also a method as an object, with "
            "its parameters.",
        ),
    ]
    parameters: Annotated[
        Mapping[str, Any] | None, Option("Parameters of the method.", Kind.SETTINGS, "numeric=mean", flags=("--set",))
    ]
    weights: Weights
    form: Form
    redraw: Redraw
    bins: Bins
    counts_by_class: Annotated[
        bool, Option("Part groups by class, which must not be sensitive: they tell it.", Kind.FLAG, default=False)
    ]
    joint_counts: JointCounts


class Wishes(TypedDict, total=False):
    """What releases keep beside k and how they show it, for commands that publish none of them."""

    known_together: KnownTogether
    require: Require
    class_sensitive: ClassSensitive
    purest: Purest
    population: Population
    rarest: Rarest
    at_most: AtMost
    apart: Apart
    lose: Lose
    weights: Weights
    form: Form
    redraw: Redraw
    bins: Bins


class ReleaseTo(TypedDict, total=False):
    """Where the release goes."""

    to: Annotated[
        "str | Path | NewTable | None",
        _beside(
            "The release: a file, whose ending says the format, or a new table, postgresql:///database?table=name.",
            example="FILE",
        ),
    ]


class ReleaseOptions(What, PersonOptions, SecondTable, Promise, KeyedColumns, MethodOptions, ReleaseTo, total=False):
    """The options of a release that are arguments by themselves."""


@described_group
@dataclass(frozen=True)
class Outputs:
    """What is written beside the release, and what its certificate says of you.

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> Outputs(report="report.html").plan is None
    True
    """

    certificate: Annotated[
        str | Path | None, _beside("Write the certificate there; else it goes beside the release.", Kind.FILE)
    ] = None
    report: Annotated[str | Path | None, _beside("Write the HTML report there.", Kind.FILE)] = None
    plan: Annotated[
        str | Path | None, _beside("Write the plan there (.json, .parquet); keep it private.", Kind.FILE)
    ] = None
    responsible: Annotated[str | None, _beside("Who answers for the release; the certificate names them.")] = None
    sign: Annotated[
        str | Path | None,
        _beside("Sign the certificate with this private key: its name or file (incrowd keys).", Kind.FILE),
    ] = None
    share_hierarchies: Annotated[
        bool,
        _beside(
            "Put the hierarchies into the certificate: you state that they are public knowledge.",
            Kind.FLAG,
            more="Recipients then know which group a value of theirs belongs to, and need no file of yours.",
        ),
    ] = False
    replace: Annotated[bool, _beside("Replace files, or the table of a database, that exist.", Kind.FLAG)] = False


@described_group
@dataclass(frozen=True)
class Measuring:
    """What is measured of a release beside what it promises.

    Parameters
    ----------
    {options}
    """

    accuracy: Annotated[
        bool, _beside("Measure what a decision tree learns before and after, on held-out rows or persons.", Kind.FLAG)
    ] = False
    risk: Annotated[
        bool | None,
        _beside(
            "Measure risk before and after; by default where a report is written.",
            Kind.SWITCH,
            more="As :func:`measure_risk` does.",
        ),
    ] = None
    attacks: Annotated[
        bool | Sequence[Any],
        _beside(
            "Attack the release and the table itself.",
            Kind.FLAG,
            more="As :func:`attack_release` does; in Python also those attacks that you name or pass.",
        ),
    ] = False


@described_group
@dataclass(frozen=True)
class Book:
    """The book of earlier releases, and what you say of them.

    It knows people: the same request for the same people gets the same groups again; a release that tells, together
    with earlier ones, more than was promised is refused.

    Parameters
    ----------
    {options}
    """

    folder: Annotated[
        str | Path,
        _beside(
            "The private folder of the ledger: together, releases then tell no more than one.",
            Kind.FILE,
            flags=("--ledger",),
        ),
    ]
    key: Annotated[
        str | Path | None,
        _beside("The file with the ledger's key, where it is kept elsewhere.", Kind.FILE, flags=("--ledger-key",)),
    ] = None
    other_people: Annotated[
        Sequence[int],
        _beside("The number of a release in the ledger that is about other people, as you vouch.", Kind.WHOLES),
    ] = ()
    same_columns: Annotated[
        Mapping[str, str] | None,
        _beside("What a column was called in earlier tables.", Kind.RENAMED, "age_years=age", flags=("--same-column",)),
    ] = None
    presence_known: Annotated[
        bool, _beside("Outsiders may know who joined or left: keep those in company too.", Kind.FLAG)
    ] = False
    despite_earlier: Annotated[
        bool,
        _beside(
            "Publish even if earlier releases and this one tell more together than was promised.",
            Kind.FLAG,
            more="The certificate then says what they tell together.",
        ),
    ] = False


@described_group
@dataclass(frozen=True)
class Run:
    """Where and with what a release is made.

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> Run(memory="4GB").bytes
    4000000000
    """

    memory: Memory = None
    engine: Annotated[
        str | None,
        _beside(
            "Let Spark read a path or a table that it knows.",
            Kind.CHOICE,
            "spark",
            more="A Spark frame needs no engine named.",
        ),
    ] = None
    master: Annotated[str | None, _beside("Where Spark runs if no session is active.", example="local[2]")] = None
    seed: Annotated[
        int | None,
        Option(
            "For experiments only: a repeatable draw.",
            Kind.WHOLE,
            more="The shuffling can be undone then.",
            recipe=Absent("Whoever knows the seed can undo the shuffling, and files are passed on."),
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.engine not in (None, "spark"):
            raise ParameterError("The engine is spark, or none is named: this machine is used then.")
        _ = self.bytes

    @property
    def bytes(self) -> int | None:
        """The memory it may use."""
        return None if self.memory is None else bytes_of(self.memory)


RELEASE: Mapping[str, tuple[type, ...]] = {
    "What": (What,),
    "Persons": (PersonOptions, SecondTable),
    "Promise": (Promise,),
    "Pseudonyms and dates": (KeyedColumns,),
    "Method": (MethodOptions,),
    "Outputs": (ReleaseTo, Outputs),
    "Measuring": (Measuring,),
    "Earlier releases": (Book,),
    "Engine": (Run,),
    "Reading files": (Reading,),
}
"""All options of a release, in groups, under the titles that people read."""


def recipe_keys() -> tuple[str, ...]:
    """What a recipe may say, in the order of the options."""
    groups = (group for groups in RELEASE.values() for group in groups)
    return tuple(dict.fromkeys(one.key for group in groups for one in options_of(group) if one.key))


@overload
def names_of(names: None) -> None: ...
@overload
def names_of(names: Iterable[str]) -> list[str]: ...
def names_of(names: Iterable[str] | None) -> list[str] | None:
    """Names of columns; a single one may stand by itself."""
    return None if names is None else [names] if isinstance(names, str) else list(names)
