"""What the owner should know about a plan before its release is passed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from incrowd.errors import Notice
from incrowd.plan.release_plan import ReleasePlan, rare_names
from incrowd.vocabulary.encoded_table import EncodedColumn

LITTLE = 0.1  # of the cells: a release that shows less is of little use


def plan_notices(plan: ReleasePlan, columns: Mapping[str, EncodedColumn]) -> Iterator[Notice]:
    """Whether little is shown, which columns name what few people have, and whether a class is too rare for counts."""
    if plan.share_of_cells_shown < LITTLE:
        message = (
            f"less than {100 * LITTLE:.0f} % of the quasi-identifier cells show something. Try another method, "
            "hierarchies, fewer quasi-identifiers or a smaller k."
        )
        yield Notice("little-shown", plan.method, message)
    k = plan.requirement.smallest_group
    if plan.counted and plan.schema.target is not None:
        yield from _rare_class(columns[plan.schema.target], k)
    yield from _rare_values(plan, columns, k)


def _rare_values(plan: ReleasePlan, columns: Mapping[str, EncodedColumn], k: int) -> Iterator[Notice]:
    """One sentence for all columns whose cells name values, bins or groups that fewer than k people have."""
    rare = {name: rare_names(plan, name, columns[name], k) for name in plan.names}
    named = [name for name, many in rare.items() if many]
    if not named:
        return
    many = sum(rare.values())
    message = (
        f"{many:,} {'value is' if many == 1 else 'values are'} in fewer than {k:,} rows of the table, and released "
        f"cells name {'it' if many == 1 else 'them'}, alone, in sets or in counts, and so the group of who has "
        f"{'it' if many == 1 else 'them'}. Set rarest={k} to keep such values out, or coarsen or drop the column."
    )
    yield Notice("rare-values", ", ".join(named), message)


def _rare_class(target: EncodedColumn, k: int) -> Iterator[Notice]:
    rows = int(target.counts[target.counts > 0].min(initial=k))
    if rows < k:
        message = (
            f"the rarest class has {rows:,} rows, fewer than k = {k:,}: no group can consist of it, and learners will "
            "hardly tell it. Choose a smaller k, or join classes."
        )
        yield Notice("rare-class", target.name, message)
