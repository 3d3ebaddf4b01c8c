"""A plan in sentences.

The sentences are for the owner of the table: they name released values only, and rows only in groups that
are released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Group
from incrowd.vocabulary.released_value import (
    Form,
    Interval,
    Level,
    Mean,
    Shown,
    ShownMissing,
    ValueSet,
    is_shown,
)

_WORDS = {
    Shown: "shown",
    ShownMissing: "shown as missing",
    ValueSet: "as a set of values",
    Mean: "as the group's mean",
    Interval: "as an interval",
    Level: "as the mean of an interval",
}


def explain(plan: ReleasePlan, groups: int = 10) -> str:
    """What the plan does: the whole first, then its largest groups.

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
    smallest = min((group.rows for group in plan.groups), default=0)
    lost = f"{plan.rows_dropped:,} rows are left out" if plan.rows_dropped else "no row is left out"
    lines = [
        f"{plan.method} keeps {plan.requirement} by putting {plan.rows_released:,} of {plan.rows:,} rows into "
        f"{_count(len(plan.groups), 'group')} of at least {smallest:,} rows; {lost}.",
        f"{plan.share_of_cells_shown:.1%} of the quasi-identifier cells show something.".replace("%", " %"),
    ]
    lines += [f"  {line}" for line in _attributes(plan)]
    chosen = sorted(plan.groups, key=lambda group: -group.rows)[:groups]
    lines.append(f"The {len(chosen)} largest groups:" if len(chosen) < len(plan.groups) else "The groups:")
    lines += [f"  {describe_group(group, plan.show.names)}" for group in chosen]
    return "\n".join(lines)


def describe_group(group: Group, names: Sequence[str]) -> str:
    """One sentence: how many rows, what they show, how many attributes are hidden.

    Examples
    --------
    >>> from incrowd.vocabulary.released_value import Suppressed
    >>> describe_group(Group(102, (Shown("x"), Shown("y"), Suppressed())), ["race", "education", "age"])
    '102 rows: race and education shown; 1 attribute hidden'
    """
    parts = []
    for kind, words in _WORDS.items():
        of_kind = [name for name, form in zip(names, group.forms, strict=True) if isinstance(form, kind)]
        if of_kind:
            parts.append(f"{_and(of_kind)} {words}")
    hidden = sum(not is_shown(form) for form in group.forms)
    if hidden:
        parts.append(f"{_count(hidden, 'attribute')} hidden")
    return f"{group.rows:,} rows: {'; '.join(parts)}"


def _attributes(plan: ReleasePlan) -> Iterable[str]:
    """For each quasi-identifier, in how many rows it takes which form."""
    for i, name in enumerate(plan.show.names):
        rows: Counter[type[Form]] = Counter()
        for group in plan.groups:
            rows[type(group.forms[i])] += group.rows
        said = [f"{rows[kind]:,} rows {words}" for kind, words in _WORDS.items() if rows[kind]]
        yield f"{name}: {', '.join(said) or 'hidden in every row'}"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
