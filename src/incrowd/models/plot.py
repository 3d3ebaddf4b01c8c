"""A published tree as a drawing for a paper: SVG that carries everything it needs.

Root at the left, leaves at the right, a stripe in the colour of each leaf's class. Class shares are drawn only in
leaves whose counts the model shows. Private attributes have a dashed frame. The caption tells what was promised.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from incrowd.models.published_tree import PublishedTree
from incrowd.models.text import drawable, promise
from incrowd.trees.draw import (
    BOX_HEIGHT,
    GREY,
    INK,
    LEAF,
    LETTER,
    LINE,
    LONGEST_NAME,
    MARGIN,
    Box,
    amount,
    class_name,
    colour,
    edge,
    headline,
    layout,
    legend,
    short,
    visible,
)
from incrowd.trees.tree import Tree

CAPTION = 44
QUIET = f'font-size="11" fill="{GREY}"'


def plot_tree(model: PublishedTree, *, max_depth: int | None = None) -> str:
    """Draw a published tree as a self-contained SVG document.

    Parameters
    ----------
    model
        Any published tree.
    max_depth
        Nodes below this depth are left out; the boxes above them end in an ellipsis.

    Examples
    --------
    >>> from incrowd.trees.tree import Node
    >>> tree = Tree((Node(None, (), (0, 0)),), "ill", ("no", "yes"))
    >>> asked = {"is": "k-anonymity of spans", "k": 2, "l": None, "max_confidence": None}
    >>> model = PublishedTree("ill", ("no", "yes"), True, (), tree, (1,), (None,), asked, ((2, 3),), 5, 1)
    >>> plot_tree(model).startswith("<svg ")
    True
    """
    tree = drawable(model)
    boxes = layout(tree, max_depth)
    shown = {box.number: box for box in boxes}
    parts = [edge(tree, box, shown[tree.parents[box.number]]) for box in boxes if box.number]
    parts += [_box(model, tree, box) for box in boxes]
    entries, legend_width = legend(tree)
    caption = _caption(model, {tree.nodes[box.number].attribute for box in boxes})
    words = max(LETTER * len(line) for line in caption) + MARGIN
    width = max(*(box.x + box.width for box in boxes), legend_width, words) + MARGIN
    bottom = max(box.y for box in boxes) + BOX_HEIGHT / 2 + MARGIN
    told = "".join(
        f'<text {QUIET} x="{MARGIN}" y="{bottom + 10 + 16 * place:.0f}">{escape(visible(line))}</text>'
        for place, line in enumerate(caption)
    )
    title = visible(f"Decision tree for {model.target}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{bottom + CAPTION:.0f}"'
        f' viewBox="0 0 {width:.0f} {bottom + CAPTION:.0f}" role="img" aria-label={quoteattr(title)}>'
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#fff"/>'
        f'<g font-family="system-ui,sans-serif" font-size="12" fill="{INK}">'
        f"{entries}{''.join(parts)}{told}</g></svg>\n"
    )


def _caption(model: PublishedTree, drawn: set[str | None]) -> list[str]:
    """What is promised, and how to read the boxes."""
    said = f"{promise(model)}."
    notes = ["Bars: class shares, where counts may be shown."] if any(model.safe_counts) else []
    if drawn & {*model.private}:
        notes.append("Dashed: private attribute.")
    return [said[0].upper() + said[1:], " ".join(notes)]


def _box(model: PublishedTree, tree: Tree, box: Box) -> str:
    """A node: its attribute, or its class with the counts that may be shown."""
    node, counts = tree.nodes[box.number], model.safe_counts[box.number]
    top = box.y - BOX_HEIGHT / 2
    private = node.attribute in model.private
    words = short(headline(tree, node), LONGEST_NAME) + (" …" if box.hidden else "")
    weight = (' font-weight="600"' if node.attribute else "") + (' font-style="italic"' if private else "")
    dashes = ' stroke-dasharray="4 3"' if private else ""
    drawn = (
        f'<rect fill="{LEAF if node.is_leaf else "#fff"}" stroke="{LINE}"{dashes} x="{box.x:.0f}" y="{top:.0f}"'
        f' width="{box.width:.0f}" height="{BOX_HEIGHT}" rx="6"/>'
        f'<text x="{box.x + 12:.0f}" y="{box.y + (4 if counts is None else -4):.0f}"{weight}>{words}</text>'
    )
    if node.is_leaf:
        drawn += (
            f'<rect x="{box.x:.0f}" y="{top + 5:.0f}" width="4" height="{BOX_HEIGHT - 10}" rx="2"'
            f' fill="{colour(model.labels[box.number])}"/>'
        )
    return drawn if counts is None else drawn + _shares(model, box, counts)


def _shares(model: PublishedTree, box: Box, counts: tuple[int, ...]) -> str:
    """The number of rows, and the class shares as one bar."""
    left, room, total = box.x + 12, box.width - 22, sum(counts)
    parts = [f'<text {QUIET} x="{left:.0f}" y="{box.y + 9:.0f}">n = {amount(total)}</text>']
    for place, count in enumerate(counts):
        if count:
            width = room * count / total
            note = escape(f"{class_name(model.classes[place])}: {amount(count)} ({count / total:.0%})")
            parts.append(
                f'<rect x="{left:.1f}" y="{box.y + 12:.1f}" width="{width:.1f}" height="4"'
                f' fill="{colour(place)}"><title>{note}</title></rect>'
            )
            left += width
    return "".join(parts)
