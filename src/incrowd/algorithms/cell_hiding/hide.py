"""Hide the cells of a table that were asked for: the whole way, from cells to a list of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from incrowd.adversaries.adversary import Adversary, School
from incrowd.adversaries.published import PublishedTable
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.chance import FairChance
from incrowd.algorithms.cell_hiding.changes import CellChange, changes_of
from incrowd.algorithms.cell_hiding.methods import METHODS, Options, method_named
from incrowd.algorithms.cell_hiding.planner import Planner, Progress, Work
from incrowd.algorithms.cell_hiding.secret import Secret, secret_at
from incrowd.algorithms.cell_hiding.steps import Showed, Status, Step
from incrowd.errors import HeaderError, ParameterError
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.randomness import Randomness, SystemRandomness
from incrowd.vocabulary.schema import Schema, unknown_column

_BOTH = METHODS["hid3+dropp"].targets


@dataclass(frozen=True)
class Cell:
    """A confidential cell: a row, counted from 0, and a column."""

    row: int
    attribute: str


@dataclass(frozen=True)
class Prediction:
    """What an adversary took a cell for, with all confidential cells blank and at the end; None: it cannot tell."""

    adversary: str
    before: str | None
    after: str | None
    right_before: bool
    right_after: bool


@dataclass(frozen=True)
class Outcome:
    """What became of one confidential cell.

    Parameters
    ----------
    first
        How it ended when it was worked on.
    status
        How it stands at the end, after all other cells were hidden as well.
    changed
        Other cells that were changed for its sake.
    predictions
        What each adversary made of it.
    steps
        What was done and why. Steps of cells that were hidden together are noted with the first of them.
    """

    cell: Cell
    first: Status
    status: Status
    changed: int
    predictions: tuple[Prediction, ...]
    steps: tuple[Step, ...] = field(repr=False)

    @property
    def exposed(self) -> bool:
        """Whether some adversary is right at the end."""
        return any(prediction.right_after for prediction in self.predictions)

    @property
    def only_by_chance(self) -> bool:
        """Whether an adversary is right although nothing of the row is shown: the value is simply a common one."""
        return self.exposed and self.status is Status.DELETED


@dataclass(frozen=True)
class Hiding:
    """What is published differently, and why. It knows what adversaries got right: it stays with the data holder.

    Parameters
    ----------
    method, options, predictors
        How cells were hidden, and the columns adversaries reckon with.
    changes
        All cells that are published differently, the confidential ones included; no true values.
    outcomes
        One for each confidential cell, in the order given.
    """

    method: str
    options: Options
    predictors: tuple[str, ...]
    changes: tuple[CellChange, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def side_effects(self) -> tuple[CellChange, ...]:
        """The changes of cells that are not confidential."""
        asked = {(outcome.cell.row, outcome.cell.attribute) for outcome in self.outcomes}
        return tuple(change for change in self.changes if (change.row, change.attribute) not in asked)

    @property
    def success_rate(self) -> Fraction:
        """The share of cells that were hidden without deleting their row."""
        if not self.outcomes:
            return Fraction(1)
        return Fraction(sum(outcome.status.success for outcome in self.outcomes), len(self.outcomes))

    @property
    def attacker_confidence(self) -> Fraction:
        """What the thesis grants an attacker who knows the method: success rate over the degree of suppression."""
        return self.success_rate / self.options.degree


def hide_cells(
    table: EncodedTable,
    schema: Schema,
    cells: Sequence[Cell],
    method: str = "generic",
    adversaries: Sequence[Adversary] | None = None,
    randomness: Randomness | None = None,
    *,
    predictors: Sequence[str] = (),
    options: Options | None = None,
    progress: Progress | None = None,
) -> Hiding:
    """Hide cells so that adversaries who learn from the rest of the table do not guess them.

    Parameters
    ----------
    table, schema
        The table; hierarchies of the schema serve the generalizing methods.
    cells
        What to hide; every one of them must show a value.
    method
        One of ``methods.NAMES``.
    adversaries
        Who checks the result; the generic method works against them. If not given, those the method is made against
        (for the generic one: naive Bayes and ID3).
    randomness
        Where draws come from; the system's cryptographic source if not given.
    predictors
        The columns adversaries reckon with; all released ones if not given.
    options
        Degree of suppression and variants of methods.
    progress
        Called with the number of cells done and of all cells.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from incrowd.vocabulary.encoded_table import EncodedColumn
    >>> from incrowd.vocabulary.schema import Column, ColumnType
    >>> codes = np.array([0, 0, 0, 1, 1, 2, 2, 2], np.int32)
    >>> pain = EncodedColumn("pain", ColumnType.CATEGORICAL, codes, pl.Series(["no", "some", "much"]))
    >>> ill = EncodedColumn("ill", ColumnType.CATEGORICAL, codes, pl.Series(["no", "cold", "flu"]))
    >>> table, schema = EncodedTable.of([pain, ill]), Schema((Column("pain"), Column("ill")))
    >>> hiding = hide_cells(table, schema, [Cell(3, "ill")])
    >>> hiding.changes
    (CellChange(row=3, attribute='pain', shows=None), CellChange(row=3, attribute='ill', shows=None))
    >>> [prediction.right_after for prediction in hiding.outcomes[0].predictions]
    [False, False]
    """
    chosen = method_named(method, _BOTH if adversaries is None else adversaries)
    judges = chosen.targets or _BOTH if adversaries is None else tuple(adversaries)
    options = options or Options()
    published = PublishedTable(table, schema, tuple(predictors))
    _check(cells, published)
    chance = FairChance(randomness or SystemRandomness())
    secrets = [secret_at(published, cell.row, cell.attribute, chance) for cell in cells]
    before = _guesses(secrets, judges, published)
    works = Planner(chosen, options, progress=progress).hide(secrets)
    after = _guesses(secrets, judges, published)
    outcomes = tuple(_outcome(work, judges, was, now) for work, was, now in zip(works, before, after, strict=True))
    return Hiding(method, options, published.predictors, changes_of(published), outcomes)


def _check(cells: Sequence[Cell], published: PublishedTable) -> None:
    """Cells must be of released columns, each asked for once."""
    for cell in cells:
        if cell.attribute not in published.attributes:
            raise HeaderError(unknown_column(cell.attribute, published.attributes))
    twice = sum(count > 1 for count in Counter(cells).values())
    if twice:
        raise ParameterError(f"{twice} cells are named more than once. Name each cell once.")


def _guesses(
    secrets: Sequence[Secret], adversaries: Sequence[Adversary], published: PublishedTable
) -> list[list[int | None]]:
    """What each adversary takes each cell for, on the table as it is now."""
    school = School(adversaries, published)
    return [school.guesses(secret.row, secret.attribute) for secret in secrets]


def _outcome(
    work: Work, adversaries: Sequence[Adversary], was: Sequence[int | None], now: Sequence[int | None]
) -> Outcome:
    secret = work.secret
    labels = secret.taxonomy.labels
    predictions = tuple(
        Prediction(
            adversary.name,
            None if old is None else labels[old],
            None if new is None else labels[new],
            old == secret.actual,
            new == secret.actual,
        )
        for adversary, old, new in zip(adversaries, was, now, strict=True)
    )
    own = (secret.row, secret.attribute)
    changed = {(step.row, step.attribute) for step in secret.steps if isinstance(step, Showed)} - {own}
    first = work.first or work.status
    return Outcome(Cell(*own), first, work.status, len(changed), predictions, tuple(secret.steps))


def replay(
    table: EncodedTable, schema: Schema, changes: Sequence[CellChange], predictors: Sequence[str] = ()
) -> PublishedTable:
    """The table with changes applied, ready for adversaries and for :func:`costs`."""
    published = PublishedTable(table, schema, tuple(predictors))
    for change in changes:
        labels = published.taxonomy(change.attribute).labels
        node = HIDDEN if change.shows is None else labels.index(change.shows)
        published.show([change.row], change.attribute, node)
    return published
