"""Drawings: shown by notebooks, written to files, put on axes."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from incrowd.drawing.markup import SERIES
from incrowd.drawing.svg import Drawing, picture, series_style, words
from incrowd.errors import OutputError
from support.axes import RecordedAxes

EVIL = "<script>x</script>"


def drawing(draw=lambda axes: axes.legend()) -> Drawing:
    return Drawing(EVIL, picture(EVIL, [words(EVIL, (0, 10))], 50, 20), draw)


def test_a_notebook_gets_an_escaped_fragment_and_a_whole_document() -> None:
    view, svg = drawing()._repr_html_(), drawing()._repr_svg_()
    assert view.startswith("<style>")
    assert "<script" not in view + svg
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"


def test_a_drawing_is_written_by_the_ending_of_its_name(tmp_path: Path) -> None:
    drawing().save(tmp_path / "one.svg")
    drawing().save(str(tmp_path / "one.html"))
    assert (tmp_path / "one.svg").read_text(encoding="utf-8") == drawing().svg
    assert (tmp_path / "one.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(OutputError, match=r"one\.png: a drawing is written as \.svg or \.html"):
        drawing().save(tmp_path / "one.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.html", "one.svg"]


def test_a_drawing_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken.svg").mkdir()
    with pytest.raises(OutputError, match=r"taken\.svg cannot be written"):
        drawing().save(tmp_path / "taken.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.svg"]


def test_axes_get_the_title_and_are_given_back() -> None:
    axes = RecordedAxes()
    assert drawing().on(axes) is axes
    assert [name for name, _, _ in axes.calls] == ["set_title", "legend"]


def test_series_differ_in_colour_and_mark() -> None:
    styles = [tuple(series_style(series).values()) for series in range(2 * SERIES)]
    assert len(set(styles)) == 2 * SERIES
