"""Many cells of any rows and attributes in one plan: from cells to a list of changes.

All confidential cells are blanked before the first is worked on: none of them may help to guess another. Then each cell
(or each group, for the methods that take several together) is hidden in the given order on the table as it has become.
What was hidden for one cell can expose another, so all are checked again, and the exposed ones are worked on again. A
cell that is exposed after the last round loses its row; one that is guessed even then, because its value is simply the
most common one, is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from incrowd.errors import HeaderError, ParameterError
from incrowd.hiding.adversaries import Adversary, School
from incrowd.hiding.bayes_hiders import GroupHider
from incrowd.hiding.methods import METHODS, Hider, HidingMethod, Options, RowBlanker, method_named
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import FairChance, Secret, Showed, Status, secret_at
from incrowd.hiding.taxonomy import HIDDEN
from incrowd.report.hiding_report import Guess, Judged
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.randomness import Randomness, SystemRandomness
from incrowd.vocabulary.schema import Schema, unknown_column

Progress = Callable[[int, int], None]
Guesses = list[int | None]
_ROUNDS = 5  # in which exposed cells are worked on again before their rows are deleted
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
class CellOutcome:
    """What became of one confidential cell."""

    cell: Cell
    status: Status  # how it stands at the end, after all other cells were hidden as well
    changed: int  # other cells that were changed for its sake
    judged: tuple[Judged, ...]  # what each adversary made of it

    @property
    def exposed(self) -> bool:
        """Whether some adversary is right at the end."""
        return any(each.after is Guess.RIGHT for each in self.judged)

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
    ends = hide_all(secrets, chosen, options, progress)
    after = _guesses(secrets, judges, published)
    outcomes = tuple(
        _outcome(secret, ends[secret], judges, was, now)
        for secret, was, now in zip(secrets, before, after, strict=True)
    )
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


def _guesses(secrets: Sequence[Secret], adversaries: Sequence[Adversary], published: PublishedTable) -> list[Guesses]:
    """What each adversary takes each cell for, on the table as it is now."""
    school = School(adversaries, published)
    return [school.guesses(secret.row, secret.attribute) for secret in secrets]


def _outcome(
    secret: Secret,
    status: Status,
    adversaries: Sequence[Adversary],
    was: Sequence[int | None],
    now: Sequence[int | None],
) -> CellOutcome:
    def verdict(guess: int | None) -> Guess:
        return Guess.CANNOT_TELL if guess is None else Guess.RIGHT if guess == secret.actual else Guess.WRONG

    judged = tuple(
        Judged(adversary.name, verdict(old), verdict(new))
        for adversary, old, new in zip(adversaries, was, now, strict=True)
    )
    own = (secret.row, secret.attribute)
    changed = {(step.row, step.attribute) for step in secret.steps if isinstance(step, Showed)} - {own}
    return CellOutcome(Cell(*own), status, len(changed), judged)


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


def hide_all(
    secrets: Sequence[Secret], method: HidingMethod, options: Options, progress: Progress | None = None
) -> dict[Secret, Status]:
    """Hide blanked cells by one method and check them against its targets; how each of them stands."""
    ends: dict[Secret, Status] = {}
    hider, exposed = method.make(options), list(secrets)
    for _ in range(1 + _ROUNDS):
        for end in _worked_on(exposed, hider, method.together):
            # a cell that was hidden stays so if nothing more was needed
            ends |= {
                one: status for one, status in end.items() if one not in ends or status is not Status.NOT_PREDICTED
            }
            if progress is not None:
                progress(len(ends), len(secrets))
        exposed = _exposed(ends, secrets, method)
        if not exposed:
            break
    while exposed:
        for secret in exposed:
            secret.delete_row()
            ends[secret] = Status.DELETED
        exposed = _exposed(ends, secrets, method)
    return ends


def _worked_on(secrets: Sequence[Secret], hider: Hider | GroupHider, together: str) -> Iterator[dict[Secret, Status]]:
    """Work on cells, those together that the method takes together; how each of them ended."""
    school = None
    if secrets and isinstance(hider, RowBlanker):
        school = School(hider.adversaries, secrets[0].published)
    gone: set[int] = set()
    for group in _grouped(secrets, together):
        ends = dict.fromkeys(group, Status.DELETED)
        left = [secret for secret in group if secret.row not in gone]
        ends |= zip(left, _ends(hider, left, school), strict=True)
        gone |= {secret.row for secret, ended in ends.items() if ended is Status.DELETED}
        yield ends


def _grouped(secrets: Sequence[Secret], together: str) -> list[list[Secret]]:
    """Cells that are worked on together, in the order of the first of each group."""
    groups: dict[object, list[Secret]] = {}
    for secret in secrets:
        keys = {"": secret, "row": secret.row, "value": (secret.attribute, secret.actual)}
        groups.setdefault(keys[together], []).append(secret)
    return list(groups.values())


def _ends(hider: Hider | GroupHider, secrets: Sequence[Secret], school: School | None) -> list[Status]:
    """Hide cells, all at once or one after the other; what adversaries have learnt in a school is used."""
    if isinstance(hider, GroupHider):
        return hider.hide_all(secrets)
    if isinstance(hider, RowBlanker) and school is not None:
        return [hider.hide_from(secret, school.students(secret.attribute, HIDDEN)) for secret in secrets]
    return [hider.hide(secret) for secret in secrets]


def _exposed(ends: dict[Secret, Status], secrets: Sequence[Secret], method: HidingMethod) -> list[Secret]:
    """Cells that one of the targets guesses now; where a row was deleted, all its cells are gone with it."""
    gone = {secret.row for secret, status in ends.items() if status is Status.DELETED}
    ends |= {secret: Status.DELETED for secret in secrets if secret.row in gone}
    open_cells = [secret for secret in secrets if ends[secret] not in (Status.COIN, Status.DELETED)]
    if not open_cells:
        return []
    school = School(method.targets, open_cells[0].published)
    return [one for one in open_cells if one.actual in school.guesses(one.row, one.attribute)]
