"""One confidential cell on its way to be hidden: its true value, the draws, and what was done with it and why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

import numpy as np

from incrowd.errors import ParameterError
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.taxonomy import HIDDEN, CellTaxonomy
from incrowd.vocabulary.randomness import Randomness

Figure = Fraction | int | float


@dataclass(frozen=True)
class Chose:
    """The attribute (or, for INCP, the value) it went on with, and the figures of all that were possible.

    ``candidates`` are those it chose from; ``figures`` are counts and ratios by their name and the attribute; ``level``
    is the level of generalization, if any.
    """

    chosen: str
    candidates: tuple[str, ...]
    figures: Mapping[str, Mapping[str, Figure]]
    level: int = 0


@dataclass(frozen=True)
class Showed:
    """A cell that was changed: what it shows now (a node of its taxonomy), and by how much that lowers the score."""

    row: int
    attribute: str
    node: int
    factor: Fraction | None = None


@dataclass(frozen=True)
class Walked:
    """A step in a decision tree: a node that was entered, its children compared, or a leaf reached.

    Nodes are named by the branches that lead to them: pairs of an attribute and a node of its taxonomy.
    """

    action: str
    place: tuple[tuple[str, int], ...]
    label: int | None = None
    most_common: tuple[tuple[str, int], ...] | None = None
    match: tuple[tuple[str, int], ...] | None = None


Step = Chose | Showed | Walked


class Status(StrEnum):
    """How the hiding of a cell ended."""

    NOT_PREDICTED = "not predicted"  # nothing else had to change
    COIN = "coin"  # two values only, and the coin said: leave it at that
    HIDDEN = "hidden"  # other cells were changed, and the adversary fails
    DELETED = "deleted"  # it could not be hidden: the whole row is blank

    @property
    def success(self) -> bool:
        """Whether the row was kept."""
        return self is not Status.DELETED


class Chance(ABC):
    """Where the only two draws come from: the value that shall overtake the true one, and the coin."""

    @abstractmethod
    def one_of(self, values: Sequence[int]) -> int:
        """One of the values, each equally likely."""

    def coin(self) -> bool:
        """True as often as False."""
        return self.one_of((0, 1)) == 1


@dataclass(frozen=True)
class FairChance(Chance):
    """Draws from a source of randomness."""

    randomness: Randomness

    def one_of(self, values: Sequence[int]) -> int:
        """One of the values, each equally likely; words in the uneven tail are drawn again."""
        limit = np.uint64(2**64 // len(values) * len(values) - 1)
        while True:
            word = self.randomness.words(1)[0]
            if word <= limit:
                return values[int(word) % len(values)]


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
    def taxonomy(self) -> CellTaxonomy:
        """Of the confidential attribute."""
        return self.published.taxonomy(self.attribute)

    @property
    def candidates(self) -> tuple[int, ...]:
        """The values the cell may have, from what it shows."""
        return self.taxonomy.leaves_below(self.published.node(self.row, self.attribute))

    @property
    def known(self) -> dict[str, int]:
        """The predictors whose cell in this row is not hidden, and what it shows."""
        shown = {name: self.shown(name) for name in self.published.others(self.attribute)}
        return {name: node for name, node in shown.items() if node != HIDDEN}

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
        noted: Sequence[Fraction | None] = factors or [None] * len(rows)
        self.steps += [Showed(row, name, node, factor) for row, factor in zip(rows, noted, strict=True)]

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
    if not 0 <= row < published.height:
        raise ParameterError(f"There is no row {row}: the table has {published.height} rows, counted from 0.")
    actual = published.original(row, attribute)
    if not published.taxonomy(attribute).is_leaf(actual):
        raise ParameterError(
            f"Column {attribute!r} shows no value in row {row}: it is missing or a group already. Leave the cell out."
        )
    published.show([row], attribute, HIDDEN)
    return Secret(published, row, attribute, actual, chance)


def hide_or_delete(secret: Secret, attempt: Callable[[Secret], Status], *, generalize: bool) -> Status:
    """Try to hide a blanked cell, blank or at one level after the other; delete its row if that fails."""
    ended = level_by_level(secret, attempt) if generalize else attempt(secret)
    if not ended.success:
        secret.delete_row()
    return ended


def level_by_level(secret: Secret, attempt: Callable[[Secret], Status]) -> Status:
    """Try to hide the cell with its true value shown one, two, … levels up; each round starts afresh.

    It starts at the level an earlier run has reached. A level with a single candidate leaves nothing in doubt and is
    passed over. An attempt answers ``DELETED`` if it fails; what it changed is then taken back, and the row is left as
    it was, the confidential cell blank.
    """
    for level in range(max(1, secret.reached), secret.taxonomy.depth(secret.actual) + 1):
        mark = secret.mark()
        secret.raise_to(level)
        if len(secret.candidates) > 1:
            ended = attempt(secret)
            if ended.success:
                secret.reached = level
                return ended
        secret.back(mark)
    return Status.DELETED
