"""Groups that look alike are one class for a recipient, and where a person may have several rows it is judged again.

A union of groups that keep a requirement keeps it if every row is a person. It need not if a person is in several of
them: eight of ten persons of one group have a value, other eight of ten persons of the other, and of all eleven persons
all have it. What groups show is known only when it has been filled in, so they are judged then: groups whose class
fails show nothing any more, and further ones with them, the smallest first, until what shows nothing keeps the
requirement as well. All rows together keep it: so it ends.

Rows that look alike value by value are one class for a recipient, judged again where settling has hidden something.

A mean that is mostly one person's is not shown, nor is a name of what few persons have: then classes are joined that
were judged apart. Where a person may have several rows, what is required beyond k may hold for two classes and not for
both together. If it does not, attributes of which something was hidden show nothing at all, one after the other, then
the others: all rows together keep the requirement, so it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.methods.judging import Judge
from incrowd.methods.method import Population, Presence
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import GROUP, Group, Show
from incrowd.rows.memory.drafting import column_values
from incrowd.vocabulary.released_value import Suppressed, is_shown
from incrowd.vocabulary.requirement import KAnonymity, KnownTogether


def with_values_kept(plan: ReleasePlan, after: Population, settle: Callable[[ReleasePlan], ReleasePlan]) -> ReleasePlan:
    """The plan, settled, with every class of rows that look alike keeping what is required.

    ``after`` are the rows after all steps; ``settle`` fills in what only the rows tell.
    """
    settled = settle(plan)
    if after.owners is None or isinstance(plan.requirement, KAnonymity | KnownTogether):
        return settled
    changed = [name for name in plan.names if _shown(settled, name) < _shown(plan, name)]
    if not changed:
        return settled
    judge = Judge.of(plan.requirement, after)
    seen, there = after.combinations(plan.names), after.presence(plan.names, judge.names)
    sets = [known.names for known in plan.requirement.sets(plan.schema.quasi_identifiers)]
    for name in (*changed, *(name for name in plan.names if name not in changed)):
        if all(_holds(settled, judge, seen.codes, there, names) for names in sets):
            return settled
        plan = plan.with_forms({**{each: plan.forms(each) for each in plan.names}, name: _nothing(plan, name)})
        settled = settle(plan)
    return settled


def _shown(plan: ReleasePlan, name: str) -> int:
    """How many forms of an attribute show something."""
    return sum(is_shown(form) for form in plan.forms(name))


def _nothing(plan: ReleasePlan, name: str) -> tuple[Suppressed, ...]:
    return (Suppressed(),) * len(plan.forms(name))


def _holds(
    plan: ReleasePlan, judge: Judge, codes: npt.NDArray[np.int32], there: Presence, names: Sequence[str]
) -> bool:
    """Whether every class of rows that look alike in some columns keeps what is required."""
    looks = np.zeros(len(codes), np.int64)
    for column in plan.written:
        if column.source in names and column.source in plan.names:
            values = column_values(plan, column, pl.String()).to_list()
            numbers: dict[object, int] = {}
            place = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
            own = place[codes[:, plan.names.index(column.source)]]
            looks = np.unique(looks * len(numbers) + own, return_inverse=True)[1]
    count = int(looks.max(initial=-1)) + 1
    return bool(judge.holds(judge.counted(replace(there, cells=looks[there.cells]), count)).all())


Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def with_classes_kept(
    plan: ReleasePlan, after: Population, settle: Callable[[ReleasePlan], ReleasePlan]
) -> ReleasePlan:
    """The plan, settled, with every class of groups that look alike keeping what is required.

    ``after`` are the rows after all steps; ``settle`` fills in what only the rows tell.
    """
    show, requirement = plan.show, plan.requirement
    if show is None:
        return with_values_kept(plan, after, settle)
    settled = settle(plan)
    if after.owners is None or isinstance(requirement, KAnonymity | KnownTogether):
        return settled
    if plan.link is not None:  # histories are what is alike then, and were judged as a whole
        return settled
    judge = Judge.of(requirement, after)
    if not judge.persons:
        return settled
    groups = _PersonsOfGroups.of(judge, after)
    sets = [known.names for known in requirement.sets(plan.schema.quasi_identifiers)]
    hidden, more = np.zeros(len(show.groups), np.bool_), 1
    while (fails := groups.failing(settled, sets)).any():
        if (fails & ~hidden).any():
            hidden |= fails
        else:
            hidden |= groups.smallest(settled, hidden, more)
            more *= 2
        settled = settle(_without(plan, show, hidden))
    return settled


def _without(plan: ReleasePlan, show: Show, hidden: Flags) -> ReleasePlan:
    """The plan with some groups that show nothing."""
    nothing = (Suppressed(),) * len(show.names)
    groups = (Group(g.rows, nothing) if hide else g for g, hide in zip(show.groups, hidden.tolist(), strict=True))
    changed = replace(show, groups=tuple(groups))
    return replace(plan, steps=tuple(changed if step is show else step for step in plan.steps))


@dataclass(frozen=True, eq=False)
class _PersonsOfGroups:
    """Who is in which group, and who says what may be released."""

    judge: Judge
    presence: Presence

    @classmethod
    def of(cls, judge: Judge, after: Population) -> _PersonsOfGroups:
        there = after.presence((GROUP,), judge.names)
        return cls(judge, replace(there, cells=after.combinations((GROUP,)).codes[:, 0][there.cells]))

    def failing(self, plan: ReleasePlan, sets: Sequence[Sequence[str]]) -> Flags:
        """Which groups are in a class that fails, for one of the sets of columns that are known together."""
        fails = np.zeros(len(plan.groups), np.bool_)
        for names in sets:
            look, evidence = self._evidence(plan, names)
            fails |= ~self.judge.holds(evidence)[look]
        return fails

    def smallest(self, plan: ReleasePlan, hidden: Flags, count: int) -> Flags:
        """The groups of so many further classes, those with the fewest persons."""
        look, evidence = self._evidence(plan, plan.names)
        sizes = evidence[:, 0].copy()
        sizes[look[hidden]] = np.iinfo(np.int64).max
        chosen = np.zeros(len(sizes), np.bool_)
        chosen[np.argsort(sizes, kind="stable")[:count]] = True
        return chosen[look]

    def _evidence(self, plan: ReleasePlan, names: Sequence[str]) -> tuple[Ints, Ints]:
        """What each group looks like in some columns, and the evidence of all groups that look alike."""
        written = [column for column in plan.written if column.source in names and column.source in plan.names]
        cells = [column_values(plan, column, pl.String()).to_list() for column in written]
        looks: dict[tuple[object, ...], int] = {}
        each = zip(*cells, strict=True) if cells else [()] * len(plan.groups)
        look = np.array([looks.setdefault(shown, len(looks)) for shown in each], np.int64)
        return look, self.judge.counted(replace(self.presence, cells=look[self.presence.cells]), len(looks))
