"""A tree for human eyes: as text for a terminal, or as a drawing.

In a drawing the root stands at the left and leaves at the right; a stripe has the colour of a leaf's class, a bar shows
the shares of classes where counts are shown. It carries everything it needs, and all its text is escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from incrowd.drawing.markup import SERIES, Html, element, join
from incrowd.drawing.svg import (
    SMALL,
    Drawing,
    LegendEntry,
    area_entry,
    colour,
    fitted,
    ink,
    legend,
    picture,
    rect,
    text_width,
    words,
)
from incrowd.drawing.wording import outline, plain
from incrowd.trees.tree import ClassValue, Eq, Gt, In, Le, Missing, Node, Predicate, Tree

BOX_HEIGHT, ROW, INSIDE = 44, 56, 12
LONGEST_NAME, LONGEST_TEST, SHORTEST_LEGEND = 180, 200, 420
"""Widths beyond which names and tests are cut, and to which a legend may grow beyond the tree."""

Counts = Sequence[float] | None
"""Of a node by class; none where they are not shown."""


@dataclass(frozen=True)
class _TreeBox:
    """A node in the drawing."""

    number: int
    x: float
    y: float  # of its middle
    width: float
    hidden: bool  # has nodes below that are not shown


def to_svg(tree: Tree, *, counts: bool = True, max_depth: int | None = None) -> str:
    """Draw a tree as a self-contained SVG document.

    ``tree``: any tree. ``counts``: whether to show the number of rows and the class bar of each node. ``max_depth``:
    nodes below this depth are left out; the boxes above them end in an ellipsis.
    """
    return draw_tree(tree, [node.counts if counts else None for node in tree.nodes], max_depth=max_depth).svg


def draw_tree(
    tree: Tree,
    counts: Sequence[Counts],
    *,
    private: Collection[str] = (),
    caption: Sequence[str] = (),
    max_depth: int | None = None,
) -> Drawing:
    """Draw a tree with the counts that may be shown, dashed frames for private attributes, and lines below it."""
    shown = [n for n in tree.preorder() if max_depth is None or tree.depths[n] <= max_depth]
    left, wide = _columns(tree, shown, counts)
    width = max(left[-1] + wide[-1], *(text_width(line, SMALL) for line in caption), 0.0)
    key, top, key_width = _key(tree, max(width, SHORTEST_LEGEND))
    boxes = {box.number: box for box in _layout(tree, shown, left, wide, top)}
    parts = [key, *(_edge(tree, box, boxes[tree.parents[number]]) for number, box in boxes.items() if number)]
    parts += [join(_node(tree, box, counts[number], private)) for number, box in boxes.items()]
    bottom = max(box.y for box in boxes.values()) + BOX_HEIGHT / 2 + 1
    parts += [words(line, (0, bottom + 22 + 16 * place), kind="note small") for place, line in enumerate(caption)]
    height = bottom + (10 + 16 * len(caption) if caption else 0)
    title = f"Decision tree for {plain(tree.target)}"
    drawn = picture(title, parts, max(width, key_width) + 1, height)
    return Drawing(title, drawn, partial(_draw_on_axes, tree, boxes, caption))


def _draw_on_axes(tree: Tree, boxes: Mapping[int, _TreeBox], caption: Sequence[str], axes: Any) -> None:
    """The boxes and lines of the drawing, in its own coordinates; tests stand on the lines."""
    for number, box in boxes.items():
        if number:
            parent = boxes[tree.parents[number]]
            predicate = next(b.predicate for b in tree.nodes[parent.number].branches if b.child == number)
            start, middle = parent.x + parent.width, (parent.x + parent.width + box.x) / 2
            axes.plot([start, box.x], [parent.y, box.y], color=ink("quiet"), linewidth=1, zorder=1)
            axes.text(middle, (parent.y + box.y) / 2, condition(predicate), ha="center", va="center", fontsize="small")
    for number, box in boxes.items():
        node = tree.nodes[number]
        edge = ink("quiet") if node.attribute is not None or not any(node.counts) else _ink_of(_majority(node))
        label = headline(tree, node) + " …" * box.hidden
        frame = {"boxstyle": "round", "facecolor": ink("paper"), "edgecolor": edge}
        axes.text(box.x + box.width / 2, box.y, label, ha="center", va="center", bbox=frame, zorder=2)
    right, bottom = max(box.x + box.width for box in boxes.values()), max(box.y for box in boxes.values()) + BOX_HEIGHT
    axes.set_xlim(0, right)
    axes.set_ylim(bottom + 16 * len(caption), min(box.y for box in boxes.values()) - BOX_HEIGHT)
    for place, line in enumerate(caption):
        axes.text(0, bottom + 16 * place, line, fontsize="small", color=ink("soft"))
    axes.set_axis_off()


def _columns(tree: Tree, shown: Sequence[int], counts: Sequence[Counts]) -> tuple[list[float], list[float]]:
    """Left edge and width of the boxes of each depth; before them there is room for the tests."""
    depth = max(tree.depths[number] for number in shown)
    name, test = [60.0] * (depth + 1), [0.0] * (depth + 2)
    for number in shown:
        node, level = tree.nodes[number], tree.depths[number]
        rows = text_width(_rows(counts[number]), SMALL)
        name[level] = max(name[level], rows, min(LONGEST_NAME, text_width(f"{headline(tree, node)} …", strong=True)))
        longest = max((text_width(condition(branch.predicate), SMALL) for branch in node.branches), default=0.0)
        test[level + 1] = max(test[level + 1], min(LONGEST_TEST, longest))
    wide, left = [letters + 2 * INSIDE for letters in name], [1.0]
    for level in range(1, depth + 1):
        left.append(left[-1] + wide[level - 1] + 44 + test[level])
    return left, wide


def _layout(
    tree: Tree, shown: Sequence[int], left: Sequence[float], wide: Sequence[float], top: float
) -> list[_TreeBox]:
    """Places of the shown nodes: a column for each depth, a row for each end, parents in the middle."""
    below = set(shown)
    ends = [n for n in shown if not any(branch.child in below for branch in tree.nodes[n].branches)]
    middle = {number: top + BOX_HEIGHT / 2 + row * ROW for row, number in enumerate(ends)}
    for number in reversed(shown):
        if number not in middle:
            branches = tree.nodes[number].branches
            middle[number] = (middle[branches[0].child] + middle[branches[-1].child]) / 2
    hidden = {n for n in ends if not tree.nodes[n].is_leaf}
    return [_TreeBox(n, left[tree.depths[n]], middle[n], wide[tree.depths[n]], n in hidden) for n in shown]


def _key(tree: Tree, width: float) -> tuple[Html, float, float]:
    """The colours of the classes: what is drawn, its height and its width."""
    target = fitted(tree.target, LONGEST_NAME)
    start = text_width(target) + 16
    named = [fitted(class_name(value), LONGEST_NAME) for value in tree.classes[:SERIES]]
    entries = [area_entry(name, _colour(place)) for place, name in enumerate(named)]
    if len(tree.classes) > SERIES:
        entries.append(LegendEntry(f"+ {len(tree.classes) - SERIES}", area_entry("", _colour(SERIES)).mark))
    drawn, height = legend(entries, width - start)
    used = start + sum(42 + text_width(entry.label) for entry in entries)
    moved = element("g", drawn, transform=f"translate({start:.1f} 0)")
    return join([words(target, (0, 12)), moved]), height + 2, min(width, used)


def _edge(tree: Tree, box: _TreeBox, parent: _TreeBox) -> Html:
    """The line from a parent to a child, with the test above its end."""
    predicate = next(b.predicate for b in tree.nodes[parent.number].branches if b.child == box.number)
    test = condition(predicate)
    start, bend = parent.x + parent.width, parent.x + parent.width + 30
    curve = f"C{start + 18:.0f} {parent.y:.0f} {start + 12:.0f} {box.y:.0f} {bend:.0f} {box.y:.0f}"
    line = element("path", d=f"M{start:.0f} {parent.y:.0f}{curve}H{box.x:.0f}", class_="edge")
    tip = f"{predicate.attribute} {test}"
    return join([line, words(fitted(test, LONGEST_TEST, SMALL), (bend + 5, box.y - 5), kind="note small", tip=tip)])


def _node(tree: Tree, box: _TreeBox, counts: Counts, private: Collection[str]) -> list[Html]:
    """A node: its attribute, or its class with a stripe in its colour; rows and shares of classes where shown."""
    node, x, top = tree.nodes[box.number], box.x + INSIDE, box.y - BOX_HEIGHT / 2
    is_private = node.attribute in private
    frame = "frame" + " leaf" * node.is_leaf + " dashed" * is_private
    name = "name" + " strong" * (not node.is_leaf) + " private" * is_private
    room = box.width - 2 * INSIDE - (text_width(" …") if box.hidden else 0)
    label = fitted(headline(tree, node), room, strong=not node.is_leaf) + " …" * box.hidden
    drawn = [
        rect(box.x, top, box.width, BOX_HEIGHT, frame, rx=6),
        words(label, (x, box.y + (4 if counts is None else -5)), kind=name),
    ]
    if node.is_leaf and any(node.counts):
        drawn.append(rect(box.x, top + 6, 4, BOX_HEIGHT - 12, f"area {_colour(_majority(node))}", rx=2))
    if counts is None:
        return drawn
    drawn.append(words(_rows(counts), (x, box.y + 8), kind="note small"))
    return [*drawn, *_shares(tree, counts, x, box.y + 13, box.width - 2 * INSIDE)]


def _rows(counts: Counts) -> str:
    return "" if counts is None else f"n = {amount(sum(counts))}"


def _shares(tree: Tree, counts: Sequence[float], left: float, top: float, room: float) -> list[Html]:
    """Class shares as one bar."""
    parts, total = [], sum(counts)
    for place, count in enumerate(counts):
        if count:
            tip = f"{class_name(tree.classes[place])}: {amount(count)} ({count / total:.0%})"
            parts.append(rect(left, top, room * count / total, 4, f"area {_colour(place)}", tip))
            left += room * count / total
    return parts


def _colour(place: int) -> str:
    return colour(place) if place < SERIES else "other"


def _ink_of(place: int) -> str:
    return ink(colour(place) if place < SERIES else "quiet")


# Conditions and classes in words.
MOST_VALUES = 6  # so that a condition fits beside its line


def condition(predicate: Predicate) -> str:
    """A predicate without its attribute; long lists are cut short."""
    match predicate:
        case Eq():
            return f"= {plain(str(predicate.value))}"
        case In():
            values = sorted(plain(str(value)) for value in predicate.values)
            more = [f"… {len(values) - MOST_VALUES} more"] if len(values) > MOST_VALUES else []
            return f"in {{{', '.join(values[:MOST_VALUES] + more)}}}"
        case Le():
            return f"<= {predicate.threshold}"
        case Gt():
            return f"> {predicate.threshold}"
        case Missing():
            return "missing"


def class_name(value: ClassValue) -> str:
    """A class value in words."""
    return "(missing)" if value is None else plain(str(value))


def majority(tree: Tree, node: Node) -> str:
    """The most frequent class of a node, or a dash if it has no rows."""
    if not any(node.counts):
        return "–"
    return class_name(tree.classes[_majority(node)])


def _majority(node: Node) -> int:
    return max(range(len(node.counts)), key=node.counts.__getitem__)


def headline(tree: Tree, node: Node) -> str:
    """What a node tests, or the class it says."""
    return majority(tree, node) if node.attribute is None else plain(node.attribute)


def amount(count: float) -> str:
    """A count in words: whole, or with two decimals."""
    return f"{count:,.0f}" if count == round(count) else f"{count:,.2f}"


def to_text(tree: Tree, *, counts: bool = True, max_depth: int | None = None) -> str:
    """Draw a tree with lines.

    ``tree``: any tree. ``counts``: whether to show the class histogram of each node. ``max_depth``: nodes below this
    depth are only counted.
    """
    return draw_lines(tree, [node.counts if counts else None for node in tree.nodes], max_depth)


def draw_lines(tree: Tree, counts: Sequence[Counts], max_depth: int | None = None) -> str:
    """Draw a tree with lines, with the counts that may be shown."""
    sizes = _sizes(tree)

    def is_folded(number: int) -> bool:
        return max_depth is not None and tree.depths[number] >= max_depth and not tree.nodes[number].is_leaf

    def below(place: tuple[int, str]) -> list[tuple[int, str]]:
        branches = () if is_folded(place[0]) else tree.nodes[place[0]].branches
        return [(branch.child, f"{condition(branch.predicate)}: ") for branch in branches]

    lines = []
    for lead, (number, test) in outline((0, ""), below):
        more = f" … {sizes[number]:,} nodes below" if is_folded(number) else ""
        lines.append(f"{lead}{test}{headline(tree, tree.nodes[number])}{more}{_histogram(tree, counts[number])}")
    return "\n".join(lines)


def _histogram(tree: Tree, counts: Counts) -> str:
    if counts is None:
        return ""
    pairs = zip(tree.classes, counts, strict=True)
    return f"  [{', '.join(f'{class_name(value)}: {amount(count)}' for value, count in pairs if count)}]"


def _sizes(tree: Tree) -> list[int]:
    """Number of nodes below each node."""
    below = [0] * len(tree.nodes)
    for number in range(len(tree.nodes) - 1, 0, -1):
        below[tree.parents[number]] += below[number] + 1
    return below
