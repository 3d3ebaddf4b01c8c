"""Ours and the paper's numbers against k: solid lines are ours, broken lines the paper's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from experiments.critical_difference import critical_difference_diagram
from experiments.reproduce.document import Block, Picture, Words
from experiments.reproduce.evidence import Cell, Evidence, Ranking, ranked
from experiments.reproduce.experiment import ERROR, Part
from incrowd.drawing.markup import Html
from incrowd.drawing.svg import (
    LEFT,
    RIGHT,
    WIDTH,
    LegendEntry,
    Point,
    Scale,
    chart,
    colour,
    even_scale,
    level,
    line_entry,
    log_scale,
    marker,
    path,
    plot,
    series_entry,
)

if TYPE_CHECKING:
    from experiments.reproduce.reproduction import Reproduction


Numbers = Sequence[tuple[int, float]]
ASIDE = 5.0
"""How far the points of two series at the same k stand beside each other: equal numbers hide each other otherwise."""


@dataclass(frozen=True)
class Lines:
    """One algorithm, or one learner: numbers by k, ours and the paper's; either may be missing."""

    ours: Numbers
    theirs: Numbers = ()


def beside_chart(
    title: str, unit: str, series: Mapping[str, Lines], reference: str, unprotected: float | None = None
) -> Html:
    """All series over k.

    Parameters
    ----------
    title, unit
        What is drawn; what the upright axis counts.
    series
        By name, in the order of colours.
    reference
        Whose the broken lines are.
    unprotected
        What the table itself gives; a level line.
    """
    numbers = [number for lines in series.values() for number in (*lines.ours, *lines.theirs)]
    levels = [] if unprotected is None else [unprotected]
    across = log_scale([float(k) for k, _ in numbers], LEFT, WIDTH - RIGHT)
    up, parts = plot(
        _entries(series, reference, unprotected),
        across,
        partial(even_scale, [value for _, value in numbers] + levels),
        ("k", unit),
        "{:,.0f}".format,
    )
    parts += [level(up, value, "unprotected") for value in levels]
    for place, (name, lines) in enumerate(series.items()):
        aside = ASIDE * (place - (len(series) - 1) / 2)
        moved = replace(across, start=across.start + aside, end=across.end + aside)
        parts += _draw_series(place, name, lines, moved, up, reference)
    return chart(_chart_in_words(title, series, reference, unprotected), parts, up)


def _entries(series: Mapping[str, Lines], reference: str, unprotected: float | None) -> list[LegendEntry]:
    entries = [series_entry(name, place) for place, name in enumerate(series)]
    if any(lines.theirs for lines in series.values()):
        entries += [line_entry("ours", "plain"), line_entry(reference, "printed plain")]
    return entries if unprotected is None else [*entries, line_entry("unprotected", "unprotected")]


def _draw_series(place: int, name: str, lines: Lines, across: Scale, up: Scale, reference: str) -> Iterator[Html]:
    if len(lines.theirs) > 1:
        yield path([(across(k), up(value)) for k, value in lines.theirs], f"line printed {colour(place)}")
    for k, value in lines.theirs:
        yield marker(place, (across(k), up(value)), 2.5, f"{name}, {reference}, k={k}: {value:.2f} %")
    points: list[Point] = [(across(k), up(value)) for k, value in lines.ours]
    if len(points) > 1:
        yield path(points, f"line {colour(place)}")
    for (k, value), point in zip(lines.ours, points, strict=True):
        yield marker(place, point, tip=f"{name}, k={k}: {value:.2f} %")


def _chart_in_words(title: str, series: Mapping[str, Lines], reference: str, unprotected: float | None) -> str:
    phrases = [f"unprotected {unprotected:.1f} %"] if unprotected is not None else []
    for name, lines in series.items():
        phrases.append(f"{name} " + ", ".join(f"k={k}: {value:.1f} %" for k, value in lines.ours))
        if lines.theirs:
            phrases.append(f"{name}, {reference} " + ", ".join(f"k={k}: {value:.1f} %" for k, value in lines.theirs))
    return f"{title}. " + "; ".join(phrases)


def pictures(run: Reproduction, part: Part) -> Iterator[Picture]:
    """A drawing for each label; where algorithms are compared, for each label and learner."""
    cells = [cell for cell in run.of_part(part) if cell.mean is not None]
    for label in dict.fromkeys(cell.label for cell in cells):
        own = [cell for cell in cells if cell.label == label]
        if len({cell.k for cell in own}) == 1 or label not in (part.drawn or (label,)):
            continue
        if part.by_label:
            yield _draw(run, part, label, own, "inducer")
            continue
        for inducer in dict.fromkeys(cell.inducer for cell in own):
            of_learner = [cell for cell in own if cell.inducer == inducer]
            yield _draw(run, part, f"{label}, {inducer}", of_learner, "algorithm")


def _draw(run: Reproduction, part: Part, name: str, cells: Sequence[Cell], by: str) -> Picture:
    plain = [cell for cell in cells if cell.algorithm == "none"]
    shown = cells if by == "inducer" else [cell for cell in cells if cell.algorithm != "none"]
    series = {
        one: _lines([c for c in shown if getattr(c, by) == one]) for one in dict.fromkeys(getattr(c, by) for c in shown)
    }
    level = plain[0].mean if plain and by == "algorithm" else None
    measure, unit = ("Error", "% wrong") if run.experiment.measure == ERROR else ("Accuracy", "% right")
    title = f"{part.title.partition(':')[0]}: {measure.lower()} by k, {name}"
    svg = beside_chart(title, unit, series, run.experiment.reference, level)
    return Picture(_slug(f"reproduction {run.experiment.name} {part.name} {name}"), title, svg)


def _lines(cells: Sequence[Cell]) -> Lines:
    ordered = sorted(cells, key=lambda cell: cell.k)
    return Lines(
        [(cell.k, cell.mean) for cell in ordered if cell.mean is not None],
        [(cell.k, cell.printed.mean) for cell in ordered if cell.printed and not cell.doubt],
    )


def ranking_blocks(run: Reproduction, part: Part) -> Iterator[Block]:
    """For each group of algorithms that are ranked: what the tests say of ours and of the paper's, and the diagram."""
    cells = run.of_part(part)
    ours, theirs = Evidence.ours(cells, {}).values, Evidence.theirs(cells).values
    for place, algorithms in enumerate(part.rankings):
        assert part.control is not None
        own, printed = (ranked(values, algorithms, part.control) for values in (ours, theirs))
        if own is None:
            continue
        yield Words(
            f"Ours: {_ranking_in_words(own)}."
            + ("" if printed is None else f" The paper's: {_ranking_in_words(printed)}.")
        )
        title = f"{part.title.partition(':')[0]}: mean ranks of {', '.join(algorithms)}, ours"
        diagram = critical_difference_diagram(own.against)
        yield Picture(_slug(f"reproduction {run.experiment.name} {part.name} ranks {place + 1}"), title, diagram)


def _ranking_in_words(ranking: Ranking) -> str:
    return f"{ranking.friedman}; {ranking.against}"


def _slug(words: str) -> str:
    """A file name.

    Examples
    --------
    >>> _slug("Table 3 8/14, C4.5")
    'table_3_8_14_c4_5'
    """
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
