"""Many cells of any rows and attributes in one plan: from cells to a list of changes.

All confidential cells are blanked before the first is worked on: none of them may help to guess another. Then each cell
(or each group, for the methods that take several together) is hidden in the given order on the table as it has become.
What was hidden for one cell can expose another, so all are checked again, and the exposed ones are worked on again. A
cell that is exposed after the last round loses its row; one that is guessed even then, because its value is simply the
most common one, is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from incrowd.errors import HeaderError, ParameterError
from incrowd.hiding.adversaries import Adversary, School
from incrowd.hiding.bayes_hiders import GroupHider
from incrowd.hiding.generic import RowBlanker
from incrowd.hiding.methods import METHODS, Hider, HidingMethod, Options, method_named
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import FairChance, Secret, Showed, Status, Step, secret_at
from incrowd.hiding.taxonomy import HIDDEN
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.randomness import Randomness, SystemRandomness
from incrowd.vocabulary.schema import Schema, unknown_column

Progress = Callable[[int, int], None]
_BOTH = METHODS["hid3+dropp"].targets


@dataclass(frozen=True)
class Cell:
    """A confidential cell: a row, counted from 0, and a column."""

    row: int
    attribute: str


@dataclass(frozen=True)
class CellChange:
    """A cell that is published differently: blank, or as a group of its hierarchy. It never carries the true value."""

    row: int
    attribute: str
    shows: str | None = None


@dataclass(frozen=True)
class Prediction:
    """What an adversary took a cell for, with all confidential cells blank and at the end; None: it cannot tell."""

    adversary: str
    before: str | None
    after: str | None
    right_before: bool
    right_after: bool


@dataclass(frozen=True)
class CellOutcome:
    """What became of one confidential cell."""

    cell: Cell
    first: Status  # how it ended when it was worked on
    status: Status  # how it stands at the end, after all other cells were hidden as well
    changed: int  # other cells that were changed for its sake
    predictions: tuple[Prediction, ...]  # what each adversary made of it
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
class HidingPlan:
    """What is published differently, and why. It knows what adversaries got right: it stays with the data holder."""

    method: str
    options: Options
    predictors: tuple[str, ...]
    changes: tuple[CellChange, ...]
    outcomes: tuple[CellOutcome, ...]  # one for each confidential cell, in the order given

    @property
    def side_effects(self) -> tuple[CellChange, ...]:
        """The changes of cells that are not confidential."""
        confidential = {(outcome.cell.row, outcome.cell.attribute) for outcome in self.outcomes}
        return tuple(change for change in self.changes if (change.row, change.attribute) not in confidential)

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


def plan_hiding(
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
) -> HidingPlan:
    """Hide cells so that adversaries who learn from the rest of the table do not guess them."""
    chosen = method_named(method, _BOTH if adversaries is None else adversaries)
    judges = chosen.targets or _BOTH if adversaries is None else tuple(adversaries)
    options = options or Options()
    published = PublishedTable(table, schema, tuple(predictors))
    _check(cells, published)
    chance = FairChance(randomness or SystemRandomness())
    secrets = [secret_at(published, cell.row, cell.attribute, chance) for cell in cells]
    before = _guesses(secrets, judges, published)
    tasks = Planner(chosen, options, progress=progress).hide(secrets)
    after = _guesses(secrets, judges, published)
    outcomes = tuple(_outcome(task, judges, was, now) for task, was, now in zip(tasks, before, after, strict=True))
    return HidingPlan(
        method=method, options=options, predictors=published.predictors, changes=_changes(published), outcomes=outcomes
    )


def _check(cells: Sequence[Cell], published: PublishedTable) -> None:
    """Cells must be of released columns, each named once."""
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
    task: CellTask, adversaries: Sequence[Adversary], was: Sequence[int | None], now: Sequence[int | None]
) -> CellOutcome:
    secret = task.secret
    labels = secret.taxonomy.labels
    predictions = tuple(
        Prediction(
            adversary=adversary.name,
            before=None if old is None else labels[old],
            after=None if new is None else labels[new],
            right_before=old == secret.actual,
            right_after=new == secret.actual,
        )
        for adversary, old, new in zip(adversaries, was, now, strict=True)
    )
    own = (secret.row, secret.attribute)
    changed = {(step.row, step.attribute) for step in secret.steps if isinstance(step, Showed)} - {own}
    return CellOutcome(
        cell=Cell(*own),
        first=task.first or task.status,
        status=task.status,
        changed=len(changed),
        predictions=predictions,
        steps=tuple(secret.steps),
    )


def replay(
    table: EncodedTable, schema: Schema, changes: Sequence[CellChange], predictors: Sequence[str] = ()
) -> PublishedTable:
    """The table with changes applied, ready for adversaries and for :func:`incrowd.hiding.evaluation.costs`."""
    published = PublishedTable(table, schema, tuple(predictors))
    for change in changes:
        labels = published.taxonomy(change.attribute).labels
        node = HIDDEN if change.shows is None else labels.index(change.shows)
        published.show([change.row], change.attribute, node)
    return published


def _changes(published: PublishedTable) -> tuple[CellChange, ...]:
    """All cells that show something else than in the source, by row and column."""
    return tuple(
        CellChange(row, name, None if node == HIDDEN else published.taxonomy(name).labels[node])
        for row, name in published.touched()
        for node in [published.node(row, name)]
    )


@dataclass
class CellTask:
    """A confidential cell and how it stands: how it ended the first time, and in the end."""

    secret: Secret
    first: Status | None = None
    status: Status = Status.NOT_PREDICTED

    @property
    def settled(self) -> bool:
        """Whether nothing more is to be done: the row is gone, or the coin said so."""
        return self.status in (Status.COIN, Status.DELETED)


@dataclass
class Planner:
    """Hides blanked cells by one method and checks them against its targets."""

    method: HidingMethod
    options: Options
    rounds: int = 5  # how often exposed cells are worked on again before their rows are deleted
    progress: Progress | None = None
    _done: int = field(default=0, init=False)

    def hide(self, secrets: Sequence[Secret]) -> list[CellTask]:
        """Hide all cells; how each of them stands."""
        tasks = [CellTask(secret) for secret in secrets]
        exposed = tasks
        for _ in range(1 + self.rounds):
            self._work_on(exposed, len(tasks))
            _settle_rows(tasks)
            exposed = self.exposed(tasks)
            if not exposed:
                return tasks
        while exposed:
            for task in exposed:
                task.secret.delete_row()
                task.status = Status.DELETED
            _settle_rows(tasks)
            exposed = self.exposed(tasks)
        return tasks

    def exposed(self, tasks: Sequence[CellTask]) -> list[CellTask]:
        """Unsettled cells that one of the targets guesses, on the table as it is now."""
        if not tasks:
            return []
        school = School(self.method.targets, tasks[0].secret.published)
        return [
            task
            for task in tasks
            if not task.settled and task.secret.actual in school.guesses(task.secret.row, task.secret.attribute)
        ]

    def _work_on(self, tasks: Sequence[CellTask], total: int) -> None:
        """Work on cells, those together that the method takes together."""
        hider = self.method.make(self.options)
        school = None
        if tasks and isinstance(hider, RowBlanker):
            school = School(hider.adversaries, tasks[0].secret.published)
        gone: set[int] = set()
        for group in grouped(tasks, self.method.together):
            ends = dict.fromkeys((task.secret for task in group), Status.DELETED)
            left = [secret for secret in ends if secret.row not in gone]
            ends |= zip(left, _ends(hider, left, school), strict=True)
            gone |= {secret.row for secret, ended in ends.items() if ended is Status.DELETED}
            self._note(group, list(ends.values()), total)

    def _note(self, group: Sequence[CellTask], ends: Sequence[Status], total: int) -> None:
        """Keep how cells ended; a cell that was hidden stays so if nothing more was needed."""
        for task, ended in zip(group, ends, strict=True):
            if task.first is None:
                task.first = ended
                self._done += 1
            task.status = task.status if ended is Status.NOT_PREDICTED else ended
        if self.progress is not None:
            self.progress(self._done, total)


def grouped(tasks: Sequence[CellTask], together: str) -> list[list[CellTask]]:
    """Cells that are worked on together, in the order of the first of each group."""
    groups: dict[object, list[CellTask]] = {}
    for place, task in enumerate(tasks):
        secret = task.secret
        keys = {"": place, "row": secret.row, "value": (secret.attribute, secret.actual)}
        groups.setdefault(keys[together], []).append(task)
    return list(groups.values())


def _settle_rows(tasks: Sequence[CellTask]) -> None:
    """Where a row was deleted for one of its cells, its other cells are gone with it."""
    gone = {task.secret.row for task in tasks if task.status is Status.DELETED}
    for task in tasks:
        if task.secret.row in gone:
            task.status = Status.DELETED


def _ends(hider: Hider | GroupHider, secrets: Sequence[Secret], school: School | None) -> list[Status]:
    """Hide cells, all at once or one after the other; what adversaries have learnt in a school is used."""
    if isinstance(hider, GroupHider):
        return hider.hide_all(secrets)
    if isinstance(hider, RowBlanker) and school is not None:
        return [hider.hide_from(secret, school.students(secret.attribute, HIDDEN)) for secret in secrets]
    return [hider.hide(secret) for secret in secrets]
