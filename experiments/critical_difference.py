"""The diagram of critical differences: mean ranks on a line, and a bar over what does not differ.

After the diagrams of Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from experiments.significance import TEST, CriticalDifference
from incrowd.drawing.markup import Html, join
from incrowd.drawing.svg import WIDTH, fitted, picture, rect, words
from incrowd.drawing.wording import sentence

MARGIN = 210
SCALE, AXIS, ROW = 22, 66, 22
BAR, BAR_STEP = 6, 12
LONGEST_NAME = 150


@dataclass(frozen=True)
class _Line:
    """Ranks as positions: 1, the best, is at the left."""

    methods: int

    def x(self, rank: float) -> float:
        share = (min(max(rank, 1.0), float(self.methods)) - 1) / (self.methods - 1)
        return MARGIN + share * (WIDTH - 2 * MARGIN)

    def length(self, ranks: float) -> float:
        return self.x(1 + ranks) - self.x(1)


def critical_difference_diagram(test: CriticalDifference) -> Html:
    """Mean ranks of methods, the critical difference, and which methods do not differ.

    A thick bar covers the ranks that do not differ from the control's.

    Examples
    --------
    >>> from experiments.significance import bonferroni_dunn
    >>> test = bonferroni_dunn({"TDR": 2.347, "TDS": 2.444, "kACTUS": 1.208}, cases=72, control="kACTUS")
    >>> "kACTUS is better than TDR and TDS" in critical_difference_diagram(test)
    True
    """
    line = _Line(len(test.mean_ranks))
    top = AXIS + BAR_STEP * 2 + 12
    left = math.ceil(len(test.mean_ranks) / 2)
    height = top + ROW * left
    parts = [_scale(test, line), _axis(line), *_labels(test, line, left, top), _bar(test, line)]
    return picture(sentence(str(test)), parts, WIDTH, height)


def _scale(test: CriticalDifference, line: _Line) -> Html:
    """The critical difference as a length; where it is longer than the line, it has no end."""
    length = line.length(test.difference)
    label = f"critical difference {test.difference:.3g} ({TEST}, {test.cases:,} cases)"
    is_whole = test.difference <= line.methods - 1
    ends = [rect(MARGIN + end - 0.5, SCALE - 4, 1.5, 9, "axis") for end in ((0, length) if is_whole else (0,))]
    return join([rect(MARGIN, SCALE, length, 1.5, "axis"), *ends, words(label, (MARGIN, SCALE - 10))])


def _axis(line: _Line) -> Html:
    """The line of ranks, with a tick for each."""
    every = max(1, math.ceil(line.methods / 15))
    shown = range(1, line.methods + 1, every)
    ticks = [rect(line.x(rank) - 0.5, AXIS - 5, 1, 5, "axis") for rank in shown]
    numbers = [words(str(rank), (line.x(rank), AXIS - 10), "middle") for rank in shown]
    return join([rect(MARGIN, AXIS, WIDTH - 2 * MARGIN, 1.5, "axis"), *ticks, *numbers])


def _labels(test: CriticalDifference, line: _Line, left: int, top: float) -> list[Html]:
    """The better half is named at the left, the others at the right; the outermost are topmost, so no lines cross."""
    better, others = test.mean_ranks[:left], test.mean_ranks[left:]
    named = [(name, rank, row, True) for row, (name, rank) in enumerate(better)]
    named += [(name, rank, row, False) for row, (name, rank) in enumerate(reversed(others))]
    return [_label(name, rank, line, top + ROW * row, at_left) for name, rank, row, at_left in named]


def _label(name: str, rank: float, line: _Line, y: float, at_left: bool) -> Html:
    """From the rank down, then out to the name."""
    x, end = line.x(rank), (MARGIN - 12 if at_left else WIDTH - MARGIN + 12)
    label = f"{fitted(name, LONGEST_NAME)} {rank:.2f}"
    return join(
        [
            rect(x - 0.5, AXIS, 1, y - AXIS, "axis"),
            rect(min(x, end), y, abs(x - end), 1, "axis"),
            words(label, (end - 6 if at_left else end + 6, y + 4), "end" if at_left else "start", kind="name"),
        ]
    )


def _bar(test: CriticalDifference, line: _Line) -> Html:
    """The thick bar below the line."""
    own = test.rank(test.control)
    start, end = line.x(own - test.difference), line.x(own + test.difference)
    y = AXIS + BAR_STEP - BAR / 2
    return rect(start - 3, y, end - start + 6, BAR, "area series-0", rx=3)
