"""What every adversary is: it learns from the published table and guesses what a hidden cell was."""

from __future__ import annotations

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

    def study(self, published: PublishedTable, attribute: str, shown: int) -> Student:
        """Learn to tell the values below the node that is shown, from the table as it is now.

        Cells of the row in question may change afterwards; after a change of other rows, study again.
        """
        ...


def guesses(adversary: Adversary, published: PublishedTable, row: int, attribute: str) -> int | None:
    """What an adversary takes one cell for, on the table as it is now."""
    return adversary.study(published, attribute, published.node(row, attribute)).guess(row)
