"""What the owner should know about a plan before its release is passed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from incrowd.errors import Notice
from incrowd.plan.release_plan import ReleasePlan
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import is_shown

LITTLE = 0.1


def plan_notices(plan: ReleasePlan, columns: Mapping[str, EncodedColumn]) -> Iterator[Notice]:
    """Whether little is shown, and, of counts, which values few people share and whether a class is too rare for k."""
    if plan.share_of_cells_shown < LITTLE:
        message = (
            f"less than {100 * LITTLE:.0f} % of the quasi-identifier cells show something. Try another method, "
            "hierarchies, fewer quasi-identifiers or a smaller k."
        )
        yield Notice("little-shown", plan.method, message)
    k = plan.requirement.smallest_group
    if plan.counted and plan.schema.target is not None:
        yield from _rare_class(columns[plan.schema.target], k)
    for name in plan.counted:
        column = columns[name]
        rare = 0 if column.type.is_numeric else int(((column.counts[:-1] > 0) & (column.counts[:-1] < k)).sum())
        if rare and any(is_shown(form) for form in plan.forms(name)):
            are = "value is" if rare == 1 else "values are"
            message = (
                f"{rare:,} {are} in fewer than {k:,} rows of the table; counts name such values, and so the group of "
                "who has them. Coarsen or drop the column if others may know that these people are in the table."
            )
            yield Notice("rare-values", name, message)


def _rare_class(target: EncodedColumn, k: int) -> Iterator[Notice]:
    rows = int(target.counts[target.counts > 0].min(initial=k))
    if rows < k:
        message = (
            f"the rarest class has {rows:,} rows, fewer than k = {k:,}: no group can consist of it, and learners will "
            "hardly tell it. Choose a smaller k, or join classes."
        )
        yield Notice("rare-class", target.name, message)
