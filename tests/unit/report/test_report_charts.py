from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.report.extra_sections import BAR_WIDTH, accuracy_bars, form_bar, size_histogram
from incrowd.report.facts import Accuracy, AttributeFacts
from incrowd.risk.charts import MOST_BUCKETS, buckets
from support.report_examples import example, sizes

Histogram = tuple[tuple[int, int], ...]
histograms: st.SearchStrategy[Histogram] = st.dictionaries(st.integers(1, 10**8), st.integers(1, 1000), min_size=1).map(
    lambda counts: tuple(sorted(counts.items()))
)


def rectangles(svg: str, kind: str) -> list[dict[str, str]]:
    return [rect.attrib for rect in ElementTree.fromstring(svg).iter("rect") if rect.attrib["class"] == kind]


@given(histograms)
def test_every_class_is_in_exactly_one_bucket(histogram: Histogram) -> None:
    found = buckets(histogram)
    for size, classes in histogram:
        assert sum(bucket.low <= size <= bucket.high for bucket in found) == 1
        assert classes > 0
    assert sum(bucket.classes for bucket in found) == sum(classes for _, classes in histogram)
    assert sum(bucket.rows for bucket in found) == sum(size * classes for size, classes in histogram)


@given(histograms)
def test_buckets_are_few_in_order_and_end_at_the_data(histogram: Histogram) -> None:
    found = buckets(histogram)
    assert 1 <= len(found) <= MOST_BUCKETS
    assert (found[0].low, found[-1].high) == (histogram[0][0], histogram[-1][0])
    assert all(one.high < following.low for one, following in pairwise(found))
    assert all(one.classes for one in found)


def test_few_sizes_get_a_bucket_each() -> None:
    assert [bucket.label for bucket in buckets(((10, 1), (12, 3)))] == ["10", "12"]


def test_no_class_is_an_empty_picture() -> None:
    assert buckets(()) == []
    assert rectangles(size_histogram(sizes(()).histogram), "area series-0") == []


def test_histogram_bars_are_as_long_as_their_counts() -> None:
    svg = size_histogram(sizes(((10, 4), (11, 2), (12, 1))).histogram)
    widths = [float(bar["width"]) for bar in rectangles(svg, "area series-0")]
    assert widths == pytest.approx([widths[0], widths[0] / 2, widths[0] / 4])


def test_histogram_says_in_words_what_it_shows() -> None:
    label = ElementTree.fromstring(size_histogram(sizes(((10, 4), (11, 2))).histogram)).attrib["aria-label"]
    assert "10: 4 groups, 40 rows" in label
    assert "11: 2 groups, 22 rows" in label


@given(st.lists(st.floats(0, 1), min_size=5, max_size=5).filter(lambda parts: sum(parts) > 0))
def test_stacked_bar_lies_inside_its_frame_without_gaps(parts: list[float]) -> None:
    shares = [part / sum(parts) for part in parts]
    svg = form_bar(AttributeFacts("x", dict(zip(("value", "set", "mean", "interval"), shares, strict=False))))
    drawn = [rect.attrib for rect in ElementTree.fromstring(svg).iter("rect") if rect.attrib["class"] != "empty"]
    position = 0.0
    for rect in drawn:
        assert float(rect["x"]) == pytest.approx(position, abs=0.05)
        position += float(rect["width"])
    assert position == pytest.approx(BAR_WIDTH * sum(shares[:4]), abs=0.05)


def test_hidden_is_a_frame_and_not_a_colour() -> None:
    svg = form_bar(AttributeFacts("x", {}))
    assert [rect.attrib["class"] for rect in ElementTree.fromstring(svg).iter("rect")] == ["empty"]
    assert ElementTree.fromstring(svg).attrib["aria-label"] == "x: hidden 100 %"


def test_accuracy_bars_start_at_zero() -> None:
    svg = accuracy_bars(Accuracy(0.8, 0.6, 0.4, 100, 50))
    widths = [float(rectangles(svg, f"area {kind}")[0]["width"]) for kind in ("series-4", "series-0", "other")]
    assert widths == pytest.approx([widths[0], widths[0] * 6 / 8, widths[0] * 4 / 8], abs=0.05)
    assert "80.0 %" in svg


def test_hostile_names_stay_text_in_a_picture() -> None:
    svg = form_bar(AttributeFacts('"><script>alert(1)</script>\x00', {"value": 0.5}))
    tree = ElementTree.fromstring(svg)
    assert tree.attrib["aria-label"].startswith('"><script>alert(1)</script>')
    assert not list(tree.iter("script"))


@pytest.mark.parametrize("accuracy", [Accuracy(0, 0, 0, 1, 1), Accuracy(1, 1, 1, 1, 1), example().accuracy])
def test_every_picture_has_a_role_and_a_label(accuracy: Accuracy) -> None:
    for svg in (accuracy_bars(accuracy), size_histogram(sizes().histogram), form_bar(example().attributes[0])):
        assert ElementTree.fromstring(svg).attrib["role"] == "img"
        assert ElementTree.fromstring(svg).attrib["aria-label"]
