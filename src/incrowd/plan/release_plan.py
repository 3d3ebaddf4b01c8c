"""The whole decision: what was asked, of which columns, and the steps that were chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from incrowd.errors import PlanError
from incrowd.plan.steps import Bin, Drop, Group, Place, Show, Step, cells_shown
from incrowd.vocabulary.released_value import Level
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.schema import Schema

_Step = TypeVar("_Step", Drop, Bin, Place, Show)


@dataclass(frozen=True)
class ReleasePlan:
    """What happens to which rows.

    A plan belongs to the owner of the table: it holds the counts of rows that the release hides. Keep it where
    the table is kept; publish the release and its certificate.

    Parameters
    ----------
    method
        Name of the algorithm in the catalog.
    parameters
        Its parameters, as plain data.
    requirement
        What was promised.
    schema
        The columns the plan was made for.
    rows
        Number of rows of the table it was made for.
    steps
        What is done, in order.
    """

    method: str
    parameters: tuple[tuple[str, Any], ...]
    requirement: Requirement
    schema: Schema
    rows: int
    steps: tuple[Step, ...]

    def _only(self, kind: type[_Step]) -> tuple[_Step, ...]:
        return tuple(step for step in self.steps if isinstance(step, kind))

    @property
    def places(self) -> tuple[Place, ...]:
        """The placing steps, in order."""
        return self._only(Place)

    @property
    def cuts(self) -> dict[str, tuple[float, ...]]:
        """The public cuts of the numbers that are binned."""
        return {name: cuts for step in self._only(Bin) for name, cuts in step.cuts}

    @property
    def levelled(self) -> tuple[str, ...]:
        """The attributes released as levels: one number for all rows that show the same interval."""
        return tuple(
            name
            for i, name in enumerate(self.show.names)
            if any(isinstance(group.forms[i], Level) for group in self.groups)
        )

    @property
    def show(self) -> Show:
        """The showing step."""
        steps = self._only(Show)
        if len(steps) != 1:
            raise PlanError("This plan does not say what its groups show.")
        return steps[0]

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of the release."""
        return self.show.groups

    @property
    def rows_released(self) -> int:
        """Rows in all groups together."""
        return sum(group.rows for group in self.groups)

    @property
    def rows_dropped(self) -> int:
        """Rows that are left out."""
        return self.rows - self.rows_released

    @property
    def share_of_cells_shown(self) -> float:
        """Share of the table's quasi-identifier cells that show something in the release."""
        cells = self.rows * len(self.show.names)
        return cells_shown(self.groups) / cells if cells else 1.0

    def with_groups(self, change: Callable[[int, Group], Group]) -> ReleasePlan:
        """The same plan with each group replaced by ``change(number, group)``."""
        groups = tuple(change(number, group) for number, group in enumerate(self.groups))
        steps = tuple(replace(step, groups=groups) if isinstance(step, Show) else step for step in self.steps)
        return replace(self, steps=steps)
