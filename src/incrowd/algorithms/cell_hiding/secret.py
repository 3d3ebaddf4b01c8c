"""One confidential cell on its way to be hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from incrowd.adversaries.published import PublishedTable
from incrowd.adversaries.taxonomy import HIDDEN, Taxonomy
from incrowd.algorithms.cell_hiding.chance import Chance
from incrowd.algorithms.cell_hiding.steps import Showed, Step
from incrowd.errors import ParameterError


@dataclass(eq=False, repr=False)
class Secret:
    """A confidential cell, the table it is hidden in, its true value and what was done so far.

    ``reached`` is the level above its true value at which the cell was hidden by a generalizing method.
    Made by :func:`secret_at`, which saves the true value and blanks the cell first of all.
    """

    published: PublishedTable
    row: int
    attribute: str
    actual: int
    chance: Chance
    steps: list[Step] = field(default_factory=list)
    reached: int = 0
    _coin: bool | None = None

    @property
    def taxonomy(self) -> Taxonomy:
        """Of the confidential attribute."""
        return self.published.taxonomy(self.attribute)

    @property
    def candidates(self) -> tuple[int, ...]:
        """The values the cell may have, from what it shows."""
        return self.taxonomy.leaves_below(self.published.node(self.row, self.attribute))

    @property
    def known(self) -> tuple[str, ...]:
        """The predictors whose cell in this row is not hidden."""
        names = self.published.others(self.attribute)
        return tuple(name for name in names if self.published.node(self.row, name) != HIDDEN)

    def shown(self, name: str) -> int:
        """What the row shows of an attribute."""
        return self.published.node(self.row, name)

    def coin_says_stop(self) -> bool:
        """With two candidates, whether to leave it at blanking; the coin is flipped once."""
        if len(self.candidates) != 2:
            return False
        if self._coin is None:
            self._coin = self.chance.coin()
        return not self._coin

    def raise_to(self, level: int) -> None:
        """Show the confidential cell so many levels above its true value."""
        self.published.show([self.row], self.attribute, self.taxonomy.up(self.actual, level))

    def show(self, rows: Sequence[int], name: str, node: int, factors: Sequence[Fraction] = ()) -> None:
        """Change cells and note it."""
        self.published.show(rows, name, node)
        told: Sequence[Fraction | None] = factors or [None] * len(rows)
        self.steps += [Showed(row, name, node, factor) for row, factor in zip(rows, told, strict=True)]

    def mark(self) -> tuple[int, int]:
        """A place to come back to."""
        return self.published.mark(), len(self.steps)

    def back(self, mark: tuple[int, int]) -> None:
        """Take back all changes since a mark, and the notes about them."""
        self.published.back(mark[0])
        del self.steps[mark[1] :]

    def delete_row(self) -> None:
        """Blank every cell of the row; the row stays in the table."""
        for name in self.published.attributes:
            if self.shown(name) != HIDDEN:
                self.show([self.row], name, HIDDEN)


def secret_at(published: PublishedTable, row: int, attribute: str, chance: Chance) -> Secret:
    """Save the true value of a cell and blank it."""
    secret = Secret(published, row, attribute, _actual(published, row, attribute), chance)
    published.show([row], attribute, HIDDEN)
    return secret


def _actual(published: PublishedTable, row: int, attribute: str) -> int:
    if not 0 <= row < published.height:
        raise ParameterError(f"There is no row {row}: the table has {published.height} rows, counted from 0.")
    actual = published.original(row, attribute)
    if not published.taxonomy(attribute).is_leaf(actual):
        raise ParameterError(
            f"Column {attribute!r} shows no value in row {row}: it is missing or a group already. Leave the cell out."
        )
    return actual
