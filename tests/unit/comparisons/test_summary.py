"""Intervals of accuracies."""

import math

import pytest

from incrowd.comparisons.summary import corrected_t_interval, wilson_interval
from incrowd.errors import ParameterError


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: corrected_t_interval([0.5], 1), "two folds"),
        (lambda: corrected_t_interval([0.5, math.nan], 1), "no missing one"),
        (lambda: corrected_t_interval([0.5, 0.6], 1, level=95), "between 0 and 1"),
        (lambda: corrected_t_interval([0.5, 0.6], test_by_train=0), "above 0"),
        (lambda: corrected_t_interval([0.5, 0.6], test_by_train=math.inf), "above 0"),
        (lambda: corrected_t_interval([0.5, 0.6], test_by_train=math.nan), "above 0"),
        (lambda: wilson_interval(85.1, 100), "divide per cent by 100"),
        (lambda: wilson_interval(math.nan, 100), "between 0 and 1"),
        (lambda: wilson_interval(0.5, 0), "one test row"),
    ],
)
def test_wrong_levels_and_shares_are_refused(call, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        call()


def test_intervals_say_what_they_are() -> None:
    values = [0.84, 0.86, 0.85]
    found = [
        corrected_t_interval(values, 0.5),
        wilson_interval(0.85, 1000),
    ]
    assert len({interval.kind for interval in found}) == 2
    for interval in found:
        assert 0.85 in interval
        assert 0.99 not in interval
        assert interval.kind in str(interval)
        assert "95 % interval" in str(interval)
