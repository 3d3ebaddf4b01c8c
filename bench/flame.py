"""A flame graph as an SVG file of its own: callers above, what they call below, as wide as the time it took."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from incrowd.report.markup import Html, element, text

WIDTH, EDGE, LINE, TOP, LETTER, LEAST = 960, 8, 19, 62, 6.3, 0.8
INK, GREY = "#1f2933", "#52606d"


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
    """Draw the tree; ``kind`` says which colour an entry has.

    Examples
    --------
    >>> flame_graph("Time", grow([(["a", "b"], 2.0)]), {"x": "#eee"}, lambda name: "x").startswith("<svg ")
    True
    """
    scale = (WIDTH - 2 * EDGE) / (root.seconds or 1.0)
    height = TOP + LINE * (root.depth - 1) + 10
    drawn = [
        element("text", text(title), x=EDGE, y=18, font_size=14, font_weight=600, fill=INK),
        *_legend(colours),
    ]
    left = float(EDGE)
    for node in _largest_first(root):
        drawn += _boxes(node, left, TOP, scale, colours, kind)
        left += scale * node.seconds
    body = element("g", *drawn, font_family="system-ui,sans-serif", font_size=11)
    ground = element("rect", width="100%", height="100%", fill="#fff")
    picture = element(
        "svg",
        element("title", text(title)),
        ground,
        body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH,
        height=height,
        role="img",
        aria_label=title,
    )
    return f"{picture}\n"


def _boxes(
    node: Node, left: float, top: float, scale: float, colours: Mapping[str, str], kind: Callable[[str], str]
) -> Iterator[Html]:
    """A box with its name, and those below it; what is too narrow to be seen is left out."""
    width = scale * node.seconds
    if width < LEAST:
        return
    note = element("title", text(f"{node.name}: {node.seconds:.2f} s"))
    shape = {"x": round(left, 1), "y": top, "width": round(width - 0.5, 1), "height": LINE - 1}
    yield element("rect", note, fill=colours[kind(node.name)], rx=2, **shape)
    words = _fitting(f"{_short(node.name)} {node.seconds:.2f} s", width)
    if words:
        yield element("text", text(words), x=round(left + 4, 1), y=top + 13, fill=INK, pointer_events="none")
    for below in _largest_first(node):
        yield from _boxes(below, left, top + LINE, scale, colours, kind)
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


def _fitting(words: str, width: float) -> str:
    """As much of the words as there is room for, none if that is next to nothing."""
    room = int((width - 8) / LETTER)
    return words if len(words) <= room else f"{words[: room - 1]}…" if room > 4 else ""


def _legend(colours: Mapping[str, str]) -> Iterator[Html]:
    x = float(EDGE)
    for name, colour in colours.items():
        yield element("rect", x=x, y=32, width=10, height=10, fill=colour)
        yield element("text", text(name), x=x + 15, y=41, fill=GREY)
        x += 33 + LETTER * len(name)
