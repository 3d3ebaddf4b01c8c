"""A drawing of a page as a file of its own, readable on light and dark ground."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from incrowd.lab.reproduce.as_html import lab_style, own_style
from incrowd.report.markup import Html, element

_SIZE = re.compile(r' width="([\d.]+)" height="([\d.]+)"')
_RULE = re.compile(r"\.incrowd-report svg [^{}]*\{[^{}]*\}")
_COLOURS = re.compile(r"--[a-z0-9-]+: ?#[0-9a-f]+;")
MARGIN = 12


def standalone(drawing: Html) -> str:
    """The drawing with its styles and its own ground."""
    size = _SIZE.search(drawing)
    assert size is not None
    width, height = float(size[1]) + 2 * MARGIN, float(size[2]) + 2 * MARGIN
    placed = Html(drawing.replace("<svg ", f'<svg x="{MARGIN}" y="{MARGIN}" ', 1))
    whole = element(
        "svg",
        element("style", _style()),
        element("rect", width="100%", height="100%", class_="ground"),
        placed,
        xmlns="http://www.w3.org/2000/svg",
        class_="incrowd-report",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    )
    return f"{whole}\n"


@cache
def _style() -> Html:
    """Only what drawings need of the style sheets: colours, light and dark, and the rules about them."""
    report = files("incrowd.report").joinpath("style.css").read_text(encoding="utf-8")
    sheets = [report, lab_style(), own_style()]
    rules = [rule for sheet in sheets for rule in _RULE.findall(sheet)]
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", "".join(rules))) | {"--paper"}
    light, dark = (_colours(sheets, used, is_dark) for is_dark in (False, True))
    ground = ".incrowd-report .ground{fill:var(--paper)}.incrowd-report text{font-family:system-ui,sans-serif}"
    root = f".incrowd-report{{{light}}}"
    return Html(f"{root}@media(prefers-color-scheme:dark){{.incrowd-report{{{dark}}}}}{ground}{''.join(rules)}")


def _colours(sheets: list[str], used: set[str], is_dark: bool) -> str:
    """The declarations of colours before the dark block of each sheet, or in it."""
    found = []
    for sheet in sheets:
        before, _, after = sheet.partition("prefers-color-scheme: dark")
        found += _COLOURS.findall(after if is_dark else before)
    return "".join(one.replace(" ", "") for one in found if one.partition(":")[0] in used)
