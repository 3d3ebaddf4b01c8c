"""HTML and SVG as typed text: what is not :data:`Html` must pass :func:`text`, which escapes it."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import NewType

from incrowd.drawing.wording import plain

Html = NewType("Html", str)
"""Text that is markup already. The type checker refuses a plain string where markup is expected."""


def text(words: str) -> Html:
    """Words as visible text, whatever they hold."""
    return Html(html.escape(plain(words)))


def texts(*words: str) -> list[Html]:
    """Each as visible text: the cells of a row, the heads of a table."""
    return [text(one) for one in words]


def join(parts: Iterable[Html], between: str = "") -> Html:
    """Markup one after the other."""
    return Html(between.join(parts))


def element(tag: str, *children: Html, **attributes: str | float) -> Html:
    """An element. ``class_`` stands for ``class``, ``aria_label`` for ``aria-label``; values are escaped."""
    written = "".join(f' {_attribute(name)}="{_value(value)}"' for name, value in attributes.items())
    return Html(f"<{tag}{written}>{''.join(children)}</{tag}>")


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return text(value) if isinstance(value, str) else f"{round(value, 2):g}"
