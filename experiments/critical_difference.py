"""The diagram of critical differences: mean ranks on a line, and a bar over what does not differ.

After the diagrams of Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from incrowd.compare.statistics.significance import TEST, CriticalDifference
from incrowd.report.markup import Html, element, join, text
from incrowd.report.wording import clipped

WIDTH, MARGIN = 720, 210
SCALE, AXIS, ROW = 22, 66, 22
BAR, BAR_STEP = 6, 12
LONGEST_NAME = 20


@dataclass(frozen=True)
class _Line:
    """Ranks as positions: 1, the best, is at the left."""

    methods: int

    def x(self, rank: float) -> float:
        share = (min(max(rank, 1.0), float(self.methods)) - 1) / (self.methods - 1)
        return MARGIN + share * (WIDTH - 2 * MARGIN)

    def length(self, ranks: float) -> float:
        return self.x(1 + ranks) - self.x(1)


def critical_difference_diagram(found: CriticalDifference) -> Html:
    """Mean ranks of methods, the critical difference, and which methods do not differ.

    A thick bar covers the ranks that do not differ from the control's.

    Examples
    --------
    >>> from incrowd.compare.statistics.significance import bonferroni_dunn
    >>> found = bonferroni_dunn({"TDR": 2.347, "TDS": 2.444, "kACTUS": 1.208}, cases=72, control="kACTUS")
    >>> "kACTUS is better than TDR and TDS" in critical_difference_diagram(found)
    True
    """
    line = _Line(len(found.mean_ranks))
    top = AXIS + BAR_STEP * 2 + 12
    left = math.ceil(len(found.mean_ranks) / 2)
    height = top + ROW * left
    parts = [_scale(found, line), _axis(line), *_labels(found, line, left, top), _bar(found, line)]
    said = str(found)
    return element(
        "svg",
        join(parts),
        viewBox=f"0 0 {WIDTH} {height:g}",
        width=WIDTH,
        height=height,
        role="img",
        aria_label=f"{said[0].upper()}{said[1:]}.",
    )


def _scale(found: CriticalDifference, line: _Line) -> Html:
    """The critical difference as a length; where it is longer than the line, it has no end."""
    length = line.length(found.difference)
    words = f"critical difference {found.difference:.3g} ({TEST}, {found.cases:,} cases)"
    is_whole = found.difference <= line.methods - 1
    ends = [_rect(MARGIN + end - 0.5, SCALE - 4, 1.5, 9) for end in ((0, length) if is_whole else (0,))]
    return join([_rect(MARGIN, SCALE, length, 1.5), *ends, _text(words, MARGIN, SCALE - 10, "note", "start")])


def _axis(line: _Line) -> Html:
    """The line of ranks, with a tick for each."""
    every = max(1, math.ceil(line.methods / 15))
    shown = range(1, line.methods + 1, every)
    ticks = [_rect(line.x(rank) - 0.5, AXIS - 5, 1, 5) for rank in shown]
    numbers = [_text(str(rank), line.x(rank), AXIS - 10, "note", "middle") for rank in shown]
    return join([_rect(MARGIN, AXIS, WIDTH - 2 * MARGIN, 1.5), *ticks, *numbers])


def _labels(found: CriticalDifference, line: _Line, left: int, top: float) -> list[Html]:
    """The better half is named at the left, the others at the right; the outermost are topmost, so no lines cross."""
    better, others = found.mean_ranks[:left], found.mean_ranks[left:]
    named = [(name, rank, row, True) for row, (name, rank) in enumerate(better)]
    named += [(name, rank, row, False) for row, (name, rank) in enumerate(reversed(others))]
    return [_label(name, rank, line, top + ROW * row, at_left) for name, rank, row, at_left in named]


def _label(name: str, rank: float, line: _Line, y: float, at_left: bool) -> Html:
    """From the rank down, then out to the name."""
    x, end = line.x(rank), (MARGIN - 12 if at_left else WIDTH - MARGIN + 12)
    words = f"{clipped(name, LONGEST_NAME)} {rank:.2f}"
    return join(
        [
            _rect(x - 0.5, AXIS, 1, y - AXIS),
            _rect(min(x, end), y, abs(x - end), 1),
            _text(words, end - 6 if at_left else end + 6, y + 4, "name", "end" if at_left else "start"),
        ]
    )


def _bar(found: CriticalDifference, line: _Line) -> Html:
    """The thick bar below the line."""
    own = found.rank(found.control)
    start, end = line.x(own - found.difference), line.x(own + found.difference)
    y = AXIS + BAR_STEP - BAR / 2
    return element("rect", x=start - 3, y=y, width=end - start + 6, height=BAR, rx=3, class_="bar-size")


def _rect(x: float, y: float, width: float, height: float) -> Html:
    return element("rect", x=x, y=y, width=width, height=height, class_="axis")


def _text(words: str, x: float, y: float, kind: str, anchor: str) -> Html:
    return element("text", text(words), x=x, y=y, class_=kind, text_anchor=anchor)
