"""A flame graph as an SVG file of its own: callers above, what they call below, as wide as the time it took."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from incrowd.drawing.markup import Html
from incrowd.drawing.svg import SMALL, area_entry, fitted, legend, picture, rect, standalone, text_width, words

WIDTH, LINE, LEAST = 960, 19, 0.8


@dataclass
class Node:
    """One entry of the stacks: its time with all below it, and what is below it."""

    name: str
    seconds: float = 0.0
    below: dict[str, Node] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Levels from here down."""
        return 1 + max((node.depth for node in self.below.values()), default=0)


def grow(stacks: Sequence[tuple[Sequence[str], float]]) -> Node:
    """All stacks as one tree.

    Examples
    --------
    >>> root = grow([(["a", "b"], 2.0), (["a"], 1.0)])
    >>> root.seconds, root.below["a"].below["b"].seconds
    (3.0, 2.0)
    """
    root = Node("")
    for stack, seconds in stacks:
        node = root
        node.seconds += seconds
        for name in stack:
            node = node.below.setdefault(name, Node(name))
            node.seconds += seconds
    return root


def flame_graph(title: str, root: Node, colours: Mapping[str, str], kind: Callable[[str], str]) -> str:
    """Draw the tree; ``kind`` says which of the ``colours``, classes of the style sheet, an entry has.

    Examples
    --------
    >>> flame_graph("Time", grow([(["a", "b"], 2.0)]), {"x": "series-0"}, lambda name: "x").startswith("<svg ")
    True
    """
    scale = WIDTH / (root.seconds or 1.0)
    drawn, top = legend([area_entry(name, f"{colour} pale") for name, colour in colours.items()], WIDTH)
    parts, left = [drawn], 0.0
    for node in _largest_first(root):
        parts += _boxes(node, left, top, scale, lambda name: colours[kind(name)])
        left += scale * node.seconds
    return standalone(picture(title, parts, WIDTH, top + LINE * (root.depth - 1)), title)


def _boxes(node: Node, left: float, top: float, scale: float, colour: Callable[[str], str]) -> Iterator[Html]:
    """A box with its name, and those below it; what is too narrow to be seen is left out."""
    width = scale * node.seconds
    if width < LEAST:
        return
    tip = f"{node.name}: {node.seconds:.2f} s"
    yield rect(left, top, max(width - 0.5, 0.1), LINE - 1, f"area {colour(node.name)} pale", tip, rx=2)
    name = fitted(f"{_short(node.name)} {node.seconds:.2f} s", width - 8, SMALL)
    if text_width(name, SMALL) > 4 * SMALL or not name.endswith("…"):
        yield words(name, (left + 4, top + 13), kind="small", tip=tip)
    for below in _largest_first(node):
        yield from _boxes(below, left, top + LINE, scale, colour)
        left += scale * below.seconds


def _largest_first(node: Node) -> list[Node]:
    return sorted(node.below.values(), key=lambda below: -below.seconds)


def _short(name: str) -> str:
    """The last part of a module and its function.

    Examples
    --------
    >>> _short("incrowd.tables.reading.read:read"), _short("polars")
    ('read:read', 'polars')
    """
    module, _, function = name.partition(":")
    return f"{module.rpartition('.')[2]}:{function}" if function else module
