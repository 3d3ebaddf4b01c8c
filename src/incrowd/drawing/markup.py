"""HTML and SVG as typed text: what is not :data:`Html` must pass :func:`text`, which escapes it.

The one palette, light and dark, and style sheets that are written with it.

Every colour is a custom property on pages; in the file of a drawing it is written out, for programs that know no
properties. Rules of a style sheet hold below the class ``incrowd`` only, so that a notebook around them keeps its look.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
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


SCOPE = "incrowd"
DARK = "@media screen and (prefers-color-scheme: dark)"
"""Paper is light."""

PALETTE: dict[str, tuple[str, str]] = {
    "ink": ("#1c2430", "#e4e8ee"),
    "soft": ("#5b6675", "#a0abba"),
    "quiet": ("#98a2af", "#6d7784"),
    "line": ("#d9dee5", "#343b45"),
    "tint": ("#f4f6f9", "#1e2329"),
    "paper": ("#ffffff", "#15181c"),
    "good": ("#17683c", "#6fcf97"),
    "good-tint": ("#eaf5ee", "#16281e"),
    "bad": ("#a3201a", "#ff8f87"),
    "bad-tint": ("#fcedec", "#331a19"),
    "unknown": ("#8a5a00", "#e6b34a"),
    "unknown-tint": ("#fdf4e3", "#2d2514"),
    # series of a chart: after Okabe and Ito, to be told apart by everybody; darker where white paper asks for it
    "series-0": ("#0072b2", "#4aa3df"),
    "series-1": ("#d55e00", "#ff8a3d"),
    "series-2": ("#009e73", "#2fc79a"),
    "series-3": ("#b5568e", "#e08fc0"),
    "series-4": ("#b07a00", "#e6b34a"),
    "series-5": ("#2f8fc4", "#8ccdf2"),
    "series-6": ("#7a5ba6", "#b79be0"),
    "series-7": ("#6b7480", "#a9b3c0"),
}
"""Name, on light paper, on a dark screen."""
SERIES = sum(name.startswith("series-") for name in PALETTE)

_RULE = re.compile(r"(?m)^( *)([^@{}\n]+?) \{")


def scoped(sheet: str) -> str:
    """A style sheet whose rules hold below the class of the kit; ``&`` is the element that has it."""
    return _RULE.sub(lambda rule: f"{rule[1]}{', '.join(map(_below, rule[2].split(', ')))} {{", sheet)


def _below(selector: str) -> str:
    return selector.replace("&", f".{SCOPE}") if "&" in selector else f".{SCOPE} {selector}"


@cache
def page_style() -> str:
    """The style sheet of pages: colours, drawings and all the rest."""
    light, dark = ("".join(f"--{name}: {pair[i]}; " for name, pair in PALETTE.items()) for i in (0, 1))
    colours = f"& {{ {light}}}\n{DARK} {{\n& {{ {dark}}}\n}}\n"
    return scoped(colours + _sheet("svg.css") + _sheet("page.css"))


def drawing_style(body: str) -> str:
    """The rules that a drawing needs, with their colours written out: light, and then dark."""
    rules = [rule for rule in _sheet("svg.css").splitlines() if any(kind in body for kind in _kinds(rule))]
    light, dark = ("\n".join(_written_out(rule, i) for rule in rules if i == 0 or "var(" in rule) for i in (0, 1))
    return scoped(f"{light}\n{DARK} {{\n{dark}\n}}")


def _kinds(rule: str) -> list[str]:
    """What an element must have for the rule to be about it: one of its classes, or its tag."""
    return [re.split(r"[.&:\[ ]+", selector)[-1] or SCOPE for selector in rule.partition(" {")[0].split(", ")]


def _written_out(rule: str, side: int) -> str:
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda name: PALETTE[name[1]][side], rule)


@cache
def _sheet(name: str) -> str:
    return files("incrowd.drawing").joinpath(name).read_text(encoding="utf-8")
