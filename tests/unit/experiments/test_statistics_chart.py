from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.critical_difference import WIDTH, critical_difference_diagram
from experiments.significance import bonferroni_dunn

RANKED = {"TDR": 2.917, "TDS": 2.944, "kACTUS": 1.278, "kADET": 2.861}
methods = st.dictionaries(st.text(min_size=1, max_size=30), st.floats(1, 9), min_size=2, max_size=9).map(
    lambda ranked: {name: min(rank, float(len(ranked))) for name, rank in ranked.items()}
)


def drawn(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def bars(svg: str) -> list[tuple[float, float]]:
    rects = [rect.attrib for rect in drawn(svg).iter("rect") if rect.attrib["class"] == "area series-0"]
    return [(float(rect["x"]), float(rect["x"]) + float(rect["width"])) for rect in rects]


def words(svg: str) -> list[str]:
    return [text.text or "" for text in drawn(svg).iter("text")]


def test_it_says_in_words_what_it_shows() -> None:
    svg = critical_difference_diagram(bonferroni_dunn(RANKED, 18, "kACTUS"))
    assert drawn(svg).attrib["role"] == "img"
    assert drawn(svg).attrib["aria-label"].startswith("Mean ranks over 18 cases: kACTUS 1.278")
    assert drawn(svg).attrib["aria-label"].endswith("kACTUS is better than kADET, TDR and TDS.")
    assert "critical difference 1.03 (Bonferroni-Dunn, 18 cases)" in words(svg)
    assert {"kACTUS 1.28", "kADET 2.86", "TDR 2.92", "TDS 2.94"} <= set(words(svg))


def test_the_bar_covers_what_does_not_differ_from_the_control() -> None:
    found = bonferroni_dunn({"a": 1.0, "b": 2.0, "c": 3.0}, 20, "b")
    reach = found.difference * (WIDTH - 2 * 210) / 2
    assert reach < 150
    assert bars(critical_difference_diagram(found)) == [pytest.approx((357 - reach, 363 + reach), abs=0.01)]


def test_the_bar_of_a_control_ends_where_the_line_ends() -> None:
    assert bars(critical_difference_diagram(bonferroni_dunn({"a": 1.4, "b": 1.6}, 1, "a"))) == [(207, WIDTH - 207)]


def test_a_difference_longer_than_the_line_has_no_end() -> None:
    def ticks(cases: int) -> int:
        svg = critical_difference_diagram(bonferroni_dunn({"a": 1.4, "b": 1.6}, cases, "a"))
        return sum(rect.attrib["height"] == "9" for rect in drawn(svg).iter("rect"))

    assert (ticks(100), ticks(3)) == (2, 1)


@settings(max_examples=60, deadline=None)
@given(methods, st.integers(1, 100))
def test_everything_lies_inside_and_no_two_names_overlap(ranked: dict[str, float], cases: int) -> None:
    picture = drawn(critical_difference_diagram(bonferroni_dunn(ranked, cases, min(ranked))))
    height = float(picture.attrib["height"])
    for rect in picture.iter("rect"):
        x, y, wide, high = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        assert min(x, y, wide, high) >= 0
        assert x + wide <= WIDTH
        assert y + high <= height
    names = [text.attrib for text in picture.iter("text") if text.attrib["class"] == "name"]
    assert len(names) == len(ranked)
    places = {(name.get("text-anchor", "start"), name["y"]) for name in names}
    assert len(places) == len(names)
    assert all(float(name["y"]) <= height - 4 for name in names)


@settings(max_examples=60, deadline=None)
@given(methods, st.integers(1, 100))
def test_no_two_lines_cross_and_bars_stay_above_the_names(ranked: dict[str, float], cases: int) -> None:
    picture = drawn(critical_difference_diagram(bonferroni_dunn(ranked, cases, min(ranked))))
    rects = [{key: float(rect.attrib[key]) for key in ("x", "y", "width", "height")} for rect in picture.iter("rect")]
    axis = max(rect["y"] for rect in rects if rect["height"] == 1.5)
    down = [rect for rect in rects if rect["width"] == 1 and rect["y"] == axis]
    names = [float(text.attrib["y"]) - 4 for text in picture.iter("text") if text.attrib["class"] == "name"]
    outward = [rect for rect in rects if rect["height"] == 1 and rect["y"] in names]
    assert len(down) == len(outward) == len(ranked)
    for across in outward:
        inside = [
            line
            for line in down
            if across["x"] + 1 < line["x"] < across["x"] + across["width"] - 1
            and line["y"] + line["height"] > across["y"] + 1
        ]
        assert not inside
    lowest = max([rect["y"] + rect["height"] for rect in rects if rect["height"] == 6], default=0.0)
    assert lowest < min(names) - 8


def test_hostile_names_stay_text() -> None:
    svg = critical_difference_diagram(bonferroni_dunn({"<script>x</script>": 1.0, "b": 2.0}, 5, "b"))
    assert not list(drawn(svg).iter("script"))
