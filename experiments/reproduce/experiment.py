"""An experiment of a paper, as data: which methods on which tables, how measured, and what was printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incrowd.comparisons.choices import Choice
from incrowd.comparisons.feeding import Feeding
from incrowd.comparisons.protocol import Protocol
from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from experiments.reproduce.document import Block
    from experiments.reproduce.evidence import Evidence
    from experiments.reproduce.preparing import Prepared


ACCURACY, ERROR = "accuracy", "error"


@dataclass(frozen=True)
class Table:
    """The table that a case is about: a data set, the columns that are used, and how they are prepared.

    Parameters
    ----------
    dataset
        A name of the catalog of data sets.
    quasi_identifiers, attributes
        Sets of attributes of the catalog, or their names; columns outside ``attributes`` are left out altogether.
    hierarchies
        ``""``: none; ``"categories"``: Adult's own for its categories; ``"all"``: also that of age.
    discretize
        As in :class:`incrowd.comparisons.trial.Setup`.
    together
        Sets of attributes that are known together, each with k; none: all quasi-identifiers are.
    protocol
        How its rows are split, if not as those of other tables.
    """

    dataset: str
    quasi_identifiers: str | tuple[str, ...] = "all"
    attributes: str | tuple[str, ...] = "all"
    hierarchies: str = ""
    discretize: str | None = None
    together: tuple[tuple[str, ...], ...] = ()
    protocol: Protocol | None = None


@dataclass(frozen=True)
class Case:
    """One algorithm on one table, for some learners and k: a block of a printed table.

    Parameters
    ----------
    part
        The part of the experiment, see :class:`Part`.
    label
        What tells the block from others of the part: a data set, or a set of quasi-identifiers.
    algorithm, method
        What the paper calls it; what we run.
    ks, quick_ks
        All k of the paper, and those of a quick run.
    learners
        Those it was printed for. A method that is its own learner has one, whose name is shown.
    """

    part: str
    label: str
    algorithm: str
    method: str
    table: Table
    ks: tuple[int, ...]
    quick_ks: tuple[int, ...]
    learners: tuple[str, ...]

    def chosen_ks(self, quick: bool) -> tuple[int, ...]:
        """The k that are run."""
        return self.quick_ks if quick else self.ks

    @property
    def choice(self) -> Choice:
        """The method with its parameters."""
        return Choice.of(self.method)


@dataclass(frozen=True)
class Part:
    """A printed table, or a figure.

    Parameters
    ----------
    name, title
        How it is asked for, and its heading.
    printed
        The table of :mod:`experiments.papers`; None where nothing was printed.
    control
        The algorithm that flags compare with; None: no flags.
    at_same_k
        Whether flags compare at the same k (marks ``+`` and ``-``), or with the control alone (mark ``*``).
    rankings
        The algorithms to rank over all cases, the control among them.
    by_label
        Draw a picture for each label, a line for each learner; else for each learner and label, a line for each
        algorithm.
    usual
        Whether it is run when no part is named.
    drawn
        The labels that are drawn; all, if none is named.
    """

    name: str
    title: str
    printed: str | None = None
    control: str | None = None
    at_same_k: bool = True
    rankings: tuple[tuple[str, ...], ...] = ()
    by_label: bool = False
    usual: bool = True
    drawn: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """Whether a point holds, and the figures it was judged by."""

    met: bool
    figures: str


@dataclass(frozen=True)
class Point:
    """Something the paper's results show that ours should show, too.

    ``judge`` answers None where the evidence lacks what is needed. ``paper`` is what the paper says of it; without it,
    the printed numbers are judged in the same way.
    """

    claim: str
    judge: Callable[[Evidence], Verdict | None]
    paper: str | None = None


@dataclass(frozen=True)
class Experiment:
    """Everything there is to know before it is run.

    Parameters
    ----------
    protocol, quick_protocol
        How rows are split, in full and in a quick run.
    quick_rows
        At most so many rows in a quick run.
    complete
        Whether rows with missing values are left out.
    inducers
        What the paper calls each learner, in the paper's order.
    weka
        Weka's learner in place of each of ours.
    measure
        ``"accuracy"`` or ``"error"``; both in per cent.
    doubts
        Printed cells not to be trusted, (part, label, inducer, algorithm, k), and why; differences leave them out.
    reference
        Whose numbers ours stand beside.
    unknown, notes
        What the paper does not say; how ours differs.
    look
        Finds out what the points need besides results.
    further
        What the page shows of that, besides the points.
    """

    name: str
    title: str
    paper: str
    parts: tuple[Part, ...]
    cases: tuple[Case, ...]
    protocol: Protocol
    quick_protocol: Protocol
    inducers: dict[str, str]
    points: tuple[Point, ...]
    quick_rows: int | None = None
    complete: frozenset[str] = frozenset()
    weka: dict[str, str] = field(default_factory=dict)
    feeding: Feeding = field(default_factory=lambda: Feeding(sets="auto"))
    measure: str = ACCURACY
    reference: str = "the paper"
    doubts: dict[tuple[str, str, str, str, int], str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    look: Callable[[Prepared], Mapping[str, object]] | None = None
    further: Callable[[Mapping[str, object]], Iterable[Block]] | None = None

    def part(self, name: str) -> Part:
        """The part of that name."""
        return next(part for part in self.parts if part.name == name)

    def chosen_parts(self, names: Sequence[str] | None) -> tuple[Part, ...]:
        """The parts of these names, in their order; the usual ones, if none is named.

        Examples
        --------
        >>> from experiments.reproduce.kactus import KACTUS
        >>> [part.name for part in KACTUS.chosen_parts(None)]
        ['2', '3', '5']
        """
        known = {part.name: part for part in self.parts}
        for name in names or ():
            if name not in known:
                raise ParameterError(f"{self.name} has no part {name!r}. It has: {', '.join(known)}.")
        return tuple(part for part in self.parts if (part.name in names if names else part.usual))

    def inducer(self, learner: str) -> str:
        """What the paper calls a learner."""
        return self.inducers.get(learner, learner)


J48 = "c45(raising=True)"
LOGISTIC = "logistic(C=50000000.0, solver='newton-cholesky', missing='mode')"
WEKA = {
    "c45": "weka-j48",
    J48: "weka-j48",
    "part": "weka-part",
    "nb": "weka-nb",
    "logistic": "weka-logistic",
    LOGISTIC: "weka-logistic",
}
