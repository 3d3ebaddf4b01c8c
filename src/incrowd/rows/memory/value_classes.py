"""Rows that look alike value by value are one class for a recipient, judged again where settling has hidden something.

A mean that is mostly one person's is not shown, nor is a name of what few persons have: then classes are joined that
were judged apart. Where a person may have several rows, what is required beyond k may hold for two classes and not for
both together. If it does not, attributes of which something was hidden show nothing at all, one after the other, then
the others: all rows together keep the requirement, so it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.methods.judging import Judge
from incrowd.methods.method import Population, Presence
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.memory.drafting import column_values
from incrowd.vocabulary.released_value import Suppressed, is_shown
from incrowd.vocabulary.requirement import KAnonymity, KnownTogether

Ints = npt.NDArray[np.int64]


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
