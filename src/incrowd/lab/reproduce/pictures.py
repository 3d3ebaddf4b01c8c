"""Drawings of a page: numbers against k, and diagrams of ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from incrowd.lab.charts.critical_difference import critical_difference_diagram
from incrowd.lab.reproduce.chart import Lines, beside_chart
from incrowd.lab.reproduce.document import Block, Picture, Words
from incrowd.lab.reproduce.evidence import Cell, Evidence
from incrowd.lab.reproduce.experiment import ERROR, Part
from incrowd.lab.reproduce.ranking import Ranking, ranked
from incrowd.lab.reproduce.reproduction import Reproduction


def pictures(found: Reproduction, part: Part) -> Iterator[Picture]:
    """A drawing for each label; where algorithms are compared, for each label and learner."""
    cells = [cell for cell in found.of_part(part) if cell.mean is not None]
    for label in dict.fromkeys(cell.label for cell in cells):
        own = [cell for cell in cells if cell.label == label]
        if part.by_label:
            yield _drawn(found, part, label, own, "inducer")
            continue
        for inducer in dict.fromkeys(cell.inducer for cell in own):
            of_learner = [cell for cell in own if cell.inducer == inducer]
            yield _drawn(found, part, f"{label}, {inducer}", of_learner, "algorithm")


def _drawn(found: Reproduction, part: Part, name: str, cells: Sequence[Cell], by: str) -> Picture:
    plain = [cell for cell in cells if cell.algorithm == "none"]
    shown = cells if by == "inducer" else [cell for cell in cells if cell.algorithm != "none"]
    series = {
        one: _lines([c for c in shown if getattr(c, by) == one]) for one in dict.fromkeys(getattr(c, by) for c in shown)
    }
    level = plain[0].mean if plain and by == "algorithm" else None
    measure, unit = ("Error", "% wrong") if found.experiment.measure == ERROR else ("Accuracy", "% right")
    said = f"{part.title.partition(':')[0]}: {measure.lower()} by k, {name}"
    svg = beside_chart(said, unit, series, found.experiment.reference, level)
    return Picture(_slug(f"reproduction {found.experiment.name} {part.name} {name}"), said, svg)


def _lines(cells: Sequence[Cell]) -> Lines:
    ordered = sorted(cells, key=lambda cell: cell.k)
    return Lines(
        [(cell.k, cell.mean) for cell in ordered if cell.mean is not None],
        [(cell.k, cell.printed.mean) for cell in ordered if cell.printed and not cell.doubt],
    )


def ranking_blocks(found: Reproduction, part: Part) -> Iterator[Block]:
    """For each group of algorithms that are ranked: what the tests say of ours and of the paper's, and the diagram."""
    cells = found.of_part(part)
    ours, theirs = Evidence.ours(cells, {}).values, Evidence.theirs(cells).values
    for place, algorithms in enumerate(part.rankings):
        assert part.control is not None
        own, printed = (ranked(values, algorithms, part.control) for values in (ours, theirs))
        if own is None:
            continue
        yield Words(f"Ours: {_said(own)}." + ("" if printed is None else f" The paper's: {_said(printed)}."))
        said = f"{part.title.partition(':')[0]}: mean ranks of {', '.join(algorithms)}, ours"
        diagram = critical_difference_diagram(own.against)
        yield Picture(_slug(f"reproduction {found.experiment.name} {part.name} ranks {place + 1}"), said, diagram)


def _said(ranking: Ranking) -> str:
    return f"{ranking.friedman}; {ranking.against}"


def _slug(words: str) -> str:
    """A file name.

    Examples
    --------
    >>> _slug("Table 3 8/14, C4.5")
    'table_3_8_14_c4_5'
    """
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
