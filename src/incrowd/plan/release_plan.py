"""The whole decision: what was asked, of which columns, and the steps that were chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from incrowd.errors import PlanError, SchemaError
from incrowd.plan.steps import (
    AsCounts,
    Bin,
    Drop,
    Group,
    Hide,
    JointCounts,
    Link,
    Part,
    Place,
    Rarest,
    Reasons,
    Recode,
    Recoding,
    Seat,
    Show,
    Spread,
    Step,
)
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn
from incrowd.vocabulary.naming import Naming
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.released_value import (
    Category,
    Form,
    Interval,
    Level,
    Mean,
    Midpoint,
    Range,
    Suppressed,
    is_shown,
    render,
)
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.schema import Schema

_Step = TypeVar("_Step", Drop, Bin, Place, Seat, Link, Show, Recode, Hide, Spread, AsCounts, Rarest, Reasons)
LOW, HIGH = "_low", "_high"


@dataclass(frozen=True)
class Written:
    """A column of the release: its name, the column it is made from, and which end of an interval it holds, if one."""

    name: str
    source: str
    end: str = ""


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
    preferences
        The weights and limits that were asked for.
    """

    method: str
    parameters: tuple[tuple[str, Any], ...]
    requirement: Requirement
    schema: Schema
    rows: int
    steps: tuple[Step, ...]
    preferences: Preferences = INDIFFERENT

    def _only(self, kind: type[_Step]) -> tuple[_Step, ...]:
        return tuple(step for step in self.steps if isinstance(step, kind))

    def _repr_html_(self) -> str:
        from incrowd.plan.explain import explain

        return explain(self)._repr_html_()

    @property
    def places(self) -> tuple[Place, ...]:
        """The placing steps, in order."""
        return self._only(Place)

    @cached_property
    def cuts(self) -> dict[str, tuple[float, ...]]:
        """The public cuts of numbers: where they are binned, or where the intervals of their parts end."""
        cuts = {name: cuts for step in self._only(Bin) for name, cuts in step.cuts}
        for column in self.recode.columns if self.recode else ():
            ends = [(p.members.low, p.members.high) for p in column.parts if isinstance(p.members, Interval)]
            if ends:
                cuts[column.name] = tuple(sorted({end for pair in ends for end in pair if end is not None}))
        return cuts | {name: cuts for step in self._only(AsCounts) for name, cuts in step.cuts}

    @cached_property
    def binned(self) -> tuple[str, ...]:
        """The numbers that the method saw only as bins."""
        return tuple(name for step in self._only(Bin) for name, _ in step.cuts)

    @cached_property
    def levelled(self) -> tuple[str, ...]:
        """The attributes released as levels: one number for all rows that show the same interval."""
        return tuple(name for name in self.names if any(isinstance(form, Level) for form in self.forms(name)))

    @property
    def show(self) -> Show | None:
        """The step that says what groups show, if the plan shows by groups."""
        return next(iter(self._only(Show)), None)

    @property
    def recode(self) -> Recode | None:
        """The step that says what values show, if the plan shows value by value."""
        return next(iter(self._only(Recode)), None)

    @property
    def hides(self) -> tuple[Hide, ...]:
        """The steps that hide rare combinations, in order."""
        return self._only(Hide)

    @property
    def link(self) -> str | None:
        """The column with a pseudonym of each person, if recipients can follow them."""
        return next((step.name for step in self._only(Link)), None)

    @property
    def rarest(self) -> int:
        """What fewer people have is named by no cell; 0 if that was not asked for."""
        return max((step.people for step in self._only(Rarest)), default=0)

    @property
    def reasons(self) -> tuple[Reasons, ...]:
        """What the algorithm says about its decision."""
        return self._only(Reasons)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of a release that shows by groups; none if it shows value by value."""
        return self.show.groups if self.show else ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes that the plan shows, the quasi-identifiers, in order."""
        if self.show:
            return self.show.names
        return tuple(column.name for column in self._recode.columns)

    @property
    def _recode(self) -> Recode:
        if self.recode is None:
            raise PlanError("This plan does not say what its rows show.")
        return self.recode

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.names)}

    def forms(self, name: str) -> tuple[Form, ...]:
        """What may be shown of an attribute: by its groups, or by its parts and, last, by values in none of them."""
        if self.show:
            at = self._place[name]
            return tuple(group.forms[at] for group in self.show.groups)
        return (*(part.form for part in self._recode[name].parts), Suppressed())

    def shown_as(self, name: str) -> str:
        """The form in which an attribute is written, in one word; recipients may know it."""
        if name in self.counted:
            return "counts"
        if name in self.spread:
            return "bounds"
        if name in self.levelled:
            return "levels"
        kinds = {type(form) for form in self.forms(name)}
        if Category in kinds:
            return "groups"
        if name in self.binned:
            return "bins"
        words = ((Mean, "mean"), (Midpoint, "midpoint"), (Interval, "interval"), (Range, "interval"))
        return next((word for kind, word in words if kind in kinds), "values")

    def rows_showing(self, name: str) -> tuple[int, ...]:
        """How many released rows show each of the forms."""
        if self.show:
            return tuple(group.rows for group in self.show.groups)
        rows = tuple(part.rows for part in self._recode[name].parts)
        return (*rows, self.rows_released - sum(rows))

    def with_forms(self, forms: Mapping[str, Sequence[Form]]) -> ReleasePlan:
        """The same plan with the forms of every attribute replaced, in the order of :meth:`forms`."""
        return replace(self, steps=tuple(_with_forms(step, forms) for step in self.steps))

    @cached_property
    def spread(self) -> tuple[str, ...]:
        """The attributes written as two columns, for the ends of their interval."""
        return tuple(name for step in self._only(Spread) for name in step.names)

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """The attributes written as counts of values."""
        return tuple(name for step in self._only(AsCounts) for name in step.names)

    @property
    def bins_counted(self) -> dict[str, tuple[str, ...]]:
        """For each number that is counted the names of its bins."""
        counted = {name: cuts for step in self._only(AsCounts) for name, cuts in step.cuts}
        return {
            name: tuple(str(render(one, self.schema[name].type)) for one in Bin.intervals(cuts))
            for name, cuts in counted.items()
        }

    @property
    def redraw(self) -> int:
        """How many rows of the whole table counts are drawn from beside those of their group; 0 if they are exact."""
        return max((step.redraw for step in self._only(AsCounts)), default=0)

    @property
    def by_class(self) -> bool:
        """Whether groups were parted by class, so that counts are those of one class where it has enough rows."""
        return any(step.by_class for step in self._only(AsCounts))

    @property
    def joint(self) -> tuple[JointCounts, ...]:
        """The attributes whose values are counted together."""
        return tuple(joint for step in self._only(AsCounts) for joint in step.joint)

    @property
    def draw_key(self) -> bytes | None:
        """The key that fixes the draws, in the process that makes the release."""
        return next((step.key for step in self._only(AsCounts)), None)

    @cached_property
    def written(self) -> tuple[Written, ...]:
        """The columns of the release, in order."""
        columns: list[Written] = []
        released = {*self.schema.released, *([self.link] if self.link else [])}
        for name in (name for name in self.schema.names if name in released):
            if name in self.spread:
                columns += [Written(name + LOW, name, LOW), Written(name + HIGH, name, HIGH)]
            else:
                columns.append(Written(name, name))
        names = [column.name for column in columns]
        if len(set(names)) < len(names):
            raise SchemaError(f"A column ends in {LOW} or {HIGH} like the two columns of an interval. Rename it.")
        return tuple(columns)

    @property
    def rows_released(self) -> int:
        """Rows that are not left out."""
        if self.show:
            return sum(group.rows for group in self.groups)
        left_out = sum(step.left_out for step in self._only(Seat))
        return self.rows - left_out - sum(step.rows for step in self.hides if step.drop)

    @property
    def rows_dropped(self) -> int:
        """Rows that are left out."""
        return self.rows - self.rows_released

    @property
    def share_of_cells_shown(self) -> float:
        """Share of the table's quasi-identifier cells that show something in the release."""
        cells = self.rows * len(self.names)
        shown = sum(
            rows
            for name in self.names
            for form, rows in zip(self.forms(name), self.rows_showing(name), strict=True)
            if is_shown(form)
        )
        return shown / cells if cells else 1.0


def _with_forms(step: Step, forms: Mapping[str, Sequence[Form]]) -> Step:
    match step:
        case Show(names, groups):
            of_groups = zip(*(forms[name] for name in names), strict=True) if names else ((),) * len(groups)
            return Show(names, tuple(Group(g.rows, tuple(new)) for g, new in zip(groups, of_groups, strict=True)))
        case Recode(columns):
            return Recode(tuple(_with_part_forms(column, forms[column.name]) for column in columns))
        case _:
            return step


def _with_part_forms(column: Recoding, forms: Sequence[Form]) -> Recoding:
    parts = zip(column.parts, forms[:-1], strict=True)
    return Recoding(column.name, tuple(Part(part.members, form, part.rows) for part, form in parts))


# Cells that name what few people of the table have.
def without_rare_names(
    plan: ReleasePlan, columns: Mapping[str, EncodedColumn], owners: Codes | None = None
) -> ReleasePlan:
    """The plan with every cell hidden that names what fewer people have than its step :class:`Rarest` says.

    A cell is hidden in all rows that show it, so rows that looked alike still do: classes can only grow. ``columns``
    have the rows of each value, over the whole table; ``owners`` the person of each row, if somebody may have several.
    """
    if not plan.rarest:
        return plan
    forms = {}
    jointly = {name for joint in plan.joint for name in joint.names}  # of which nothing rare is drawn
    for name in plan.names:
        if name in jointly:
            forms[name] = list(plan.forms(name))
            continue
        rare = rare_forms(plan, name, columns[name], plan.rarest, owners)
        forms[name] = [Suppressed() if form in rare else form for form in plan.forms(name)]
    return plan.with_forms(forms)


def rare_forms(
    plan: ReleasePlan, name: str, column: EncodedColumn, people: int, owners: Codes | None = None
) -> set[Form]:
    """The forms of an attribute that name what fewer people have."""
    naming = Naming(column, plan.schema[name].hierarchy, owners)
    fewest = ((form, naming.fewest(form)) for form in set(plan.forms(name)))
    return {form for form, least in fewest if least is not None and least < people}


def rare_names(plan: ReleasePlan, name: str, column: EncodedColumn, people: int, owners: Codes | None = None) -> int:
    """How many different values, bins or groups that fewer people have are named by cells that some row shows."""
    naming = Naming(column, plan.schema[name].hierarchy, owners)
    shown = {form for form, rows in zip(plan.forms(name), plan.rows_showing(name), strict=True) if rows}
    named = {each for form in shown for each in naming.names(form)}
    return sum(naming.people(each) < people for each in named)
