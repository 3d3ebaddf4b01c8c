"""What notebooks show of schemas, hierarchies and verdicts, in the colours of the reports.

A hierarchy as a drawing: a column for each level, the whole at the left, each group as high as its leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from incrowd.drawing.markup import Html, element, text, texts
from incrowd.drawing.page import page, standing, table, tiles
from incrowd.drawing.svg import WIDTH, Drawing, fitted, ink, picture, rect, words
from incrowd.drawing.wording import Tone, counted, listed, sentence

if TYPE_CHECKING:
    from incrowd.vocabulary.hierarchy import Hierarchy


MOST_ROWS = 60  # more would not be read: then the lower levels are left out
_ROW, _GAP = 22.0, 4.0


@dataclass(frozen=True)
class _Box:
    """A node: its level from the left, the first row it takes, and how many."""

    label: str
    level: int
    row: int
    rows: int


def hierarchy_drawing(hierarchy: Hierarchy) -> Drawing:
    """The levels from the root on, as far as their nodes can be read."""
    levels = _readable(hierarchy)
    boxes = _boxes(hierarchy, levels)
    title = f"Hierarchy of {hierarchy.name}: {counted(len(hierarchy.leaves), 'leaf').replace('leafs', 'leaves')}"
    if levels < hierarchy.height:
        title += f", the upper {levels} of {hierarchy.height} levels"
    return Drawing(title, _picture(title, boxes, levels), partial(_draw, boxes, levels))


def _readable(hierarchy: Hierarchy) -> int:
    """The deepest level that has few enough nodes."""
    fits = [level for level in range(1, hierarchy.height + 1) if len(set(hierarchy.at_level(level))) <= MOST_ROWS]
    return max(fits)


def _boxes(hierarchy: Hierarchy, levels: int) -> list[_Box]:
    """Each node once, at its own level; one that ends early leaves the levels after it empty."""
    ends = list(dict.fromkeys(hierarchy.at_level(levels).tolist()))
    boxes: dict[int, _Box] = {}
    for row, end in enumerate(ends):
        node = end
        while True:
            known = boxes.get(node)
            first = row if known is None else known.row
            boxes[node] = _Box(hierarchy.labels[node], int(hierarchy.depths[node]) - 1, first, row - first + 1)
            if node == 0:
                break
            node = hierarchy.parents[node]
    return list(boxes.values())


def _picture(title: str, boxes: Sequence[_Box], levels: int) -> Html:
    wide = WIDTH / levels
    parts = []
    for box in boxes:
        x, y = box.level * wide, box.row * _ROW
        parts.append(rect(x + 0.5, y + 0.5, wide - _GAP, box.rows * _ROW - _GAP, "frame leaf", box.label, rx=4))
        label = fitted(box.label, wide - _GAP - 16)
        parts.append(words(label, (x + 8, y + (box.rows * _ROW - _GAP) / 2 + 4.5), kind="label", tip=box.label))
    return picture(title, parts, WIDTH, max(box.row + box.rows for box in boxes) * _ROW)


def _draw(boxes: Sequence[_Box], levels: int, axes: Any) -> None:
    for box in boxes:
        middle = box.row + box.rows / 2
        style = {"color": ink("tint"), "edgecolor": ink("quiet")}
        axes.barh(middle, 0.94, left=box.level, height=box.rows - 0.1, **style)
        axes.text(box.level + 0.05, middle, box.label, ha="left", va="center")
    axes.set_xlim(0, levels)
    axes.set_ylim(max(box.row + box.rows for box in boxes), 0)
    axes.set_axis_off()


COLUMN_CHECKS = ("faithful", "drawn", "untouched", "recomputed")


class Checked(Protocol):
    """A promise that was recounted."""

    @property
    def name(self) -> str:
        """What was checked."""
        ...

    @property
    def passed(self) -> bool:
        """Whether it holds."""
        ...

    @property
    def finding(self) -> str:
        """What was counted."""
        ...


def table_view(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table under its title, as a fragment of HTML.

    Examples
    --------
    >>> "a&lt;b" in table_view("Columns", ["name"], [["a<b"]])
    True
    """
    return page(title, table(title, texts(*header), (texts(*row) for row in rows), class_="unbroken"), whole=False)


def verdict_view(checks: Sequence[Checked], figures: Mapping[str, str]) -> str:
    """Whether all checks passed, what was counted, and each check, as a fragment of HTML."""
    good = all(check.passed for check in checks)
    outcome = standing(sentence(checks_outcome(checks)), Tone.GOOD if good else Tone.BAD, "✓" if good else "✗")
    return page("Verification", outcome, tiles(figures), checks_table(checks), whole=False)


def checks_outcome(checks: Sequence[Checked]) -> str:
    """How many checks passed."""
    failed = sum(not check.passed for check in checks)
    return f"{failed} of {counted(len(checks), 'check')} failed" if failed else f"all {len(checks)} checks passed"


def checks_table(checks: Sequence[Checked]) -> Html:
    """Every check with its outcome and finding; columns that passed the same check share a row."""
    rows = [
        (
            text(name),
            element("span", text("✓ passed"), class_="good")
            if passed
            else element("strong", text("✗ FAILED"), class_="bad"),
            text(finding),
        )
        for name, passed, finding in _merged(checks)
    ]
    return table("Checks", texts("Check", "Outcome", "Finding"), rows, class_="checks")


def _merged(checks: Sequence[Checked]) -> Iterator[tuple[str, bool, str]]:
    """The checks in their order; those about single columns that ended alike stand together, at the first of them."""
    alike: dict[tuple[str, bool, str], list[str]] = {}
    for check in checks:
        column, _, kind = check.name.rpartition(" ")
        if kind not in COLUMN_CHECKS:
            column, kind = "", check.name
        alike.setdefault((kind, check.passed, check.finding), []).append(column)
    for (kind, passed, finding), columns in alike.items():
        if len(columns) == 1:
            yield f"{columns[0]} {kind}".strip(), passed, finding
        else:
            yield f"{counted(len(columns), 'column')} {kind}", passed, f"{finding}: {listed(columns)}"
