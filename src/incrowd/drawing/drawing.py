"""A drawing to look at: notebooks show it, files keep it, and axes of Matplotlib take it in their own coordinates."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.drawing.markup import PALETTE, SERIES, Html
from incrowd.drawing.page import figure, page
from incrowd.drawing.svg import standalone
from incrowd.errors import OutputError

MARKERS = ("o", "s", "^", "D", "v", "P", "h", "X")
"""The marks of the series, in the words of Matplotlib; as :func:`incrowd.drawing.svg.marker` draws them."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A chart or a tree, as SVG with its colours, light and dark.

    ``draw`` puts the same on axes of Matplotlib: it uses methods of the axes only, so that nothing is imported here.

    Examples
    --------
    >>> from incrowd.drawing.svg import picture
    >>> Drawing("Nothing", picture("nothing", [], 10, 10), lambda axes: None).svg[:5]
    '<svg '
    """

    title: str
    picture: Html
    draw: Callable[[Any], None]

    @property
    def svg(self) -> str:
        """A document of its own, with everything it needs."""
        return standalone(self.picture, self.title)

    def save(self, path: str | Path) -> None:
        """Write it, by the ending of the path, as SVG or as an HTML page; the file is complete or not there."""
        path = Path(path)
        if path.suffix.lower() not in (".svg", ".html"):
            raise OutputError(f"{path.name}: a drawing is written as .svg or .html. For others, draw on axes: ax=.")
        html = path.suffix.lower() == ".html"
        text = page(self.title, figure(self.title, self.picture)) if html else self.svg
        hidden = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            hidden.write_text(text, encoding="utf-8")
            hidden.replace(path)
        except OSError as error:
            raise OutputError(f"{path.name} cannot be written: {error.strerror}.") from None
        finally:
            hidden.unlink(missing_ok=True)

    def on(self, axes: Any) -> Any:
        """Draw on axes of Matplotlib, and give them back."""
        axes.set_title(self.title)
        self.draw(axes)
        return axes

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return page(self.title, figure(self.title, self.picture), whole=False)

    def __repr__(self) -> str:
        return f"Drawing of {self.title!r}"


def ink(name: str) -> str:
    """A colour of the palette on light paper, as axes of Matplotlib take it."""
    return PALETTE[name][0]


def series_style(series: int) -> dict[str, Any]:
    """Colour and mark of a series, as on our own drawings."""
    return {"color": ink(f"series-{series % SERIES}"), "marker": MARKERS[(series + series // SERIES) % SERIES]}
