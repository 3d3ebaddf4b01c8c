"""The drawing kit: words that fit, marks, scales, bars, drawings as files."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.drawing.markup import DARK, PALETTE, SERIES, drawing_style, page_style, scoped, text
from incrowd.drawing.svg import (
    WIDTH,
    Bar,
    BarGroup,
    ChartBox,
    bars,
    even_scale,
    fitted,
    log_scale,
    marker,
    picture,
    place_labels,
    powers,
    standalone,
    text_width,
    words,
)
from incrowd.drawing.wording import short_number

SVG = "{http://www.w3.org/2000/svg}"
EVIL = '"><script>alert(1)</script>\x00'


@given(st.text(), st.floats(20, 300), st.booleans())
def test_fitted_words_fit(said: str, width: float, strong: bool) -> None:
    assert text_width(fitted(said, width, strong=strong), strong=strong) <= width


def test_wide_letters_and_combining_marks_are_measured() -> None:
    assert text_width("東京") > 2 * text_width("il")
    assert text_width("e\u0301") == text_width("e")


def test_series_differ_in_shape_as_well_as_in_colour() -> None:
    drawn = [marker(number, (0, 0)) for number in range(2 * SERIES)]
    assert len(set(drawn)) == 2 * SERIES
    assert len({re.sub(r'class="[^"]*"', "", each) for each in drawn[:SERIES]}) == SERIES


def test_scales_hold_their_values() -> None:
    up = even_scale([0.5, 0.5], 10, 0)
    assert up.low <= 0.5 <= up.high
    assert even_scale([200 / 3, 200 / 3 + 1e-13], 0, 100).ticks == (66.6, 66.8)  # no more than rounding apart
    one = log_scale([5.0], 0, 100)
    assert one(5.0) == pytest.approx(50)
    assert len(powers(log_scale([0.011, 0.012], 0, 1)).ticks) > 1
    assert len(powers(log_scale([0.045, 0.063], 0, 1)).ticks) > 1  # only one of 1, 2, 5


def test_a_label_without_room_is_left_out() -> None:
    room = ChartBox(0, 0, 100, 100)
    assert list(place_labels([("k=5", (50, 50))], [ChartBox(0, 0, 100, 100)], room)) == []
    assert len(list(place_labels([("k=5", (50, 50)), ("k=6", (50, 50)), ("k=7", (50, 50))], [], room))) == 3


def test_bars_and_their_notes_stay_inside() -> None:
    groups = [
        BarGroup("a quasi-identifier with a long name", (Bar("10,000 rows, 100 %", ((1.0, "series-0", ""),)),)),
        BarGroup("b", (Bar("x" * 60, ((0.2, "series-0", "one"), (0.1, "series-1", "two"))),)),
    ]
    drawn, bottom, place = bars(groups, 1.0)
    root = ElementTree.fromstring(picture("bars", drawn, WIDTH, bottom))
    for each in root.iter("text"):
        wide, x = text_width(each.text or ""), float(each.get("x", 0))
        left = x - wide if each.get("text-anchor") == "end" else x
        assert left >= 0
        assert left + wide <= WIDTH + 0.1
    assert [title.text for title in root.iter("title")] == ["one", "two"]
    assert place(0.5) < place(1.0) <= WIDTH


def test_a_file_carries_its_colours_and_takes_words_as_text() -> None:
    drawn = standalone(picture(EVIL, [words(EVIL, (0, 10), tip=EVIL), marker(0, (5, 5))], 100, 20), EVIL)
    root = ElementTree.fromstring(drawn)
    assert root.get("role") == "img"
    assert (root.get("aria-label") or "").startswith('"><script>')
    assert "script" not in {each.tag.removeprefix(SVG) for each in root.iter()}
    light, _, dark = (root.findtext(f"{SVG}style") or "").partition(DARK)
    assert f".incrowd .series-0 {{ color: {PALETTE['series-0'][0]}; }}" in light
    assert f".incrowd .series-0 {{ color: {PALETTE['series-0'][1]}; }}" in dark
    assert "var(" not in drawn
    assert ".series-1" not in drawn


def test_every_colour_of_the_style_sheets_is_in_the_palette() -> None:
    sheet = page_style()
    assert set(re.findall(r"var\(--([a-z0-9-]+)\)", sheet)) <= PALETTE.keys()
    assert not re.search(r"#[0-9a-f]{3,6}", re.sub(r"--[a-z0-9-]+: #[0-9a-f]{6};", "", sheet))


def test_style_sheets_touch_nothing_outside() -> None:
    selectors = re.findall(r"(?m)^ *([^@{}\n]+?) \{", page_style() + drawing_style(text("line text ground")))
    assert selectors
    assert all(part.startswith(".incrowd") for selector in selectors for part in selector.split(", "))
    assert scoped("& { margin: 0 }") == ".incrowd { margin: 0 }"


def _luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
def test_colours_can_be_read(side: int) -> None:
    colour = {name: pair[side] for name, pair in PALETTE.items()}
    for ink in ("ink", "soft", "good", "bad", "unknown"):
        assert _contrast(colour[ink], colour["paper"]) >= 4.5, ink
    for ink in ("good", "bad", "unknown"):
        assert _contrast(colour[ink], colour[f"{ink}-tint"]) >= 4.5, ink
    for number in range(SERIES):
        assert _contrast(colour[f"series-{number}"], colour["paper"]) >= 3, number


def test_a_number_is_short_and_never_a_false_zero():
    assert [short_number(one) for one in (0.0432109, 5e-44, -7e-9, None)] == ["0.0432", "<0.001", ">-0.001", "–"]
