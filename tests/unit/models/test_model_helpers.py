"""Small functions of the model room, each on values that can be reckoned by hand."""

from __future__ import annotations

from incrowd.models.growing import SplitCandidate, at_least_average
from incrowd.models.induction import required_of_spans


def test_candidates_of_at_least_average_gain_come_first():
    candidates = [SplitCandidate(0, place, 0, gain, 1.0) for place, gain in enumerate([0.3, 0.1, 0.2])]
    assert [[one.attribute for one in half] for half in at_least_average(candidates)] == [[0, 2], [1]]


def test_requirements_on_the_class_are_read_from_text():
    words = [str(part) for part in required_of_spans("t=0.2, alpha=0.8")]
    assert words == ["0.2-closeness of the class", "confidence in any value of the class of at most 0.8"]
