"""What every adversary is: it learns from the published table and guesses what a hidden cell was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from incrowd.adversaries.published import PublishedTable


class Student(Protocol):
    """What an adversary has learnt about one attribute."""

    def guess(self, row: int) -> int | None:
        """The value (a leaf of the attribute's taxonomy) the adversary takes a cell for; None if it cannot tell."""
        ...


class Adversary(Protocol):
    """Takes an attribute as the class and learns it from the rows that show a value of it.

    A row whose cell is hidden or generalized is never learnt from, so the row in question is left out by itself.
    """

    @property
    def name(self) -> str:
        """Its name in reports."""
        ...

    @property
    def costly(self) -> bool:
        """Whether studying costs so much more than guessing that what was learnt is worth keeping."""
        ...

    def study(self, published: PublishedTable, attribute: str, shown: int) -> Student:
        """Learn to tell the values below the node that is shown, from the table as it is now.

        Cells of the row in question may change afterwards; after a change of other rows, study again.
        """
        ...


class School:
    """Adversaries, and what those learnt for whom learning is costly.

    What they learnt stands for the table as it was then; for a check of the final table, open a new school.
    """

    def __init__(self, adversaries: Sequence[Adversary], published: PublishedTable) -> None:
        self.adversaries = tuple(adversaries)
        self._published = published
        self._kept: dict[tuple[int, str, int], Student] = {}

    def students(self, attribute: str, shown: int) -> list[Student]:
        """All adversaries, ready to guess cells of an attribute that show a node."""
        return [self._student(place, attribute, shown) for place in range(len(self.adversaries))]

    def _student(self, place: int, attribute: str, shown: int) -> Student:
        adversary = self.adversaries[place]
        if not adversary.costly:
            return adversary.study(self._published, attribute, shown)
        if (place, attribute, shown) not in self._kept:
            self._kept[place, attribute, shown] = adversary.study(self._published, attribute, shown)
        return self._kept[place, attribute, shown]

    def guesses(self, row: int, attribute: str) -> list[int | None]:
        """What each adversary takes a cell for."""
        students = self.students(attribute, self._published.node(row, attribute))
        return [student.guess(row) for student in students]


def guesses(adversary: Adversary, published: PublishedTable, row: int, attribute: str) -> int | None:
    """What an adversary takes one cell for, on the table as it is now."""
    return adversary.study(published, attribute, published.node(row, attribute)).guess(row)
