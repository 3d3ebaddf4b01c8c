"""The charts of reports: groups by size, forms, loss, accuracy. Every chart says in words what it shows."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.drawing.markup import Html
from incrowd.drawing.svg import (
    WIDTH,
    Bar,
    BarGroup,
    bars,
    picture,
    rect,
)
from incrowd.drawing.wording import counted, percent
from incrowd.report.facts import Accuracy, AttributeFacts
from incrowd.report.utility_facts import Utility
from incrowd.report.wording import HIDDEN, shares_of
from incrowd.risk.charts import AFTER, BEFORE, Histogram, buckets

BAR_WIDTH, BAR_HEIGHT = 240, 14
FORM_COLOURS = {
    "value": "series-0",
    "set": "series-5",
    "mean": "series-4",
    "interval": "series-6",
    "category": "series-2",
    "counts": "series-3",
    HIDDEN: "empty",
}
_MAJORITY, _LOSS = "other", "series-7"


def size_histogram(histogram: Histogram, unit: str = "row") -> Html:
    """How many groups there are of which size, in rows or persons, in buckets that widen with the size."""
    ranges = buckets(histogram)
    most = max((bucket.classes for bucket in ranges), default=1)
    notes = {bucket: bucket.note if unit == "row" else counted(bucket.classes, "group") for bucket in ranges}
    groups = [_single(bucket.label, bucket.classes, notes[bucket], AFTER) for bucket in ranges]
    return _bar_chart(f"Groups by their number of {unit}s", groups, most)


def accuracy_bars(accuracy: Accuracy) -> Html:
    """Accuracy learned before, after, and by the majority, from 0 to 100 %."""
    measured = (
        ("before", accuracy.before, "trained on the table itself", BEFORE),
        ("after", accuracy.after, "trained on the release", AFTER),
        ("majority", accuracy.majority, "always the most frequent class", _MAJORITY),
    )
    groups = [_single(label, share, f"{percent(share)} {note}", kind) for label, share, note, kind in measured]
    return _bar_chart("Accuracy of a decision tree", groups, 1.0)


def loss_bars(utility: Utility) -> Html:
    """How much of each attribute is lost, from 0 to 100 %."""
    groups = [_single(one.name, one.loss, f"{percent(one.loss)} lost", _LOSS) for one in utility.attributes]
    return _bar_chart("Loss of each quasi-identifier", groups, 1.0)


def _single(label: str, length: float, note: str, kind: str) -> BarGroup:
    return BarGroup(label, (Bar(note, ((length, kind, ""),)),))


def _bar_chart(title: str, groups: Sequence[BarGroup], longest: float) -> Html:
    drawn, bottom, _ = bars(groups, longest or 1.0)
    words = "; ".join(f"{group.label}: {bar.note}" for group in groups for bar in group.bars)
    return picture(f"{title}. {words}", drawn, WIDTH, max(1, bottom))


def form_bar(attribute: AttributeFacts) -> Html:
    """In what share of the rows an attribute is shown in which form, as one stacked bar.

    Hidden is an empty frame, so that the bar can be read without colours.
    """
    shares = shares_of(attribute)
    words = ", ".join(f"{form} {percent(share)}" for form, share in shares.items() if share)
    parts, left = [rect(0.5, 0.5, BAR_WIDTH - 1, BAR_HEIGHT - 1, FORM_COLOURS[HIDDEN])], 0.0
    for form, share in shares.items():
        width = BAR_WIDTH * share
        if form != HIDDEN and width > 0:
            parts.append(rect(left, 0, width, BAR_HEIGHT, f"area {FORM_COLOURS[form]}"))
        left += width
    return picture(f"{attribute.name}: {words}", parts, BAR_WIDTH, BAR_HEIGHT)
