"""Many cells of any rows and attributes in one plan.

All confidential cells are blanked before the first is worked on: none of them may help to guess another. Then each cell
(or each group, for the methods that take several together) is hidden in the given order on the table as it has become.
What was hidden for one cell can expose another, so all are checked again, and the exposed ones are worked on again. A
cell that is exposed after the last round loses its row; one that is guessed even then, because its value is simply the
most common one, is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from incrowd.adversaries.adversary import School
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.generic import Generic
from incrowd.algorithms.cell_hiding.methods import GroupHider, Method, Options
from incrowd.algorithms.cell_hiding.quiet import Quiet
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Status

Progress = Callable[[int, int], None]


@dataclass
class Work:
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
    """Hides blanked cells by one method and checks them against its targets.

    Parameters
    ----------
    method, options
        What to hide with.
    rounds
        How often exposed cells are worked on again before their rows are deleted.
    progress
        Called with the number of cells done and of all cells, as the first round goes on.
    """

    method: Method
    options: Options
    rounds: int = 5
    progress: Progress | None = None
    _done: int = field(default=0, init=False)

    def hide(self, secrets: Sequence[Secret]) -> list[Work]:
        """Hide all cells; how each of them stands."""
        works = [Work(secret) for secret in secrets]
        exposed = works
        for _ in range(1 + self.rounds):
            self._work_on(exposed, len(works))
            _settle_rows(works)
            exposed = self.exposed(works)
            if not exposed:
                return works
        while exposed:
            for work in exposed:
                work.secret.delete_row()
                work.status = Status.DELETED
            _settle_rows(works)
            exposed = self.exposed(works)
        return works

    def exposed(self, works: Sequence[Work]) -> list[Work]:
        """Unsettled cells that one of the targets guesses, on the table as it is now."""
        if not works:
            return []
        school = School(self.method.targets, works[0].secret.published)
        return [
            work
            for work in works
            if not work.settled and work.secret.actual in school.guesses(work.secret.row, work.secret.attribute)
        ]

    def _work_on(self, works: Sequence[Work], total: int) -> None:
        """Work on cells, those together that the method takes together."""
        hider = self.method.make(self.options)
        adversaries = hider.adversaries if isinstance(hider, Generic | Quiet) else ()
        school = School(adversaries, works[0].secret.published) if works else None
        gone: set[int] = set()
        for group in grouped(works, self.method.together):
            ends = dict.fromkeys((work.secret for work in group), Status.DELETED)
            left = [secret for secret in ends if secret.row not in gone]
            if isinstance(hider, Generic | Quiet):
                assert school is not None
                ends |= {secret: hider.hide_from(secret, school.students(secret.attribute, HIDDEN)) for secret in left}
            elif isinstance(hider, GroupHider):
                ends |= dict(zip(left, hider.hide_all(left), strict=True))
            else:
                ends |= {secret: hider.hide(secret) for secret in left}
            gone |= {secret.row for secret, ended in ends.items() if ended is Status.DELETED}
            self._note(group, list(ends.values()), total)

    def _note(self, group: Sequence[Work], ends: Sequence[Status], total: int) -> None:
        """Keep how cells ended; a cell that was hidden stays so if nothing more was needed."""
        for work, ended in zip(group, ends, strict=True):
            if work.first is None:
                work.first = ended
                self._done += 1
            work.status = work.status if ended is Status.NOT_PREDICTED else ended
        if self.progress is not None:
            self.progress(self._done, total)


def grouped(works: Sequence[Work], together: str) -> list[list[Work]]:
    """Cells that are worked on together, in the order of the first of each group."""
    groups: dict[object, list[Work]] = {}
    for place, work in enumerate(works):
        secret = work.secret
        keys = {"": place, "row": secret.row, "value": (secret.attribute, secret.actual)}
        groups.setdefault(keys[together], []).append(work)
    return list(groups.values())


def _settle_rows(works: Sequence[Work]) -> None:
    """Where a row was deleted for one of its cells, its other cells are gone with it."""
    gone = {work.secret.row for work in works if work.status is Status.DELETED}
    for work in works:
        if work.secret.row in gone:
            work.status = Status.DELETED
