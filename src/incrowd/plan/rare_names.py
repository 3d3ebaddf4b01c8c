"""Cells that name what few people of the table have."""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.plan.release_plan import ReleasePlan
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.naming import Naming
from incrowd.vocabulary.released_value import Form, Suppressed


def without_rare_names(plan: ReleasePlan, columns: Mapping[str, EncodedColumn]) -> ReleasePlan:
    """The plan with every cell hidden that names what fewer people have than its step :class:`Rarest` says.

    A cell is hidden in all rows that show it, so rows that looked alike still do: classes can only grow. ``columns``
    have the rows of each value, over the whole table.
    """
    if not plan.rarest:
        return plan
    forms = {}
    for name in plan.names:
        rare = rare_forms(plan, name, columns[name], plan.rarest)
        forms[name] = [Suppressed() if form in rare else form for form in plan.forms(name)]
    return plan.with_forms(forms)


def rare_forms(plan: ReleasePlan, name: str, column: EncodedColumn, people: int) -> set[Form]:
    """The forms of an attribute that name what fewer people have."""
    naming = Naming(column, plan.schema[name].hierarchy)
    fewest = ((form, naming.fewest(form)) for form in set(plan.forms(name)))
    return {form for form, least in fewest if least is not None and least < people}


def rare_names(plan: ReleasePlan, name: str, column: EncodedColumn, people: int) -> int:
    """How many different values, bins or groups that fewer people have are named by cells that some row shows."""
    naming = Naming(column, plan.schema[name].hierarchy)
    shown = {form for form, rows in zip(plan.forms(name), plan.rows_showing(name), strict=True) if rows}
    named = {each for form in shown for each in naming.names(form)}
    return sum(naming.people(each) < people for each in named)
