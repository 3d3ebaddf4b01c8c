"""A plan in sentences.

The sentences are for the owner of the table: they name released values only, and rows only in groups that
are released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from incrowd.drawing.wording import counted, listed
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Group, Reasons
from incrowd.vocabulary.persons import KNOWN_ROWS
from incrowd.vocabulary.released_value import (
    Category,
    Counts,
    Form,
    Interval,
    Level,
    Mean,
    Midpoint,
    Range,
    Shown,
    ShownMissing,
    ValueSet,
    is_shown,
    render,
)
from incrowd.vocabulary.schema import Column, ColumnType

if TYPE_CHECKING:
    from incrowd.drawing.markup import Html

_WORDS = {
    Shown: "shown",
    ShownMissing: "shown as missing",
    ValueSet: "as a set of values",
    Mean: "as the group's mean",
    Interval: "as an interval",
    Level: "as the mean of an interval",
    Midpoint: "as the middle of an interval",
    Range: "as a range",
    Category: "as a category",
    Counts: "as counts of values",
}


class Explanation(str):
    """Sentences, each followed by what belongs to it, one to a line with two spaces before it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from incrowd.drawing.page import page

        return page("Plan", *_drawn(self.splitlines()), whole=False)


def _drawn(lines: Sequence[str]) -> Iterator[Html]:
    """Sentences as paragraphs, what belongs to them as lists; tables keep their columns."""
    from incrowd.drawing.markup import element, join, text
    from incrowd.drawing.page import bullets, paragraph

    for indented, group in groupby(filter(None, lines), lambda line: line.startswith("  ")):
        block = list(group)
        if not indented:
            yield from map(paragraph, block)
        elif any("  " in line.strip() for line in block):
            yield element("pre", join((text(line[2:]) for line in block), "\n"))
        else:
            yield bullets(text(line.strip()) for line in block)


def explain(plan: ReleasePlan, groups: int = 10) -> Explanation:
    """What the plan does: the whole first, then its largest groups, or the parts of every attribute, then its reasons.

    Examples
    --------
    >>> from incrowd.plan.steps import Show
    >>> from incrowd.vocabulary.requirement import KAnonymity
    >>> from incrowd.vocabulary.schema import Schema
    >>> show = Show(("age", "sex"), (Group(12, (Mean(40.5), Shown("f"))),))
    >>> print(explain(ReleasePlan("kactus", (), KAnonymity(10), Schema(()), 12, (show,))))
    kactus keeps 10-anonymity by putting 12 of 12 rows into 1 group of at least 12 rows; no row is left out.
    100.0 % of the quasi-identifier cells show something.
      age: 12 rows as the group's mean
      sex: 12 rows shown
    The groups:
      12 rows: sex shown; age as the group's mean
    """
    lines = _by_groups(plan, groups) if plan.show else _by_values(plan, groups)
    lines += _whose(plan)
    if plan.rarest:
        lines.append(f"Cells that name what fewer than {plan.rarest:,} people of the table have show nothing.")
    if plan.redraw:
        lines.append(
            f"Counts are drawn by a key, from the rows of each group and {counted(plan.redraw, 'row')} that may be any "
            "of the table."
        )
    for reasons in plan.reasons:
        lines += ["", *_reason_lines(reasons)]
    return Explanation("\n".join(lines))


def _whose(plan: ReleasePlan) -> list[str]:
    """Whose rows they are, and what that does not promise."""
    if plan.schema.person is None:
        return []
    counts = f"{plan.requirement} counts persons, not rows: rows with the same {plan.schema.person} are one person's."
    if plan.link is not None:
        return [f"{counts} Recipients can follow persons by pseudonyms{_alike(plan)}"]
    several = "Whoever knows several rows of a person may find more, and numbers of rows are not hidden."
    return [f"{counts} {several}"]


def _alike(plan: ReleasePlan) -> str:
    """What of the persons whom recipients can follow looks alike."""
    if plan.method != KNOWN_ROWS:
        return ", so whole histories look alike."
    known = dict(plan.parameters)
    beside = " and how many there are" if known["count"] else ""
    return (
        f": whoever knows up to {counted(known['rows'], 'row')} of a person{beside} finds enough persons who have them "
        "all; whoever knows more rows may find fewer."
    )


def _by_groups(plan: ReleasePlan, groups: int) -> list[str]:
    smallest = min((group.rows for group in plan.groups), default=0)
    lines = [
        f"{plan.method} keeps {plan.requirement} by putting {plan.rows_released:,} of {plan.rows:,} rows into "
        f"{counted(len(plan.groups), 'group')} of at least {smallest:,} rows; {_lost(plan)}.",
        _share_shown(plan),
        *(f"  {line}" for line in _attributes(plan)),
    ]
    chosen = sorted(plan.groups, key=lambda group: -group.rows)[:groups]
    lines.append(f"The {len(chosen)} largest groups:" if len(chosen) < len(plan.groups) else "The groups:")
    return lines + [f"  {describe_group(group, plan.names)}" for group in chosen]


def _by_values(plan: ReleasePlan, parts: int) -> list[str]:
    lines = [
        f"{plan.method} keeps {plan.requirement} by showing a value as the same part in every row; "
        f"{plan.rows_released:,} of {plan.rows:,} rows are released; {_lost(plan)}.",
        _share_shown(plan),
    ]
    lines += [f"  {_parts(plan, name, parts)}" for name in plan.names]
    for step in plan.hides:
        fate = "left out" if step.drop else "hidden"
        sentence = f"Combinations of {listed(step.names)} that fewer than {step.below:,} rows share are {fate}"
        more = f", and {counted(len(step.also), 'more combination')}" if step.also else ""
        if not step.below:  # combinations by name
            of, more = f"{counted(len(step.also), 'combination')} of {listed(step.names)}", ""
            verb = "is" if len(step.hidden) == 1 else "are"
            sentence = f"The rows of {of} are {fate}" if step.drop else f"In {of}, {listed(step.hidden)} {verb} {fate}"
        lines.append(f"{sentence}{more}: {counted(step.rows, 'row')}.")
    return lines


def _parts(plan: ReleasePlan, name: str, most: int) -> str:
    """The largest parts of an attribute, with their rows."""
    kind = plan.schema[name].type
    shown = sorted(zip(plan.forms(name), plan.rows_showing(name), strict=True), key=lambda part: -part[1])
    parts = [f"{_text(form, kind)} {rows:,}" for form, rows in shown if is_shown(form) and rows]
    hidden = sum(rows for form, rows in shown if not is_shown(form))
    largest = ", ".join(parts[:most]) + (f", … ({len(parts) - most} more)" if len(parts) > most else "")
    phrases = [f"{counted(len(parts), 'part')} ({largest})"] if parts else []
    if hidden or not parts:
        phrases.append("hidden in every row" if not parts else f"{hidden:,} rows hidden")
    return f"{name}: {'; '.join(phrases)}"


def _text(form: Form, kind: ColumnType) -> str:
    if isinstance(form, Level | Midpoint):
        written = render(form, kind)
        number = f"{written:.6g}" if isinstance(written, float) else written
        return f"{render(Interval(form.low, form.high), kind)} as {number}"
    return str(render(form, kind))


def _reason_lines(reasons: Reasons) -> list[str]:
    """The reasons as a table and a list of facts."""
    lines = [f"{reasons.title}:"]
    if reasons.rows:
        cells = [reasons.columns, *([in_words(cell) for cell in row] for row in reasons.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(reasons.columns))]
        lines += [
            "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
    return lines + [f"  {name}: {in_words(fact)}" for name, fact in reasons.facts]


def in_words(value: Any) -> str:
    """A number or text of the reasons as it is printed."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)


def _lost(plan: ReleasePlan) -> str:
    return f"{plan.rows_dropped:,} rows are left out" if plan.rows_dropped else "no row is left out"


def _share_shown(plan: ReleasePlan) -> str:
    return f"{plan.share_of_cells_shown:.1%} of the quasi-identifier cells show something.".replace("%", " %")


def describe_group(group: Group, names: Sequence[str]) -> str:
    """One sentence: how many rows, what they show, how many attributes are hidden."""
    parts = []
    for kind, words in _WORDS.items():
        of_kind = [name for name, form in zip(names, group.forms, strict=True) if isinstance(form, kind)]
        if of_kind:
            parts.append(f"{listed(of_kind)} {words}")
    hidden = sum(not is_shown(form) for form in group.forms)
    if hidden:
        parts.append(f"{counted(hidden, 'attribute')} hidden")
    return f"{group.rows:,} rows: {'; '.join(parts)}"


def group_values(group: Group, columns: Sequence[Column]) -> str:
    """One sentence: how many rows, what each attribute shows in them, and which are hidden.

    Examples
    --------
    >>> from incrowd.vocabulary.released_value import Suppressed
    >>> age, sex, job = Column("age", type=ColumnType.INTEGER), Column("sex"), Column("job")
    >>> group_values(Group(102, (Interval(30, 40), Shown("f"), Suppressed())), [age, sex, job])
    '102 rows: age (30, 40]; sex f; hidden: job'
    """
    every = list(zip(columns, group.forms, strict=True))
    shown = [f"{column.name} {_short(form, column.type)}" for column, form in every if is_shown(form)]
    hidden = [column.name for column, form in every if not is_shown(form)]
    return f"{group.rows:,} rows: " + "; ".join([*shown, *([f"hidden: {', '.join(hidden)}"] if hidden else [])])


def _short(form: Form, kind: ColumnType, most: int = 4) -> str:
    """What is shown, with the first of a long set; counts name what few people have, so how many they are."""
    if isinstance(form, Counts):
        return f"counts of {counted(len(form.rows), 'value')}"
    words = _text(form, kind)
    parts = words.split("|")
    return words if len(parts) <= most else f"{'|'.join(parts[: most - 1])}|… {len(parts) - most + 1} more"


def _attributes(plan: ReleasePlan) -> Iterable[str]:
    """For each quasi-identifier, in how many rows it takes which form."""
    for name in plan.names:
        rows: Counter[type[Form]] = Counter()
        for form, showing in zip(plan.forms(name), plan.rows_showing(name), strict=True):
            rows[type(form)] += showing
        phrases = [f"{rows[kind]:,} rows {words}" for kind, words in _WORDS.items() if rows[kind]]
        yield f"{name}: {', '.join(phrases) or 'hidden in every row'}"
