"""A first hierarchy for a column, by its type: a proposal for a person to correct."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl

from incrowd.drawing.wording import outline
from incrowd.errors import ParameterError
from incrowd.tables.hierarchies.intervals import (
    agglomerated,
    balanced,
    class_counts,
    class_edges,
    from_edges,
    intervals,
    ways,
)
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.tables.reading.source import Source
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy, Leaves
from incrowd.vocabulary.released_value import STEPS, period_name
from incrowd.vocabulary.schema import ColumnType

# Categories: ordered ones joined with their neighbours; plain ones by how alike their classes are.
_MOST_CATEGORIES = 20_000
_SHOWN = 2  # members that name a group: enough to know it by, and the label stays short
_LONGEST = 24  # letters of such a member


def ordered_categories(column: EncodedColumn) -> Hierarchy:
    """Join neighbours, two by two, in the order of the column."""
    values = _values(column)
    paths = ways(values, balanced(len(values)), lambda group: f"{values[group[0]]} to {values[group[-1]]}")
    return Hierarchy.from_paths(column.name, paths)


def drafted_categories(column: EncodedColumn, target: EncodedColumn | None = None) -> Hierarchy:
    """A taxonomy for those who have none: join values with like classes, halving their number on each level.

    See :func:`~incrowd.tables.hierarchies.intervals.agglomerated`. Without a class, rare values join first. A group is
    named by its first values. The groups follow the data, not the meaning: look at them before you use them.
    """
    values = _values(column)
    if len(values) > _MOST_CATEGORIES:
        raise ParameterError(
            f"Column {column.name!r} has {len(values)} distinct values, too many for a draft. Are they codes? "
            "Then use prefixes."
        )
    partitions = agglomerated(class_counts(column, target))
    return Hierarchy.from_paths(column.name, ways(values, partitions, lambda group: group_name(values, group)))


def group_name(values: list[str], group: list[int]) -> str:
    """A group by its first values and the number of the others."""
    shown = [values[leaf] for leaf in group[:_SHOWN]]
    shown = [value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…" for value in shown]
    more = len(group) - len(shown)
    return "{" + ", ".join([*shown, *([f"+{more}"] if more else [])]) + "}"


def _values(column: EncodedColumn) -> list[str]:
    values = [str(value) for value in column.dictionary.to_list()]
    if not values:
        raise ParameterError(f"Column {column.name!r} has no values to group.")
    return values


# Codes whose first characters say most, such as postal or diagnosis codes: ``42119``, ``4211*``, … ``4****``.
def prefixes(column: EncodedColumn) -> Hierarchy:
    """Hide characters from the right, one more on each level, down to one that is kept.

    A code that is no longer than what a level keeps stays itself there.
    """
    values = _values(column)
    starred = sum(ROOT in value for value in values)
    if starred:
        raise ParameterError(f"Column {column.name!r}: {starred} values contain '*', the sign for a hidden character.")
    lengths = range(max(map(len, values)) - 1, 0, -1)
    paths = [[value, *(_hidden(value, length) for length in lengths), ROOT] for value in values]
    return Hierarchy.from_paths(column.name, paths)


def _hidden(value: str, length: int) -> str:
    return value[:length] + ROOT * (len(value) - length)


# Dates by the calendar: day, month, quarter, year, decade.
_MOST_DATES = 20_000


def calendar(column: EncodedColumn, steps: Sequence[str] = STEPS) -> Hierarchy:
    """Periods from the first to the last date of a column, without holes; the levels, finest first, are ``steps``."""
    if column.type is not ColumnType.DATE or len(column.dictionary) == 0:
        raise ParameterError(f"Column {column.name!r} has no dates ({column.type}); periods need some.")
    if not steps or list(steps) != [step for step in STEPS if step in steps]:
        raise ParameterError(f"steps are some of {', '.join(STEPS)}, in this order, none twice.")
    days = column.dictionary.to_list()
    span = (days[-1] - days[0]).days + 1
    if steps[0] == "day" and span > _MOST_DATES:
        raise ParameterError(f"Column {column.name!r} spans {span} days. Begin with months, or a coarser step.")
    first, step = (days[0], "1d") if steps[0] == "day" else (days[0].replace(day=1), "1mo")
    starts = pl.date_range(first, days[-1], step, eager=True).to_list()
    paths = {tuple(period_name(date, step) for step in steps): None for date in starts}
    return Hierarchy.from_paths(column.name, [[*path, ROOT] for path in paths], Leaves.DATES)


def _built_elsewhere(
    kind: str | Callable[..., Hierarchy], column: EncodedColumn, target: EncodedColumn | None
) -> Hierarchy:
    """What a function gives that is passed, or that another package adds; every value of the column has its place."""
    from incrowd.optional import find_plugin, plugins

    build = kind
    if isinstance(kind, str):
        if (plugin := find_plugin("hierarchies", kind)) is None:
            known = (*KINDS, *(one.name for one in plugins("hierarchies")))
            raise ParameterError(f"kind must be one of {', '.join(known)}.")
        build = plugin.called
    if not callable(build):
        raise ParameterError("kind is the name of a kind, or a function that builds a hierarchy.")
    built = build(column, target)
    if not isinstance(built, Hierarchy):
        raise ParameterError("What builds a hierarchy has to return an incrowd.vocabulary.hierarchy.Hierarchy.")
    built.encode(column)
    return built


KINDS = ("intervals", "prefix", "date", "ordered", "drafted")
_CODE = re.compile(r"^(?=.*\d)[0-9A-Za-z.-]{3,12}$")
_FEW_CODES = 10  # fewer texts may be of one length by chance
_FEW_EDGES = 2  # one edge makes two intervals, which leaves no level between them and the root
_DAYS = 731  # two years, one of them a leap year: longer spans begin with months


def draft_hierarchy(
    column: EncodedColumn,
    target: EncodedColumn | None = None,
    *,
    kind: str | Callable[[EncodedColumn, EncodedColumn | None], Hierarchy] | None = None,
    bins: int = 8,
    edges: Sequence[float] | None = None,
) -> Hierarchy:
    """Draft a hierarchy for a column.

    Parameters
    ----------
    column
        The attribute.
    target
        The class; with it, numbers are cut and categories are joined where that costs least class information.
    kind
        One of ``intervals``, ``prefix``, ``date``, ``ordered``, ``drafted``; by the type of the column if not given
        (texts of one length with digits in them are taken for codes). The name of a builder of another package, see
        :mod:`incrowd.optional`; or a function of the column and the target.
    bins
        About how many intervals, where the class does not say.
    edges
        The inner edges of the intervals, made by hand.
    """
    kind = kind or ("intervals" if edges is not None else kind_for(column))
    if edges is not None and kind != "intervals":
        raise ParameterError("edges are for intervals only.")
    if kind not in KINDS:
        return _built_elsewhere(kind, column, target)
    if edges is not None:
        return from_edges(column.name, edges, dates=column.type is ColumnType.DATE)
    if kind == "intervals":
        by_class = target is not None and column.type.is_numeric and len(class_edges(column, target)) >= _FEW_EDGES
        return intervals(column, target if by_class else None, bins=bins)
    if kind == "date":
        return calendar(column, STEPS if _span(column) <= _DAYS else STEPS[1:])
    if kind == "prefix":
        return prefixes(column)
    return ordered_categories(column) if kind == "ordered" else drafted_categories(column, target)


def kind_for(column: EncodedColumn) -> str:
    """The kind of hierarchy that fits the type of a column."""
    if column.type is ColumnType.DATE:
        return "date"
    if column.type.is_numeric:
        return "intervals"
    if column.type is ColumnType.ORDERED:
        return "ordered"
    values = column.dictionary.to_list()
    alike = len({len(value) for value in values}) == 1 and len(values) >= _FEW_CODES
    return "prefix" if alike and all(_CODE.match(value) for value in values) else "drafted"


def _span(column: EncodedColumn) -> int:
    if column.type is not ColumnType.DATE or len(column.dictionary) == 0:
        return 0
    return int(column.numbers[-1] - column.numbers[0])


def encoded_columns(table: Any, *names: str) -> list[EncodedColumn]:
    """The named columns of a file, frame or source, typed as a draft schema types them."""
    source = table if isinstance(table, Source) else read(table)
    coded, _ = encode(source, draft_schema(source), list(dict.fromkeys(names)))
    return [coded[name] for name in names]


def draw(hierarchy: Hierarchy, most: int = 8) -> str:
    """The tree as text, level numbers on the left; of more than ``most`` children, the first ones and their number.

    Examples
    --------
    >>> print(draw(Hierarchy.from_paths("job", [["cook", "service", "*"], ["nurse", "*"], ["judge", "*"]]), most=2))
    1  * (3)
    2  ├─ service (1)
    3  │  └─ cook
    2  └─ … 2 more
    """

    def below(node: int | str) -> list[int | str]:
        children = [] if isinstance(node, str) else list(hierarchy.children(node))
        shown = children if len(children) <= most else children[: max(most - 1, 1)]
        return [*shown, *([f"… {len(children) - len(shown)} more"] if len(shown) < len(children) else [])]

    places: Iterator[tuple[str, int | str]] = outline(0, below)
    return "\n".join(
        f"{1 + len(lead) // 3:<2} {lead}{node if isinstance(node, str) else _label(hierarchy, node)}"
        for lead, node in places
    )


def _label(hierarchy: Hierarchy, node: int) -> str:
    """The label, made safe for a terminal, with the number of leaves below a group."""
    label = hierarchy.labels[node]
    label = label if label.isprintable() else json.dumps(label)
    return f"{label} ({len(hierarchy.leaves_below(node))})" if hierarchy.children(node) else label
