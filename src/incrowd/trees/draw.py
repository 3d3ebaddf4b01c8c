"""A tree for human eyes: as text for a terminal, or as a picture (see :mod:`incrowd.trees.draw`).

A tree as an SVG picture: root at the left, leaves at the right, a bar of classes in every box. The picture carries
everything it needs, without style sheets or scripts, so that it can stand in a page with a strict content policy. All
text is escaped and shown as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from incrowd.trees.tree import ClassValue, Node, Tree
from incrowd.vocabulary.predicate import Eq, Gt, In, Le, Missing, Predicate

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#b8a400")
OTHER = "#9aa0a6"
LETTER, BOLD = 6.6, 8.0
BOX_HEIGHT, ROW, MARGIN, LEGEND = 38, 52, 16, 34
LONGEST_NAME, LONGEST_TEST = 24, 30

INK, GREY, LINE, LEAF = "#1f2933", "#52606d", "#9aa5b1", "#f5f7fa"
QUIET = f'font-size="11" fill="{GREY}"'


@dataclass(frozen=True)
class Box:
    """A node in the picture."""

    number: int
    x: float
    y: float  # of its middle
    width: float
    hidden: bool  # has nodes below that are not shown


def to_svg(tree: Tree, *, counts: bool = True, max_depth: int | None = None) -> str:
    """Draw a tree as a self-contained SVG document.

    Parameters
    ----------
    tree
        Any tree.
    counts
        Whether to show the number of rows and the class bar of each node.
    max_depth
        Nodes below this depth are left out; the boxes above them end in an ellipsis.

    Examples
    --------
    >>> from incrowd.trees.tree import Node
    >>> to_svg(Tree((Node(None, (), (2, 3)),), "ill", ("no", "yes"))).startswith("<svg ")
    True
    """
    boxes = layout(tree, max_depth)
    shown = {box.number: box for box in boxes}
    parts = [edge(tree, box, shown[tree.parents[box.number]]) for box in boxes if box.number]
    parts += [_box(tree, box, counts) for box in boxes]
    entries, legend_width = legend(tree) if counts else ("", 0.0)
    width = max(*(box.x + box.width for box in boxes), legend_width) + MARGIN
    height = max(box.y for box in boxes) + BOX_HEIGHT / 2 + MARGIN
    title = visible(f"Decision tree for {tree.target}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label={quoteattr(title)}>'
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#fff"/>'
        f'<g font-family="system-ui,sans-serif" font-size="12" fill="{INK}">'
        f"{entries}{''.join(parts)}</g></svg>"
    )


def layout(tree: Tree, max_depth: int | None) -> list[Box]:
    """Places of the shown nodes: a column for each depth, a row for each end, parents in the middle."""
    shown = [n for n in tree.preorder() if max_depth is None or tree.depths[n] <= max_depth]
    ends = {n for n in shown if tree.nodes[n].is_leaf or tree.depths[n] == max_depth}
    middle: dict[int, float] = {}
    row = 0
    for number in shown:
        if number in ends:
            middle[number] = MARGIN + LEGEND + BOX_HEIGHT / 2 + row * ROW
            row += 1
    for number in reversed(shown):
        if number not in ends:
            branches = tree.nodes[number].branches
            middle[number] = (middle[branches[0].child] + middle[branches[-1].child]) / 2
    left, width = _columns(tree, shown)
    return [
        Box(n, left[tree.depths[n]], middle[n], width[tree.depths[n]], n in ends and not tree.nodes[n].is_leaf)
        for n in shown
    ]


def _columns(tree: Tree, shown: list[int]) -> tuple[list[float], list[float]]:
    """Left edge and width of the boxes of each depth; before them there is room for the tests."""
    depth = max(tree.depths[number] for number in shown)
    name, test = [6] * (depth + 1), [0] * (depth + 2)
    for number in shown:
        node, level = tree.nodes[number], tree.depths[number]
        name[level] = max(name[level], min(LONGEST_NAME, len(headline(tree, tree.nodes[number]))) + 2)
        longest = max((len(condition(branch.predicate)) for branch in node.branches), default=0)
        test[level + 1] = max(test[level + 1], min(LONGEST_TEST, longest))
    width = [max(84.0, BOLD * letters + 16) for letters in name]
    left = [float(MARGIN)]
    for level in range(1, depth + 1):
        left.append(left[-1] + width[level - 1] + 46 + LETTER * test[level])
    return left, width


def edge(tree: Tree, box: Box, parent: Box) -> str:
    """The line from a parent to a child, with the test above its end."""
    predicate = next(b.predicate for b in tree.nodes[parent.number].branches if b.child == box.number)
    test = condition(predicate)
    start, bend = parent.x + parent.width, parent.x + parent.width + 30
    curve = f"C{start + 18:.0f} {parent.y:.0f} {start + 12:.0f} {box.y:.0f} {bend:.0f} {box.y:.0f}"
    return (
        f'<path fill="none" stroke="{LINE}" stroke-width="1.5"'
        f' d="M{start:.0f} {parent.y:.0f}{curve}H{box.x:.0f}"/>'
        f'<text {QUIET} x="{bend + 6:.0f}" y="{box.y - 5:.0f}">'
        f"<title>{_text_of(f'{predicate.attribute} {test}')}</title>{short(test, LONGEST_TEST)}</text>"
    )


def _box(tree: Tree, box: Box, counts: bool) -> str:
    """A node: its attribute or class, the number of rows and the class bar."""
    node = tree.nodes[box.number]
    top = box.y - BOX_HEIGHT / 2
    words = short(headline(tree, node), LONGEST_NAME) + (" …" if box.hidden else "")
    weight = "" if node.is_leaf else ' font-weight="600"'
    middle = box.y - 5 if counts else box.y + 4
    drawn = (
        f'<rect fill="{LEAF if node.is_leaf else "#fff"}" stroke="{LINE}" x="{box.x:.0f}" y="{top:.0f}"'
        f' width="{box.width:.0f}" height="{BOX_HEIGHT}" rx="6"/>'
        f'<text x="{box.x + 10:.0f}" y="{middle:.0f}"{weight}>{words}</text>'
    )
    if not counts:
        return drawn
    number = f'<text {QUIET} x="{box.x + 10:.0f}" y="{box.y + 10:.0f}">{amount(node.size)}</text>'
    return drawn + number + _bar(tree, box)


def _bar(tree: Tree, box: Box) -> str:
    """Class shares as one bar at the bottom of a box."""
    node = tree.nodes[box.number]
    total = node.size
    left, room = box.x + 8, box.width - 16
    parts = []
    for place, count in enumerate(node.counts):
        if count:
            width = room * count / total
            note = _text_of(f"{class_name(tree.classes[place])}: {amount(count)}")
            parts.append(
                f'<rect x="{left:.1f}" y="{box.y + 12.5:.1f}" width="{width:.1f}" height="3.5"'
                f' fill="{colour(place)}"><title>{note}</title></rect>'
            )
            left += width
    return "".join(parts)


def legend(tree: Tree) -> tuple[str, float]:
    """The colours of the classes, and how wide they are together."""
    x = float(MARGIN)
    parts = [f'<text {QUIET} x="{x:.0f}" y="{MARGIN + 10}">{short(tree.target, LONGEST_NAME)}</text>']
    x += LETTER * min(LONGEST_NAME, len(tree.target)) + 16
    for place, value in enumerate(tree.classes[: len(COLOURS)]):
        name = class_name(value)
        parts.append(f'<rect x="{x:.0f}" y="{MARGIN + 1}" width="10" height="10" rx="2" fill="{colour(place)}"/>')
        parts.append(f'<text x="{x + 15:.0f}" y="{MARGIN + 10}">{short(name, LONGEST_NAME)}</text>')
        x += 15 + LETTER * min(LONGEST_NAME, len(name)) + 18
    if len(tree.classes) > len(COLOURS):
        parts.append(f'<text {QUIET} x="{x:.0f}" y="{MARGIN + 10}">+ {len(tree.classes) - len(COLOURS)}</text>')
        x += 40
    return "".join(parts), x


def colour(place: int) -> str:
    """The colour of a class, by its place."""
    return COLOURS[place] if place < len(COLOURS) else OTHER


def short(words: str, longest: int) -> str:
    """Escaped words, cut to a length."""
    return _text_of(words if len(words) <= longest else words[: longest - 1] + "…")


def _text_of(words: str) -> str:
    return escape(visible(words))


# Conditions and classes in words, for drawings.
MOST_VALUES = 6


def visible(words: str) -> str:
    """Words without characters that steer a terminal, turn the text around or break XML.

    Examples
    --------
    >>> visible("a\\x1b[31mb")
    'a\ufffd[31mb'
    """
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in words)


def condition(predicate: Predicate) -> str:
    """A predicate without its attribute; long lists are cut short.

    Examples
    --------
    >>> condition(Le("age", 30)), condition(In("city", frozenset({"Bonn", "Ulm"})))
    ('<= 30', 'in {Bonn, Ulm}')
    """
    match predicate:
        case Eq():
            return f"= {visible(str(predicate.value))}"
        case In():
            values = sorted(visible(str(value)) for value in predicate.values)
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
    return "(missing)" if value is None else visible(str(value))


def majority(tree: Tree, node: Node) -> str:
    """The most frequent class of a node, or a dash if it has no rows."""
    if not any(node.counts):
        return "–"
    return class_name(tree.classes[max(range(len(node.counts)), key=node.counts.__getitem__)])


def headline(tree: Tree, node: Node) -> str:
    """What a node tests, or the class it says."""
    return majority(tree, node) if node.attribute is None else visible(node.attribute)


def amount(count: float) -> str:
    """A count in words: whole, or with two decimals.

    Examples
    --------
    >>> amount(1234567), amount(0.5)
    ('1,234,567', '0.50')
    """
    return f"{count:,.0f}" if count == round(count) else f"{count:,.2f}"


__all__ = ["to_svg", "to_text"]


def to_text(tree: Tree, *, counts: bool = True, max_depth: int | None = None) -> str:
    """Draw a tree with lines.

    Parameters
    ----------
    tree
        Any tree.
    counts
        Whether to show the class histogram of each node.
    max_depth
        Nodes below this depth are only counted.

    Examples
    --------
    >>> from incrowd.trees.tree import Branch, Node
    >>> from incrowd.vocabulary.predicate import Gt, Le
    >>> root = Node("age", (Branch(Le("age", 30), 1), Branch(Gt("age", 30), 2)), (2, 2))
    >>> tree = Tree((root, Node(None, (), (2, 0)), Node(None, (), (0, 2))), "ill", ("no", "yes"))
    >>> print(to_text(tree))
    age  [no: 2, yes: 2]
    ├─ <= 30: no  [no: 2]
    └─ > 30: yes  [yes: 2]
    """
    lines = []
    below = _sizes(tree)
    waiting = [(0, "", "", "")]
    while waiting:
        number, lead, elbow, test = waiting.pop()
        node = tree.nodes[number]
        hidden = max_depth is not None and tree.depths[number] >= max_depth and not node.is_leaf
        lines.append(lead + elbow + test + _headline(tree, number, counts, below[number] if hidden else 0))
        if hidden:
            continue
        inner = lead + {"": "", "├─ ": "│  ", "└─ ": "   "}[elbow]
        for place, branch in reversed(list(enumerate(node.branches))):
            corner = "└─ " if place == len(node.branches) - 1 else "├─ "
            waiting.append((branch.child, inner, corner, f"{condition(branch.predicate)}: "))
    return "\n".join(lines)


def _headline(tree: Tree, number: int, counts: bool, hidden: int) -> str:
    """What a node tests or says, with its counts."""
    node = tree.nodes[number]
    words = headline(tree, node)
    if hidden:
        words += f" … {hidden:,} nodes below"
    if not counts:
        return words
    parts = [
        f"{class_name(value)}: {amount(count)}" for value, count in zip(tree.classes, node.counts, strict=True) if count
    ]
    return f"{words}  [{', '.join(parts)}]"


def _sizes(tree: Tree) -> list[int]:
    """Number of nodes below each node."""
    below = [0] * len(tree.nodes)
    for number in range(len(tree.nodes) - 1, 0, -1):
        below[tree.parents[number]] += below[number] + 1
    return below
